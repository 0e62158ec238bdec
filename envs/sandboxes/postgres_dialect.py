"""SQLAlchemy over a PostgreSQL sandbox: a cursor that obeys a call's limits, and the dialect that drives it."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg
import sqlalchemy
from psycopg import errors
from psycopg.pq import TransactionStatus
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from envs.sandboxes.contained import CallSession, ContainedConnection, ContainedTransactions, refuse_to_connect
from envs.sandboxes.postgres_session import Answer, PostgresSession, row_limit_error
from envs.types import Limits


class PostgresCall(CallSession):
    """One tool call on a session: its transaction's beginning, and what became of it."""

    def __init__(self, session: PostgresSession, begin: str, rewind: str | None) -> None:
        self._session = session
        self._begin = begin
        self._rewind = rewind
        self.broken: BaseException | None = None
        session.ask(begin)

    def cursor(self, limits: Limits) -> Cursor:
        return Cursor(self, self._session, limits)

    def speak(self, sql: str) -> None:
        self._session.ask(sql)

    def restart(self) -> None:
        self.undo()
        self._session.ask(self._begin)
        self.broken = None

    def undo(self) -> None:
        """Roll back, and set the counters back to where the call began: they do not follow by themselves."""
        if self._session.lost:
            self._session.reconnect()
        elif self._session.status != TransactionStatus.IDLE:
            self._session.ask("ROLLBACK")
        if self._rewind is not None:
            self._session.ask(self._rewind)

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def ended_error(self) -> BaseException:
        return psycopg.ProgrammingError("the tool call is over; its connection cannot be used any more")


class Cursor:
    """A cursor as PEP 249 has it, over the one answer that it holds."""

    arraysize = 1

    def __init__(self, call: PostgresCall, session: PostgresSession, limits: Limits) -> None:
        self._call = call
        self._session = session
        self._limits = limits
        self._answer = Answer()
        self._at = 0

    @property
    def description(self) -> Any:
        return self._answer.description

    @property
    def rowcount(self) -> int:
        return self._answer.rowcount

    def execute(self, operation: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Cursor:
        if isinstance(parameters, Mapping):
            raise psycopg.ProgrammingError("parameters are a sequence here, for $1, $2 ... in the statement")
        self._at = 0
        self._answer = Answer()
        try:
            self._answer = self._session.run(operation, parameters, self._limits)
        except psycopg.Error as error:
            if self._session.lost or self._session.status == TransactionStatus.INERROR:
                self._call.broken = self._call.broken or error
            raise
        if self._session.status != TransactionStatus.INTRANS:
            self._call.broken = errors.InsufficientPrivilege("a statement ended the call's transaction")
            raise self._call.broken
        return self

    def executemany(self, operation: str, rows: Sequence[Sequence[Any]]) -> Cursor:
        total = 0
        for row in rows:
            self.execute(operation, row)
            total += max(0, self._answer.rowcount)
        self._answer = Answer(rowcount=total)
        return self

    def _take(self, wanted: int | None) -> list[tuple[Any, ...]]:
        rows, at = self._answer.rows, self._at
        stop = len(rows) if wanted is None else at + wanted
        if self._answer.more and (wanted is None or stop > len(rows)):
            raise row_limit_error(self._limits.max_rows)
        self._at = min(stop, len(rows))
        return rows[at : self._at]

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
        self._answer = Answer(rowcount=self._answer.rowcount)

    def setinputsizes(self, sizes: object) -> None:
        """Part of PEP 249; PostgreSQL has no use for it."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Part of PEP 249; PostgreSQL has no use for it."""


class SandboxDialect(ContainedTransactions, PGDialect_psycopg):
    """SQLAlchemy's psycopg dialect over :class:`Cursor`. Placeholders are PostgreSQL's own, $1: no ``%`` is special."""

    supports_statement_cache = True
    default_paramstyle = "numeric_dollar"
    supports_server_side_cursors = False

    def detect_autocommit_setting(self, dbapi_connection: Any) -> bool:
        return False

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:
        return "READ COMMITTED"

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        return "READ COMMITTED"


def make_engine(session: PostgresSession) -> sqlalchemy.Engine:
    """An engine for the sandboxes of one template: it keeps the cache of compiled statements, and no connection."""
    dialect = SandboxDialect(dbapi=psycopg, use_native_hstore=False, paramstyle="numeric_dollar")
    pool = NullPool(refuse_to_connect, dialect=dialect)
    engine = sqlalchemy.Engine(pool, dialect, make_url("postgresql+psycopg://"), hide_parameters=True)
    call = PostgresCall(session, "BEGIN", None)
    dialect.initialize(sqlalchemy.Connection(engine, connection=ContainedConnection(call, Limits())))
    call.undo()
    return engine


def wrapped(error: Exception, engine: sqlalchemy.Engine) -> BaseException:
    """A driver's error as SQLAlchemy raises it, for those that no statement of the executor raised."""
    return DBAPIError.instance(None, None, error, psycopg.Error, hide_parameters=True, dialect=engine.dialect)
