"""Requests in doubt: a name that fits nobody, a name that fits several."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from synth.ext.authoring.names import a, be, parameter, quoted
from synth.ext.authoring.patterns.answers import field_of
from synth.ext.authoring.patterns.base import Draft, Named, Sketch, family, joined, nameable, query
from synth.ext.authoring.patterns.look_up import oracle_key, worth_asking
from synth.ext.authoring.shape import ColumnShape, TableShape


def not_found(sketch: Sketch) -> Iterator[Draft]:
    """Read a value of a row that may not be there."""
    named = [table for table in sketch.tables if sketch.tools[table.name].find]
    found = (_not_found(Named(sketch.tools[table.name])) for table in named)
    yield from islice(filter(None, found), 3)


def _not_found(row: Named) -> Draft | None:
    table, noun = row.table, row.table.noun
    asked = [column for column in worth_asking(table) if not column.nulls][:1]
    if not asked:
        return None
    column = asked[0]
    field = column.parameter
    handle = row.columns[-1]
    missing = f"CONCAT({row.col(handle)}, ' {_ending(row)}')"
    select = [
        (f"{row.col(c)} AS {slot}", f"{missing if c == handle else row.col(c)} AS {slot}")
        for c, slot in row.slots.items()
    ]
    hidden = [f"{row.col(c)} AS {oracle_key(row, c)}" for c in table.key]
    both = [
        query(
            [
                f"{joined(row.key, str(kind))} AS task_key",
                *(pair[kind] for pair in select),
                *hidden,
                f"{1 - kind} AS there",
            ],
            [row.source],
            row.conditions,
        )
        for kind in (0, 1)
    ]
    told = f"the {column.words} of {row.words} {be(column.words)}"
    value = {**field_of(column), "description": f"The {column.words}, if it is there."}
    return family(
        "not_found",
        parameter(noun.one),
        f"Look for {noun.words} that may not exist, and say so if it does not.",
        f"{both[0]}UNION ALL\n{both[1]}",
        [
            f"Do we have the {row.words}? If so, what {be(column.words)} the {column.words}?",
            f"Is there {a(noun.words)} {row.value}? What {be(column.words)} the {column.words}?",
        ],
        [
            {
                "found": [
                    *row.find(),
                    row.get({f"{field}_found": f"$.{column.label}"}),
                    {"submit": {"found": True, field: f"${field}_found"}},
                    {"say": [f"Yes, {told} {{{field}_found}}."]},
                ]
            },
            {
                "missing": [
                    {
                        str(row.tools.find): {
                            row.table.parameter(c): f"{{{slot}}}" for c, slot in row.slots.items()
                        }
                    },
                    {"submit": {"found": False}},
                    {
                        "say": [
                            f"No, I could not find the {row.words} among the {noun.plural_words}."
                        ]
                    },
                ]
            },
        ],
        cases={"found": "there = 1", "missing": "there = 0"},
        answer={
            "found": {"type": "boolean", "description": f"Whether there is such {noun.words}."},
            field: value,
        },
    )


def _ending(row: Named) -> str:
    return "Junior" if row.table.of_role("person") else "Deluxe"


def ambiguous(sketch: Sketch) -> Iterator[Draft]:
    """Read a value of a row whose name fits several; the user knows which one."""
    named = [table for table in sketch.tables if sketch.tools[table.name].find]
    found = (_ambiguous(sketch, table) for table in named)
    yield from islice(filter(None, found), 3)


def _ambiguous(sketch: Sketch, table: TableShape) -> Draft | None:
    row = Named(sketch.tools[table.name])
    asked = [column for column in worth_asking(table) if not column.nulls][:2]
    if len(table.handle) != 2 or not asked or not nameable(row.tools):
        return None
    first, last = (table.column(name) for name in table.handle)
    folded = f"LOWER({quoted(last.name)})"
    shared = (
        f"LOWER({row.col(last.name)}) IN (SELECT {folded} FROM {quoted(table.name)}"
        f" GROUP BY {folded} HAVING COUNT(*) > 1)"
    )
    return _asks_which(row, first, last, asked[0], [shared, *row.conditions])


def _asks_which(
    row: Named, first: ColumnShape, last: ColumnShape, column: ColumnShape, where: list[str]
) -> Draft:
    table, noun = row.table, row.table.noun
    slots, field = row.slots, column.parameter
    topic = first.parameter
    hidden = [f"{row.col(c)} AS {oracle_key(row, c)}" for c in table.key]
    words = f"{noun.words} {{{slots[last.name]}}}"
    keys = " AND ".join(f"{quoted(c)} = :{oracle_key(row, c)}" for c in table.key)
    return family(
        "ambiguous",
        parameter(noun.one),
        f"Ask for the {first.words} where the {last.words} fits several.",
        query([f"{row.key} AS task_key", *row.select, *hidden], [row.source], where),
        [
            f"What {be(column.words)} the {column.words} of {words}?",
            f"Could you tell me the {column.words} for {words}?",
        ],
        [
            {str(row.tools.find): {last.parameter: f"{{{slots[last.name]}}}"}},
            {"ask": topic},
            *row.find(),
            row.get({f"{field}_found": f"$.{column.label}"}),
            {"submit": {field: f"${field}_found"}},
            {"say": [f"The {column.words} {be(column.words)} {{{field}_found}}."]},
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
        oracle={field: f"SELECT {quoted(column.name)} FROM {quoted(table.name)} WHERE {keys}"},
    )
