"""Changes that are refused: by a check of the database, or by a rule that the tools do not know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synth.ext.authoring.names import a, parameter
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    ended,
    family,
    literal,
    nameable,
    open_only,
    placed,
)
from synth.ext.authoring.patterns.change import columns_to_change, done, new_value, wishes
from synth.ext.authoring.shape import ColumnShape, TableShape
from synth.ext.authoring.toolset import closed


def refuse_check(sketch: Sketch) -> Iterator[Draft]:
    """Set a value within a bound, or say that a check of the database forbids it."""
    found = (_refuse_check(sketch, row, c) for row, c in columns_to_change(sketch, consent=False))
    yield from sketch.first(3, found)


def _refuse_check(sketch: Sketch, row: Named, column: ColumnShape) -> Draft | None:
    if column.high is None or column.kind != "integer":
        return None
    noun, old, high = row.table.noun, row.col(column.name), int(column.high)
    fine = f"CASE WHEN {old} < {high} THEN {old} + 1 ELSE {old} - 1 END"
    grounds = [
        row.ground(
            [f"{old} AS old_value", f"{value} AS new_value", f"{wrong} AS wrong"],
            [*open_only(sketch, row), f"{old} IS NOT NULL"],
            by=[str(wrong)],
        )
        for wrong, value in ((0, fine), (1, f"{high} + 1 + {old} % 7"))
    ]
    words = f"the {column.words} of {row.words}"
    call = row.update({column.parameter: "{new_value}"})
    return family(
        "refuse_check",
        f"{noun.one}_{column.parameter}",
        f"{a(column.words)} beyond its bound is refused by the database.",
        f"{grounds[0]}UNION ALL\n{grounds[1]}",
        wishes(column, words),
        [
            *row.read(column.name, sketch),
            {"fine": [call, *ended({"outcome": "changed"}, *done(column, words))]},
            {
                "beyond": [
                    {**call, "fails": "check_violation"},
                    *ended(
                        {"outcome": "refused"},
                        f"I can't do that: {words} cannot be above {high}.",
                        f"Nothing was changed, as {words} cannot be above {high}.",
                    ),
                ]
            },
        ],
        cases={"fine": "wrong = 0", "beyond": "wrong = 1"},
        answer={"outcome": {"enum": ["changed", "refused"], "description": "What came of it."}},
    )


def refuse_state(sketch: Sketch) -> Iterator[Draft]:
    """Change a row, or refuse because its state closes it."""
    yield from sketch.first(6, (_refuse_closed(sketch, table) for table in sketch.tables))


def _refuse_closed(sketch: Sketch, table: TableShape) -> Draft | None:
    row, found = Named(sketch.tools[table.name]), closed(table)
    if found is None or not nameable(row.tools) or None in (row.tools.get, row.tools.update):
        return None
    others = [
        table.column(name)
        for name in row.tools.updates
        if table.column(name).role == "quantity" and not sketch.needs_consent(table, name)
    ]
    if others:
        value, _, limits = new_value(row, others[0])
        return _refuse_state(sketch, row, found, others[0], value, limits)
    if sketch.needs_consent(table, found[0].name) or placed(table, found[0].name):
        return None
    return _refuse_status(sketch, row, found)


def _refuse_status(sketch: Sketch, row: Named, found: tuple[ColumnShape, Sequence[str]]) -> Draft:
    column, states = found
    fresh = [str(choice) for choice in column.choices if choice not in states]
    fresh = fresh if len(fresh) > 1 else list(states)
    old = row.col(column.name)
    first, second = literal(fresh[0]), literal(fresh[-1])
    value = f"CASE WHEN {old} = {first} THEN {second} ELSE {first} END"
    limits = [f"{old} <> {value}", f"{old} IS NOT NULL"]
    return _refuse_state(sketch, row, found, column, value, limits)


def _refuse_state(
    sketch: Sketch,
    row: Named,
    found: tuple[ColumnShape, Sequence[str]],
    changed: ColumnShape,
    value: str,
    limits: Sequence[str],
) -> Draft:
    (column, states), words = found, changed.words
    noun, shut = row.table.noun, f"{row.col(column.name)} IN ({', '.join(map(literal, states))})"
    what = f"the {words} of {row.words}"
    return family(
        "refuse_state",
        f"{noun.one}_{parameter(words.replace(' ', '_'))}",
        f"{a(noun.words)} whose {column.words} closes it is not changed, though the tool would.",
        row.ground(
            [f"{row.col(changed.name)} AS old_value", f"{value} AS new_value", f"{shut} AS shut"],
            [f"{row.col(column.name)} IS NOT NULL", *limits, *open_only(sketch, row)[1:]],
        ),
        wishes(changed, what),
        [
            *row.read(column.name, sketch, state=column),
            {
                "open": [
                    row.update({changed.parameter: "{new_value}"}),
                    *ended({"decision": "changed"}, *done(changed, what)),
                ]
            },
            {
                "shut": ended(
                    {"decision": "refused"},
                    f"I can't change {row.words}: its {column.words} is {{state}}. It stays as it"
                    " is.",
                    f"Nothing was changed: the {column.words} of {row.words} is {{state}}, and our"
                    " rules do not allow that change then.",
                )
            },
        ],
        cases={"open": "NOT shut", "shut": "shut"},
        answer={"decision": {"enum": ["changed", "refused"], "description": "What came of it."}},
    )
