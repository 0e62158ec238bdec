"""Work on all rows that fit, and on the one that stands out."""

from __future__ import annotations

from collections.abc import Iterator

from synth.ext.authoring.names import be, quoted
from synth.ext.authoring.patterns.aggregate import Children, families_of
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    family,
    literal,
    open_only,
    placed,
)
from synth.ext.authoring.patterns.change import wishes
from synth.ext.authoring.shape import ColumnShape, Link
from synth.ext.authoring.toolset import closed


def for_each(sketch: Sketch) -> Iterator[Draft]:
    """Change all rows of a parent."""
    yield from sketch.first(4, (_for_each(sketch, rows) for rows in families_of(sketch)))


def greatest_then_act(sketch: Sketch) -> Iterator[Draft]:
    """Change the row of a parent that has the greatest value."""
    yield from sketch.first(4, (_greatest(sketch, rows) for rows in families_of(sketch)))


def _target(
    sketch: Sketch, rows: Children, *, together: bool = False
) -> tuple[ColumnShape, object] | None:
    """A column that is changed without consent, and its new value; none of the rows of a value that
    lists hold, such as a currency: nothing happens to these ``together``, nor have they one number.
    """
    if len(rows.table.key) != 1 or rows.parent.table.is_value:
        return None
    for column in map(rows.table.column, rows.tools.updates):
        kept = sketch.needs_consent(rows.table, column.name) or placed(rows.table, column.name)
        number = together and not column.is_choice
        value = None if kept or number else _other_value(rows, column)
        if value is not None:
            return column, value
    return None


def _other_value(rows: Children, column: ColumnShape) -> object | None:
    """One value that any row may be given."""
    if column.role == "status":
        shut = closed(rows.table)
        states = [choice for choice in column.choices if shut is None or choice not in shut[1]]
        return states[-1] if len(states) > 1 else None
    if column.kind != "integer":
        return None
    top = max((value for value in column.seen if isinstance(value, int)), default=0) + 3
    return top if column.high is None or top <= column.high else None


def _none(rows: Children, source: str, column: ColumnShape, value: object) -> list[str]:
    """Conditions that none of the rows of a source has this value, or is closed by the rules."""
    alike = [(column, [value]), *filter(None, [closed(rows.table)])]
    return [
        f"NOT EXISTS (SELECT 1 {source} AND c.{quoted(one.name)}"
        f" IN ({', '.join(map(literal, values))}))"
        for one, values in alike
    ]


def _others(sketch: Sketch, rows: Children) -> list[Link]:
    """The links to other owners of the rows, whose state may close them."""
    return [one for one in Named(rows.tools).closing(sketch) if one != rows.link]


def _for_each(sketch: Sketch, rows: Children) -> Draft | None:
    marks = [rows.table.column(name) for name in rows.tools.marks]
    flags = [(flag, flag.yes) for flag in marks if len(rows.table.key) == 1]
    target = _target(sketch, rows, together=True) or next(iter(flags), None)
    if target is None or _others(sketch, rows):
        return None
    (column, value), key = target, rows.table.key[0]
    says = wishes(column, f"the {column.words} of each {rows.noun.words} {rows.whose}")
    reply = f"I have set the {column.words} of the {{count}} {rows.words} to {{new_value}}."
    if column.mark:
        says = [
            f"Please mark all {rows.words} as {column.sign}.",
            f"All {rows.words} should be marked as {column.sign}.",
        ]
        reply = f"Done: the {{count}} {rows.words} are now marked as {column.sign}."
    keys = f"{rows.noun.one}_keys"
    new = {column.parameter: value if column.mark else "{new_value}"}
    call = {str(rows.tools.update): {rows.table.parameter(key): "$row", **new}}
    label = rows.table.column(key).label
    return family(
        "for_each",
        rows.named(rows.noun.many, column.parameter),
        f"Change every {rows.noun.words} of one {rows.parent.table.noun.words}.",
        rows.ground(
            [*open_only(sketch, rows.parent), *_none(rows, rows.source, column, value)],
            f"{literal(value)} AS new_value",
            least=2,
        ),
        says,
        [
            *rows.listed(
                {keys: f"$.{rows.noun.many}[*].{label}", "count": "$.count"}, {}, changes=True
            ),
            {"for_each": {"row": f"${keys}", "do": [call]}},
            {"say": [reply]},
        ],
    )


def _greatest(sketch: Sketch, rows: Children) -> Draft | None:
    target, by, noun = _target(sketch, rows), rows.first_by(), rows.noun
    if target is None or by is None or by.name == target[0].name:
        return None
    (column, value), key = target, rows.table.key[0]
    best, found = rows.first(by), f"{noun.one}_key"
    words = f"the {by.most(noun.words, rows.whose)}"
    row = Named(rows.tools, "c", f"found_{noun.one}")
    links = _others(sketch, rows)
    ids = [(one, f"{row.slot}_{rows.table.column(one).label}") for k in links for one in k.columns]
    saved = [*row.slots.items(), (key, found), (column.name, "found_before"), *ids]
    new, before = column.shown("new_value"), column.shown("found_before")
    save = {name: rows.table.column(one).label for one, name in saved}
    named = map(rows.table.column, row.columns)
    known = [f"(SELECT COUNT(*) {best}) = 1", *rows.known(by, *named)]
    free = f"EXISTS (SELECT 1 {' AND '.join([best, *open_only(sketch, row)])})"
    owners = [sketch.tools[link.table] for link in links]
    return family(
        "greatest_then_act",
        rows.named(noun.one, column.parameter),
        f"Find the {by.most(noun.words, '')} and change it.",
        rows.ground(
            [*known, free, *open_only(sketch, rows.parent), *_none(rows, best, column, value)],
            f"{literal(value)} AS new_value",
            least=2,
        ),
        [
            f"Please find {words} and set its {column.words} to {{new_value}}.",
            f"{words} should have its {column.words} set to {{new_value}}.",
        ],
        [
            *rows.listed(
                {name: f"$.{noun.many}[0].{label}" for name, label in save.items()},
                {"order_by": by.label, "descending": True},
                changes=True,
            ),
            *(
                {str(owner.get): row.owner_key(link, owner.table)}
                for link, owner in zip(links, owners, strict=True)
            ),
            {
                str(rows.tools.update): {
                    rows.table.parameter(key): f"${found}",
                    column.parameter: "{new_value}",
                }
            },
            {
                "say": [
                    (
                        f"{words} is {row.told}; its {column.words}"
                        f" {be(column.words)} now {new}, instead of {before}."
                    ),
                    (
                        f"{words} is {row.told}. I have changed its {column.words} from"
                        f" {before} to {new}."
                    ),
                ]
            },
        ],
    )
