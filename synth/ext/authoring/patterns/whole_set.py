"""Work on all rows that fit, and on the one that stands out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from synth.ext.authoring.names import be, parameter, quoted
from synth.ext.authoring.patterns.aggregate import SHORT, families_of, whose
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    Step,
    family,
    literal,
    placed,
    query,
)
from synth.ext.authoring.shape import ColumnShape, Link, TableShape
from synth.ext.authoring.toolset import closed


def for_each(sketch: Sketch) -> Iterator[Draft]:
    """Change all rows of a parent, or all in one state."""
    found = (_for_each(sketch, *item) for item in families_of(sketch))
    yield from islice(filter(None, found), 3)


def greatest_then_act(sketch: Sketch) -> Iterator[Draft]:
    """Change the row of a parent that has the greatest value."""
    found = (_greatest(sketch, *item) for item in families_of(sketch))
    yield from islice(filter(None, found), 3)


def _target(sketch: Sketch, child: TableShape) -> tuple[ColumnShape, object] | None:
    """A column of a child that is changed without consent, and its new value."""
    if len(child.key) != 1:
        return None
    columns = [child.column(name) for name in sketch.tools[child.name].updates]
    free = [
        column
        for column in columns
        if not sketch.needs_consent(child, column.name) and not placed(child, column.name)
    ]
    for column in free:
        value = _other_value(child, column)
        if value is not None:
            return column, value
    return None


def _other_value(child: TableShape, column: ColumnShape) -> object | None:
    """One value that any row may be given."""
    if column.role == "status":
        shut = closed(child)
        states = [choice for choice in column.choices if shut is None or choice not in shut[1]]
        return states[-1] if len(states) > 1 else None
    if column.kind != "integer":
        return None
    top = max((value for value in column.seen if isinstance(value, int)), default=0) + 3
    return top if column.high is None or top <= column.high else None


def _key(parent: Named, child: TableShape, link: Link) -> dict[str, object]:
    return {child.parameter(link.column): parent.reference(parent.table.key[0])}


def _open(child: TableShape) -> str:
    """A condition that no row of a parent is closed by the rules."""
    shut = closed(child)
    if shut is None:
        return ""
    column, states = shut
    return f"c.{quoted(column.name)} IN ({', '.join(map(literal, states))})"


def _for_each(sketch: Sketch, parent: Named, child: TableShape, link: Link) -> Draft | None:
    marks = [child.column(name) for name in sketch.tools[child.name].marks if child.single_key]
    flags = [(flag, True if flag.kind == "boolean" else 1) for flag in marks]
    target = _target(sketch, child) or next(iter(flags), None)
    if target is None:
        return None
    column, value = target
    tools, noun = sketch.tools[child.name], child.noun
    rows = f"FROM {quoted(child.name)} c WHERE c.{quoted(link.column)} = " + parent.col(
        parent.table.key[0]
    )
    where = [
        *parent.conditions,
        (
            f"(SELECT COUNT(*) {rows} AND c.{quoted(column.name)} <> {literal(value)})"
            f" BETWEEN 1 AND {SHORT}"
        ),
        f"(SELECT COUNT(*) {rows}) BETWEEN 1 AND {SHORT}",
    ]
    shut = _open(child)
    if shut:
        where.append(f"NOT EXISTS (SELECT 1 {rows} AND {shut})")
    key = child.key[0]
    rows = f"all {noun.plural_words} {whose(parent, link)}"
    words = f"the {column.words} of {rows}"
    says = [
        f"Please set {words} to {{new_value}}.",
        f"{words[:1].upper()}{words[1:]} should be {{new_value}} from now on. Can you see to it?",
    ]
    done = f"Done: {words} {be(column.words)} now {{new_value}}."
    if column.mark:
        says = [
            f"Please mark {rows} as {column.mark}.",
            f"{rows[:1].upper()}{rows[1:]} should be marked as {column.mark}.",
        ]
        done = f"Done: {rows} are marked as {column.mark} now."
    keys = f"{parameter(noun.one)}_keys"
    loop: Step = {
        "row": f"${keys}",
        "do": [
            {
                str(tools.update): {
                    child.parameter(key): "$row",
                    column.parameter: value if column.mark else "{new_value}",
                }
            }
        ],
    }
    return family(
        "for_each",
        f"{parameter(parent.table.noun.one)}_{parameter(noun.many)}_{column.parameter}",
        f"Change every {noun.words} of one {parent.table.noun.words}.",
        query(
            [f"{parent.key} AS task_key", *parent.select, f"{literal(value)} AS new_value"],
            [parent.source],
            where,
        ),
        says,
        [
            *parent.find(),
            {
                str(tools.list_): _key(parent, child, link),
                "save": {keys: f"$.{noun.many}[*].{child.column(key).label}"},
            },
            {"for_each": loop},
            {"say": [done]},
        ],
    )


def _greatest(sketch: Sketch, parent: Named, child: TableShape, link: Link) -> Draft | None:
    target = _target(sketch, child)
    tools, noun = sketch.tools[child.name], child.noun
    sorts = [child.column(name) for name in tools.sorts]
    by = next((c for c in sorts if c.distinct > 2 and not c.nulls), None)
    if target is None or by is None or by.name == target[0].name:
        return None
    column, value = target
    rows = f"FROM {quoted(child.name)} c WHERE c.{quoted(link.column)} = " + parent.col(
        parent.table.key[0]
    )
    top = f"(SELECT MAX(c.{quoted(by.name)}) {rows})"
    best = f"{rows} AND c.{quoted(by.name)} = {top}"
    where = [
        *parent.conditions,
        f"(SELECT COUNT(*) {rows}) > 1",
        f"(SELECT COUNT(*) {best}) = 1",
        f"EXISTS (SELECT 1 {best} AND c.{quoted(column.name)} <> {literal(value)})",
    ]
    shut = _open(child)
    if shut:
        where.append(f"NOT EXISTS (SELECT 1 {best} AND {shut})")
    superlative = "latest" if by.role == "moment" else "highest"
    key = child.key[0]
    found = f"{parameter(noun.one)}_key"
    words = f"the {noun.words} {whose(parent, link)} with the {superlative} {by.words}"
    return family(
        "greatest_then_act",
        f"{parameter(parent.table.noun.one)}_{parameter(noun.one)}_{column.parameter}",
        f"Find the {noun.words} with the {superlative} {by.words} and change it.",
        query(
            [f"{parent.key} AS task_key", *parent.select, f"{literal(value)} AS new_value"],
            [parent.source],
            where,
        ),
        [
            f"Find {words} and set its {column.words} to {{new_value}}.",
            f"Please set the {column.words} of {words} to {{new_value}}, and no other one.",
        ],
        [
            *parent.find(),
            {
                str(tools.list_): {
                    **_key(parent, child, link),
                    "order_by": by.label,
                    "descending": True,
                },
                "save": {found: f"$.{noun.many}[0].{child.column(key).label}"},
            },
            {
                str(tools.update): {
                    child.parameter(key): f"${found}",
                    column.parameter: "{new_value}",
                }
            },
            {"say": [f"Done: the {column.words} of {words} {be(column.words)} now {{new_value}}."]},
        ],
    )
