"""Values as a database stores them, and the one form in which a world keeps each of them.

No type of a column decides how its values are read. SQLite gives what it stores, the servers give
texts where a driver would make objects: dates, times, intervals, JSON, ranges and addresses. So
``infinity``, ``0000-00-00`` and ``25:00:00`` are read like any other value. A moment with a time
zone is written in UTC, without its offset.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

from sqlalchemy import ARRAY, Engine, Text, cast, event, func
from sqlalchemy.types import UserDefinedType

Value = str | int | float | None

NOT_TEXT = "bytes that are not text are written as U+FFFD"
ROUNDED = "numbers of more than 15 digits are rounded"
IN_HEXADECIMAL = "bytes, which are written in hexadecimal"
NOT_FINITE = "infinite and undefined numbers are written as words"

_TEMPORAL = frozenset({7, 10, 11, 12, 14})
"""PyMySQL's numbers of TIMESTAMP, DATE, TIME, DATETIME and NEWDATE."""

_BIT = 16


class Stored(UserDefinedType[Any]):
    """The type of every column that is read: values pass as they are, in both directions."""

    cache_ok = True

    def coerce_compared_value(self, op: Any, value: Any) -> Stored:
        return self


class Written(Stored):
    """The type of a column that the database itself writes as a text; ``form`` is ``zoned`` for a
    moment with a zone, ``inet`` for an address, ``list`` for several texts. Drivers know no
    infinite dates.
    """

    cache_ok = True

    def __init__(self, form: str = "") -> None:
        self.form = form

    def column_expression(self, colexpr: Any) -> Any:
        if self.form == "inet":  # a cast would add the mask of a single host
            return func.abbrev(colexpr)
        if self.form == "list":
            return cast(colexpr, ARRAY(Text))
        return cast(func.timezone("UTC", colexpr) if self.form == "zoned" else colexpr, Text)


class Hexadecimal(Stored):
    """The type of bytes that are read and compared as hexadecimal digits."""

    cache_ok = True

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    def column_expression(self, colexpr: Any) -> Any:
        if self.dialect == "postgresql":
            return func.encode(colexpr, "hex")
        return func.lower(func.hex(colexpr))

    def bind_expression(self, bindvalue: Any) -> Any:
        if self.dialect == "postgresql":
            return func.decode(bindvalue, "hex")
        return func.unhex(bindvalue)


def stored(value: object) -> tuple[Value, str]:
    r"""A value of a driver as a world keeps it, and what it loses by that; empty if nothing.

    >>> stored(Decimal("12.50")), stored(float("inf")), stored(b"caf\xe9")[0]
    ((12.5, ''), ('Infinity', 'infinite and undefined numbers are written as words'), 'caf�')
    """
    if isinstance(value, bytes):
        value = _text(value)
    if isinstance(value, str):
        text = value.replace("\0", "\ufffd")
        return text, NOT_TEXT if "\ufffd" in text else ""
    if value is None or isinstance(value, int):
        return None if value is None else int(value), ""
    if isinstance(value, float | Decimal):
        return _number(value)
    return json.dumps(value, default=str, ensure_ascii=False), ""


def _number(value: float | Decimal) -> tuple[Value, str]:
    """A number of any size. An integer beyond 64 bits stays one, which SQLite refuses."""
    exact = Decimal(value)
    if exact.is_nan():
        return "NaN", NOT_FINITE
    if exact.is_infinite():
        return ("Infinity" if exact > 0 else "-Infinity"), NOT_FINITE
    if not isinstance(value, Decimal):
        return value, ""
    rounded = float(value)
    same = Decimal(repr(rounded)) == value
    whole = value == value.to_integral_value()
    if math.isinf(rounded) or (whole and not (same and abs(value) >= 2**63)):
        return int(value), ""
    return rounded, "" if same else ROUNDED


def read_as_stored(engine: Engine) -> None:
    """Let the connections of an engine give values as the database writes them."""
    if engine.dialect.name in _PREPARE:
        event.listen(engine, "connect", _PREPARE[engine.dialect.name])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _prepare_sqlite(raw: Any, _: object) -> None:
    raw.text_factory = _text


def _prepare_mariadb(raw: Any, _: object) -> None:
    kept = {kind: read for kind, read in raw.decoders.items() if kind not in _TEMPORAL}
    raw.decoders = {**kept, _BIT: lambda data: int.from_bytes(data, "big")}  # pyright: ignore


_PREPARE = {"sqlite": _prepare_sqlite, "mysql": _prepare_mariadb, "mariadb": _prepare_mariadb}
"""What readies a new connection, by SQLAlchemy's dialect."""
