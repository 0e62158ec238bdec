"""A rollout's transaction as its sandbox sees it: tool calls between savepoints, never a commit."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from envs.errors import SandboxError
from envs.processes import ChildLost, GoneError, Pool
from envs.sandboxes.attached.access import CONNECT_S
from envs.sandboxes.attached.connection import (
    GRACE_S,
    ReadCall,
    ReadCursor,
    RefusedStatementError,
    StatementQuestion,
)
from envs.sandboxes.attached.rollout import COMPARE_MS, RolloutQuestion
from envs.sandboxes.server.cursor import ServerCursor, StatementResult
from envs.types import ErrorCategory, Limits, RowChange

_CALL = "synth_call"
_LOST = "the rollout's transaction on the attached database was lost"


class RolloutSession:
    """The parent's side: a child of the pool for one rollout, and never again."""

    def __init__(self, pool: Pool) -> None:
        self._lease = pool.lease()
        self._child = self._lease.__enter__()
        self._ended = False

    def ask(self, question: RolloutQuestion) -> Any:
        """The child's answer. Raises its errors, and SandboxError where the transaction is lost."""
        if self._ended:
            raise SandboxError(_LOST)
        limit = COMPARE_MS * 10 if question.timeout_ms is None else question.timeout_ms
        extra = 3 * CONNECT_S if question.kind == "start" else 0
        seconds = limit / 1000 + GRACE_S + extra
        try:
            return self._child.ask(question, (), seconds)
        except GoneError as gone:
            self._ended = True
            words = "its process was killed"
            try:
                self._lease.__exit__(type(gone), gone, gone.__traceback__)
            except ChildLost as lost:
                words = "a statement did not end in time" if lost.late else words
            raise SandboxError(f"{_LOST}: {words}") from None
        except SandboxError:
            self.close()
            raise
        except RefusedStatementError as refused:
            if refused.category is ErrorCategory.CONNECTION_ERROR:
                self.close()
                raise SandboxError(refused.words) from None
            raise

    def close(self) -> None:
        """Roll back, and end the process. Safe to call twice."""
        if self._ended:
            return
        with suppress(SandboxError):
            self.ask(RolloutQuestion("end", timeout_ms=COMPARE_MS))
        if not self._ended:
            self._ended = True
            self._child.spent = True
            self._lease.__exit__(None, None, None)


class WriteCall(ReadCall):
    """One tool call of a rollout that writes. The transaction begins with its first statement, and
    the errors of that are the statement's.
    """

    def __init__(
        self,
        session: RolloutSession,
        pool: Pool,
        driver: Any,
        dialect: str,
        limits: Limits,
        now: dt.datetime,
    ) -> None:
        super().__init__(pool, driver, dialect, limits, now)
        self._session = session
        self._begun = False

    def cursor(self) -> ReadCursor:
        return _WriteCursor(self, self._limits)

    def quoted(self, name: str) -> str:
        return f"`{name}`" if self._dialect in {"mysql", "mariadb"} else super().quoted(name)

    def _asked(self, question: StatementQuestion) -> StatementResult:
        self._begin()
        return self._session.ask(
            RolloutQuestion(
                "execute",
                question.sql,
                question.parameters,
                question.timeout_ms,
                question.max_rows,
                self._limits.read_only,
            )
        )

    def _begin(self) -> None:
        if not self._begun:
            timeout = self._limits.statement_timeout_ms
            self._session.ask(RolloutQuestion("start", timeout_ms=timeout, moment=self._now))
            self._say(f"SAVEPOINT {_CALL}")
            self._begun = True

    def _say(self, sql: str) -> None:
        self._session.ask(RolloutQuestion("speak", sql, timeout_ms=COMPARE_MS))

    def speak(self, sql: str) -> None:
        self._begin()
        self._say(sql)

    def restart(self) -> None:
        if self._begun:
            self._say(f"ROLLBACK TO SAVEPOINT {_CALL}")

    def end(self, *, keep: bool) -> tuple[tuple[RowChange, ...], tuple[RowChange, ...]] | None:
        """End the call. The changes of what it keeps: its own, and all of the rollout's."""
        if not self._begun:
            return None
        changes = None
        try:
            if keep:
                compare = RolloutQuestion("compare", timeout_ms=COMPARE_MS * 10)
                changes = self._session.ask(compare)
        except RefusedStatementError as refused:
            raise self.error(refused.words, refused.category) from None
        finally:
            if changes is None:
                self.restart()
            self._say(f"RELEASE SAVEPOINT {_CALL}")
        return changes


class _WriteCursor(ReadCursor):
    def executemany(self, operation: str, rows: Sequence[Any]) -> _WriteCursor:
        ServerCursor.executemany(self, operation, rows)
        return self

    @property
    def lastrowid(self) -> int | None:
        return self._result.lastrowid
