"""Changes of one row: with and without consent, to another parent, by condition, by the rules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from synth.ext.authoring.names import be, parameter, quoted
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    Step,
    family,
    joined,
    literal,
    nameable,
    not_taken,
    open_only,
    query,
)
from synth.ext.authoring.shape import ColumnShape, Link, TableShape
from synth.ext.authoring.toolset import closed, is_noun, role_of, role_words


def change(sketch: Sketch) -> Iterator[Draft]:
    """Set a column that needs no consent, or a flag."""
    yield from islice(
        (_change(sketch, row, c) for row, c in columns_to_change(sketch, consent=False)), 4
    )
    rows = [Named(sketch.tools[table.name]) for table in sketch.tables]
    flags = [
        (row, next((c for c in map(row.table.column, row.tools.marks) if c.distinct == 2), None))
        for row in rows
        if nameable(row.tools)
    ]
    yield from islice((_mark(sketch, row, flag) for row, flag in flags if flag), 2)


def consent(sketch: Sketch) -> Iterator[Draft]:
    """Set a column after the user has agreed to exactly that."""
    yield from islice(
        (_change(sketch, row, c) for row, c in columns_to_change(sketch, consent=True)), 4
    )


def columns_to_change(sketch: Sketch, *, consent: bool) -> Iterator[tuple[Named, ColumnShape]]:
    """Columns to change; one of every table first."""
    found: list[tuple[int, int, Named, ColumnShape]] = []
    for table in sketch.tables:
        row = Named(sketch.tools[table.name])
        if nameable(row.tools):
            fitting = [
                table.column(name)
                for name in row.tools.updates
                if sketch.needs_consent(table, name) is consent and name not in table.joint
            ]
            found += [(rank, -table.rows, row, c) for rank, c in enumerate(fitting)]
    found.sort(key=lambda item: item[:2])
    yield from ((row, column) for _, _, row, column in found)


def new_value(row: Named, column: ColumnShape) -> tuple[str, list[str], list[str]]:
    """SQL for another value of a column: an expression, joins, and conditions on it."""
    old = row.col(column.name)
    if column.is_choice:
        states = [c for c in column.choices if c not in (closed(row.table) or (None, []))[1]]
        union = " UNION ALL ".join(f"SELECT {literal(state)} AS state" for state in states)
        return "n.state", [f"JOIN ({union}) n ON n.state <> {old}"], []
    if column.kind == "integer":
        expression = f"{old} + 1 + ({old} * 7 + {len(column.name)}) % 5"
    else:
        expression = f"ROUND(CAST({old} AS DECIMAL(16, 4)) + 1.25, 2)"
    limits = [] if column.high is None else [f"{expression} <= {column.high:g}"]
    return expression, [], [f"{old} IS NOT NULL", *limits]


def _change(sketch: Sketch, row: Named, column: ColumnShape) -> Draft:
    table, noun = row.table, row.table.noun
    value, joins, limits = new_value(row, column)
    asks = sketch.needs_consent(table, column.name)
    key = joined(row.key, value) if joins else row.key
    ground = query(
        [f"{key} AS task_key", *row.select, f"{value} AS new_value"],
        [row.source, *joins],
        [
            *row.conditions,
            *open_only(sketch, table),
            *limits,
            *not_taken(table, column.name, value),
        ],
    )
    call: Step = {str(row.tools.update): {**row.key_arguments(), column.parameter: "{new_value}"}}
    words = f"the {column.words} of {row.words}"
    more: dict[str, object] = {}
    steps: list[Step] = [*row.read()]
    if asks:
        steps.append(
            {
                "confirm": [
                    f"Shall I change {words} to {{new_value}}?",
                    f"I would set {words} to {{new_value}}. Is that right?",
                ]
            }
        )
        more = {
            "gates": ["state", {"no_write_before": ["confirm"]}],
            "user": {
                "agrees_if": {
                    "mentions": [*(f"{{{slot}}}" for slot in row.slots.values()), "{new_value}"],
                    "act": ["change", "set", "update", "adjust", "put", "make"],
                }
            },
        }
    return family(
        "consent" if asks else "change",
        f"{parameter(noun.one)}_{column.parameter}",
        f"Change the {column.words} of {noun.words}{' with consent' if asks else ''}.",
        ground,
        [
            f"Please set {words} to {{new_value}}.",
            f"Could you change {words} to {{new_value}}?",
            (
                f"{row.words.capitalize() if not row.by_name else row.words}: {column.words} should"
                " be {new_value} from now on."
            ),
        ],
        [*steps, call, {"say": _done(words, be(column.words))}],
        **more,
    )


def _mark(sketch: Sketch, row: Named, column: ColumnShape) -> Draft:
    """Mark a row that is not marked."""
    noun, name = row.table.noun, row.col(column.name)
    yes = True if column.kind == "boolean" else 1
    return family(
        "change",
        f"{parameter(noun.one)}_{column.parameter}",
        f"Mark {noun.words} as {column.mark}.",
        query(
            [f"{row.key} AS task_key", *row.select],
            [row.source],
            [
                *row.conditions,
                *open_only(sketch, row.table),
                f"({name} IS NULL OR NOT {column.is_set(row.alias)})",
                *not_taken(row.table, column.name, literal(yes)),
            ],
        ),
        [
            f"Please mark {row.words} as {column.mark}.",
            f"{row.words} should be marked as {column.mark} from now on.",
        ],
        [
            *row.read(),
            {str(row.tools.update): {**row.key_arguments(), column.parameter: yes}},
            {"say": [f"Done: {row.words} is now marked as {column.mark}."]},
        ],
    )


def _done(words: str, verb: str) -> list[str]:
    return [f"Done: {words} {verb} now {{new_value}}.", f"I have set {words} to {{new_value}}."]


def move(sketch: Sketch) -> Iterator[Draft]:
    """Give a row another parent, both named by the user."""
    found = (_move(sketch, table, link) for table in sketch.tables for link in table.links)
    yield from islice(filter(None, found), 4)


def movable(sketch: Sketch, table: TableShape, link: Link) -> tuple[Named, Named] | None:
    """The row and its parent as a person names them; None where that cannot be done."""
    tools, parent = sketch.tools[table.name], sketch.shape.tables[link.table]
    if link.column not in tools.moves or not nameable(tools) or parent.rows < 2:
        return None
    prefix = "new_" + role_of(link.column)
    row, other = Named(tools), Named(sketch.tools[parent.name], "n", prefix)
    named = nameable(other.tools) and other.by_name and parent.key == (link.target,)
    return (row, other) if named and is_noun(role_of(link.column)) else None


def _move(sketch: Sketch, table: TableShape, link: Link) -> Draft | None:
    pair = movable(sketch, table, link)
    if pair is None:
        return None
    row, parent = pair
    old, target = row.col(link.column), parent.col(link.target)
    itself = [f"{target} <> {row.key}"] if link.table == table.name else []
    used, rows = f"x.{quoted(link.column)}", f"FROM {quoted(table.name)} x"
    least = f"SELECT MIN({used}) {rows}"  # of those that the column has led to so far
    ground = query(
        [f"{row.key} AS task_key", *row.select, *parent.select],
        [
            row.source,
            (
                f"JOIN {parent.source} ON {target} = ({least} WHERE {used} > {old})"
                f" OR ({target} = ({least}) AND {old} = (SELECT MAX({used}) {rows}))"
            ),
        ],
        [
            *row.conditions,
            *parent.conditions,
            *open_only(sketch, table),
            *itself,
            *not_taken(table, link.column, target),
        ],
    )
    role = role_words(link.column)
    steps: list[Step] = [
        *row.read(),
        *parent.find(),
        {
            str(row.tools.update): {
                **row.key_arguments(),
                table.parameter(link.column): parent.reference(link.target),
            }
        },
        {
            "say": [
                f"Done: the {role} of {row.words} is now {parent.value}.",
                f"{parent.value} is now the {role} of {row.words}.",
            ]
        },
    ]
    return family(
        "move",
        f"{parameter(table.noun.one)}_{role_of(link.column)}",
        f"Give {table.noun.words} another {role}.",
        ground,
        [
            f"Please make {parent.value} the {role} of {row.words}.",
            f"Change the {role} of {row.words} to {parent.value}.",
            f"The {role} of {row.words} should be {parent.value} from now on.",
        ],
        steps,
    )


def conditional(sketch: Sketch) -> Iterator[Draft]:
    """Change a number only if it is below a figure that the user names."""
    found = (
        _conditional(sketch, row, column)
        for row, column in columns_to_change(sketch, consent=False)
        if column.role == "quantity" and column.distinct > 3 and row.tools.get
    )
    yield from islice(filter(None, found), 3)


def _conditional(sketch: Sketch, row: Named, column: ColumnShape) -> Draft | None:
    numbers = sorted(value for value in column.seen if isinstance(value, int | float))
    if len(numbers) < 4:
        return None
    middle, top = numbers[len(numbers) // 2], numbers[-1]
    wanted = top + 5 if column.high is None or top + 5 <= column.high else top
    if wanted <= middle:
        return None
    table, old = row.table, row.col(column.name)
    ground = query(
        [f"{row.key} AS task_key", *row.select, f"{old} < {middle} AS low"],
        [row.source],
        [*row.conditions, *open_only(sketch, table), f"{old} IS NOT NULL"],
    )
    words = f"the {column.words} of {row.words}"
    many = be(column.words) == "are"
    it, was, now = ("them", "They were", "are they") if many else ("it", "It was", "is it")
    raised: list[Step] = [
        {str(row.tools.update): {**row.key_arguments(), column.parameter: wanted}},
        {"submit": {"outcome": "changed", "found": "$found"}},
        {"say": [f"{was} {{found}}, so I have set {words} to {wanted}."]},
    ]
    kept: list[Step] = [
        {"submit": {"outcome": "unchanged", "found": "$found"}},
        {"say": [f"Nothing is changed: {words} {be(column.words)} {{found}}, not below {middle}."]},
    ]
    return family(
        "conditional",
        f"{parameter(table.noun.one)}_{column.parameter}",
        f"Raise the {column.words} of {table.noun.words} only where it is low.",
        ground,
        [
            (
                f"If {words} {be(column.words)} below {middle}, set {it} to {wanted}; otherwise"
                f" leave {it}. What {now} now?"
            ),
            (
                f"Check {words}. Below {middle} it should go up to {wanted}, else change nothing;"
                " tell me the figure that you found."
            ),
        ],
        [*row.find(), row.get({"found": f"$.{column.label}"}), {"low": raised}, {"enough": kept}],
        cases={"low": "low", "enough": "NOT low"},
        answer={
            "outcome": {"enum": ["changed", "unchanged"], "description": "What came of it."},
            "found": {
                "type": "integer" if column.kind == "integer" else "number",
                "description": f"The {column.words} before the work.",
            },
        },
    )
