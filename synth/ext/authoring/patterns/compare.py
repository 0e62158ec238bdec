"""Two rows that the user names: which has the higher value, and what both have."""

from __future__ import annotations

from collections.abc import Iterator

from synth.core.personal.guess import is_of_people
from synth.ext.authoring.names import be, parameter, quoted
from synth.ext.authoring.patterns.answers import field_of, with_currency
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    ended,
    family,
    joined,
    nameable,
    query,
)
from synth.ext.authoring.patterns.look_up import worth_asking
from synth.ext.authoring.roles import COMPARED
from synth.ext.authoring.shape import ColumnShape, TableShape
from synth.ext.authoring.toolset import TableTools


def look_up_both(sketch: Sketch) -> Iterator[Draft]:
    """Read the same value of two rows."""
    yield from sketch.first(4, (_both(sketch.tools[table.name]) for table in sketch.tables))


def compare(sketch: Sketch) -> Iterator[Draft]:
    """Say which of two rows has the higher value."""
    found = (
        _compare(sketch, table.name, column)
        for table in sketch.tables
        for column in [c for c in table.asked(*COMPARED) if not _has_currencies(sketch, table, c)][
            :1
        ]
        if column.distinct > 3 and not (column.role == "measure" and is_of_people(table.name))
    )
    yield from sketch.first(3, found)


def _are_nameable(tools: TableTools) -> bool:
    key = tools.table.key
    return nameable(tools) and bool(
        tools.find or (len(key) == 1 and not tools.table.link_of(key[0]))
    )


def _pair(tools: TableTools) -> tuple[Named, Named]:
    noun = tools.table.noun.one
    return Named(tools, "a", f"first_{noun}"), Named(tools, "b", f"second_{noun}")


def _names(*rows: Named) -> list[str]:
    return [row.value if row.by_name else row.words for row in rows]


def _ground(one: Named, two: Named, column: ColumnShape, *select: str) -> str:
    """Pairs of rows with neighbouring keys that differ in a column."""
    key, rows = Named(one.tools, "x").key, f"FROM {quoted(one.table.name)} x WHERE"
    beside = (f"SELECT MIN({key}) {rows} {key} >", f"SELECT MAX({key}) {rows} {key} <")
    pair = " OR ".join(f"{two.key} = ({other} {one.key})" for other in beside)
    differ = f"{one.col(column.name)} <> {two.col(column.name)}"
    return query(
        [f"{joined(one.key, two.key)} AS task_key", *one.select, *two.select, *select],
        [one.source, f"JOIN {two.source} ON {pair}"],
        [*one.conditions, *two.conditions, differ, *one.filled(column), *two.filled(column)],
    )


def _both(tools: TableTools) -> Draft | None:
    asked = worth_asking(tools.table)
    if not _are_nameable(tools) or not asked:
        return None
    column = [*asked[2:], *asked][0]
    one, two = _pair(tools)
    (first, second), words, noun = _names(one, two), column.words, tools.table.noun
    a, b = (with_currency(name, column) for name in ("first_found", "second_found"))
    says = [
        f"what {be(words)} the {words} of {one.words}, and of {two.words}?",
        f"can you tell me the {words} of {one.words} and of {two.words}?",
    ]
    told = f"the {words} {be(words)} {a} for {first} and {b} for {second}."
    replies = [told, f"I have looked up both: {told}"]
    if verb := column.verb:
        says = [
            f"when were {one.words} and {two.words} {verb}?",
            f"can you tell me when {one.words} and {two.words} were {verb}?",
        ]
        replies = [
            f"{first} was {verb} on {a}, and {second} on {b}.",
            f"I have looked up both: {first} was {verb} on {a} and {second} on {b}.",
        ]
    fields = {f"{which}_{column.parameter}": which for which in ("first", "second")}
    return family(
        "look_up_both",
        f"{noun.one}_{column.parameter}",
        f"Read the {words} of two {noun.plural_words}.",
        _ground(one, two, column),
        says,
        [
            *one.look({"first_found": column}),
            *two.look({"second_found": column}),
            *ended({field: f"${which}_found" for field, which in fields.items()}, *replies),
        ],
        answer={
            field: {**field_of(column), "description": f"The {words} of the {which}."}
            for field, which in fields.items()
        },
    )


def _has_currencies(sketch: Sketch, table: TableShape, column: ColumnShape) -> bool:
    """True for an amount whose row, or what that belongs to, names one of several currencies."""
    near = [table, *(sketch.shape.tables[link.table] for link in table.links)]
    return column.role == "money" and any(c.currency for one in near for c in one.columns)


def _compare(sketch: Sketch, name: str, column: ColumnShape) -> Draft | None:
    tools = sketch.tools[name]
    table, noun = tools.table, tools.table.noun
    if not _are_nameable(tools):
        return None
    one, two = _pair(tools)
    ground = _ground(one, two, column, f"{one.col(column.name)} > {two.col(column.name)} AS ahead")
    pick = parameter(noun.one)
    figure = f"How many {column.words.removeprefix('number of ')}?"
    if not column.is_counted:
        figure = f"And what is the {column.words}?"

    names = _names(one, two)

    def ends(winner: Named, high: str, low: str) -> list[dict[str, object]]:
        name, other = names if winner is one else reversed(names)
        more, figures = column.more, f"{column.shown(high)} against {column.shown(low)}"
        return ended(
            {pick: winner.value, "value": f"${high}"},
            f"Of the two, {name} {more}: {figures} for {other}.",
            f"{name} {more.replace(' the ', ' a ')} than {other}: {figures}.",
        )

    return family(
        "compare",
        f"{noun.one}_{column.parameter}",
        f"Compare the {column.words} of two {noun.plural_words}.",
        ground,
        [
            f"Which {noun.words} {column.more}, {' or '.join(names)}? {figure}",
            f"Compare {one.words} and {two.words}: which one {column.more}? {figure}",
        ],
        [
            *one.look({"one_value": column}),
            *two.look({"two_value": column}),
            {"first": ends(one, "one_value", "two_value")},
            {"second": ends(two, "two_value", "one_value")},
        ],
        cases={"first": "ahead", "second": "NOT ahead"},
        answer={
            pick: {
                **field_of(table.column(one.columns[0])),
                "description": f"The {noun.words} with the higher {column.words}, as it was named.",
            },
            "value": field_of(column),
        },
    )
