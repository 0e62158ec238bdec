"""Values for new rows, as domains of tasks.yaml; none is copied from a row."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Mapping, Sequence

from envs.world.row_generator import Draw, Form
from synth.ext.authoring.invented_rows import FUTURE, provided
from synth.ext.authoring.learn_texts import clock, forms
from synth.ext.authoring.roles import COMPARED, LONGEST, closed_states
from synth.ext.authoring.shape import ColumnShape, TableShape

_ADJECTIVES = ("Silver", "Northern", "Quiet", "Amber", "Second", "Crimson", "Hollow", "Bright")
_THINGS = ("Harbour", "Meadow", "Lantern", "Compass", "Orchard", "Signal", "Bridge", "Canyon")
NOTES = (
    "As agreed by telephone",
    "To be checked next week",
    "Entered at the desk",
    "On request of the team",
    "Follow up in spring",
)
COUNT = 6
"""Values that a choice offers."""


def domain_of(table: TableShape, column: ColumnShape, now: str) -> Mapping[str, object] | None:
    """The domain of a new value; None if none can be made up."""
    if column.choices:
        choices = _without(column.choices, ["", *closed_states(column.choices)])
        return {"choice": choices} if choices else None
    if _ID.search(column.label):
        return None
    own = _without(column.seen, [""])[:COUNT]
    if column.kind in {"integer", "number"} and (column.role in COMPARED or not own):
        return _numbers(column)
    if column.kind in {"integer", "number"} or is_kind(table, column):
        return {"choice": own} if own else None
    if column.kind in {"date", "moment"}:
        return _days(column, now)
    texts = new_texts(table, column) if column.kind == "text" else []
    return {"choice": texts} if texts else None


def _without(values: Sequence[object], left_out: Sequence[object]) -> list[object]:
    return [one for one in dict.fromkeys(values) if one not in left_out]


def _numbers(column: ColumnShape) -> Mapping[str, object]:
    seen = [value for value in column.seen if isinstance(value, int | float)] or [1, 20]
    low = column.low if column.low is not None else min(seen)
    high = column.high if column.high is not None else max(seen)
    low, high = max(low, min(seen)), min(high, max(*seen, low + 5))
    if column.kind == "integer":
        return {"int": [int(low), int(max(high, low))]}
    step = (high - low) / COUNT
    values = [round(low + step * index + 0.25 * (step > 1), 2) for index in range(COUNT)]
    return {"choice": list(dict.fromkeys(values))}


def _days(column: ColumnShape, now: str) -> Mapping[str, object]:
    today, step = dt.date.fromisoformat(now[:10]), 1
    if column.verb and not FUTURE.search(column.label):  # it has been done
        step = -1
    if _LAST_DAYS & set(column.words.split()):
        today += dt.timedelta(20)  # after any day on which something starts
    if column.kind == "date":
        days = sorted(today + dt.timedelta(step * count) for count in (1, 20))
        return {"date": [day.isoformat() for day in days]}
    blank = "T" if any("T" in str(value) for value in column.seen) else " "
    days = [today + dt.timedelta(step * (3 * index + 1)) for index in range(COUNT)]
    return {"choice": [f"{day}{blank}{8 + n:02}:30:00" for n, day in enumerate(days)]}


def new_texts(table: TableShape, column: ColumnShape) -> list[str]:
    """New texts in the form of the old ones."""
    taken = {str(value).lower() for value in column.seen}
    pool = dict.fromkeys(_pool(table, column))
    return [text for text in pool if text and text.lower() not in taken][:COUNT]


def _pool(table: TableShape, column: ColumnShape) -> Sequence[str]:
    if _ID.search(column.label):
        return ()
    seen = [str(value) for value in column.seen]
    if seen and clock(seen) is not None:
        return [f"{8 + hour:02}:15:00"[: len(seen[0])] for hour in range(COUNT + 2)]
    form = forms(seen) if seen else None
    if form is not None:
        return _codes(form, random.Random(f"{table.name}.{column.name}"))
    if made := provided(table, column, max(map(len, seen), default=255)):
        return made
    if column.name in table.handle or column.unique or column.is_named:
        return [f"{one} {two}" for one, two in zip(_ADJECTIVES, _THINGS, strict=True)]
    return NOTES if _NOTE.search(column.label) else ()


_NOTE = re.compile(r"(?:^|_)(?:note|comment|description|detail|message|memo|reason|remark)s?$")
"""Names of what a person adds in words of their own."""


_LAST_DAYS = frozenset({"end", "expiry", "due"})
"""Words of dates that come after others of their row."""

_ID = re.compile(r"(?:^|_)(?:id|uuid|guid|key)$")
"""Names of what tells rows apart for programs: no person makes it up."""


_LAST_DIGITS = re.compile(r"[\d#]+(?=[^\d#]*$)")


def _codes(form: Form, draw: random.Random) -> list[str]:
    """Codes of a form with other last digits than it has, or with one more where it has any, so
    that no universe has them too.
    """
    letters = {"#": r"\d", "@": "[A-Z]", "%": "[a-z]"}
    known = "|".join("".join(letters.get(c, re.escape(c)) for c in one) for one in form.weights)
    made = list[str]()
    for more in ("", "1"):
        wide = {
            _LAST_DIGITS.sub(lambda run, more=more: more + "#" * len(run[0]), one): 1
            for one in form.weights
        }
        made = [Form(wide).draw(Draw(draw, 0, {}, [])) for _ in range(40 * COUNT)]
        if fresh := [one for one in made if not re.fullmatch(known, one)]:
            return fresh
    return made


def is_kind(table: TableShape, column: ColumnShape) -> bool:
    """True for a text of few short values, of which a new row takes one: a currency, a country."""
    several = 0 < 2 * column.distinct <= table.rows - column.nulls
    short = all(len(str(value)) <= LONGEST // 2 for value in column.seen)
    return column.kind == "text" and several and short and column.role != "name"
