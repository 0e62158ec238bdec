"""Comparisons of two rows that the user names."""

from __future__ import annotations

from collections.abc import Iterator

from synth.core.personal.guess import is_of_people
from synth.ext.authoring.names import parameter, quoted
from synth.ext.authoring.patterns.answers import field_of
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
from synth.ext.authoring.roles import COMPARED
from synth.ext.authoring.shape import ColumnShape, TableShape


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


def _has_currencies(sketch: Sketch, table: TableShape, column: ColumnShape) -> bool:
    """True for an amount whose row, or what that belongs to, names one of several currencies."""
    near = [table, *(sketch.shape.tables[link.table] for link in table.links)]
    return column.role == "money" and any(c.currency for one in near for c in one.columns)


def _compare(sketch: Sketch, name: str, column: ColumnShape) -> Draft | None:
    tools = sketch.tools[name]
    table, noun = tools.table, tools.table.noun
    alone = len(table.key) == 1 and not table.link_of(table.key[0])
    if not nameable(tools) or not (alone or tools.find):
        return None
    one = Named(tools, "a", f"first_{noun.one}")
    two = Named(tools, "b", f"second_{noun.one}")
    left, right = one.col(column.name), two.col(column.name)
    key, rows = Named(tools, "x").key, f"FROM {quoted(table.name)} x WHERE"
    beside = (f"SELECT MIN({key}) {rows} {key} >", f"SELECT MAX({key}) {rows} {key} <")
    pair = " OR ".join(f"{two.key} = ({other} {one.key})" for other in beside)
    together = joined(one.key, two.key)
    ground = query(
        [f"{together} AS task_key", *one.select, *two.select, f"{left} > {right} AS ahead"],
        [one.source, f"JOIN {two.source} ON {pair}"],
        [*one.conditions, *two.conditions, f"{left} <> {right}"],
    )
    pick = parameter(noun.one)
    figure = f"How many {column.words.removeprefix('number of ')}?"
    if not column.is_counted:
        figure = f"And what is the {column.words}?"

    names = [row.value if row.by_name else row.words for row in (one, two)]

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
