"""Replacement of values that break readers of JSON and Parquet."""

from __future__ import annotations

import math
import re
from typing import Any, Final, cast

from envs.json_text import lenient

Json = Any

INT64: Final = range(-(2**63), 2**63)
MAX_DEPTH: Final = 100
"""Values nested more deeply become text: JSON parsers stop between 128 and 1,024 levels."""

_BREAKING = re.compile("[\x00\ud800-\udfff]")


def _text(value: str) -> str:
    if (value.isascii() and "\x00" not in value) or _BREAKING.search(value) is None:
        return value
    return _BREAKING.sub(lambda hit: f"\\u{ord(hit[0]):04x}", value)


def _number(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _too_deep(value: Json) -> str:
    try:
        return _text(lenient(value))
    except RecursionError:
        return "(nested too deeply to be kept)"


def _clean(value: Json, depth: int) -> Json:
    """Return the clean value: the same object if nothing has to change, so that identity tells."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if value in INT64 else _big(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _number(value)
    if not isinstance(value, (list, tuple, dict)):
        return value
    if depth == 0:
        return _too_deep(cast("Json", value))
    if isinstance(value, dict):
        return _clean_dict(cast("dict[str, Json]", value), depth)
    old = cast("list[Json] | tuple[Json, ...]", value)
    new = [_clean(item, depth - 1) for item in old]
    return old if all(left is right for left, right in zip(old, new, strict=True)) else new


def _big(value: int) -> str:
    # hexadecimal where Python refuses to write so many decimal digits
    try:
        return str(value)
    except ValueError:
        return hex(value)


def _clean_dict(old: dict[str, Json], depth: int) -> dict[str, Json]:
    new: dict[str, Json] = {}
    changed = False
    for key, item in old.items():
        name = _clean(key, depth)
        while name != key and (name in old or name in new):
            name += "_"
        new[name] = _clean(item, depth - 1)
        changed = changed or name != key or new[name] is not item
    return new if changed else old


def sanitize(value: Json) -> tuple[Json, bool]:
    r"""Return the value in a form that every reader can hold, and true if anything was changed.

    Lone surrogates and NUL become their escapes as text (``\ud800``, six characters), integers past
    64 bits and non-finite floats become strings, and anything nested past :data:`MAX_DEPTH` becomes
    its JSON text.
    """
    if value.__class__ is str and value.isascii() and "\x00" not in value:
        return value, False
    clean = _clean(value, MAX_DEPTH)
    return clean, clean is not value
