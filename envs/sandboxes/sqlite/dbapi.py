"""A PEP 249 interface to apsw, so that SQLAlchemy's SQLite dialect can drive it.

Only apsw has the features that a sandbox needs (hooks, VFS, authorizer, deserialize); this module
adds the names, the exception tree, cursors with ``rowcount``, and the limits of a tool call. A
statement's time, rows and bytes are counted here, where every way of fetching passes. A statement
that ends past its time has failed, whatever it returns: a step that no guard could interrupt in
time may have been cut short.
"""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import apsw

from envs.sandboxes.contained import ENDED, ContainedCall, ContainedCursor
from envs.sandboxes.sqlite.guard import NEVER, SqliteGuard
from envs.sandboxes.sqlite.pins import NOW

apilevel = "2.0"
threadsafety = 1
paramstyle = "qmark"
sqlite_version = apsw.sqlite_lib_version()
sqlite_version_info = tuple(int(part) for part in sqlite_version.split("."))
Binary = bytes

CHUNK = 200
"""Rows that are fetched between two looks at how large they are."""

MAX_FETCHED = 64 * 2**20
"""Characters that a statement may give to its call: what bounds the memory of its rows."""

FIRST = 8
"""Rows that are fetched at once with the execution of their statement."""

KNOWN, KNOWN_LENGTH = 200, 2_000
"""So many statements of a session, and so long ones, are looked at by its tracer once only."""

_OURS = apsw.SQLITE_PREPARE_PERSISTENT
"""Marks the sandbox's own statements: what is cached under it is never found for a call."""

_BLANK = re.compile(r"(?:[\s;]|--[^\n]*(?:\n|\Z)|/\*(?>.*?(?:\*/|\Z)))*+", re.DOTALL)
"""Blanks and comments. Atomic: no second try lets a comment swallow a statement."""


MISMATCH = (apsw.SQLITE_MISMATCH, "SQLITE_MISMATCH")
"""Code and name of a value that SQLite cannot store."""


class Error(Exception):
    """Root of PEP 249's exceptions, with the attributes of the standard library's sqlite3."""

    def __init__(
        self, message: str, code: int = apsw.SQLITE_ERROR, name: str = "SQLITE_ERROR"
    ) -> None:
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
"""Primary result code -> class, as in the standard library; any other: OperationalError."""


def _result_name(code: int) -> str:
    """The name of an extended result code, for example SQLITE_CONSTRAINT_UNIQUE."""
    named = apsw.mapping_extended_result_codes.get(code) or apsw.mapping_result_codes.get(
        code & 0xFF
    )
    return str(named or "SQLITE_ERROR")


def translate(error: BaseException, guard: SqliteGuard | None = None) -> Error | None:
    """The PEP 249 error for an error of apsw or a binding; None if it is not a database's."""
    if isinstance(error, apsw.BindingsError | KeyError):
        return ProgrammingError(
            "the number of parameters does not match the statement"
            if isinstance(error, apsw.BindingsError)
            else f"no value for the parameter :{error.args[0]}"
        )
    if isinstance(error, apsw.Error):
        result: int = getattr(error, "result", apsw.SQLITE_ERROR)
        extended: int = getattr(error, "extendedresult", result)
        message = str(error)
        if result == apsw.SQLITE_AUTH and guard is not None and guard.reason is not None:
            message = f"not authorized: {guard.reason}"
        kind = _TREE.get(result, OperationalError)
        return kind(message, extended, _result_name(extended))
    if isinstance(error, OverflowError):
        return DataError(
            "an integer is out of the range of 64 bits", apsw.SQLITE_RANGE, "SQLITE_RANGE"
        )
    if isinstance(error, ValueError) and "null character" in str(error):
        return ProgrammingError("a statement cannot hold a null character")
    if isinstance(error, UnicodeError):
        return DataError("a text is not valid Unicode", *MISMATCH)
    if isinstance(error, TypeError) and "inding" in str(error):
        return DataError("a parameter has a type that the database does not know", *MISMATCH)
    return None


def adapt(cursor: apsw.Cursor, number: int, value: object) -> str:
    """Parameters that SQLite has no type for become the text other engines' drivers store."""
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return str(value)
    raise TypeError(f"Bad binding argument: {type(value).__name__}")


class Session:
    """One apsw connection with the state that its cursors share: guard, clock, and the notes of the
    tracer.

    ``alarm(seconds)`` is called before a step that may take so long, and with 0 after it, where the
    process may be killed for a step that takes longer.
    """

    def __init__(
        self,
        raw: apsw.Connection,
        guard: SqliteGuard,
        now: int,
        alarm: Callable[[float], object] | None = None,
    ) -> None:
        self.raw = raw
        self.guard = guard
        self.now = now
        self.alarm = alarm
        self.operation = ""
        self.description: tuple[Any, ...] | None = None
        self.writes = False
        self.begun = False
        self.known: dict[str, tuple[tuple[Any, ...] | None, bool]] = {}
        """Statements the tracer let pass: what they give, if they write. The schema is fixed."""
        raw.convert_binding = adapt

    def trace(self, cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        """Note the statement before its first step: only then apsw describes an empty result."""
        if self.begun:
            return True  # a comment behind the statement
        self.begun = True
        if len(sql) != len(self.operation) and not _BLANK.fullmatch(self.operation, len(sql)):
            raise ProgrammingError("only one statement can be executed at a time")
        self.description = cursor.get_description() or None
        self.writes = not cursor.is_readonly
        return True

    def described(self) -> tuple[tuple[Any, ...] | None, bool]:
        """The last statement's description, and whether it writes, as the tracer saw them."""
        seen = self.description, self.writes
        if self.begun and len(self.operation) <= KNOWN_LENGTH and len(self.known) < KNOWN:
            self.known[self.operation] = seen
        return seen

    def speak(self, sql: str) -> None:
        """Execute a statement of our own (BEGIN ...) that the guard refuses; raises Error."""
        self.guard.trusted = True
        try:
            self.raw.execute(sql, prepare_flags=_OURS)
        except apsw.Error as error:
            raise translate(error) or error from error
        finally:
            self.guard.trusted = False


class Call(ContainedCall):
    """The limits of one tool call, which its cursors obey, and the state of its transaction.

    It is ``broken`` where SQLite rolled back the whole transaction, unasked (INSERT OR ROLLBACK, an
    interrupted write): anything executed after it would commit by itself.
    """

    def __init__(self, session: Session, timeout_ms: int | None, max_rows: int | None) -> None:
        self.session = session
        self.timeout = NEVER if timeout_ms is None else timeout_ms / 1000
        self.max_rows = max_rows
        self.cursors: set[apsw.Cursor] = set()
        self.in_transaction = True

    def cursor(self) -> ApswCursor:
        return ApswCursor(self)

    def check(self) -> None:
        if self.ended:
            raise ProgrammingError(ENDED)
        if self.broken is not None:
            assert isinstance(self.broken, Error)
            raise OperationalError(
                f"the whole call was rolled back by an earlier error: {self.broken}",
                self.broken.sqlite_errorcode,
                self.broken.sqlite_errorname,
            )

    def speak(self, sql: str) -> None:
        self.session.speak(sql)

    def restart(self) -> None:
        if self.session.raw.in_transaction:
            self.speak("ROLLBACK")
        self.speak("BEGIN")
        self.broken = None

    def close_cursors(self) -> None:
        """Close all cursors: a statement with rows to give keeps a transaction from ending."""
        for cursor in self.cursors:
            cursor.close(True)
        self.cursors.clear()

    def fail(self, error: BaseException) -> NoReturn:
        """Raise what the driver raised, as PEP 249 has it; notice a transaction that is gone."""
        translated = error if isinstance(error, Error) else translate(error, self.session.guard)
        if self.in_transaction and not self.session.raw.in_transaction:
            self.broken = translated or OperationalError(str(error))
        if translated is None or translated is error:
            raise error
        raise translated from error


class ApswCursor(ContainedCursor):
    """A cursor as PEP 249 describes it. Rows are fetched on demand, up to the call's limit.

    The first few are fetched when the statement is executed: most of the cost of a row is the watch
    over it.
    """

    description: tuple[Any, ...] | None = None

    _left = NEVER
    _rows_left: int | None = None
    _size = 0
    _ahead: Iterator[tuple[Any, ...]] = iter(())  # rows that are here and were not asked for yet
    _over = True  # there are no more than these
    _changed: int | None = -1
    _total_before = 0
    _writes = False

    def __init__(self, call: Call) -> None:
        if call.ended or call.broken is not None:
            call.check()
        self._call = call
        self._session = session = call.session
        self._cursor = cursor = session.raw.cursor()
        call.cursors.add(cursor)

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

    def _arm(self) -> None:
        """Set the moment of interruption before a step of SQLite."""
        session = self._session
        session.guard.deadline = time.monotonic() + self._left
        if session.alarm is not None and self._left < NEVER:
            session.alarm(self._left)

    def _disarm(self) -> None:
        """Take a step's time from the rest of the statement's time. Raises if it took too long."""
        session = self._session
        guard = session.guard
        left = self._left = guard.deadline - time.monotonic()
        guard.deadline = NEVER
        if session.alarm is not None:
            session.alarm(0)
        if left < 0:
            late = OperationalError("interrupted", apsw.SQLITE_INTERRUPT, "SQLITE_INTERRUPT")
            if self._writes:
                self._call.broken = late
            raise late

    def _fail(self, error: Exception) -> NoReturn:
        self._ahead, self._over = iter(()), True
        guard = self._session.guard
        guard.deadline = NEVER
        if self._session.alarm is not None:
            self._session.alarm(0)
        if guard.swollen and isinstance(error, apsw.InterruptError):
            error = OperationalError("out of memory", apsw.SQLITE_NOMEM, "SQLITE_NOMEM")
        self._call.fail(error)

    def execute(
        self, operation: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
    ) -> ApswCursor:
        call = self._call
        if call.ended or call.broken is not None:
            call.check()
        self._left, self._rows_left, self._size = call.timeout, call.max_rows, 0
        self._run(operation, parameters)
        return self

    def _run(self, operation: str, parameters: Sequence[Any] | Mapping[str, Any]) -> None:
        session, cursor = self._session, self._cursor
        session.guard.reason = None
        known = session.known.get(operation)
        if known is None:
            session.operation, session.begun = operation, False
            session.description, session.writes = None, False
            cursor.exec_trace = session.trace  # not on the connection: hooks speak SQL of their own
        else:
            cursor.exec_trace = None
        for value in parameters.values() if isinstance(parameters, dict) else parameters:
            # SQLite would store NULL for NaN.
            if value.__class__ is float and value != value:  # noqa: PLR0124
                raise DataError("NaN cannot be stored", *MISMATCH)
        self._total_before = session.raw.total_changes()
        NOW.julian_ms = session.now
        self._arm()
        try:
            cursor.execute(operation, parameters or None)
            self.description, self._writes = known or session.described()
            rows = [] if self.description is None else list(itertools.islice(cursor, FIRST))
        except Exception as error:
            self._fail(error)
        self._disarm()
        self._ahead, self._over = iter(rows), len(rows) < FIRST
        self._changed = None if self._writes else -1

    def executemany(self, operation: str, rows: Sequence[Sequence[Any]]) -> ApswCursor:
        """Execute once per row under one timeout; ``rowcount`` is the sum."""
        self._call.check()
        self._left, self._rows_left, self._size = self._call.timeout, self._call.max_rows, 0
        total = 0
        for row in rows:
            self._run(operation, row)
            total += max(0, self.rowcount)
        self._changed = total
        return self

    def _batch(self, wanted: int) -> list[tuple[Any, ...]]:
        """The next rows, fewer than wanted where there are no more."""
        if self._over:
            return []
        self._arm()
        NOW.julian_ms = self._session.now
        try:
            rows = list(itertools.islice(self._cursor, wanted))
        except Exception as error:
            self._fail(error)
        self._disarm()
        self._over = len(rows) < wanted
        if not self._over:
            self._weigh(rows)
        return rows

    def _take(self, wanted: int | None) -> list[tuple[Any, ...]]:
        """The next rows, at most ``wanted``; RowLimitError where the call's limit ends first."""
        left = self._rows_left
        asked = wanted if left is None else left + 1 if wanted is None else min(wanted, left + 1)
        rows = list(self._ahead)
        while not self._over and (asked is None or len(rows) < asked):
            rows += self._batch(CHUNK if asked is None else min(CHUNK, asked - len(rows)))
        if asked is not None:
            rows, self._ahead = rows[:asked], iter(rows[asked:])
        if left is not None:
            if len(rows) > left:
                self._refuse(f"more than {self._call.max_rows} rows")
            self._rows_left = left - len(rows)
        return rows

    def _weigh(self, rows: list[tuple[Any, ...]]) -> None:
        self._size += sum(
            len(value) for row in rows for value in row if value.__class__ in (str, bytes)
        )
        if self._size > MAX_FETCHED:
            self._refuse(f"more than {MAX_FETCHED} characters")

    def _refuse(self, what: str) -> NoReturn:
        self._cursor.close(True)
        self._ahead, self._over = iter(()), False  # whoever asks for more meets the closed cursor
        raise RowLimitError(f"the statement gives {what}", apsw.SQLITE_FULL, "SQLITE_FULL")

    def fetchone(self) -> tuple[Any, ...] | None:
        row = next(self._ahead, None)
        if row is None:
            if self._over:
                return None
            left = self._rows_left
            self._ahead = iter(self._batch(CHUNK if left is None else min(CHUNK, left + 1)))
            row = next(self._ahead, None)
        if row is not None and self._rows_left is not None:
            if self._rows_left == 0:
                self._refuse(f"more than {self._call.max_rows} rows")
            self._rows_left -= 1
        return row

    def close(self) -> None:
        self._cursor.close(True)
        self._call.cursors.discard(self._cursor)
