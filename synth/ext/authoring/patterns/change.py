"""Changes of one row: with and without consent, to another parent, by condition, by the rules."""

from __future__ import annotations

from collections.abc import Iterator

from synth.ext.authoring.names import be, quoted
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    Step,
    ended,
    family,
    literal,
    nameable,
    not_taken,
    open_only,
)
from synth.ext.authoring.shape import ColumnShape, Link, TableShape


def change(sketch: Sketch) -> Iterator[Draft]:
    """Set a column that needs no consent, or a flag."""
    columns = columns_to_change(sketch, consent=False)
    yield from sketch.first(6, (_change(sketch, row, column) for row, column in columns))
    rows = [Named(sketch.tools[table.name]) for table in sketch.tables]
    flags = [
        (row, next((c for c in map(row.table.column, row.tools.marks) if c.distinct == 2), None))
        for row in rows
        if nameable(row.tools)
    ]
    yield from sketch.first(2, (_mark(sketch, row, flag) for row, flag in flags if flag))


def consent(sketch: Sketch) -> Iterator[Draft]:
    """Set a column after the user has agreed to exactly that."""
    columns = columns_to_change(sketch, consent=True)
    yield from sketch.first(5, (_change(sketch, row, column) for row, column in columns))


def columns_to_change(sketch: Sketch, *, consent: bool) -> Iterator[tuple[Named, ColumnShape]]:
    """Columns to change; one of every table first."""
    found: list[tuple[int, Named, ColumnShape]] = []
    for row in (Named(sketch.tools[table.name]) for table in sketch.tables):
        fitting = [
            row.table.column(name)
            for name in row.tools.updates
            if sketch.needs_consent(row.table, name) is consent
        ]
        found += [(rank, row, c) for rank, c in enumerate(fitting) if nameable(row.tools)]
    yield from ((row, column) for _, row, column in sorted(found, key=lambda item: item[0]))


def _old_value(row: Named, column: ColumnShape) -> str:
    """SQL for the value of a column; a number that is whole in all rows has no digits behind."""
    whole = column.kind == "number" and all(float(str(one)).is_integer() for one in column.seen)
    return f"CAST({row.col(column.name)} AS INTEGER)" if whole else row.col(column.name)


def new_value(row: Named, column: ColumnShape) -> tuple[str, list[str], list[str]]:
    """SQL for another value of a column: an expression, joins, and conditions on it."""
    old = _old_value(row, column)
    if column.is_choice:
        union = " UNION ALL ".join(f"SELECT {literal(one)} AS state" for one in column.choices)
        return "n.state", [f"JOIN ({union}) n ON n.state <> {old}"], []
    if column.kind == "integer" or old != row.col(column.name):
        step = f"1 + ({old} * 7 + {len(column.name)}) % 5"
        expression = f"{old} + {f'100 * ({step})' if column.in_cents else step}"
    else:
        expression = f"ROUND(CAST({old} AS DECIMAL(16, 4)) + 1.25, 2)"
    top = 100 if column.high is None and column.role == "share" else column.high
    limits = [] if top is None else [f"{expression} <= {top:g}"]
    return expression, [], [f"{old} IS NOT NULL", *limits]


def wishes(column: ColumnShape, words: str) -> list[str]:
    """Requests to change a column: to move on to another state, or to correct a wrong number."""
    old, new, are = column.shown("old_value"), column.shown("new_value"), be(column.words)
    if column.is_choice:
        return [f"Please set {words} to {new}.", f"{words} should be set to {new}."]
    return [
        f"Please correct {words} from {old} to {new}.",
        f"{words} {are} entered as {old}, but should be {new}. Can you correct that?",
        f"There is a mistake in {words}: we have {old}, but {new} is right.",
    ]


def done(column: ColumnShape, words: str) -> list[str]:
    """Replies to whoever wanted a column changed from one value to another."""
    was, new, are = column.shown("old_value"), column.shown("new_value"), be(column.words)
    changed = f"{words} {are} now {new}"
    return [
        f"Done: {words} {are} now {new} instead of {was}.",
        f"{changed}; the old value was {was}.",
        f"I have changed {words} from {was} to {new}.",
        f"{words} {are} {new} now instead of {was}.",
    ]


def _change(sketch: Sketch, row: Named, column: ColumnShape) -> Draft:
    table, noun = row.table, row.table.noun
    value, joins, limits = new_value(row, column)
    asks = sketch.needs_consent(table, column.name)
    words, new = f"the {column.words} of {row.words}", column.shown("new_value")
    was = column.shown("old_value")
    more: dict[str, object] = {}
    steps: list[Step] = row.read(column.name, sketch)
    if asks:
        steps.append(
            {
                "confirm": [
                    f"Shall I change {words} from {was} to {new}?",
                    f"I will set {words} to {new}, instead of {was}. Is that right?",
                    f"We have {was} as {words}. I would change that to {new}. Shall I go ahead?",
                ]
            }
        )
        more = {
            "gates": ["state", {"no_write_before": ["confirm"]}],
            "user": {
                "agrees_if": {
                    "mentions": [*(f"{{{slot}}}" for slot in row.slots.values()), new],
                    "act": ["change", "set", "update", "adjust", "put", "make"],
                }
            },
        }
    return family(
        "consent" if asks else "change",
        f"{noun.one}_{column.parameter}",
        f"Change the {column.words} of {noun.words}{' with consent' if asks else ''}.",
        row.ground(
            [f"{_old_value(row, column)} AS old_value", f"{value} AS new_value"],
            [*open_only(sketch, row), *limits, *not_taken(table, column.name, value)],
            joins,
            [value] if joins else (),
        ),
        wishes(column, words),
        [*steps, row.update({column.parameter: "{new_value}"}), {"say": done(column, words)}],
        **more,
    )


def _mark(sketch: Sketch, row: Named, column: ColumnShape) -> Draft:
    """Mark a row that is not marked."""
    noun, name = row.table.noun, row.col(column.name)
    return family(
        "change",
        f"{noun.one}_{column.parameter}",
        f"Mark {noun.words} as {column.sign}.",
        row.ground(
            where=[
                *open_only(sketch, row),
                f"({name} IS NULL OR NOT {column.is_set(row.alias)})",
                *not_taken(row.table, column.name, literal(column.yes)),
            ]
        ),
        [
            f"Please mark {row.words} as {column.sign}.",
            f"{row.words} should be marked as {column.sign} from now on.",
        ],
        [
            *row.read(column.name, sketch),
            row.update({column.parameter: column.yes}),
            {
                "say": [
                    f"Done: {row.words} is now marked as {column.sign}.",
                    f"I have marked {row.words} as {column.sign}, as you asked.",
                ]
            },
        ],
    )


def move(sketch: Sketch) -> Iterator[Draft]:
    """Give a row another parent, both named by the user."""
    found = (_move(sketch, table, link) for table in sketch.tables for link in table.links)
    yield from sketch.first(5, found)


def _move(sketch: Sketch, table: TableShape, link: Link) -> Draft | None:
    row, owner = Named(sketch.tools[table.name]), sketch.shape.tables[link.table]
    parent = Named(sketch.tools[owner.name], "n", "new_" + link.role)
    named = parent.by_name and owner.key == link.targets and owner.rows > 1 and link.is_said
    can = link.column in row.tools.moves and nameable(row.tools) and nameable(parent.tools)
    if not (named and can):
        return None
    old, target = row.col(link.column), parent.col(link.targets[0])
    itself = [f"{target} <> {row.key}"] if link.table == table.name else []
    used, rows = f"x.{quoted(link.column)}", f"FROM {quoted(table.name)} x"
    least = f"SELECT MIN({used}) {rows}"  # of those that the column has led to so far
    other = (
        f"JOIN {parent.source} ON {target} = ({least} WHERE {used} > {old})"
        f" OR ({target} = ({least}) AND {old} = (SELECT MAX({used}) {rows}))"
    )
    free = [
        *parent.conditions,
        *open_only(sketch, row),
        *itself,
        *not_taken(table, link.column, target),
    ]
    role = link.words
    return family(
        "move",
        f"{table.noun.one}_{link.role}",
        f"Give {table.noun.words} another {role}.",
        row.ground(parent.select, free, [other]),
        [
            f"Please change the {role} of {row.words} to {parent.value}.",
            f"The {role} of {row.words} should be {parent.value} from now on.",
        ],
        [
            *row.read(link.column, sketch),
            *parent.find(),
            row.update({table.parameter(link.column): parent.reference(link.targets[0])}),
            {
                "say": [
                    f"Done: the {role} of {row.words} is now {parent.value}.",
                    f"The {role} of {row.words} is now {parent.value}.",
                    f"I have changed the {role} of {row.words} to {parent.value}.",
                ]
            },
        ],
    )


SCALE = 10
"""The length of the scales on which people rate: what somebody else has said is not raised."""


def conditional(sketch: Sketch) -> Iterator[Draft]:
    """Raise a number to the least that the user names, if it is below."""
    found = (
        _conditional(sketch, row, column)
        for row, column in columns_to_change(sketch, consent=False)
        if column.role == "quantity" and column.kind == "integer" and row.tools.get
    )
    yield from sketch.first(3, found)


def _conditional(sketch: Sketch, row: Named, column: ColumnShape) -> Draft | None:
    numbers = sorted(value for value in column.seen if isinstance(value, int | float))
    low, high = column.low, column.high
    is_rated = low is not None and high is not None and high - low < SCALE
    if len(numbers) < 4 or is_rated:
        return None
    parts = {numbers[len(numbers) * part // 4] for part in (1, 2, 3)}
    limits = sorted(parts - {numbers[0], numbers[-1]})
    if not limits:
        return None
    figures = " UNION ALL ".join(
        f"SELECT {rank} AS place, {limit} AS bound" for rank, limit in enumerate(limits)
    )
    table, old = row.table, row.col(column.name)
    words = f"the {column.words} of {row.words}"
    raised: list[Step] = [
        row.update({column.parameter: "{bound}"}),
        *ended(
            {"outcome": "changed", "found": "$found"},
            f"It was {{found}}, so I have set {words} to {{bound}}.",
            f"I have set {words} to {{bound}}. It was {{found}}.",
        ),
    ]
    kept: list[Step] = ended(
        {"outcome": "unchanged", "found": "$found"},
        f"I changed nothing: {words} is {{found}}, not below {{bound}}.",
        f"{words} is {{found}}, so nothing had to change.",
    )
    return family(
        "conditional",
        f"{table.noun.one}_{column.parameter}",
        f"Raise the {column.words} of {table.noun.words} only where it is low.",
        row.ground(
            ["b.bound", f"{old} < b.bound AS low"],
            [*open_only(sketch, row), f"{old} IS NOT NULL"],
            [f"CROSS JOIN ({figures}) b"],
            ["b.place"],
        ),
        [
            f"What is {words}? If it is below {{bound}}, please raise it to that.",
            f"Please tell me {words}, and raise it to {{bound}} if it is below that.",
        ],
        [*row.read(column.name, sketch, found=column), {"low": raised}, {"enough": kept}],
        cases={"low": "low", "enough": "NOT low"},
        answer={
            "outcome": {"enum": ["changed", "unchanged"], "description": "What came of it."},
            "found": {"type": "integer", "description": f"The {column.words} before the work."},
        },
    )
