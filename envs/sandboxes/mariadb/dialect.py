"""SQLAlchemy over a MariaDB sandbox: a cursor that obeys a call's limits, and the dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pymysql
import sqlalchemy
from pymysql import err
from sqlalchemy.dialects.mysql.pymysql import MySQLDialect_pymysql

from envs.errors import SandboxError
from envs.quoting import backticked
from envs.sandboxes.contained import ENDED, ContainedConnection, sandbox_engine
from envs.sandboxes.mariadb.session import MariaDBSession, row_limit_error
from envs.sandboxes.mariadb.statement_guard import DENIED, Insertion, read_insertion
from envs.sandboxes.server.cursor import (
    ServerCall,
    ServerCursor,
    ServerTransactions,
    StatementResult,
)
from envs.types import Limits

SAVEPOINT = "envs_call"


class MariaDBCall(ServerCall):
    """One tool call on a session: a savepoint in the rollout's transaction, and the error that
    broke it.

    ``hint`` returns the statement that sets the next generated key of an insertion, or None where
    none can be foreseen.
    """

    def __init__(
        self, session: MariaDBSession, limits: Limits, hint: Callable[[Insertion], str | None]
    ) -> None:
        self.session = session
        self._limits = limits
        self._hint = hint
        session.say(f"SAVEPOINT {SAVEPOINT}")

    def cursor(self) -> _MariaDBCursor:
        self.check()
        return _MariaDBCursor(self, self._limits)

    def check(self) -> None:
        if self.ended:
            raise err.ProgrammingError(ENDED)

    def speak(self, sql: str) -> None:
        self.session.say(sql)

    def restart(self) -> None:
        if self.session.lost or not self.session.in_transaction:
            return  # the sandbox sees to it when the call ends
        self.session.say(f"ROLLBACK TO SAVEPOINT {SAVEPOINT}")
        self.broken = None

    def release(self) -> None:
        """Keep the call. SandboxError where its transaction, its work, was ended from outside."""
        try:
            self.session.say(f"RELEASE SAVEPOINT {SAVEPOINT}")
        except err.OperationalError as error:
            raise SandboxError("the sandbox's transaction was ended from outside") from error

    def foresee(self, sql: str) -> bool:
        """Set the next key before an INSERT that generates one, since counters do not follow a
        rollback. Returns True where it was set.
        """
        insertion = read_insertion(sql)
        hint = None if insertion is None else self._hint(insertion)
        if hint is not None:
            self.session.say(hint)
        return hint is not None

    def forget_key(self) -> None:
        """Take back a key that was set and not used: a trigger's INSERT would take it."""
        self.session.say("SET insert_id = 0")

    def quoted(self, name: str) -> str:
        return backticked(name)


class _MariaDBCursor(ServerCursor):
    """The cursor of a tool call on MariaDB."""

    def __init__(self, call: MariaDBCall, limits: Limits) -> None:
        super().__init__(limits)
        self._call = call

    @property
    def lastrowid(self) -> int | None:
        return self._result.lastrowid

    def execute(self, operation: str, parameters: Any = None) -> _MariaDBCursor:
        session = self._call.session
        self._position = 0
        self._result = StatementResult()
        key_is_set = False
        try:
            key_is_set = not self._limits.read_only and self._call.foresee(operation)
            self._result = session.run(operation, parameters, self._limits)
        except (err.Error, SandboxError) as error:
            if key_is_set and not session.lost:
                self._call.forget_key()
            if session.lost or not session.in_transaction:
                self._call.broken = self._call.broken or error
            raise
        if not session.in_transaction:
            self._call.broken = err.OperationalError(
                DENIED, "a statement ended the call's transaction"
            )
            raise self._call.broken
        if key_is_set and not self._result.lastrowid:
            self._call.forget_key()
        return self

    def row_limit_error(self, limit: int | None) -> Exception:
        return row_limit_error(limit)

    def nextset(self) -> None:
        """A procedure's further result sets are not read."""


class _MariaDBSandboxDialect(ServerTransactions, MySQLDialect_pymysql):
    """SQLAlchemy's PyMySQL dialect over :class:`_MariaDBCursor`."""

    supports_statement_cache = True
    isolation_level_of_calls = "REPEATABLE READ"

    def _detect_charset(self, connection: Any) -> str:
        return "utf8mb4"

    def _extract_error_code(self, exception: Any) -> int | None:
        code = exception.args[0] if exception.args else None
        return code if isinstance(code, int) else None


def make_engine(session: MariaDBSession) -> sqlalchemy.Engine:
    """Make the engine for one template's sandboxes; the session tells the server's features."""
    dialect = _MariaDBSandboxDialect(dbapi=pymysql, is_mariadb=True)
    engine = sandbox_engine(dialect, "mysql+pymysql://")
    session.say("START TRANSACTION")
    call = MariaDBCall(session, Limits(), lambda _: None)
    dialect.initialize(sqlalchemy.Connection(engine, connection=ContainedConnection(call)))
    session.say("ROLLBACK")
    return engine
