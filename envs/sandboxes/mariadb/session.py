"""A session with MariaDB: PyMySQL's connection, used for one statement at a time.

An agent's SQL goes through :meth:`MariaDBSession.run`: its first word must be on a list, and its
rows are read one by one, so that rows and bytes are counted before they fill the memory. The
sandbox's own statements go through :meth:`MariaDBSession.say`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from pymysql import err
from pymysql.cursors import SSCursor

from envs.errors import SandboxError
from envs.sandboxes.mariadb.statement_guard import SYNTAX, refusal
from envs.sandboxes.mariadb.wire import (
    LOST,
    TOO_LARGE,
    UNBOUNDED,
    BoundedConnection,
    abandon,
    too_large_error,
)
from envs.sandboxes.server.cursor import DRAIN_ROWS, MAX_ROWS_BYTES, StatementResult, text_size
from envs.sandboxes.server.session import ServerSession, unsendable
from envs.sandboxes.watchdog import OWN_S
from envs.types import Limits

_IN_TRANSACTION = 1
"""SERVER_STATUS_IN_TRANS."""

_INTERRUPTED = 1317
_CUT = frozenset({_INTERRUPTED, 1969, 3024})
_WRONG = frozenset({1139, 1301, 1260, 1931})
"""Warnings that mean a wrong value: a regular expression that was given up is not a match, a result
past max_allowed_packet is NULL, a long group is cut, a query ended early.
"""


def row_limit_error(limit: int | None) -> err.Error:
    return err.OperationalError(1104, f"the statement gives more than {limit} rows")


def timeout_error() -> err.Error:
    return err.OperationalError(
        1969, "Query execution was interrupted (max_statement_time exceeded)"
    )


class MariaDBSession(ServerSession):
    """One connection of PyMySQL. MariaDB does not report the memory of a session;
    ``max_session_mem_used`` bounds some of it.
    """

    def __init__(
        self,
        connect: Callable[[], BoundedConnection],
        end: Callable[[int], None],
        cut: Callable[[int], None],
    ) -> None:
        self._connect = connect
        self._end_thread = end
        self._cut = cut
        self._open()
        super().__init__()

    def _open(self) -> None:
        self.connection = self._connect()
        self.thread: int = self.connection.thread_id()
        self.terminated = False

    def renew(self) -> None:
        """Replace the connection by a new one, without any state of the old."""
        self.connection.drop()
        self._open()

    def _end(self) -> None:
        self._end_thread(self.thread)

    def _fileno(self) -> int:
        return self.connection.fileno()

    def _close(self) -> None:
        self.connection.drop()

    @property
    def lost(self) -> bool:
        return self.terminated or not self.connection.open

    @property
    def in_transaction(self) -> bool:
        status: int = self.connection.server_status  # pyright: ignore[reportAttributeAccessIssue]
        return bool(status & _IN_TRANSACTION)

    def say(self, sql: str) -> None:
        """Execute a statement of our own. SandboxError where the connection was lost."""
        try:
            with self._watched(OWN_S, own=True):
                self.connection.query(sql)
        except (err.OperationalError, err.InterfaceError) as error:
            if self.terminated:
                raise timeout_error() from None
            if self.lost or error.args[0] in LOST:
                raise self._lost_error() from error
            raise

    def prove(self) -> None:
        """Raise SandboxError unless the session lives in its transaction: else its work is gone."""
        self.say("DO 0")
        if not self.in_transaction:
            raise SandboxError("the sandbox's transaction was ended from outside")

    def _lost_error(self) -> SandboxError:
        self.connection.drop()
        return SandboxError("the connection to the sandbox was lost")

    def run(self, sql: str, values: Any, limits: Limits) -> StatementResult:
        """Execute one statement of a tool call. pymysql.Error where it is refused, fails or
        is cut; SandboxError where the connection was lost.
        """
        unsent = unsendable(sql)
        if unsent is not None:
            raise err.ProgrammingError(SYNTAX, unsent)
        words = refusal(sql, read_only=limits.read_only)
        if words is not None:
            raise words
        timeout = limits.statement_timeout_ms
        seconds = None if timeout is None else timeout / 1000
        started = time.monotonic()
        cursor = SSCursor(self.connection)
        try:
            with self._watched(seconds):
                self.connection.allowance = MAX_ROWS_BYTES
                cursor.execute(sql, values)
                answer = self._answer(cursor, limits)
            if seconds is not None and time.monotonic() - started > seconds:
                # SLEEP and BENCHMARK that were cut give a value as if nothing had been
                raise timeout_error()
            return answer
        except (err.OperationalError, err.InterfaceError) as error:
            if self.terminated:
                raise timeout_error() from None
            code = error.args[0] if error.args else None
            if code == TOO_LARGE and not self.connection.open:
                self.terminated = True  # by this process, which does not read on
                raise
            if code in LOST or code == _INTERRUPTED:
                raise self._lost_error() from error
            raise
        finally:
            self.connection.allowance = UNBOUNDED
            if self.lost:
                abandon(cursor)
            else:
                cursor.close()

    def _answer(self, cursor: SSCursor, limits: Limits) -> StatementResult:
        answer = StatementResult(description=cursor.description, lastrowid=cursor.lastrowid)
        if not answer.description:
            answer.rowcount = cursor.rowcount
        else:
            failed = self._fill(answer, cursor, limits)
            if failed is not None:
                raise failed
            answer.rowcount = len(answer.rows)
        if cursor.warning_count and not answer.cut:
            self._look_at_warnings()
        return answer

    def _fill(self, answer: StatementResult, cursor: SSCursor, limits: Limits) -> err.Error | None:
        reader = _RowReader(answer, limits)
        cut = False
        try:
            while True:
                self.connection.allowance = MAX_ROWS_BYTES
                try:
                    row = cursor.fetchone()
                except UnicodeDecodeError:  # the row was read; those behind it are still to come
                    reader.fail(err.DataError(1366, "a text is not valid Unicode"))
                    continue
                if row is None:  # pyright: ignore[reportUnnecessaryComparison]
                    break
                if reader.failed is None and not answer.cut and reader.take(row):
                    cut = True
                    self._cut(self.thread)
        except err.OperationalError as error:
            if not cut or error.args[0] not in _CUT:
                raise
        if cut:
            self._pass_over_the_cut()
        return reader.failed

    def _pass_over_the_cut(self) -> None:
        """Let the KILL that came after its statement's end meet one that does nothing."""
        for _ in range(2):
            try:
                self.connection.query("DO 0")
            except err.OperationalError as error:
                if error.args[0] not in _CUT:
                    raise

    def _look_at_warnings(self) -> None:
        cursor = self.connection.cursor()
        cursor.execute("SHOW WARNINGS")
        rows: Sequence[tuple[str, int, str]] = cursor.fetchall()
        for _, code, words in rows:
            if code in _CUT:
                raise timeout_error()
            if code in _WRONG:
                # By the number of a result that is too large: all are limits.
                raise err.OperationalError(1301, words)


class _RowReader:
    """Collects a statement's rows up to the limits; ``failed`` is the error past one of them."""

    def __init__(self, result: StatementResult, limits: Limits) -> None:
        self.failed: err.Error | None = None
        self._result = result
        self._max_rows = limits.max_rows
        self._reads = limits.read_only
        self._passed = self._size = 0

    def fail(self, error: err.Error) -> None:
        self.failed = self.failed or error

    def take(self, row: tuple[Any, ...]) -> bool:
        """Take one row in; returns True where the statement is to be cut."""
        rows, limit = self._result.rows, self._max_rows
        if limit is not None and len(rows) >= limit:
            self._result.more = True
            self._passed += 1
            if self._passed > DRAIN_ROWS:
                self._result.cut = True
                if not self._reads:
                    self.fail(row_limit_error(limit))
            return self._result.cut
        self._size += text_size(row)
        if self._size > MAX_ROWS_BYTES:
            self.fail(too_large_error())
        rows.append(row)
        return self.failed is not None
