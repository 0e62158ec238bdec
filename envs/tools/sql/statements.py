"""One statement of an agent's, executed to the letter, and its rows as JSON."""

from __future__ import annotations

import decimal
import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy
from sqlalchemy.exc import DBAPIError

from envs.errors import ToolError
from envs.sandboxes.row_changes import to_json_value
from envs.types import ErrorCategory

MAX_ROWS = 100
"""Rows that a result shows unless the world says otherwise."""

EXACT = 2**53
"""Below it every whole number is a double of its own."""

MAX_DIGITS = 1000
"""A decimal with an exponent nobody wants written out: past so many digits, a double."""

MAX_CHARACTERS = 4_000_000
"""Text and bytes of all rows of one result: what bounds the memory that a wide one takes."""


@dataclass(slots=True)
class Rows:
    """``shown`` are the first rows of the ``count`` that were read; ``more``: there are others."""

    columns: list[str]
    shown: list[list[object]] = field(default_factory=list[list[object]])
    count: int = 0
    more: bool = False
    hashes: list[bytes] = field(default_factory=list[bytes])

    def to_json(self) -> dict[str, object]:
        return {"columns": self.columns, "rows": self.shown}

    @property
    def digest(self) -> str:
        """Of the rows as a bag: order does not count, how often each occurs does, 25 is 25.0."""
        return hashlib.sha256(b"".join(sorted(self.hashes))).hexdigest()[:16]


def execute(db: sqlalchemy.Connection, sql: str) -> sqlalchemy.CursorResult[Any]:
    """Execute the text as it stands: ``%`` and ``:name`` in it are not for us to read."""
    if not sql.strip():
        raise ToolError("The statement is empty.", category=ErrorCategory.SYNTAX_ERROR)
    try:
        sql.encode()
    except UnicodeEncodeError:
        raise ToolError(
            "The statement is not valid Unicode.", category=ErrorCategory.SYNTAX_ERROR
        ) from None
    return db.exec_driver_sql(sql, execution_options={"no_parameters": True})


def first_rows(result: sqlalchemy.CursorResult[Any], cap: int) -> Rows:
    """The first rows, and whether there are more, also where the call may fetch fewer."""
    rows = Rows(list(result.keys()))
    size = 0
    try:
        for values in result:
            if rows.count == cap:
                rows.more = True
                break
            row, size = _json_row(values, size)
            rows.shown.append(row)
            rows.count += 1
    except DBAPIError as error:
        # The row cap of the call, in any engine's sandbox.
        if f"more than {rows.count} rows" not in str(error.orig):
            raise
        rows.more = True
    result.close()
    return rows


def all_rows(result: sqlalchemy.CursorResult[Any], cap: int) -> Rows:
    """All rows counted and hashed, the first shown. The call's own row cap is an error here."""
    rows = Rows(list(result.keys()))
    size = 0
    for values in result:
        row, size = _json_row(values, size)
        rows.hashes.append(hashlib.sha256(json.dumps(row, sort_keys=True).encode()).digest())
        rows.count += 1
        if len(rows.shown) < cap:
            rows.shown.append(row)
    rows.more = rows.count > len(rows.shown)
    return rows


def _json_row(values: sqlalchemy.Row[Any], size: int) -> tuple[list[object], int]:
    size += sum(len(value) for value in values if isinstance(value, str | bytes))
    if size > MAX_CHARACTERS:
        raise ToolError(
            f"The result is larger than {MAX_CHARACTERS} characters; ask for less.",
            category=ErrorCategory.LIMIT_EXCEEDED,
        )
    return [json_value(value) for value in values], size


def json_value(value: Any) -> object:
    """A cell of a query's answer as JSON, the same on every engine: a figure is a number whether
    the engine computes with decimals or with doubles, and without a fraction where it has none
    (25.0 and 25.00 are 25).

    A whole number past 64 bits is a text, a decimal that no double can hold as well. Types of an
    engine's own (ranges, network addresses) are the text that they print; all others are as
    :func:`envs.sandboxes.row_changes.to_json_value` has them.
    """
    kind = value.__class__
    if kind is int or kind is str or value is None:
        return to_json_value(value)
    if kind is float:
        return int(value) if value.is_integer() and abs(value) < EXACT else to_json_value(value)
    if isinstance(value, decimal.Decimal):
        return _figure(value)
    try:
        return to_json_value(value)
    except TypeError:
        return str(value)


def _figure(value: decimal.Decimal) -> object:
    if value.is_finite() and value.adjusted() < MAX_DIGITS and value == value.to_integral_value():
        return to_json_value(int(value))
    figure = float(value)
    return str(value) if math.isinf(figure) and value.is_finite() else to_json_value(figure)
