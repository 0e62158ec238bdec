"""Look-ups: the values of a row, of its parent, and of its parent's parent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from synth.ext.authoring.names import be, parameter, quoted
from synth.ext.authoring.patterns.answers import field_of, told
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    Step,
    family,
    join,
    nameable,
    query,
)
from synth.ext.authoring.roles import ASKED, LONGEST
from synth.ext.authoring.shape import ColumnShape, Link, TableShape
from synth.ext.authoring.toolset import is_noun, role_of, role_words


def look_up(sketch: Sketch) -> Iterator[Draft]:
    """Read one or two values of a row, or say whether it has a flag."""
    ranked = sorted(sketch.tables, key=lambda table: (not table.handle, -table.rows))
    yield from islice(filter(None, (_own(sketch, table) for table in ranked)), 5)
    yield from islice(filter(None, (_flag(sketch, table) for table in ranked)), 2)


def look_up_parent(sketch: Sketch) -> Iterator[Draft]:
    """Read a value of what a row belongs to: one join."""
    found = (_chain(sketch, table, [link]) for table in sketch.tables for link in table.links)
    yield from islice(_distinct(found), 4)


def look_up_far(sketch: Sketch) -> Iterator[Draft]:
    """Follow two or three links from a row."""
    paths = [path for table in sketch.tables for path in _paths(sketch, table)]
    paths.sort(key=lambda path: (len(path[0].key) > 1, -len(path[1])))
    ends = Counter((table.name, links[-1].column) for table, links in paths)
    paths = [path for path in paths if ends[path[0].name, path[1][-1].column] == 1]
    yield from islice(_distinct(_chain(sketch, table, links) for table, links in paths), 5)


def _distinct(found: Iterator[Draft | None]) -> Iterator[Draft]:
    seen = set[str]()
    for draft in found:
        if draft is not None and draft.id not in seen:
            seen.add(draft.id)
            yield draft


def worth_asking(table: TableShape) -> list[ColumnShape]:
    """Columns that a person may want to know, the most telling first."""
    fitting = [
        column
        for role in ASKED
        for column in table.of_role(role)
        if column.distinct > 1 and column.is_said and column.name not in table.key
    ]
    short = [
        column
        for column in fitting
        if all(len(text := str(value)) <= LONGEST and text[-1:] != "." for value in column.seen)
    ]
    return [c for c in short if c.name not in table.handle]


def _own(sketch: Sketch, table: TableShape) -> Draft | None:
    row, asked = Named(sketch.tools[table.name]), worth_asking(table)[:2]
    if not nameable(row.tools) or not asked:
        return None
    ground = query(
        [f"{row.key} AS task_key", *row.select, *_hidden(row)],
        [row.source],
        [*row.conditions, *(f"{row.col(c.name)} IS NOT NULL" for c in asked)],
    )
    return _ask("look_up", row, table, asked, row, ground, [*row.find()], parameter(table.noun.one))


def _flag(sketch: Sketch, table: TableShape) -> Draft | None:
    row = Named(sketch.tools[table.name])
    column = next((one for one in table.columns if one.mark and one.distinct == 2), None)
    if not nameable(row.tools) or column is None:
        return None
    field, noun = column.parameter, table.noun.words
    return family(
        "look_up",
        f"{parameter(table.noun.one)}_{field}",
        f"Find {noun} and say whether it is marked as {column.mark}.",
        query(
            [f"{row.key} AS task_key", *row.select, f"{column.is_set(row.alias)} AS marked"],
            [row.source],
            [*row.conditions, f"{row.col(column.name)} IS NOT NULL"],
        ),
        [
            f"Is {row.words} marked as {column.mark}?",
            f"Please check whether {row.words} is marked as {column.mark}.",
        ],
        [
            *row.find(),
            row.get({f"{field}_found": f"$.{column.label}"}),
            {
                "yes": [
                    {"submit": {field: True}},
                    {"say": [f"Yes, {row.words} is marked as {column.mark}."]},
                ]
            },
            {
                "no": [
                    {"submit": {field: False}},
                    {"say": [f"No, {row.words} is not marked as {column.mark}."]},
                ]
            },
        ],
        cases={"yes": "marked", "no": "NOT marked"},
        answer={field: {"type": "boolean", "description": f"Whether it is {column.mark}."}},
    )


def _hidden(row: Named) -> list[str]:
    """The key as slots for the oracle, where the person names the row otherwise."""
    return [f"{row.col(c)} AS {oracle_key(row, c)}" for c in row.table.key] if row.by_name else []


def oracle_key(row: Named, column: str) -> str:
    return f"{row.slot}_{row.table.column(column).label}_key" if row.by_name else row.slots[column]


def _ask(
    pattern: str,
    row: Named,
    table: TableShape,
    asked: Sequence[ColumnShape],
    holder: Named,
    ground: str,
    steps: list[Step],
    name: str,
) -> Draft:
    where = " AND ".join(f"{quoted(c)} = :{oracle_key(row, c)}" for c in table.key)
    words = " and the ".join(column.words for column in asked)
    fields = [column.parameter for column in asked]
    saved = [f"{field}_found" for field in fields]
    save = {name: f"$.{c.label}" for name, c in zip(saved, asked, strict=True)}
    return family(
        pattern,
        name,
        f"Find {row.table.noun.words} and read its {words}.",
        ground,
        [
            _question(asked, row.words),
            f"Please look up {row.words} and tell me {_wanted(asked)}.",
            f"{row.words}: {words}?",
        ],
        [
            *steps,
            holder.get(save),
            {"submit": {field: f"${name}" for field, name in zip(fields, saved, strict=True)}},
            {"say": told(row.words, zip([c.words for c in asked], saved, strict=True))},
        ],
        answer={field: field_of(c) for field, c in zip(fields, asked, strict=True)},
        oracle={
            field: f"SELECT {quoted(c.name)} FROM {quoted(table.name)} WHERE {where}"
            for field, c in zip(fields, asked, strict=True)
        },
    )


def _question(asked: Sequence[ColumnShape], words: str) -> str:
    """A question for the values of a row: when it was paid, what its amount is."""
    first, *others = asked
    parts = [
        f"When was {words} {first.verb}"
        if first.verb
        else f"What {be(first.words)} the {first.words} of {words}"
    ]
    parts += [
        f"when was it {column.verb}"
        if column.verb
        else f"what {be(column.words)} its {column.words}"
        for column in others
    ]
    if not any(column.verb for column in asked):
        verb = "are" if others else be(first.words)
        return f"What {verb} the {' and the '.join(c.words for c in asked)} of {words}?"
    return f"{', and '.join(parts)}?"


def _wanted(asked: Sequence[ColumnShape]) -> str:
    return " and ".join(f"when it was {c.verb}" if c.verb else f"the {c.words}" for c in asked)


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
    row = Named(sketch.tools[table.name])
    end = sketch.shape.tables[links[-1].table]
    asked = _at_end(end)
    steps_possible = all(sketch.tools[link.table].get for link in links)
    reached = all(sketch.shape.tables[link.table].key == (link.target,) for link in links)
    nouns = all(is_noun(role_of(link.column)) for link in links)
    if not nameable(row.tools) or asked is None or not (steps_possible and reached and nouns):
        return None
    source, where = [row.source], [*row.conditions]
    steps, last = [*row.find()], row
    for number, link in enumerate(links, 1):
        parent = sketch.shape.tables[link.table]
        alias = f"p{number}"
        source.append(
            join(parent, alias, f"{alias}.{quoted(link.target)} = {last.col(link.column)}")
        )
        steps.append(last.get({f"{alias}_key": f"$.{last.table.column(link.column).label}"}))
        last = _Reached(sketch.tools[parent.name], alias, alias)
    where.append(f"{last.col(asked.name)} IS NOT NULL")
    field, role = asked.parameter, role_words(links[-1].column)
    key = f"{last.col(end.key[0])} AS end_key"
    steps.append(last.get({f"{field}_found": f"$.{asked.label}"}))
    far = f"the {role} {'of' if len(links) == 1 else 'behind'} {row.words}"
    words = f"{asked.words} of {far}"
    pattern = "look_up_parent" if len(links) == 1 else "look_up_far"
    return family(
        pattern,
        f"{parameter(table.noun.one)}_{parameter(role_of(links[-1].column))}_{field}",
        f"Follow {len(links)} links from {table.noun.words} to its {role}.",
        query([f"{row.key} AS task_key", *row.select, key], source, where),
        [
            (
                f"When was {far} {asked.verb}?"
                if asked.verb
                else f"What {be(asked.words)} the {words}?"
            ),
            f"Please look up {far}. I need the {asked.words}.",
            f"I have {row.words} here. What {be(asked.words)} the {asked.words} of the {role}?",
        ],
        [
            *steps,
            {"submit": {field: f"${field}_found"}},
            {
                "say": [
                    f"The {asked.words} of the {role} {be(asked.words)} {{{field}_found}}.",
                    f"The {words} {be(asked.words)} {{{field}_found}}.",
                ]
            },
        ],
        answer={field: field_of(asked)},
        oracle={
            field: f"SELECT {quoted(asked.name)} FROM {quoted(end.name)}"
            f" WHERE {quoted(end.key[0])} = :end_key"
        },
    )


class _Reached(Named):
    """A row that gold came to by a link: its key is saved already."""

    def reference(self, column: str) -> str:
        return f"${self.alias}_key"


def _at_end(table: TableShape) -> ColumnShape | None:
    names = [table.column(column) for column in table.handle] if len(table.handle) == 1 else []
    found = [column for column in [*worth_asking(table), *names] if column.distinct > 1]
    return found[0] if found else None
