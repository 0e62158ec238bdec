"""SQLAlchemy over a MariaDB sandbox: a cursor that obeys a call's limits, and the dialect that drives it."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pymysql
import sqlalchemy
from pymysql import err
from sqlalchemy.dialects.mysql.pymysql import MySQLDialect_pymysql
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from envs.errors import SandboxError
from envs.sandboxes.contained import CallSession, ContainedConnection, ContainedTransactions, refuse_to_connect
from envs.sandboxes.mysql_session import Answer, MysqlSession, row_limit_error
from envs.sandboxes.mysql_verbs import DENIED, Insertion, read_insertion
from envs.types import Limits

SAVEPOINT = "envs_call"


class MysqlCall(CallSession):
    """One tool call on a session: a savepoint in the rollout's transaction, and what became of it.

    ``hint`` gives the statement that sets the next key of what is inserted, None where no key is to be foreseen.
    """

    def __init__(self, session: MysqlSession, hint: Callable[[Insertion], str | None]) -> None:
        self.session = session
        self._hint = hint
        self.broken: BaseException | None = None
        session.say(f"SAVEPOINT {SAVEPOINT}")

    def cursor(self, limits: Limits) -> Cursor:
        return Cursor(self, limits)

    def speak(self, sql: str) -> None:
        self.session.say(sql)

    def restart(self) -> None:
        if self.session.lost or not self.session.in_transaction:
            return  # the sandbox sees to it when the call ends
        self.session.say(f"ROLLBACK TO SAVEPOINT {SAVEPOINT}")
        self.broken = None

    def foresee(self, sql: str) -> bool:
        """Counters do not follow a rollback: the next key is told before an INSERT that generates one. Whether it was."""
        insertion = read_insertion(sql)
        hint = None if insertion is None else self._hint(insertion)
        if hint is not None:
            self.session.say(hint)
        return hint is not None

    def forget_key(self) -> None:
        """Take back a key that was told and not used: a trigger's INSERT would take it."""
        if not self.session.lost:
            self.session.say("SET insert_id = 0")

    def quoted(self, name: str) -> str:
        return f"`{name.replace('`', '``')}`"

    def ended_error(self) -> BaseException:
        return err.ProgrammingError("the tool call is over; its connection cannot be used any more")


class Cursor:
    """A cursor as PEP 249 has it, over the one answer that it holds."""

    arraysize = 1

    def __init__(self, call: MysqlCall, limits: Limits) -> None:
        self._call = call
        self._limits = limits
        self._answer = Answer()
        self._at = 0

    @property
    def description(self) -> Any:
        return self._answer.description

    @property
    def rowcount(self) -> int:
        return self._answer.rowcount

    @property
    def lastrowid(self) -> int | None:
        return self._answer.lastrowid

    def execute(self, operation: str, parameters: Any = None) -> Cursor:
        session = self._call.session
        self._at = 0
        self._answer = Answer()
        told = False
        try:
            told = not self._limits.read_only and self._call.foresee(operation)
            self._answer = session.run(operation, parameters, self._limits)
        except (err.Error, SandboxError) as error:
            if told:
                self._call.forget_key()
            if session.lost or not session.in_transaction:
                self._call.broken = self._call.broken or error
            raise
        if not session.in_transaction:
            self._call.broken = err.OperationalError(DENIED, "a statement ended the call's transaction")
            raise self._call.broken
        if told and not self._answer.lastrowid:
            self._call.forget_key()
        return self

    def executemany(self, operation: str, rows: Sequence[Any]) -> Cursor:
        total = 0
        for row in rows:
            self.execute(operation, row)
            total += max(0, self._answer.rowcount)
        self._answer = Answer(rowcount=total, lastrowid=self._answer.lastrowid)
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

    def nextset(self) -> None:
        """A procedure's further result sets are not read."""

    def close(self) -> None:
        self._answer = Answer(rowcount=self._answer.rowcount, lastrowid=self._answer.lastrowid)

    def setinputsizes(self, sizes: object) -> None:
        """Part of PEP 249; MariaDB has no use for it."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Part of PEP 249; MariaDB has no use for it."""


class SandboxDialect(ContainedTransactions, MySQLDialect_pymysql):
    """SQLAlchemy's PyMySQL dialect over :class:`Cursor`."""

    supports_statement_cache = True

    def detect_autocommit_setting(self, dbapi_conn: Any) -> bool:
        return False

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:
        return "REPEATABLE READ"

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        return "REPEATABLE READ"

    def _detect_charset(self, connection: Any) -> str:
        return "utf8mb4"

    def _extract_error_code(self, exception: Any) -> int | None:
        code = exception.args[0] if exception.args else None
        return code if isinstance(code, int) else None


def make_engine(session: MysqlSession) -> sqlalchemy.Engine:
    """An engine for the sandboxes of one template: it keeps the cache of compiled statements, and no connection."""
    dialect = SandboxDialect(dbapi=pymysql, is_mariadb=True)
    pool = NullPool(refuse_to_connect, dialect=dialect)
    engine = sqlalchemy.Engine(pool, dialect, make_url("mysql+pymysql://"), hide_parameters=True)
    session.say("START TRANSACTION")
    call = MysqlCall(session, lambda _: None)
    dialect.initialize(sqlalchemy.Connection(engine, connection=ContainedConnection(call, Limits())))
    session.say("ROLLBACK")
    return engine


def wrapped(error: Exception, engine: sqlalchemy.Engine) -> BaseException:
    """A driver's error as SQLAlchemy raises it, for those that no statement of the executor raised."""
    return DBAPIError.instance(None, None, error, pymysql.Error, hide_parameters=True, dialect=engine.dialect)
