"""Values for new rows, as domains of tasks.yaml; none is copied from a row."""

from __future__ import annotations

import datetime as dt
import random
import string
from collections.abc import Mapping, Sequence

from synth.core.personal.guess import is_of_people
from synth.ext.authoring.roles import closed_states
from synth.ext.authoring.shape import ColumnShape, TableShape

_FIRST = ("Amira", "Bruno", "Celeste", "Dmitri", "Eleni", "Farid", "Greta", "Hugo")
_LAST = ("Aldana", "Birkeland", "Castellan", "Drummond", "Eskola", "Fairweather", "Grimaldi")
_ADJECTIVES = ("Silver", "Northern", "Quiet", "Amber", "Second", "Crimson", "Hollow", "Bright")
_THINGS = ("Harbour", "Meadow", "Lantern", "Compass", "Orchard", "Signal", "Bridge", "Canyon")
_NOTES = (
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
        states = closed_states(column.choices)
        choices = [choice for choice in column.choices if choice not in states]
        return {"choice": choices} if choices else None
    if column.kind in {"integer", "number"}:
        return _numbers(column)
    if column.kind in {"date", "moment"}:
        return _days(column, now)
    return {"choice": new_texts(table, column)} if column.kind == "text" else None


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
    today = dt.date.fromisoformat(now[:10])
    if column.kind == "date":
        last = today + dt.timedelta(20)
        return {"date": [(today + dt.timedelta(1)).isoformat(), last.isoformat()]}
    blank = "T" if any("T" in str(value) for value in column.seen) else " "
    days = [today + dt.timedelta(3 * index + 1) for index in range(COUNT)]
    return {"choice": [f"{day}{blank}{8 + n:02}:30:00" for n, day in enumerate(days)]}


def new_texts(table: TableShape, column: ColumnShape) -> list[str]:
    """New texts in the form of the old ones."""
    taken = {str(value).lower() for value in column.seen}
    pool = dict.fromkeys(_pool(table, column))
    return [text for text in pool if text.lower() not in taken][:COUNT]


def _pool(table: TableShape, column: ColumnShape) -> Sequence[str]:
    label = column.label
    if "mail" in label:
        return [f"{one}.{two}@example.org".lower() for one, two in zip(_FIRST, _LAST, strict=False)]
    if column.role == "person":
        return _FIRST if label.startswith(("first", "given", "fore")) else _LAST
    if _has_format(column):
        draw = random.Random(f"{table.name}.{column.name}")
        return [_like(str(draw.choice(column.seen)), draw) for _ in range(4 * COUNT)]
    if column.name in table.handle or column.unique or column.role == "name":
        left, right = (_FIRST, _LAST) if is_of_people(table.name) else (_ADJECTIVES, _THINGS)
        return [f"{one} {two}" for one, two in zip(left, right, strict=False)]
    return _NOTES


def _has_format(column: ColumnShape) -> bool:
    """True if most values hold digits, or are all short capitals: codes."""
    texts = [str(value) for value in column.seen]
    digits = [text for text in texts if any(letter.isdigit() for letter in text)]
    codes = [text for text in texts if text.isupper() and len(text) <= 6]
    return bool(texts) and max(len(digits), len(codes)) >= 0.8 * len(texts)


def _like(text: str, draw: random.Random) -> str:
    """A text of the same form: digits for digits, letters for letters in codes."""
    code = text.upper() == text
    out = ""
    for letter in text:
        if letter.isdigit():
            out += draw.choice("23456789")
        elif letter.isalpha() and code:
            out += draw.choice(string.ascii_uppercase)
        else:
            out += letter
    return out
