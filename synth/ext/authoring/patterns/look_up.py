"""Look-ups: the values of a row, of its parent, and of its parent's parent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from synth.core.personal.guess import is_of_people
from synth.ext.authoring.names import parameter, quoted
from synth.ext.authoring.patterns.answers import asked_for, field_of, told
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    Step,
    ended,
    family,
    literal,
    nameable,
)
from synth.ext.authoring.roles import ASKED, LONGEST
from synth.ext.authoring.shape import ColumnShape, Link, TableShape
from synth.ext.authoring.toolset import names_shown


def look_up(sketch: Sketch) -> Iterator[Draft]:
    """Read one or two values of a row, or say whether it has a flag."""
    yield from sketch.first(5, (_own(sketch, table) for table in sketch.tables))
    yield from sketch.first(1, (_flag(sketch, table) for table in sketch.tables))


def look_up_parent(sketch: Sketch) -> Iterator[Draft]:
    """Read a value of what a row belongs to: one join."""
    found = (_chain(sketch, table, [link]) for table in sketch.tables for link in table.links)
    yield from sketch.first(4, found)


def look_up_far(sketch: Sketch) -> Iterator[Draft]:
    """Follow two or three links from a row."""
    paths = [path for table in sketch.tables for path in _paths(sketch, table)]
    paths.sort(key=lambda path: (len(path[0].key) > 1, -len(path[1])))
    ends = Counter((table.name, links[-1].column) for table, links in paths)
    paths = [(table, way) for table, way in paths if ends[table.name, way[-1].column] == 1]
    paths = [path for path in paths if path[1][-1].role != "parent"]
    yield from sketch.first(3, (_chain(sketch, table, links) for table, links in paths))


def worth_asking(table: TableShape) -> list[ColumnShape]:
    """Columns that a person may want to know, the most telling first, and last when the row was
    made. A currency is said with its amount.
    """
    currencies = {column.currency for column in table.columns}
    found = [
        column
        for role in ASKED
        for column in table.asked(role)
        if column.distinct > 1
        and column.name not in {*table.key, *table.handle}
        and column.label not in currencies
        and not (column in table.stamps and is_of_people(table.name))
        and all(len(text := str(value)) <= LONGEST and text[-1:] != "." for value in column.seen)
    ]
    return sorted(found, key=table.stamps.__contains__)


def _own(sketch: Sketch, table: TableShape) -> Draft | None:
    row, asked = Named(sketch.tools[table.name]), worth_asking(table)[:2]
    if not nameable(row.tools) or not asked:
        return None
    asked.sort(key=lambda column: not column.verb)
    fields = {column.parameter: column for column in asked}
    return family(
        "look_up",
        table.noun.one,
        f"Find {table.noun.words} and read its {' and the '.join(c.words for c in asked)}.",
        row.ground(row.hidden, row.filled(*asked)),
        asked_for(row.words, asked),
        [
            *row.look({f"{field}_found": column for field, column in fields.items()}),
            *ended(
                {field: f"${field}_found" for field in fields},
                *told(row.words, {f"{name}_found": one for name, one in fields.items()}),
            ),
        ],
        answer={field: field_of(column) for field, column in fields.items()},
        oracle={
            field: f"SELECT {quoted(column.name)} FROM {quoted(table.name)}"
            f" WHERE {row.oracle_where}"
            for field, column in fields.items()
        },
    )


def _flag(sketch: Sketch, table: TableShape) -> Draft | None:
    row = Named(sketch.tools[table.name])
    column = next((one for one in table.columns if one.mark and one.distinct == 2), None)
    if not nameable(row.tools) or column is None:
        return None
    field, noun = column.parameter, table.noun.words
    ends = list[Step]()
    for case, verb in (("yes", "is"), ("no", "is not")):
        text = f"{row.words} {verb} marked as {column.sign}."
        says = (f"{case.capitalize()}, {text}", f"I have checked: {text}")
        ends.append({case: ended({field: case == "yes"}, *says)})
    return family(
        "look_up",
        f"{table.noun.one}_{field}",
        f"Find {noun} and say whether it is marked as {column.sign}.",
        row.ground(
            [f"{column.is_set(row.alias)} AS marked"], [f"{row.col(column.name)} IS NOT NULL"]
        ),
        [
            f"Is {row.words} marked as {column.sign}?",
            f"Please check whether {row.words} is marked as {column.sign}.",
        ],
        [*row.look({f"{field}_found": column}), *ends],
        cases={"yes": "marked", "no": "NOT marked"},
        answer={field: {"type": "boolean", "description": f"Whether it is {column.sign}."}},
    )


def _paths(sketch: Sketch, table: TableShape) -> Iterator[tuple[TableShape, list[Link]]]:
    """Paths of two and three links that come to no table twice."""
    for first in table.links:
        for second in sketch.shape.tables[first.table].links:
            seen = {table.name, first.table, second.table}
            if len(seen) < 3:
                continue
            yield table, [first, second]
            for third in sketch.shape.tables[second.table].links:
                if third.table not in seen:
                    yield table, [first, second, third]


def _chain(sketch: Sketch, table: TableShape, links: Sequence[Link]) -> Draft | None:
    """A question about the end of a path of links."""
    row, end = Named(sketch.tools[table.name]), sketch.shape.tables[links[-1].table]
    asked = _at_end(end, far=len(links) > 1)
    if not nameable(row.tools) or not asked or not _followed(sketch, row, links):
        return None
    saved = {f"{column.parameter}_found": column for column in asked}
    joins, steps, last = _way(sketch, row, links, saved)
    role = links[-1].words
    keys = {one: f"end_{end.column(one).label}" for one in end.key}
    there = " AND ".join(f"{quoted(one)} = :{name}" for one, name in keys.items())
    where = [one for column in asked for one in _telling(last, column, role)]
    asks, replies = _about_end(row, links, end, asked, [*saved])
    return family(
        "look_up_parent" if len(links) == 1 else "look_up_far",
        f"{table.noun.one}_{parameter(links[-1].role)}_{asked[0].parameter}",
        f"Follow {len(links)} links from {table.noun.words} to its {role}.",
        row.ground([f"{last.col(one)} AS {name}" for one, name in keys.items()], where, joins),
        asks,
        [
            *steps,
            *ended({column.parameter: f"${name}" for name, column in saved.items()}, *replies),
        ],
        answer={column.parameter: field_of(column) for column in asked},
        oracle={
            column.parameter: f"SELECT {quoted(column.name)} FROM {quoted(end.name)} WHERE {there}"
            for column in asked
        },
    )


def _about_end(
    row: Named,
    links: Sequence[Link],
    end: TableShape,
    asked: Sequence[ColumnShape],
    saved: Sequence[str],
) -> tuple[list[str], list[str]]:
    """Questions for the end of a path, and the replies: the name of what the row refers to, or a
    fact about it, for which the row stands first.
    """
    first, *others = _said_links(row, links)
    named = asked[0].name in end.handle
    path = "".join(f"the {words} of " for words in reversed(others))
    start = f"the {first} of {row.words}" if named and not others else f"{row.table.whose} {first}"
    it, end_alone = f"{path}{start}", f"{path}the {first}"  # a reply does not name the row again
    says, about = asked_for(it, asked), f"for {row.words}, "
    replies = told(end_alone, {saved[0]: asked[0]})
    if named:
        people = is_of_people(end.name) or end.of_role("person")
        says = [f"{'who' if people else 'what'} is {it}?", f"can you tell me {it}?"]
        name = " ".join(f"{{{name}}}" for name in saved)
        if not others:
            return says, [f"{it} is {name}.", f"{name} is {it}."]
        replies = [f"{end_alone} is {name}.", f"the {others[-1]} is {name}."]
    return [f"{about}{text}" for text in says], replies


def _said_links(row: Named, links: Sequence[Link]) -> list[str]:
    """The words for the links of a path. The first of three goes without saying: "the tax of its
    product" of an order line with an offer, unless the line has a product beside it.
    """
    words, own = [link.words for link in links], {link.words for link in row.table.links}
    return words[1:] if len(words) > 2 and words[1] not in own else words


def _followed(sketch: Sketch, row: Named, links: Sequence[Link]) -> bool:
    """True for links that lead somewhere, by a key, have a name and do not name the row."""
    first = links[0].columns
    return (
        not {*first} <= {*row.columns}
        and all(row.table.column(one).distinct for one in first)
        and all(
            sketch.tools[link.table].get
            and {*sketch.shape.tables[link.table].key} == {*link.targets}
            and link.is_said
            for link in links
        )
    )


def _telling(row: Named, column: ColumnShape, role: str) -> Iterator[str]:
    """Conditions that a value says something: "the job of the support rep is support" does not."""
    yield from row.filled(column)
    if column.kind == "text":
        yield f"LOWER({row.col(column.name)}) NOT IN ({', '.join(map(literal, role.split()))})"


def _way(
    sketch: Sketch, row: Named, links: Sequence[Link], saved: Mapping[str, ColumnShape]
) -> tuple[list[str], list[Step], Named]:
    """The joins of a path, the steps of gold, which stop where the answer is read, and its end."""
    joins, steps, shown = list[str](), list[Step](), dict[str, ColumnShape]()
    for number, link in enumerate(links, 1):
        parent, alias, own = sketch.shape.tables[link.table], f"p{number}", row.table
        joins.append(f"JOIN {quoted(parent.name)} {alias} ON {link.on(row.alias, alias)}")
        labels = names_shown(sketch.shape, own) if link is links[-1] else {}
        shown = {
            name: replace(column, name="", label=labels[link.column, column.name])
            for name, column in saved.items()
            if (link.column, column.name) in labels
        }
        reached = _Reached(sketch.tools[parent.name], alias, alias)
        steps += row.look(shown or {reached.saved(to): own.column(one) for one, to in link.pairs})
        row = reached
    return joins, steps if shown else [*steps, *row.look(saved)], row


class _Reached(Named):
    """A row that gold came to by a link: its key is saved already."""

    @property
    def by_name(self) -> bool:
        return False

    def reference(self, column: str) -> str:
        return f"${self.saved(column)}"


def _at_end(table: TableShape, *, far: bool) -> list[ColumnShape]:
    """The columns asked for at the end of a path: its name if it is ``far``, else a fact first."""
    names = [column for column in map(table.column, table.handle) if column.distinct > 1]
    facts = worth_asking(table)[:1]
    return names or facts if far else facts or names
