"""The connection of one tool call to an attached database: its statements run in other processes.

SQLAlchemy compiles statements and reads rows here as it does for the dialect. The driver's part is
played by :class:`ReadCall`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from envs.errors import SandboxError
from envs.processes import Child, ChildLost, Pool
from envs.sandboxes.attached.access import CONNECT_S
from envs.sandboxes.attached.clock import pinned
from envs.sandboxes.attached.service import RefusedStatementError, StatementQuestion, timeout_error
from envs.sandboxes.contained import ENDED, ContainedCall
from envs.sandboxes.server.cursor import ServerCursor, StatementResult
from envs.types import ErrorCategory, Limits

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

    lastrowid = None

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
