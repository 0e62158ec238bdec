"""The connection of one tool call to an attached database: its statements run in other processes.

SQLAlchemy compiles statements and reads rows here as it does for the dialect. The driver's part is
played by :class:`ReadCall`.
"""

from __future__ import annotations

import datetime as dt
import pickle
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy
from sqlalchemy.exc import DBAPIError

from envs.errors import EnvsError, SandboxError
from envs.processes import Child, ChildLost, Pool
from envs.processes.zygote import limit_space
from envs.sandboxes.attached.access import CONNECT_S, Access, access_of
from envs.sandboxes.contained import ENDED, ContainedCall
from envs.sandboxes.server.cursor import MAX_ROWS_BYTES, ServerCursor, StatementResult
from envs.types import ErrorCategory, Limits

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
        raise portable(own, reader.access, driver) from None
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
        result = filled(access.rows(cursor, question.sql, question.parameters), question.max_rows)
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


def filled(rows: Iterable[Any], max_rows: int | None) -> StatementResult:
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


def portable(error: BaseException, access: Access, driver: Any) -> BaseException:
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


_SKIPPED = (
    r"""(?P<skipped>\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`"""
    r"""|--[^\n\r]*|/\*.*?\*/|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"""
)
_SERVER = re.compile(
    r"'(?P<text>now|today|yesterday|tomorrow)'(?=\s*::\s*(?:date|timestamp))"
    r"|(?<![\w.])(?P<type>date|timestamp|timestamptz)\s+'(?P<named>now|today|yesterday|tomorrow)'"
    rf"|{_SKIPPED}"
    r"|(?<![\w.])(?:pg_catalog\.)?(?P<call>now|transaction_timestamp|statement_timestamp"
    r"|clock_timestamp|get_current_timestamp|today)\s*\(\s*\)"
    r"|(?<![\w.])(?P<word>current_timestamp|localtimestamp|current_date|current_time|localtime)\b"
    r"(?:\s*\(\s*\d?\s*\))?"
    r"|(?<![\w.])(?P<age>age)\s*\(",
    re.DOTALL | re.IGNORECASE,
)
_SQLITE = re.compile(
    r"(?<![\w.])(?P<function>(?:date|time|datetime|julianday|unixepoch)\s*\(\s*"
    r"|strftime\s*\(\s*'[^']*'\s*,\s*)'now'"
    r"|(?<![\w.])(?P<bare>date|time|datetime|julianday|unixepoch)\s*\(\s*\)"
    rf"|{_SKIPPED}"
    r"|(?<![\w.])(?P<word>current_timestamp|current_date|current_time)\b",
    re.DOTALL | re.IGNORECASE,
)
_TYPES = {
    "current_timestamp": "timestamptz",
    "localtimestamp": "timestamp",
    "current_date": "date",
    "current_time": "timetz",
    "localtime": "time",
    "today": "date",
}
_DAYS = {"yesterday": -1, "tomorrow": 1}


def pinned(sql: str, moment: dt.datetime, dialect: str) -> str:
    """The statement at a moment, in UTC.

    >>> pinned("SELECT CURRENT_DATE", dt.datetime(2026, 3, 2, 9), "postgresql")
    "SELECT '2026-03-02'::date"

    MariaDB has a variable of the session for it. Elsewhere ``CURRENT_DATE``, ``now()`` and their
    like become literals, outside of quotes and comments. The server's time stays in its own
    functions, views and texts that become dates as they are compared.
    """
    if dialect in {"postgresql", "duckdb"}:
        pattern, replace = _SERVER, _on_server
    elif dialect == "sqlite":
        pattern, replace = _SQLITE, _on_sqlite
    else:
        return sql
    written = moment.replace(tzinfo=None, microsecond=0)
    return pattern.sub(lambda found: replace(found, written), sql)


def _on_server(found: re.Match[str], moment: dt.datetime) -> str:
    if found["skipped"] is not None:
        return found[0]
    if word := found["text"] or found["named"]:
        day = moment.date() + dt.timedelta(_DAYS.get(word.lower(), 0))
        text = f"'{moment}+00'" if word.lower() == "now" else f"'{day}'"
        return f"{found['type']} {text}" if found["type"] else text
    if found["age"]:
        return f"{found[0]}'{moment.date()}', " if _has_one_argument(found) else found[0]
    kind = _TYPES.get((found["word"] or found["call"]).lower(), "timestamptz")
    text = {"date": str(moment.date()), "timestamp": str(moment)}.get(kind)
    text = text or (f"{moment}+00" if kind == "timestamptz" else f"{moment.time()}")
    return f"'{text}{'+00' if kind == 'timetz' else ''}'::{kind}"


def _has_one_argument(found: re.Match[str]) -> bool:
    depth, text = 1, found.string
    for part in re.finditer(r"'(?:[^']|'')*'|\"[^\"]*\"|[(),]", text[found.end() :]):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if depth == 0:
            return text[found.end() : found.end() + part.start()].strip() != ""
        if depth == 1 and part[0] == ",":
            return False
    return False


def _on_sqlite(found: re.Match[str], moment: dt.datetime) -> str:
    if found["skipped"] is not None:
        return found[0]
    if found["function"]:
        return f"{found['function']}'{moment}'"
    if found["bare"]:
        return f"{found['bare']}('{moment}')"
    word = found["word"].lower()
    texts = {"current_date": moment.date(), "current_time": moment.time()}
    return f"'{texts.get(word, moment)}'"


GRACE_S = 0.5
"""Seconds past its time in which a statement may still be ended by the database itself."""


class ReadCall(ContainedCall):
    """One tool call, which has nothing to commit and nothing to undo. ``driver`` is the driver's
    module, ``now`` the moment at which its statements are executed, in UTC.
    """

    def __init__(
        self, pool: Pool, driver: Any, dialect: str, limits: Limits, now: dt.datetime
    ) -> None:
        self._now = now
        self._dialect = dialect
        self._pool = pool
        self._driver = driver
        self._limits = limits

    def cursor(self) -> ReadCursor:
        return ReadCursor(self, self._limits)

    def check(self) -> None:
        if self.ended:
            raise self.error(ENDED, ErrorCategory.PERMISSION_DENIED)

    def speak(self, sql: str) -> None:
        """Nothing is said: each statement is a transaction, and only reads."""

    def restart(self) -> None:
        """Nothing is undone."""

    def run(self, sql: str, parameters: Any) -> StatementResult:
        """Execute one statement. Raises the driver's errors, also for limits and rules, and
        SandboxError if the database cannot be reached.
        """
        self.check()
        limits = self._limits
        sql = pinned(sql, self._now, self._dialect)
        timeout, most = limits.statement_timeout_ms, limits.max_rows
        question = StatementQuestion(sql, parameters, timeout, most, self._now)
        try:
            return self._asked(question)
        except RefusedStatementError as refused:
            if refused.category is ErrorCategory.CONNECTION_ERROR:
                raise SandboxError("the connection to the attached database was lost") from None
            raise self.error(refused.words, refused.category) from None

    def _asked(self, question: StatementQuestion) -> StatementResult:
        timeout = question.timeout_ms
        seconds = None if timeout is None else timeout / 1000 + GRACE_S

        def put(child: Child) -> StatementResult:
            if not child.knows.get("connected"):
                child.ask(StatementQuestion(), (), 3 * CONNECT_S)
                child.knows["connected"] = True
                child.begun = False
            return child.ask(question, (), seconds)

        try:
            return self._pool.ask(put)
        except ChildLost as lost:
            if lost.late:
                raise timeout_error() from None
            raise RefusedStatementError(
                "the statement needs more memory than it may take", ErrorCategory.LIMIT_EXCEEDED
            ) from None

    def error(self, words: str, category: ErrorCategory) -> Exception:
        """An error of the driver's family in words of ours; its ``category`` sorts it."""
        driver = self._driver
        base: type[Exception] = getattr(driver, "OperationalError", driver.Error)
        return type("OperationalError", (base,), {"category": category})(words)


class ReadCursor(ServerCursor):
    """The cursor of a tool call on an attached database."""

    @property
    def lastrowid(self) -> int | None:
        return None

    def __init__(self, call: ReadCall, limits: Limits) -> None:
        super().__init__(limits)
        self._call = call

    def execute(self, operation: str, parameters: Any = None, *_: Any) -> ReadCursor:
        self._position, self._result = 0, StatementResult()
        self._result = self._call.run(operation, parameters)
        return self

    def executemany(self, operation: str, rows: Sequence[Any]) -> ReadCursor:
        raise self._call.error(
            "a statement that only reads has one set of parameters", ErrorCategory.PERMISSION_DENIED
        )

    def row_limit_error(self, limit: int | None) -> Exception:
        return self._call.error(
            f"the statement gives more than {limit} rows", ErrorCategory.LIMIT_EXCEEDED
        )
