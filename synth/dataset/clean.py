"""A finished row made fit for every reader, with what was found out about it on the way."""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from envs.json_text import compact
from synth.dataset.columns import BY_NAME, JSON_COLUMNS
from synth.dataset.sanitize import sanitize

Json = Any

_RECURRING: Final = frozenset(name for name in JSON_COLUMNS if BY_NAME[name].low)
_MOST_KEPT: Final = 64


class SafeText(str):
    """JSON text written here from a value that every reader can hold: nobody has to read it again to know."""

    __slots__ = ()


class CleanRow(dict[str, Json]):
    """A row as :func:`clean_row` leaves it. ``seen`` holds by column the very value that was found fit, and its texts
    where they are at hand; a value that was put in its place later is none of them.
    """

    def __init__(self, row: Mapping[str, Json], seen: Mapping[str, tuple[Json, Sequence[SafeText] | None]]) -> None:
        super().__init__(row)
        self.seen = seen

    def is_fit(self, column: str) -> bool:
        """Whether the column still holds the value that was found fit."""
        return column in self.seen and self.seen[column][0] is self[column]

    def texts(self, column: str) -> Sequence[SafeText] | None:
        """The JSON texts of a column's items, where an earlier row had the same."""
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
        texts = _texts_of(cast("list[Json]", value)) if name in _RECURRING and isinstance(value, list) else None
        if texts is None:
            value, changed = sanitize(value)
            values[name], touched = value, touched or changed
        seen[name] = value, texts
    return CleanRow(values | {"sanitized": touched}, seen)


_kept: dict[bytes, Sequence[SafeText] | None] = {}


def _texts_of(items: list[Json]) -> Sequence[SafeText] | None:
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
