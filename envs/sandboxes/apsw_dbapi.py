"""A PEP 249 face for apsw, so that SQLAlchemy's SQLite dialect drives it.

apsw alone has what a sandbox needs (hooks, VFS, authorizer, deserialize); this module adds the names, the
exception tree, cursors with ``rowcount``, and the limits of a tool call. A statement's time, rows and bytes are
counted here, where every way of fetching passes through. A statement that ends past its time has failed, whatever it
gives: what no guard could break off in time may have been cut short.
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

from envs.guard import NEVER, SqliteGuard
from envs.sandboxes.sqlite_pins import NOW

apilevel = "2.0"
threadsafety = 1
paramstyle = "qmark"
sqlite_version = apsw.sqlite_lib_version()
sqlite_version_info = tuple(int(part) for part in sqlite_version.split("."))
Binary = bytes

CHUNK = 200
"""Rows that are fetched between two looks at how large they are."""

MAX_FETCHED = 64 * 2**20
"""Text and bytes that a statement may give to its call, in characters: what bounds the memory of its rows."""

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
    """One apsw connection with the state that its cursors share: guard, clock, and what the tracer last saw.

    ``alarm(seconds)`` is called before a step that may take so long, and with 0 after it, where the process may be
    killed for a step that takes longer.
    """

    def __init__(
        self, raw: apsw.Connection, guard: SqliteGuard, now: int, alarm: Callable[[float], object] | None = None
    ) -> None:
        self.raw = raw
        self.guard = guard
        self.now = now
        self.alarm = alarm
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
        self.cursors: set[apsw.Cursor] = set()
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
        self._cursor = cursor = call.session.raw.cursor()
        cursor.exec_trace = call.session.trace  # not on the connection: hooks speak SQL of their own
        call.cursors.add(cursor)
        self._left = call.timeout
        self._rows_left = call.max_rows
        self._size = 0
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

    def _arm(self, left: float) -> None:
        """Before what makes SQLite work: the moment at which it is broken off."""
        session = self._session
        session.guard.deadline = time.monotonic() + left
        if session.alarm is not None:
            session.alarm(left)

    def _disarm(self) -> None:
        """After it: what is left of the statement's time. Raises where it took too long."""
        session = self._session
        left = self._left = session.guard.deadline - time.monotonic()
        session.guard.deadline = NEVER
        if session.alarm is not None:
            session.alarm(0)
        if left < 0:
            late = OperationalError("interrupted", apsw.SQLITE_INTERRUPT, "SQLITE_INTERRUPT")
            if session.writes:
                self._call.broken = late
            raise late

    def _fail(self, error: Exception) -> NoReturn:
        """What the driver raised, as PEP 249 has it."""
        self._session.guard.deadline = NEVER
        if self._session.alarm is not None:
            self._session.alarm(0)
        self._call.fail(error)

    def execute(self, operation: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Cursor:
        call = self._call
        call.check()
        self._left, self._rows_left, self._size = call.timeout, call.max_rows, 0
        self._run(operation, parameters)
        return self

    def _run(self, operation: str, parameters: Sequence[Any] | Mapping[str, Any]) -> None:
        session, left = self._session, self._left
        session.operation, session.begun = operation, False
        session.description, session.writes = None, False
        session.guard.reason = None
        for value in parameters.values() if isinstance(parameters, dict) else parameters:
            if value.__class__ is float and value != value:  # noqa: PLR0124 - SQLite would store NULL for it
                raise DataError("NaN cannot be stored", *_MISMATCH)
        self._total_before = session.raw.total_changes()
        NOW.julian_ms = session.now
        if left is not None:
            self._arm(left)
        try:
            self._cursor.execute(operation, parameters or None)
        except Exception as error:
            self._fail(error)
        if left is not None:
            self._disarm()
        self.description = session.description
        self._changed = None if session.writes else -1

    def executemany(self, operation: str, rows: Sequence[Sequence[Any]]) -> Cursor:
        """Execute once per row under one timeout; ``rowcount`` is the sum."""
        self._call.check()
        self._left, self._rows_left, self._size = self._call.timeout, self._call.max_rows, 0
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
        if self._left is not None:
            self._arm(self._left)
        NOW.julian_ms = self._session.now
        try:
            rows = list(itertools.islice(self._cursor, CHUNK if asked is None or asked > CHUNK else asked))
            chunk = rows
            while len(chunk) == CHUNK:
                self._weigh(chunk)
                more = CHUNK if asked is None else min(CHUNK, asked - len(rows))
                chunk = list(itertools.islice(self._cursor, more))
                rows += chunk
        except Exception as error:
            self._fail(error)
        if self._left is not None:
            self._disarm()
        if left is not None:
            if len(rows) > left:
                self._refuse(f"more than {self._call.max_rows} rows")
            self._rows_left = left - len(rows)
        return rows

    def _weigh(self, rows: list[tuple[Any, ...]]) -> None:
        self._size += sum(len(value) for row in rows for value in row if value.__class__ in (str, bytes))
        if self._size > MAX_FETCHED:
            self._refuse(f"more than {MAX_FETCHED} characters")

    def _refuse(self, what: str) -> NoReturn:
        self._cursor.close(True)
        raise RowLimitError(f"the statement gives {what}", apsw.SQLITE_FULL, "SQLITE_FULL")

    def fetchone(self) -> tuple[Any, ...] | None:
        if self.description is None or self._rows_left is None or self._left is None:
            rows = self._take(1)
            return rows[0] if rows else None
        NOW.julian_ms = self._session.now  # the way of every `for row in result`, hence all in one place
        self._arm(self._left)
        try:
            row = next(self._cursor, None)
        except Exception as error:
            self._fail(error)
        self._disarm()
        if row is not None:
            self._rows_left -= 1
            if self._rows_left < 0:
                self._refuse(f"more than {self._call.max_rows} rows")
        return row

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        return self._take(self.arraysize if size is None else size)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._take(None)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchone, None)

    def close(self) -> None:
        self._cursor.close(True)
        self._call.cursors.discard(self._cursor)

    def setinputsizes(self, sizes: object) -> None:
        """Part of PEP 249; SQLite has no use for it."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Part of PEP 249; SQLite has no use for it."""
