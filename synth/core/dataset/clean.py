"""Removal of values that break readers from a finished row, and the facts learned on the way."""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from envs.json_text import compact
from synth.core.dataset.columns import BY_NAME, JSON_COLUMNS
from synth.core.dataset.sanitize import MAX_DEPTH, sanitize

Json = Any

_RECURRING: Final = frozenset(name for name in JSON_COLUMNS if BY_NAME[name].low)
_MOST_KEPT: Final = 64
_DIGITS: Final = bytes(48 if chr(byte).isdecimal() and byte < 128 else 32 for byte in range(256))
"""Translation of each digit to 0 and of everything else to a blank: a plain search then finds a
long number.
"""
_LONG: Final = b"0" * 19


class SafeText(str):
    """JSON text of a value that every reader can hold; it is not parsed again."""

    __slots__ = ()


class CleanRow(dict[str, Json]):
    """Return value of :func:`clean_row`.

    ``checked`` maps a column to its value, and to the JSON texts of the value's items (of a single
    value, its own text); None where they are not known. A value that was assigned later is not the
    checked one.
    """

    def __init__(
        self, row: Mapping[str, Json], checked: Mapping[str, tuple[Json, Sequence[SafeText] | None]]
    ) -> None:
        super().__init__(row)
        self.checked = checked


def clean_row(row: Mapping[str, Json]) -> CleanRow:
    """Apply :func:`sanitize` to the JSON columns of a row.

    The column ``sanitized`` is true if anything was changed.
    """
    values = dict(row)
    checked: dict[str, tuple[Json, Sequence[SafeText] | None]] = {}
    changed = False
    for name in JSON_COLUMNS:
        value = values.get(name)  # a nullable column may be missing
        if value is None:
            continue
        texts = _texts_of(name, value)
        if texts is None:
            value, replaced = sanitize(value)
            values[name], changed = value, changed or replaced
        checked[name] = value, texts
    return CleanRow(values | {"sanitized": changed}, checked)


def _texts_of(column: str, value: Json) -> Sequence[SafeText] | None:
    """Return the texts of a column's items (of a single value, its own), or None if they need
    :func:`sanitize`.
    """
    if BY_NAME[column].kind != "list<json>":
        text = safe_text(value, MAX_DEPTH)
        return None if text is None else [text]
    if not isinstance(value, list):
        return None
    items = cast("list[Json]", value)
    if column in _RECURRING:
        return _recurring(items)
    texts = [
        _system_text(item["content"]) if _is_system(item) else safe_text(item, MAX_DEPTH - 1)
        for item in items
    ]
    return None if None in texts else cast("Sequence[SafeText]", texts)


def _is_system(item: Any) -> bool:
    return (
        item.__class__ is dict
        and [*item] == ["role", "content"]
        and item["role"] == "system"
        and isinstance(item["content"], str)
    )


def safe_text(value: Json, depth: int) -> SafeText | None:
    """Return the text of a value if a scan of the text shows that every reader can hold it at that
    depth.

    Returns None for a value that readers cannot hold, and for some that they can: possible NULs,
    numbers past 64 bits and deep nesting are left to :func:`sanitize`.
    """
    try:
        text = compact(value)
        raw = text.encode()
    except (TypeError, ValueError, RecursionError):  # not JSON, not finite, a lone surrogate
        return None
    if (
        "\\u0000" in text
        or text.count("{") + text.count("[") > depth
        or _LONG in raw.translate(_DIGITS)
    ):
        return None
    return SafeText(text)


@lru_cache(maxsize=64)
def _system_text(content: str) -> SafeText | None:
    """The text of a system message: the same policy begins every conversation of a world."""
    return safe_text({"role": "system", "content": content}, MAX_DEPTH - 1)


_kept: dict[bytes, Sequence[SafeText] | None] = {}


def _recurring(items: list[Json]) -> Sequence[SafeText] | None:
    """Return the texts of a list that occurs in most rows, or None if readers cannot hold it."""
    try:
        # Equal bytes mean equal values, including types and the order of keys.
        exact = marshal.dumps(items)
    except ValueError:  # not plain values, or nested too deeply
        return None
    if exact not in _kept:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[exact] = None if sanitize(items)[1] else [SafeText(compact(item)) for item in items]
    return _kept[exact]
