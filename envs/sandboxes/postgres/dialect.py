"""SQLAlchemy over a PostgreSQL sandbox: a cursor that obeys a call's limits, and the dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg
import sqlalchemy
from psycopg import errors
from psycopg.pq import TransactionStatus
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from envs.errors import SandboxError
from envs.sandboxes.contained import ENDED, ContainedConnection, sandbox_engine
from envs.sandboxes.postgres.session import PostgresSession, row_limit_error
from envs.sandboxes.server.cursor import (
    ServerCall,
    ServerCursor,
    ServerTransactions,
    StatementResult,
)
from envs.types import Limits

_STATEMENT = "envs_statement"


Counters = tuple[int | None, ...]
"""Last values of the world's sequences, in the order of names; None: never used."""

Rewind = Callable[[Counters | None], str | None]
"""The statement that sets the counters to these values, or as the call began (None)."""


class PostgresCall(ServerCall):
    """One tool call on a session: the statements that begin its transaction, and the error that
    broke it.

    A statement that fails is undone by itself, as on other engines, though to PostgreSQL it ends
    the transaction: a savepoint stands before each statement but the first, which has nothing to
    lose, and before none of a call that only reads. ``rewind`` is None where the call cannot move
    the world's sequences.
    """

    def __init__(
        self, session: PostgresSession, begin: str, limits: Limits, rewind: Rewind | None = None
    ) -> None:
        self._session = session
        self._begin = begin
        self._limits = limits
        self._rewind = rewind
        self._read_only = limits.read_only
        self._untouched = self._fresh = True
        self._savepoint = False
        self._counters: Counters | None = None
        session.ask(begin)

    def cursor(self) -> _PostgresCursor:
        self.check()
        return _PostgresCursor(self, self._session, self._limits)

    def check(self) -> None:
        if self.ended:
            raise psycopg.ProgrammingError(ENDED)

    def speak(self, sql: str) -> None:
        """Execute a statement of our own: an executor's savepoint, maybe to come back to."""
        self._untouched = self._read_only = self._savepoint = False
        self._session.ask(sql)

    def protect(self) -> None:
        """Make the place to come back to where the next statement fails."""
        if self._untouched or self._read_only:
            self._untouched = False
            self._fresh = True
            return
        self._fresh = False
        release = f"RELEASE SAVEPOINT {_STATEMENT}; " if self._savepoint else ""
        count = "; SELECT envs_guard.counters()" if self._rewind is not None else ""
        results = self._session.ask(f"{release}SAVEPOINT {_STATEMENT}{count}")
        self._savepoint = True
        if count:
            self._counters = tuple(self._session.rows(results[-1])[0][0] or ())

    def recover(self) -> None:
        """Undo the statement that failed, and the counters that it moved."""
        if self._fresh:
            self.restart()
            return
        self._session.ask(f"ROLLBACK TO SAVEPOINT {_STATEMENT}")
        if self._rewind is not None and (rewind := self._rewind(self._counters)) is not None:
            self._session.ask(rewind)

    def restart(self) -> None:
        if self._session.lost:
            return  # the sandbox sees to it when the call ends
        self.undo()
        self._session.ask(self._begin)
        self._untouched, self._savepoint = True, False
        self.broken = None

    def undo(self) -> None:
        """Roll back, and set the counters back to where the call began: they do not follow by
        themselves. A session that was lost is left alone.
        """
        if self._session.lost:
            return
        if self._session.status != TransactionStatus.IDLE:
            self._session.ask("ROLLBACK")
        if self._rewind is not None and (rewind := self._rewind(None)) is not None:
            self._session.ask(rewind)


class _PostgresCursor(ServerCursor):
    """The cursor of a tool call on PostgreSQL."""

    def __init__(self, call: PostgresCall, session: PostgresSession, limits: Limits) -> None:
        super().__init__(limits)
        self._call = call
        self._session = session

    def execute(
        self, operation: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
    ) -> _PostgresCursor:
        if isinstance(parameters, Mapping):
            raise psycopg.ProgrammingError(
                "parameters are a sequence here, for $1, $2 ... in the statement"
            )
        self._position = 0
        self._result = StatementResult()
        session, call = self._session, self._call
        try:
            call.protect()
            self._result = session.run(operation, parameters, self._limits)
            if session.status == TransactionStatus.INERROR:
                call.recover()  # it was cut, with the rows that it may give
        except (psycopg.Error, SandboxError) as error:
            if session.lost:
                call.broken = call.broken or error
            elif session.status == TransactionStatus.INERROR:
                call.recover()
            raise
        if self._session.status != TransactionStatus.INTRANS:
            self._call.broken = errors.InsufficientPrivilege(
                "a statement ended the call's transaction"
            )
            raise self._call.broken
        return self

    def row_limit_error(self, limit: int | None) -> Exception:
        return row_limit_error(limit)


class _PostgresSandboxDialect(  # pyright: ignore[reportIncompatibleMethodOverride]
    ServerTransactions, PGDialect_psycopg
):
    """SQLAlchemy's psycopg dialect over :class:`_PostgresCursor`.

    Placeholders are PostgreSQL's own, ``$1``, so that no ``%`` is special.
    """

    supports_statement_cache = True
    default_paramstyle = "numeric_dollar"
    supports_server_side_cursors = False
    isolation_level_of_calls = "READ COMMITTED"


def make_engine(session: PostgresSession) -> sqlalchemy.Engine:
    """Make the engine for one template's sandboxes; the session tells the server's features."""
    dialect = _PostgresSandboxDialect(
        dbapi=psycopg, use_native_hstore=False, paramstyle="numeric_dollar"
    )
    engine = sandbox_engine(dialect, "postgresql+psycopg://")
    call = PostgresCall(session, "BEGIN", Limits())
    dialect.initialize(sqlalchemy.Connection(engine, connection=ContainedConnection(call)))
    call.undo()
    return engine
