"""One rollout's transaction on an attached database, in a process of its own.

The process holds the connection. It reads the tables that may be written as the transaction begins
and after each call, compares their rows, and ends with a rollback. When it is killed, or this one
is, the server rolls back.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, cast
from uuid import UUID

from sqlalchemy.exc import DBAPIError

from envs.errors import NoRoomError
from envs.processes.zygote import limit_space
from envs.sandboxes.attached.access import QUERIES, Writer, access_of, first_word
from envs.sandboxes.attached.connection import (
    SPACE_BYTES,
    RefusedStatementError,
    filled,
    portable,
    timeout_error,
)
from envs.sandboxes.row_changes import canonical_order, row_change
from envs.sandboxes.server.cursor import StatementResult
from envs.types import ErrorCategory, RowChange, Table

COMPARE_MS = 30_000
"""Time in which the rows of a table are read."""

COMPARED_ROWS = 100_000
"""Rows of all tables that may be written: they are read again after each call that wrote."""

_STATEMENT = "synth_statement"

_PLAIN = (
    str, int, float, bytes, type(None), Decimal, UUID, dt.date, dt.time, dt.timedelta, list, dict
)  # fmt: skip
"""Types of values that have a JSON form."""

_Images = Mapping[str, Mapping[tuple[Any, ...], Sequence[Any]]]
"""Rows by table and key."""


@dataclass(frozen=True, slots=True)
class RolloutQuestion:
    """A request to the process: to ``start`` (which is safe to repeat), to ``execute`` a statement
    of a tool, to ``speak`` one of ours, to ``compare`` the rows, to ``end``.
    """

    kind: Literal["start", "execute", "speak", "compare", "end"]
    sql: str = ""
    parameters: Any = None
    timeout_ms: int | None = None
    max_rows: int | None = None
    only_reads: bool = False
    moment: Any = None


@dataclass
class _Rollout:
    """State of one process."""

    writer: Writer
    raw: Any = None
    dirty: bool = False
    first: _Images = field(default_factory=dict[str, Any])
    last: _Images = field(default_factory=dict[str, Any])


def prepare(
    address: str, schemas: Sequence[str], tables: Mapping[str, Table], idle_s: int
) -> _Rollout:
    writer = access_of(address, schemas).writer(tables, idle_s)
    assert writer is not None, "attach() refuses such a dialect"
    return _Rollout(writer)


def answer(rollout: _Rollout, question: RolloutQuestion, _: list[int]) -> Any:
    """Do what is asked. Raises the driver's errors and :class:`RefusedStatementError`, of the kind
    CONNECTION_ERROR where the transaction is lost, or :class:`NoRoomError` to another one.
    """
    writer = rollout.writer
    driver: Any = None
    try:
        if question.kind == "start" and rollout.raw is None:
            engine = writer.engine()
            driver = engine.dialect.loaded_dbapi
            _start(rollout, engine, question)
        driver = driver or _driver(writer)
        if question.kind == "execute":
            return _executed(rollout, question)
        if question.kind == "speak":
            _held(rollout, lambda: writer.speak(rollout.raw, question.sql))
        elif question.kind == "compare":
            return _compared(rollout)
        elif question.kind == "end":
            _hang_up(rollout)
    except TimeoutError:
        raise timeout_error() from None
    except MemoryError:
        _hang_up(rollout)
        raise _lost("a statement needed more memory than it may take") from None
    except Exception as error:
        own: Any = error.orig if isinstance(error, DBAPIError) else error
        driver = driver or _driver(writer)
        if not isinstance(own, driver.Error):
            raise
        _check_conflict(rollout, own)
        raise portable(own, writer, driver) from None
    return None


def _check_conflict(rollout: _Rollout, error: Any) -> None:
    """Give the rollout up for an error that another transaction causes.

    Raises :class:`NoRoomError`: later there may be room.
    """
    named = [getattr(error, name, None) for name in ("sqlstate", "sqlite_errorcode")]
    if not rollout.writer.conflicts.isdisjoint((*named, *error.args[:1])):
        _hang_up(rollout)
        words = rollout.writer.words(error)
        raise NoRoomError(
            "the rollout's transaction was lost: another transaction has its rows:"
            f" {words.partition(chr(10))[0]}"
        ) from None


def _driver(writer: Writer) -> Any:
    return writer.url.get_dialect().import_dbapi()


def _lost(why: str) -> RefusedStatementError:
    return RefusedStatementError(
        f"the rollout's transaction was lost: {why}", ErrorCategory.CONNECTION_ERROR
    )


def _start(rollout: _Rollout, engine: Any, question: RolloutQuestion) -> None:
    held = engine.raw_connection()
    held.detach()
    rollout.raw = held.dbapi_connection
    writer = rollout.writer
    try:
        writer.prepare(rollout.raw)
        if question.moment is not None:
            writer.pin(rollout.raw, question.moment)
        writer.start(rollout.raw, question.timeout_ms or COMPARE_MS)
        rollout.first = rollout.last = _images(rollout)
    except BaseException:
        _hang_up(rollout)
        raise
    limit_space(SPACE_BYTES)


def _hang_up(rollout: _Rollout) -> None:
    raw, rollout.raw = rollout.raw, None
    for end in ("rollback", "close"):
        with suppress(Exception):  # it may be lost, and drivers differ in what they raise then
            getattr(raw, end)()


def _executed(rollout: _Rollout, question: RolloutQuestion) -> StatementResult:
    writer, raw, began = rollout.writer, rollout.raw, time.monotonic()
    if raw is None:
        raise _lost("its connection was closed")
    limit = question.timeout_ms
    keep = False
    _held(rollout, lambda: writer.limit(raw, limit))
    _held(rollout, lambda: writer.speak(raw, f"SAVEPOINT {_STATEMENT}"))
    try:
        writer.only_reads = question.only_reads
        writer.keeps = not question.only_reads
        words = writer.refusal(raw, question.sql, question.parameters)
        if words is not None:
            raise RefusedStatementError(words, ErrorCategory.PERMISSION_DENIED)
        writer.limit(raw, _left(limit, began))  # a plan has taken a part of it
        cursor = raw.cursor()
        result = filled(writer.rows(cursor, question.sql, question.parameters), question.max_rows)
        result.description = [(item[0], *[None] * 6) for item in cursor.description or ()] or None
        if first_word(question.sql) not in QUERIES or result.description is None:
            result.rowcount = cursor.rowcount
            result.lastrowid = getattr(cursor, "lastrowid", None)
        if (table := writer.strayed(raw)) is not None:
            raise RefusedStatementError(
                f"permission denied for table {table}: {writer.only_these()}",
                ErrorCategory.PERMISSION_DENIED,
            )
        _left(limit, began)
        keep = writer.keeps
        rollout.dirty |= keep
    except Exception as error:
        _check_conflict(rollout, error)  # before the savepoints: a deadlock has ended them
        raise
    finally:
        if not keep and rollout.raw is not None:
            _held(rollout, lambda: writer.speak(raw, f"ROLLBACK TO SAVEPOINT {_STATEMENT}"))
        if rollout.raw is not None:
            _held(rollout, lambda: writer.speak(raw, f"RELEASE SAVEPOINT {_STATEMENT}"))
    return result


def _left(limit_ms: int | None, began: float) -> int | None:
    """The rest of a statement's time. Raises TimeoutError when it is over."""
    if limit_ms is None:
        return None
    left = limit_ms - int((time.monotonic() - began) * 1000)
    if left <= 0:
        raise TimeoutError
    return left


def _held(rollout: _Rollout, work: Any) -> None:
    """Do what only fails where the transaction has ended: nothing may follow it then."""
    try:
        work()
    except Exception as error:
        _hang_up(rollout)
        raise _lost(str(error)) from None


def _compared(rollout: _Rollout) -> tuple[tuple[RowChange, ...], tuple[RowChange, ...]]:
    """The changes since the last comparison, and since the beginning."""
    raw = rollout.raw
    if raw is None:
        raise _lost("its connection was closed")
    if not rollout.dirty:
        return (), _changes(rollout.writer.tables, rollout.first, rollout.last)
    _held(rollout, lambda: rollout.writer.limit(raw, COMPARE_MS))
    rollout.writer.settle(raw)
    now = _images(rollout)
    tables = rollout.writer.tables
    call = _changes(tables, rollout.last, now)
    rollout.last, rollout.dirty = now, False
    return call, _changes(tables, rollout.first, now)


def _images(rollout: _Rollout) -> _Images:
    writer, raw = rollout.writer, rollout.raw
    quote: Any = writer.url.get_dialect()().identifier_preparer.quote
    images: dict[str, dict[tuple[Any, ...], Sequence[Any]]] = {}
    left = COMPARED_ROWS
    for name, table in writer.tables.items():
        columns = ", ".join(quote(column.name) for column in table.columns)
        places = [
            index for index, column in enumerate(table.columns) if column.name in table.primary_key
        ]
        found = images[name] = {}
        writer.limit(raw, COMPARE_MS)
        sql = f"SELECT {columns} FROM {table.written(quote)}"
        for row in filled(writer.rows(raw.cursor(), sql, None), left + 1).rows:
            values = [_plain(value) for value in row]
            found[tuple(repr(values[at]) for at in places)] = values
        left -= len(found)
        if left < 0:
            _hang_up(rollout)
            raise _lost(f"the tables that may be written have more than {COMPARED_ROWS} rows")
    return images


def _plain(value: object) -> object:
    """A value that has a JSON form; of another kind its text."""
    if isinstance(value, _PLAIN):
        return cast("object", value)
    return str(value)


def _changes(tables: Mapping[str, Table], before: _Images, now: _Images) -> tuple[RowChange, ...]:
    found: list[RowChange] = []
    for name, table in tables.items():
        columns = [column.name for column in table.columns]
        old, new = before[name], now[name]
        for key in old.keys() | new.keys():
            was, is_ = old.get(key), new.get(key)
            if was is is_:
                continue
            row = dict(zip(columns, (is_ if is_ is not None else was) or (), strict=True))
            named = {column: row[column] for column in table.primary_key}
            change = row_change(name, columns, named, was, is_)
            if change is not None:
                found.append(change)
    return canonical_order(found)
