"""A finished row made fit for every reader, with what was found out about it on the way."""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from envs.json_text import compact
from synth.dataset.columns import BY_NAME, JSON_COLUMNS
from synth.dataset.sanitize import MAX_DEPTH, sanitize

Json = Any

_RECURRING: Final = frozenset(name for name in JSON_COLUMNS if BY_NAME[name].low)
_MOST_KEPT: Final = 64
_DIGITS: Final = bytes(48 if chr(byte).isdecimal() and byte < 128 else 32 for byte in range(256))
"""Each digit as 0, all else as a blank: a long number is then found by a plain search."""
_LONG: Final = b"0" * 19


class SafeText(str):
    """JSON text written here from a value that every reader can hold: nobody has to read it again to know."""

    __slots__ = ()


class CleanRow(dict[str, Json]):
    """A row as :func:`clean_row` leaves it. ``seen`` holds by column the very value that was found fit, and the JSON texts
    of its items (of a single value: its own) where they are at hand; a value that was put in its place later is none of them.
    """

    def __init__(self, row: Mapping[str, Json], seen: Mapping[str, tuple[Json, Sequence[SafeText] | None]]) -> None:
        super().__init__(row)
        self.seen = seen

    def is_fit(self, column: str) -> bool:
        """Whether the column still holds the value that was found fit."""
        return column in self.seen and self.seen[column][0] is self[column]

    def texts(self, column: str) -> Sequence[SafeText] | None:
        """The JSON texts of a column's items, where they were found out."""
        return self.seen[column][1] if self.is_fit(column) else None


def clean_row(row: Mapping[str, Json]) -> CleanRow:
    """The row with its JSON columns as :func:`sanitize` gives them; ``sanitized`` says whether anything had to change."""
    values = dict(row)
    seen: dict[str, tuple[Json, Sequence[SafeText] | None]] = {}
    touched = False
    for name in JSON_COLUMNS:
        value = values.get(name)  # a nullable column may be missing
        if value is None:
            continue
        texts = _texts_of(name, value)
        if texts is None:
            value, changed = sanitize(value)
            values[name], touched = value, touched or changed
        seen[name] = value, texts
    return CleanRow(values | {"sanitized": touched}, seen)


def _texts_of(column: str, value: Json) -> Sequence[SafeText] | None:
    """The texts of a column's items (of a value that is no list: its own), or None where they have to be looked through."""
    if BY_NAME[column].kind != "list<json>":
        text = fit_text(value, MAX_DEPTH)
        return None if text is None else [text]
    if not isinstance(value, list):
        return None
    items = cast("list[Json]", value)
    if column in _RECURRING:
        return _recurring(items)
    texts = [text for each in items if (text := _message(each) or fit_text(each, MAX_DEPTH - 1)) is not None]
    return texts if len(texts) == len(items) else None


def fit_text(value: Json, depth: int) -> SafeText | None:
    """The text of a value of which one look at its text tells that every reader can hold it, at that depth.

    None for what readers cannot hold, and for some that they can: what looks like a NUL, a number past 64 bits or deep
    nesting is for :func:`sanitize` to tell.
    """
    try:
        text = compact(value)
        raw = text.encode()
    except (TypeError, ValueError, RecursionError):  # no JSON, not finite, half of a surrogate pair
        return None
    if "\\u0000" in text or text.count("{") + text.count("[") > depth or _LONG in raw.translate(_DIGITS):
        return None
    return SafeText(text)


def _message(value: Json) -> SafeText | None:
    """The text of a message of the system: a world's policy opens every conversation."""
    if isinstance(value, dict) and len(pair := cast("dict[str, Json]", value)) == 2 and pair.get("role") == "system":
        first, last = pair
        if (first, last) == ("role", "content") and type(pair["content"]) is str:
            return _system_text(pair["content"])
    return None


@lru_cache(maxsize=64)
def _system_text(content: str) -> SafeText | None:
    return fit_text({"role": "system", "content": content}, MAX_DEPTH - 1)


_kept: dict[bytes, Sequence[SafeText] | None] = {}


def _recurring(items: list[Json]) -> Sequence[SafeText] | None:
    """The texts of a list that row after row has; None where it holds what readers cannot hold."""
    try:
        exact = marshal.dumps(items)  # equal bytes, equal values, down to types and the order of keys
    except ValueError:  # not plain values, or nested too deeply
        return None
    if exact not in _kept:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[exact] = None if sanitize(items)[1] else [SafeText(compact(each)) for each in items]
    return _kept[exact]
