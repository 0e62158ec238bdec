"""Requests in doubt: a name that fits nobody, a name that fits several."""

from __future__ import annotations

from collections.abc import Iterator

from synth.ext.authoring.names import a, be, quoted
from synth.ext.authoring.patterns.answers import asked_for, field_of, told
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    ended,
    family,
    literal,
    nameable,
)
from synth.ext.authoring.patterns.look_up import worth_asking
from synth.ext.authoring.patterns.values import new_texts
from synth.ext.authoring.shape import ColumnShape, TableShape


def not_found(sketch: Sketch) -> Iterator[Draft]:
    """Read a value of a row that may not be there."""
    named = [table for table in sketch.tables if sketch.tools[table.name].find]
    yield from sketch.first(2, (_not_found(Named(sketch.tools[table.name])) for table in named))


def _not_found(row: Named) -> Draft | None:
    table, noun = row.table, row.table.noun
    asked = worth_asking(table)
    fresh = zip(*(new_texts(table, table.column(one)) for one in row.columns), strict=False)
    values = [[literal("-".join(texts)), *map(literal, texts), "0"] for texts in fresh]
    if not asked or not values or not nameable(row.tools):
        return None
    column = min(asked, key=lambda one: bool(one.verb))
    field = column.parameter
    there = row.ground(["1 AS there"], row.filled(column), by=["1"])
    missing = "".join(f"UNION ALL SELECT {', '.join(one)}\n" for one in values)
    fact = told(row.words, {f"{field}_found": column})[0]
    fact = fact[:1].upper() + fact[1:]
    maybe = a(table.column(row.columns[-1]).called(noun.words, row.value))
    wanted = f"what {be(column.words)} the {column.words}?"
    wanted = f"when was it {column.verb}?" if column.verb else wanted
    value = {**field_of(column), "description": f"The {column.words}, if it is there."}
    return family(
        "not_found",
        noun.one,
        f"Look for {noun.words} that may not exist, and say so if it does not.",
        f"{there}{missing}",
        [f"Do we have {maybe}? If so, {wanted}", f"Is there {maybe}? If there is, {wanted}"],
        [
            {
                "found": [
                    *row.look({f"{field}_found": column}),
                    *ended(
                        {"found": True, field: f"${field}_found"},
                        f"Yes. {fact}",
                        f"Yes, I found it. {fact}",
                    ),
                ]
            },
            {
                "missing": [
                    row.seek(),
                    *ended(
                        {"found": False},
                        f"No, I could not find {maybe}.",
                        f"I looked for {maybe}, but I could not find one.",
                    ),
                ]
            },
        ],
        cases={"found": "there = 1", "missing": "there = 0"},
        answer={
            "found": {"type": "boolean", "description": f"Whether there is such {a(noun.words)}."},
            field: value,
        },
    )


def ambiguous(sketch: Sketch) -> Iterator[Draft]:
    """Read a value of a row whose name fits several; the user knows which one."""
    named = [table for table in sketch.tables if sketch.tools[table.name].find]
    yield from sketch.first(3, (_ambiguous(sketch, table) for table in named))


def _ambiguous(sketch: Sketch, table: TableShape) -> Draft | None:
    row = Named(sketch.tools[table.name])
    asked = worth_asking(table)
    if len(table.handle) != 2 or not asked or not nameable(row.tools):
        return None
    first, last = (table.column(name) for name in table.handle)
    folded = f"LOWER({quoted(last.name)})"
    shared = (
        f"LOWER({row.col(last.name)}) IN (SELECT {folded} FROM {quoted(table.name)}"
        f" GROUP BY {folded} HAVING COUNT(*) > 1)"
    )
    return _asks_which(row, first, last, asked[0], [shared, *row.filled(asked[0])])


def _asks_which(
    row: Named, first: ColumnShape, last: ColumnShape, column: ColumnShape, where: list[str]
) -> Draft:
    table, noun = row.table, row.table.noun
    slots, field = row.slots, column.parameter
    topic = first.parameter
    same = f"LOWER(same.{quoted(last.name)}) = LOWER({row.col(last.name)})"
    before = f"{Named(row.tools, 'same').key} < {row.key}"
    place = f"SELECT COUNT(*) FROM {quoted(table.name)} same WHERE {same} AND {before}"
    words, found = f"the {noun.words} {{{slots[last.name]}}}", f"$.{noun.many}[{{place}}]"
    return family(
        "ambiguous",
        noun.one,
        f"Ask for the {first.words} where the {last.words} fits several.",
        row.ground([*row.hidden, f"({place}) AS place"], where),
        asked_for(words, [column]),
        [
            {
                str(row.tools.find): {last.parameter: f"{{{slots[last.name]}}}"},
                "save": {row.saved(c): f"{found}.{table.column(c).label}" for c in table.key},
            },
            {"ask": topic},
            {
                str(row.tools.get): row.key_arguments(),
                "save": {f"{field}_found": f"$.{column.label}"},
            },
            *ended({field: f"${field}_found"}, *told(row.words, {f"{field}_found": column})),
        ],
        user={
            "knows": {
                topic: {
                    "says": [f"{{{slots[first.name]}}}.", f"I mean {{{slots[first.name]}}}."],
                    "asked": [
                        (
                            f"Several {noun.plural_words} have this {last.words}. What is the"
                            f" {first.words}?"
                        )
                    ],
                    "words": [first.words, "which", "whom", "who"],
                }
            }
        },
        answer={field: field_of(column)},
        oracle={
            field: f"SELECT {quoted(column.name)} FROM {quoted(table.name)} WHERE"
            f" {row.oracle_where}"
        },
    )
