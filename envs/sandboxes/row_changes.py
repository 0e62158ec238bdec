"""Net changes of rows in canonical form, the same for every engine.

A sandbox collects the images of the rows that were touched. The form of a change, the JSON form of
its values, the order of changes and the digest of a state are defined here and nowhere else.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import hashlib
import json
import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, cast

from envs.json_text import canonical
from envs.types import Json, RowChange, StateDiff

INT64 = range(-(2**63), 2**63)


ROWID = "rowid"
"""The key column of a row that has no primary key of its own."""


def to_json_value(value: Any) -> Json:
    """Convert a database's value to JSON without loss.

    Bytes become ``{"$bytes": base64}``, NaN and the infinities ``{"$float": name}``, integers past
    64 bits, decimals and UUIDs strings, dates and times ISO 8601. Raises TypeError for a value that
    no database returns.
    """
    if isinstance(value, float):
        return (
            value
            if math.isfinite(value)
            else {"$float": str(value).replace("inf", "Infinity").replace("nan", "NaN")}
        )
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if value in INT64 else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return {"$bytes": base64.b64encode(bytes(cast("bytes", value))).decode("ascii")}
    if isinstance(value, decimal.Decimal | uuid.UUID):
        return str(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        return {
            str(key): to_json_value(item) for key, item in cast("Mapping[Any, Any]", value).items()
        }
    raise TypeError(f"no JSON form for a value of type {type(value).__name__}")


def plain(value: Any) -> Any:
    """Convert the values of a database in a tool's result as :func:`to_json_value` does; what is
    JSON stays as it is. Raises TypeError for a value that no database returns.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value).items()
        return {key: plain(item) for key, item in pairs}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("Sequence[Any]", value)]
    if type(value).__module__ == "ipaddress":
        return str(value)
    return to_json_value(value)


def row_change(
    table: str,
    columns: Sequence[str],
    key: Mapping[str, Any],
    old: Sequence[Any] | None,
    new: Sequence[Any] | None,
) -> RowChange | None:
    """The net change from one image of a row to another, values in the order of ``columns``; None
    where they are equal.

    Without an old image the row is inserted, without a new one deleted. 25 and 25.0 are equal
    numbers, as they are to a database.
    """
    for part in key.values():
        if part.__class__ is not str and (part.__class__ is not int or part not in INT64):
            key = _row(key, key.values())
            break
    if old is None:
        return None if new is None else RowChange(table, "insert", key, None, _row(columns, new))
    if new is None:
        return RowChange(table, "delete", key, _row(columns, old))
    before: dict[str, Json] = {}
    after: dict[str, Json] = {}
    for column, was, now in zip(columns, old, new, strict=True):
        # NaN is the one value that differs from itself.
        if was != now and (was == was or now == now):  # noqa: PLR0124
            before[column], after[column] = to_json_value(was), to_json_value(now)
    return RowChange(table, "update", key, before, after) if before else None


def _row(columns: Iterable[str], values: Iterable[Any]) -> dict[str, Json]:
    row: dict[str, Json] = {}
    for column, value in zip(columns, values, strict=True):
        kind = value.__class__  # nearly all values are of these, and a call costs more than a look
        if kind is str or value is None or (kind is int and value in INT64):
            row[column] = value
        else:
            row[column] = to_json_value(value)
    return row


def canonical_order(changes: Iterable[RowChange]) -> tuple[RowChange, ...]:
    """Sorted by table, key and operation; numbers by value, so that row 9 stands before row 10."""
    return tuple(sorted(changes, key=place))


Place = tuple[str, list[tuple[int, float, str]], str]


def place(change: RowChange) -> Place:
    """The sort key of a change in canonical order."""
    return change.table, [_rank(value) for value in change.key.values()], change.op


def _rank(value: Json) -> tuple[int, float, str]:
    """A total order over JSON values of different types: null, numbers, text, everything else."""
    if value is None:
        return (0, 0, "")
    if isinstance(value, int | float):
        return (1, value, "")  # Python compares an integer with a double exactly
    if isinstance(value, str):
        return (2, 0, value)
    return (3, 0, json.dumps(value, sort_keys=True))


def joined_changes(changes: Iterable[RowChange]) -> tuple[RowChange, ...]:
    """The net changes of some that follow one another, in canonical order."""
    rows: dict[tuple[str, str], RowChange | None] = {}
    for change in changes:
        row = change.table, canonical(dict(change.key))
        known = rows.get(row)
        rows[row] = change if known is None else _joined(known, change)
    return canonical_order(filter(None, rows.values()))


def _joined(one: RowChange, other: RowChange) -> RowChange | None:
    """The net change of a row of which a change follows on another; None if nothing is left."""
    old = {**(other.before or {}), **(one.before or {})}
    new = {**(one.after or {}), **(other.after or {})}
    if one.op == "insert":
        return None if other.op == "delete" else replace(one, after=new)
    if other.op == "delete":
        return replace(other, before=old)
    after = {name: value for name, value in new.items() if old.get(name, ...) != value}
    before = {name: old[name] for name in after if name in old}
    return RowChange(one.table, "update", one.key, before, after) if after else None


def changes_since(start: StateDiff, end: StateDiff) -> StateDiff:
    """The net changes from one state to another, where both are given as a template's changes."""
    undone = [
        replace(one, op=_UNDONE[one.op], before=one.after, after=one.before)
        for one in start.changes
    ]
    return StateDiff(joined_changes([*undone, *end.changes])) if undone else end


_UNDONE: Mapping[str, Literal["insert", "update", "delete"]] = {
    "insert": "delete",
    "update": "update",
    "delete": "insert",
}


def state_digest(template_digest: str, diff: StateDiff) -> str:
    """Digest of a state: of the template it started from, and of the net changes since."""
    return _digest_untouched(template_digest) if not diff else _digest(template_digest, diff)


@lru_cache(maxsize=256)
def _digest_untouched(template_digest: str) -> str:
    return _digest(template_digest, StateDiff())


def _digest(template_digest: str, diff: StateDiff) -> str:
    text = canonical([template_digest, diff.to_json()])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
