"""A session with MariaDB: PyMySQL's connection, spoken to one statement at a time.

What an agent's SQL says goes through :meth:`MysqlSession.run`: its first word is on a list, and its rows are read one by
one, so that rows and bytes are counted before they fill the memory. What the sandbox itself says goes through
:meth:`MysqlSession.say`.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pymysql import err
from pymysql.cursors import SSCursor

from envs.errors import SandboxError
from envs.sandboxes.mysql_verbs import SYNTAX, refusal
from envs.sandboxes.mysql_wire import UNBOUNDED, BoundedConnection, abandon, too_large_error
from envs.sandboxes.sql_text import unsendable
from envs.sandboxes.watchdog import WATCHDOG
from envs.types import Limits

MAX_ROWS_BYTES = 64_000_000
"""Text and bytes that one statement may give, whatever the number of its rows."""

_DRAIN_ROWS = 100_000
"""Rows past the limit that are passed over before the statement is cut."""

_IN_TRANSACTION = 1
"""SERVER_STATUS_IN_TRANS."""

_LOST = frozenset({0, 2006, 2013, 2055, 4031})
_CUT = frozenset({1317, 1969, 3024})
_WRONG = frozenset({1139, 1301, 1260, 1931})
"""Warnings that mean a wrong value: a regular expression that was given up is no match, a result past max_allowed_packet
is NULL, a long group is cut, a query ended early."""


@dataclass
class Answer:
    """What a statement gave: its rows up to the limit, and whether there were more."""

    description: Any = None
    rows: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    rowcount: int = -1
    lastrowid: int | None = None
    more: bool = False


def row_limit_error(limit: int | None) -> err.Error:
    return err.OperationalError(1104, f"the statement gives more than {limit} rows")


def timeout_error() -> err.Error:
    return err.OperationalError(1969, "Query execution was interrupted (max_statement_time exceeded)")


class MysqlSession:
    """One connection. Not for two threads at once, but :meth:`terminate`, which is the watchdog's."""

    def __init__(
        self, connect: Callable[[], BoundedConnection], end: Callable[[int], None], cut: Callable[[int], None]
    ) -> None:
        self._connect = connect
        self._end = end
        self._cut = cut
        self.deadline: float | None = None
        self.terminated = False
        self.connection = connect()
        WATCHDOG.watch(self)

    def renew(self) -> None:
        """A new connection in the place of the old one, with nothing that was said on it."""
        self._drop()
        self.terminated = False
        self.connection = self._connect()

    def terminate(self) -> None:
        self.terminated = True
        self._end(self.connection.thread_id())

    def look(self) -> None:
        """MariaDB does not tell what one session takes; ``max_session_mem_used`` bounds some of it."""

    def close(self) -> None:
        WATCHDOG.leave(self)
        self._drop()

    def _drop(self) -> None:
        try:
            self.connection.close()
        except err.Error:  # it was lost already
            return

    @property
    def lost(self) -> bool:
        return self.terminated or not self.connection.open

    @property
    def in_transaction(self) -> bool:
        return bool(self.connection.server_status & _IN_TRANSACTION)  # pyright: ignore[reportAttributeAccessIssue]

    def say(self, sql: str) -> None:
        """Execute a statement of our own. SandboxError where the connection was lost."""
        try:
            self.connection.query(sql)
        except (err.OperationalError, err.InterfaceError) as error:
            if self.lost or error.args[0] in _LOST:
                self._drop()
                raise SandboxError("the connection to the sandbox was lost") from error
            raise

    def run(self, sql: str, values: Any, limits: Limits) -> Answer:
        """Execute one statement of a tool call. pymysql.Error where it is refused, fails or is cut."""
        unsent = unsendable(sql)
        if unsent is not None:
            raise err.ProgrammingError(SYNTAX, unsent)
        words = refusal(sql, read_only=limits.read_only)
        if words is not None:
            raise words
        timeout = limits.statement_timeout_ms
        started = time.monotonic()
        self.deadline = None if timeout is None else started + timeout / 1000
        cursor = SSCursor(self.connection)
        try:
            self.connection.allowance = MAX_ROWS_BYTES
            cursor.execute(sql, values)
            answer = self._answer(cursor, limits.max_rows)
            if timeout is not None and time.monotonic() - started > timeout / 1000:
                raise timeout_error()  # SLEEP and BENCHMARK that were cut give a value as if nothing had been
            return answer
        except (err.OperationalError, err.InterfaceError) as error:
            if self.terminated:
                raise timeout_error() from None
            if error.args and error.args[0] in _LOST:
                self._drop()
                raise SandboxError("the connection to the sandbox was lost") from error
            raise
        finally:
            self.deadline = None
            self.connection.allowance = UNBOUNDED
            if self.lost:
                abandon(cursor)
            else:
                cursor.close()

    def _answer(self, cursor: SSCursor, max_rows: int | None) -> Answer:
        answer = Answer(description=cursor.description, lastrowid=cursor.lastrowid)
        if not answer.description:
            answer.rowcount = cursor.rowcount
        else:
            failed = self._fill(answer, cursor, max_rows)
            if failed is not None:
                raise failed
            answer.rowcount = len(answer.rows)
        if cursor.warning_count:
            self._look_at_warnings()
        return answer

    def _fill(self, answer: Answer, cursor: SSCursor, max_rows: int | None) -> err.Error | None:
        passed = size = 0
        failed: err.Error | None = None
        try:
            while True:
                self.connection.allowance = MAX_ROWS_BYTES
                try:
                    row = cursor.fetchone()
                except UnicodeDecodeError:  # the row was read; those behind it are still to come
                    failed = failed or err.DataError(1366, "a text is not valid Unicode")
                    continue
                if row is None:  # pyright: ignore[reportUnnecessaryComparison]
                    break
                if failed is not None:
                    continue
                if max_rows is not None and len(answer.rows) >= max_rows:
                    answer.more = True
                    passed += 1
                    if passed > _DRAIN_ROWS:
                        failed = row_limit_error(max_rows)
                        self._cut(self.connection.thread_id())
                    continue
                size += sum(len(value) for value in row if value.__class__ is str or value.__class__ is bytes)
                if size > MAX_ROWS_BYTES:
                    failed = too_large_error()
                    self._cut(self.connection.thread_id())
                answer.rows.append(row)
        except err.OperationalError as error:
            if failed is None or error.args[0] not in _CUT:
                raise
        return failed

    def _look_at_warnings(self) -> None:
        cursor = self.connection.cursor()
        cursor.execute("SHOW WARNINGS")
        rows: Sequence[tuple[str, int, str]] = cursor.fetchall()
        for _, code, words in rows:
            if code in _CUT:
                raise timeout_error()
            if code in _WRONG:
                raise err.OperationalError(1301, words)  # by the number of a result that is too large: all are limits
