"""Lists, counts, sums and greatest values over the rows of one parent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from synth.ext.authoring.names import be, parameter, quoted
from synth.ext.authoring.patterns.answers import field_of
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    family,
    nameable,
    query,
)
from synth.ext.authoring.patterns.look_up import oracle_key
from synth.ext.authoring.shape import ColumnShape, Link, TableShape
from synth.ext.authoring.toolset import is_noun, role_of, role_words

SHORT = 12
"""The most rows of a list that a reply names."""


def families_of(sketch: Sketch) -> Iterator[tuple[Named, TableShape, Link]]:
    """Parents that a person can name, with a child and its link."""
    pairs = [
        (Named(sketch.tools[parent.name], "p"), child, link)
        for parent in sketch.tables
        for child, link in sketch.shape.children(parent.name)
        if child.rows
        and nameable(sketch.tools[parent.name])
        and parent.key == (link.target,)
        and is_noun(role_of(link.column))
    ]
    yield from sorted(pairs, key=lambda pair: (not pair[0].by_name, -pair[1].rows))


def list_children(sketch: Sketch) -> Iterator[Draft]:
    """Name all rows of a parent."""
    yield from islice(_of_each_parent(sketch, _list), 3)


def count_children(sketch: Sketch) -> Iterator[Draft]:
    """Count the rows of a parent, or those in one state."""
    yield from islice(_of_each_parent(sketch, _count), 3)


def sum_children(sketch: Sketch) -> Iterator[Draft]:
    """Add up a column over the rows of a parent."""
    yield from islice(_of_each_parent(sketch, _sum), 3)


def greatest_child(sketch: Sketch) -> Iterator[Draft]:
    """Find the row of a parent with the greatest value."""
    yield from islice(_of_each_parent(sketch, _greatest), 3)


def _of_each_parent(sketch: Sketch, make: object) -> Iterator[Draft]:
    assert callable(make)
    seen = set[str]()
    for parent, child, link in families_of(sketch):
        draft = make(sketch, parent, child, link)
        if isinstance(draft, Draft) and draft.id not in seen:
            seen.add(draft.id)
            yield draft


def _parent_ground(parent: Named, link: Link, child: TableShape) -> str:
    rows = f"SELECT COUNT(*) FROM {quoted(child.name)} c WHERE c.{quoted(link.column)}"
    key = parent.table.key[0]
    hidden = [f"{parent.col(key)} AS {oracle_key(parent, key)}"] if parent.by_name else []
    return query(
        [f"{parent.key} AS task_key", *parent.select, *hidden],
        [parent.source],
        [*parent.conditions, f"({rows} = {parent.col(key)}) BETWEEN 1 AND {SHORT}"],
    )


def _of_parent(parent: Named, child: TableShape, link: Link) -> dict[str, object]:
    return {child.parameter(link.column): parent.reference(parent.table.key[0])}


def _where(parent: Named, link: Link) -> str:
    return f"{quoted(link.column)} = :{oracle_key(parent, parent.table.key[0])}"


def whose(parent: Named, link: Link) -> str:
    """The words for the rows of a parent: "of customer Anna", "whose support rep is Anna"."""
    noun, role = parent.table.noun.one, role_of(link.column)
    plain = role in {noun, parent.table.name, noun.rpartition("_")[2]}
    return f"of {parent.words}" if plain else f"whose {role_words(link.column)} is {parent.words}"


def _list(sketch: Sketch, parent: Named, child: TableShape, link: Link) -> Draft | None:
    shown = [child.column(name) for name in child.handle]
    if len(shown) != 1:
        shown = [child.column(child.key[0])] if child.single_key and not shown else []
    if not shown:
        return None
    column, noun = shown[0], child.noun
    rows = f"{noun.plural_words} {whose(parent, link)}"
    many = parameter(noun.many)
    key = parent.col(parent.table.key[0])
    nulls = f"c.{quoted(link.column)} = {key} AND c.{quoted(column.name)} IS NULL"
    unnamed = f"  AND NOT EXISTS (SELECT 1 FROM {quoted(child.name)} c WHERE {nulls})\n"
    whole = unnamed if column.nulls else ""
    item = "integer" if column.kind == "integer" else "string"
    return family(
        "list_children",
        f"{parameter(parent.table.noun.one)}_{many}{_suffix(parent, link)}",
        f"List the {noun.plural_words} of one {parent.table.noun.words}.",
        _parent_ground(parent, link, child) + whole,
        [
            f"Which are the {rows}? The {column.words} of each, please.",
            f"Please list the {rows}; the {column.words} of each will do.",
            f"I need all {rows}: just the {column.words} of each.",
        ],
        [
            *parent.find(),
            {
                str(sketch.tools[child.name].list_): _of_parent(parent, child, link),
                "save": {many: f"$.{noun.many}[*].{column.label}"},
            },
            {"submit": {many: f"${many}"}},
            {"say": [f"For {parent.words}: {{{many}}}.", f"The {rows}: {{{many}}}."]},
        ],
        answer={
            many: {
                "type": "array",
                "items": item,
                "compare": "bag",
                "description": f"The {column.words} of each {noun.words}.",
            }
        },
        oracle={
            many: f"SELECT {quoted(column.name)} FROM {quoted(child.name)}"
            f" WHERE {_where(parent, link)}"
        },
    )


def _suffix(parent: Named, link: Link) -> str:
    role = role_of(link.column)
    return "" if role == parent.table.noun.one else f"_{role}"


def _count(sketch: Sketch, parent: Named, child: TableShape, link: Link) -> Draft | None:
    tools, noun = sketch.tools[child.name], child.noun
    states = [child.column(c) for c in tools.filters if child.column(c).is_choice]
    more, vary, arguments = "", {}, _of_parent(parent, child, link)
    rows = f"{noun.plural_words} {whose(parent, link)}"
    if states:
        state = states[0]
        vary = {"vary": {"wanted": {"choice": list(state.choices)}}}
        more = f" AND {quoted(state.name)} = :wanted"
        arguments = {**arguments, state.parameter: "{wanted}"}
        rows += f" with the {state.words} {{wanted}}"
    elif flag := next((c for name in tools.filters if (c := child.column(name)).mark), None):
        more = f" AND {flag.is_set(quoted(child.name))}"
        arguments = {**arguments, flag.parameter: True if flag.kind == "boolean" else 1}
        rows += f" marked as {flag.mark}"
    return family(
        "count_children",
        f"{parameter(parent.table.noun.one)}_{parameter(noun.many)}{_suffix(parent, link)}",
        f"Count the {noun.plural_words} of one {parent.table.noun.words}.",
        _parent_ground(parent, link, child).replace(f"AND {SHORT}", "AND 200"),
        [
            f"How many {rows} are there?",
            f"Please count the {rows}.",
            f"I need the number of {rows}.",
        ],
        [
            *parent.find(),
            {str(tools.list_): arguments, "save": {"count": "$.count"}},
            {"submit": {"count": "$count"}},
            {"say": [f"I counted {{count}} for {parent.words}.", "The count is {count}."]},
        ],
        **vary,
        answer={"count": {"type": "integer", "description": f"How many {noun.plural_words}."}},
        oracle={
            "count": f"SELECT COUNT(*) FROM {quoted(child.name)} WHERE {_where(parent, link)}{more}"
        },
    )


def _sum(sketch: Sketch, parent: Named, child: TableShape, link: Link) -> Draft | None:
    tools, noun = sketch.tools[child.name], child.noun
    columns = [child.column(name) for name in tools.totals]
    column = next((c for c in columns if c.distinct > 1 and not c.nulls), None)
    if column is None:
        return None
    rows, total = f"{noun.plural_words} {whose(parent, link)}", f"total_{column.parameter}"
    return family(
        "sum_children",
        f"{parameter(parent.table.noun.one)}_{parameter(noun.many)}_{column.parameter}",
        f"Add up the {column.words} over the {noun.plural_words} of one {parent.table.noun.words}.",
        _parent_ground(parent, link, child),
        [
            f"What is the total {column.words} over all {rows}?",
            f"Add up the {column.words} of the {rows}.",
            f"I need the sum of the {column.words} over all {rows}.",
        ],
        [
            *parent.find(),
            {
                str(tools.list_): _of_parent(parent, child, link),
                "save": {total: f"$.total_{column.label}"},
            },
            {"submit": {total: f"${total}"}},
            {
                "say": [
                    f"The total {column.words} {be(column.words)} {{{total}}}.",
                    f"Altogether, the {column.words} {_comes(column)} to {{{total}}}.",
                ]
            },
        ],
        answer={total: {**field_of(column), "description": f"The sum of the {column.words}."}},
        oracle={
            total: f"SELECT SUM({quoted(column.name)}) FROM {quoted(child.name)}"
            f" WHERE {_where(parent, link)}"
        },
    )


def _comes(column: ColumnShape) -> str:
    return "come" if be(column.words) == "are" else "comes"


def _sorted_by(child: TableShape, names: tuple[str, ...]) -> ColumnShape | None:
    """A column by which rows have a first: a number, else a moment."""
    columns = sorted(map(child.column, names), key=lambda column: column.role == "moment")
    return next((c for c in columns if c.distinct > 2 and not c.nulls), None)


def _greatest(sketch: Sketch, parent: Named, child: TableShape, link: Link) -> Draft | None:
    tools, noun = sketch.tools[child.name], child.noun
    rows = f"{noun.plural_words} {whose(parent, link)}"
    column = _sorted_by(child, tools.sorts)
    named = child.handle if len(child.handle) == 1 else child.key if not child.handle else ()
    if column is None or len(named) != 1:
        return None
    shown = child.column(named[0])
    key = parent.table.key[0]
    where = f"c.{quoted(link.column)} = {parent.col(key)}"
    top = f"SELECT MAX(c.{quoted(column.name)}) FROM {quoted(child.name)} c WHERE {where}"
    ground = (
        _parent_ground(parent, link, child).rstrip()
        + f"\n  AND (SELECT COUNT(*) FROM {quoted(child.name)} c WHERE {where}) > 1"
        + f"\n  AND (SELECT COUNT(*) FROM {quoted(child.name)} c WHERE {where}"
        + f" AND c.{quoted(column.name)} = ({top})) = 1\n"
    )
    answer = (
        f"{parameter(noun.one)}_found" if child.name == parent.table.name else parameter(noun.one)
    )
    latest = column.role == "moment"
    most = f"is the latest by {column.words}" if latest else f"has the highest {column.words}"
    first = f"the latest {column.words}" if latest else f"the highest {column.words}"
    asked, wanted = f"its {shown.words}", {answer: shown}
    replies = [f"It is {{{answer}}}.", f"That is {{{answer}}}."]
    if column.is_said:  # seconds since 1970 are not
        asked, wanted = f"{asked} and the {column.words}", wanted | {"figure": column}
        replies = [
            f"It is {{{answer}}}; its {column.words} {be(column.words)} {{figure}}.",
            f"{first.capitalize()} {be(column.words)} {{figure}}: {{{answer}}}.",
        ]
    return family(
        "greatest_child",
        f"{parameter(parent.table.noun.one)}_{parameter(noun.one)}_{column.parameter}",
        f"Sort the {noun.plural_words} of one {parent.table.noun.words} by {column.words}.",
        ground,
        [
            f"Which of the {rows} {most}? {asked.capitalize()}, please.",
            f"Among the {rows}, find the one with {first}: {asked}.",
        ],
        [
            *parent.find(),
            {
                str(tools.list_): {
                    **_of_parent(parent, child, link),
                    "order_by": column.label,
                    "descending": True,
                },
                "save": {one: f"$.{noun.many}[0].{of.label}" for one, of in wanted.items()},
            },
            {"submit": {one: f"${one}" for one in wanted}},
            {"say": replies},
        ],
        answer={one: field_of(of) for one, of in wanted.items()}
        | {answer: {**field_of(shown), "description": f"The {shown.words} of the {noun.words}."}},
        oracle={
            one: f"SELECT {quoted(of.name)} FROM {quoted(child.name)} WHERE {_where(parent, link)}"
            f" ORDER BY {quoted(column.name)} DESC LIMIT 1"
            for one, of in wanted.items()
        },
    )
