"""A PEP 249 face for apsw, so that SQLAlchemy's SQLite dialect drives it.

apsw alone has what a sandbox needs (hooks, VFS, authorizer, deserialize); this module adds the names, the
exception tree, cursors with ``rowcount``, and the limits of a tool call. A statement's time and rows are
counted here, where every way of fetching passes through.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# apsw's stubs leave the type of buffers unknown.

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import apsw

from envs.guard import SqliteGuard
from envs.sandboxes.sqlite_pins import NOW

apilevel = "2.0"
threadsafety = 1
paramstyle = "qmark"
sqlite_version = apsw.sqlite_lib_version()
sqlite_version_info = tuple(int(part) for part in sqlite_version.split("."))
Binary = bytes

_MISMATCH = (apsw.SQLITE_MISMATCH, "SQLITE_MISMATCH")
_BLANK = re.compile(r"(?:[\s;]|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*", re.DOTALL)


class Error(Exception):
    """Root of the tree that PEP 249 wants; the attributes are those of the standard library's sqlite3."""

    def __init__(self, message: str, code: int = apsw.SQLITE_ERROR, name: str = "SQLITE_ERROR") -> None:
        super().__init__(message, code, name)
        self.message = message
        self.sqlite_errorcode = code
        self.sqlite_errorname = name

    def __str__(self) -> str:
        return self.message


class InterfaceError(Error): ...


class DatabaseError(Error): ...


class DataError(DatabaseError): ...


class OperationalError(DatabaseError): ...


class IntegrityError(DatabaseError): ...


class InternalError(DatabaseError): ...


class ProgrammingError(DatabaseError): ...


class NotSupportedError(DatabaseError): ...


class RowLimitError(OperationalError):
    """A statement gave more rows than its call may fetch."""


_TREE: Mapping[int, type[Error]] = {
    apsw.SQLITE_CONSTRAINT: IntegrityError,
    apsw.SQLITE_MISMATCH: IntegrityError,
    apsw.SQLITE_TOOBIG: DataError,
    apsw.SQLITE_RANGE: InterfaceError,
    apsw.SQLITE_MISUSE: InterfaceError,
    apsw.SQLITE_INTERNAL: InternalError,
    apsw.SQLITE_NOTFOUND: InternalError,
    apsw.SQLITE_CORRUPT: DatabaseError,
    apsw.SQLITE_NOTADB: DatabaseError,
    apsw.SQLITE_AUTH: DatabaseError,
}
"""Primary result code -> class, as the standard library has it; every other code is an OperationalError."""


def result_name(code: int) -> str:
    """The name of an extended result code, for example SQLITE_CONSTRAINT_UNIQUE."""
    named = apsw.mapping_extended_result_codes.get(code) or apsw.mapping_result_codes.get(code & 0xFF)
    return str(named or "SQLITE_ERROR")


def translate(error: BaseException, guard: SqliteGuard | None = None) -> Error | None:
    """The PEP 249 error for what apsw or a binding raised; None for what is no error of the database."""
    if isinstance(error, apsw.BindingsError | KeyError):
        return ProgrammingError(
            "the number of parameters does not match the statement"
            if isinstance(error, apsw.BindingsError)
            else f"there is no value for the parameter :{error.args[0]}"
        )
    if isinstance(error, apsw.Error):
        result: int = getattr(error, "result", apsw.SQLITE_ERROR)
        extended: int = getattr(error, "extendedresult", result)
        message = str(error)
        if result == apsw.SQLITE_AUTH and guard is not None and guard.reason is not None:
            message = f"not authorized: {guard.reason}"
        kind = _TREE.get(result, OperationalError)
        return kind(message, extended, result_name(extended))
    if isinstance(error, OverflowError):
        return DataError("an integer is out of the range of 64 bits", apsw.SQLITE_RANGE, "SQLITE_RANGE")
    if isinstance(error, UnicodeError):
        return DataError("a text is not valid Unicode", *_MISMATCH)
    if isinstance(error, TypeError) and "inding" in str(error):
        return DataError("a parameter has a type that the database does not know", *_MISMATCH)
    return None


def adapt(cursor: apsw.Cursor, number: int, value: object) -> str:
    """Parameters that SQLite has no type for, as the text that other engines' drivers would store."""
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return str(value)
    raise TypeError(f"Bad binding argument: {type(value).__name__}")


class Session:
    """One apsw connection with the state that its cursors share: guard, clock, and what the tracer last saw."""

    def __init__(self, raw: apsw.Connection, guard: SqliteGuard, now: int) -> None:
        self.raw = raw
        self.guard = guard
        self.now = now
        self.operation = ""
        self.description: tuple[Any, ...] | None = None
        self.writes = False
        self.begun = False
        raw.convert_binding = adapt

    def trace(self, cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        """Before each statement's first step: the only moment at which apsw describes a result without rows."""
        if self.begun:
            return True  # a comment behind the statement
        self.begun = True
        if len(sql) != len(self.operation) and not _BLANK.fullmatch(self.operation, len(sql)):
            raise ProgrammingError("only one statement can be executed at a time", apsw.SQLITE_MISUSE, "SQLITE_MISUSE")
        self.description = cursor.get_description() or None
        self.writes = not cursor.is_readonly
        return True

    def speak(self, sql: str) -> None:
        """Execute a statement of our own (BEGIN, COMMIT ...) that the guard would refuse; raises :class:`Error`."""
        self.guard.trusted = True
        try:
            self.raw.execute(sql, can_cache=False)
        except apsw.Error as error:
            raise translate(error) or error from error
        finally:
            self.guard.trusted = False


class Call:
    """What the cursors of one tool call obey: limits, and whether the call's transaction still stands."""

    def __init__(self, session: Session, timeout_ms: int | None, max_rows: int | None) -> None:
        self.session = session
        self.timeout = None if timeout_ms is None else timeout_ms / 1000
        self.max_rows = max_rows
        self.cursors: list[apsw.Cursor] = []
        self.in_transaction = True
        self.ended = False
        self.broken: Error | None = None
        """The error with which SQLite rolled back the whole transaction, unasked (INSERT OR ROLLBACK, an
        interrupted write). Anything executed after it would commit by itself."""

    def check(self) -> None:
        """Raise where no statement may run any more."""
        if self.ended:
            raise ProgrammingError("the tool call is over; its connection cannot be used any more")
        if self.broken is not None:
            raise OperationalError(
                f"the whole call was rolled back by an earlier error: {self.broken}",
                self.broken.sqlite_errorcode,
                self.broken.sqlite_errorname,
            )

    def fail(self, error: BaseException) -> NoReturn:
        """Raise what the driver raised, as PEP 249 has it, and notice a transaction that is gone."""
        translated = error if isinstance(error, Error) else translate(error, self.session.guard)
        if self.in_transaction and not self.session.raw.in_transaction:
            self.broken = translated or OperationalError(str(error))
        if translated is None or translated is error:
            raise error
        raise translated from error


class Cursor:
    """A cursor as PEP 249 has it. Rows are fetched as they are asked for, up to the call's limit."""

    arraysize = 1

    def __init__(self, call: Call) -> None:
        call.check()
        self._call = call
        self._session = call.session
        self._cursor = call.session.raw.cursor()
        self._cursor.exec_trace = call.session.trace  # not on the connection: hooks speak SQL of their own
        call.cursors.append(self._cursor)
        self._left = call.timeout
        self._rows_left = call.max_rows
        self._changed: int | None = None
        self._total_before = 0
        self.description: tuple[Any, ...] | None = None

    @property
    def rowcount(self) -> int:
        """Rows that the last INSERT, UPDATE or DELETE changed; -1 for other statements."""
        if self._changed is None:
            raw = self._session.raw
            self._changed = raw.changes() if raw.total_changes() != self._total_before else 0
        return self._changed

    @property
    def lastrowid(self) -> int:
        return self._session.raw.last_insert_rowid()

    def _timed(self, step: Callable[[], Any]) -> Any:
        """Run what makes SQLite work, under this statement's remaining time and the sandbox's clock."""
        session = self._session
        started = time.monotonic()
        NOW.julian_ms = session.now
        session.guard.deadline = float("inf") if self._left is None else started + self._left
        try:
            return step()
        except Exception as error:
            self._call.fail(error)
        finally:
            if self._left is not None:
                self._left -= time.monotonic() - started
            session.guard.deadline = float("inf")

    def execute(self, operation: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Cursor:
        self._call.check()
        self._left, self._rows_left = self._call.timeout, self._call.max_rows
        self._run(operation, parameters)
        return self

    def _run(self, operation: str, parameters: Sequence[Any] | Mapping[str, Any]) -> None:
        session = self._session
        session.operation, session.begun = operation, False
        session.description, session.writes = None, False
        session.guard.reason = None
        for value in parameters.values() if isinstance(parameters, Mapping) else parameters:
            if value.__class__ is float and value != value:  # noqa: PLR0124 - SQLite would store NULL for it
                raise DataError("NaN cannot be stored", *_MISMATCH)
        self._total_before = session.raw.total_changes()
        self._timed(lambda: self._cursor.execute(operation, parameters or None))
        self.description = session.description
        self._changed = None if session.writes else -1

    def executemany(self, operation: str, rows: Sequence[Sequence[Any]]) -> Cursor:
        """Execute once per row under one timeout; ``rowcount`` is the sum."""
        self._call.check()
        self._left, self._rows_left = self._call.timeout, self._call.max_rows
        total = 0
        for row in rows:
            self._run(operation, row)
            total += max(0, self.rowcount)
        self._changed = total
        return self

    def _take(self, wanted: int | None) -> list[tuple[Any, ...]]:
        """The next rows, at most ``wanted``; RowLimitError where the call's limit ends first."""
        if self.description is None:
            return []
        left = self._rows_left
        asked = wanted if left is None else left + 1 if wanted is None else min(wanted, left + 1)
        cursor = self._cursor
        rows: list[tuple[Any, ...]] = self._timed(
            cursor.fetchall if asked is None else lambda: list(itertools.islice(cursor, asked))
        )
        if left is not None:
            if len(rows) > left:
                cursor.close(True)
                raise RowLimitError(
                    f"the statement gives more than {self._call.max_rows} rows", apsw.SQLITE_FULL, "SQLITE_FULL"
                )
            self._rows_left = left - len(rows)
        return rows

    def fetchone(self) -> tuple[Any, ...] | None:
        rows = self._take(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        return self._take(self.arraysize if size is None else size)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._take(None)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchone, None)

    def close(self) -> None:
        self._cursor.close(True)

    def setinputsizes(self, sizes: object) -> None:
        """Part of PEP 249; SQLite has no use for it."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Part of PEP 249; SQLite has no use for it."""
