"""The service that reads an attached database, in processes that may be killed
(:mod:`envs.processes`).

A process keeps one connection. It executes one statement at a time, in a read-only transaction of
its own, and returns its rows. A statement that takes too long or too much memory ends with its
process.
"""

from __future__ import annotations

import datetime as dt
import pickle
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy
from sqlalchemy.exc import DBAPIError

from envs.errors import EnvsError
from envs.processes.zygote import limit_space
from envs.sandboxes.attached.access import Access, access_of
from envs.sandboxes.server.cursor import MAX_ROWS_BYTES, StatementResult
from envs.types import ErrorCategory

SPACE_BYTES = 2 * 2**30
"""Address space that a process may take beyond what it has once it is connected."""

_KINDS = ("IntegrityError", "DataError", "OperationalError", "ProgrammingError", "InternalError")


@dataclass(frozen=True, slots=True)
class StatementQuestion:
    """A statement with the driver's parameters, the limits of its call, and its ``moment`` in UTC.
    Without a statement it asks for a connection only.
    """

    sql: str = ""
    parameters: Any = None
    timeout_ms: int | None = None
    max_rows: int | None = None
    moment: dt.datetime | None = None


class RefusedStatementError(EnvsError):
    """A statement that was not executed, or was broken off: the reason, and its category."""

    def __init__(self, words: str, category: ErrorCategory) -> None:
        super().__init__(words, category)
        self.words = words
        self.category = category


@dataclass
class Reader:
    """State of one process: the rules of the dialect, and what is made after the fork."""

    access: Access
    raw: Any = None

    @cached_property
    def engine(self) -> sqlalchemy.Engine:
        """SQLAlchemy's engine. Imports its driver: some start threads, which no fork survives."""
        return self.access.engine()

    def connect(self) -> Any:
        if self.raw is None:
            held = self.engine.raw_connection()
            held.detach()
            self.raw = held.dbapi_connection
            self.access.prepare(self.raw)
            limit_space(SPACE_BYTES)
        return self.raw

    def hang_up(self) -> None:
        raw, self.raw = self.raw, None
        with suppress(Exception):  # it may be lost, and drivers differ in what they raise then
            raw.close()


def prepare(address: str, schemas: Sequence[str]) -> Reader:
    """The rules of the URL's dialect. Raises :class:`~envs.errors.DatabaseConfigError`."""
    return Reader(access_of(address, schemas))


def answer(reader: Reader, question: StatementQuestion, _: list[int]) -> StatementResult:
    """Execute a statement. Raises the driver's errors and :class:`RefusedStatementError`."""
    driver: Any = reader.engine.dialect.loaded_dbapi
    raw: Any = None
    try:
        raw = reader.connect()
        return _executed(reader, raw, question) if question.sql else StatementResult()
    except (driver.Error, DBAPIError) as error:
        own: Any = error.orig if isinstance(error, DBAPIError) else error
        if raw is None or reader.engine.dialect.is_disconnect(own, raw, None):
            reader.hang_up()
            raise RefusedStatementError(str(own), ErrorCategory.CONNECTION_ERROR) from None
        raise _portable(own, reader.access, driver) from None
    except TimeoutError:
        raise timeout_error() from None
    except MemoryError:
        reader.hang_up()
        raise RefusedStatementError(
            "the statement needs more memory than it may take", ErrorCategory.LIMIT_EXCEEDED
        ) from None


def _executed(reader: Reader, raw: Any, question: StatementQuestion) -> StatementResult:
    access, began, spoilt = reader.access, time.monotonic(), False
    access.begin(raw, question.timeout_ms)
    if question.moment is not None:
        access.pin(raw, question.moment)
    try:
        words = access.refusal(raw, question.sql, question.parameters)
        if words is not None:
            raise RefusedStatementError(words, ErrorCategory.PERMISSION_DENIED)
        cursor = raw.cursor()
        result = _filled(access.rows(cursor, question.sql, question.parameters), question.max_rows)
        result.description = [(item[0], *[None] * 6) for item in cursor.description or ()] or None
        spoilt = access.hangs_up and result.more
    except RefusedStatementError:
        spoilt = access.hangs_up
        raise
    finally:
        reader.hang_up() if spoilt else access.end(raw, reader.engine.dialect)
    limit = question.timeout_ms
    if limit is not None and (time.monotonic() - began) * 1000 > limit:
        raise timeout_error()
    return result


def _filled(rows: Iterable[Any], max_rows: int | None) -> StatementResult:
    result, size = StatementResult(), 0
    for row in rows:
        if max_rows is not None and len(result.rows) >= max_rows:
            result.more = True
            break
        size += sum(map(_size, row))
        if size > MAX_ROWS_BYTES:
            raise RefusedStatementError(
                f"the statement gives more than {MAX_ROWS_BYTES} bytes",
                ErrorCategory.LIMIT_EXCEEDED,
            )
        result.rows.append(tuple(row))
    if (close := getattr(rows, "close", None)) is not None:
        close()
    result.rowcount = len(result.rows)
    return result


def _size(value: Any) -> int:
    if value.__class__ in _SIZED:
        return len(value)
    return len(repr(value)) if value.__class__ in _NESTED else 8


_SIZED = frozenset({str, bytes, bytearray, memoryview})
_NESTED = frozenset({list, dict, tuple})


def timeout_error() -> RefusedStatementError:
    return RefusedStatementError("the statement took longer than it may", ErrorCategory.TIMEOUT)


def _portable(error: BaseException, access: Access, driver: Any) -> BaseException:
    """The error, or one of the same kind with its words if it does not survive pickling."""
    again: Any = None
    try:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # pickling runs the driver's code, which may raise anything
        again = None
    words = access.words(error)
    if isinstance(again, driver.Error) and str(again) == words:
        return again
    names = [kind.__name__ for kind in type(error).__mro__]
    kind = next((name for name in _KINDS if name in names), "DatabaseError")
    return getattr(driver, kind, driver.Error)(words)
