"""SQLAlchemy over a SQLite sandbox: one engine for the process, and the connection of a tool call
(see :mod:`envs.sandboxes.contained`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import sqlalchemy
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import ResourceClosedError

from envs.quoting import quoted
from envs.sandboxes.contained import (
    UNIT,
    ContainedConnection,
    ContainedTransactions,
    sandbox_engine,
)
from envs.sandboxes.sqlite import dbapi as apsw_dbapi
from envs.sandboxes.sqlite.dbapi import ApswCursor, Call, Session
from envs.sandboxes.sqlite.results import SandboxContext


class CallConnection(ContainedConnection):
    """The connection of one tool call on SQLite."""

    def __init__(
        self,
        session: Session,
        timeout_ms: int | None = None,
        max_rows: int | None = None,
        info: dict[str, Any] | None = None,
    ) -> None:
        super().__init__({} if info is None else info)
        self.call = Call(session, timeout_ms, max_rows)
        self._session = session

    @property
    def is_valid(self) -> bool:
        return not self.call.ended

    def cursor(self, *args: Any, **kwargs: Any) -> Any:
        return ApswCursor(self.call)

    def fetch(
        self, sql: str, binds: Mapping[str, object]
    ) -> tuple[Sequence[str], Sequence[tuple[Any, ...]]] | None:
        if "\\" in sql or "::" in sql:  # what SQLAlchemy reads in its own way
            return None
        cursor = ApswCursor(self.call)
        try:
            cursor.execute(sql, binds)
            if cursor.description is None:
                raise ResourceClosedError("the statement gives no rows")
            return [column[0] for column in cursor.description], cursor.fetchall()
        finally:
            cursor.close()

    def begin(self) -> None:
        if self._committed and not self._unit:
            self.savepoint(UNIT)
            self._unit = True

    def commit(self) -> None:
        self.call.check()
        if self._unit:
            self.release(UNIT)
            self._unit = False
        self._committed = True

    def rollback(self) -> None:
        """Undo back to the executor's last commit.

        After an error that ended the whole transaction, it begins again where nothing had been
        committed before; otherwise the call is lost.
        """
        if self.call.ended:
            return
        self.close_cursors()
        if self._unit:
            self.rollback_to(UNIT)
            if self.call.broken is None:
                self.release(UNIT)
            self._unit = False
        elif not self._committed:
            if self._session.raw.in_transaction:
                self._session.speak("ROLLBACK")
            self._session.speak("BEGIN")
            self.call.broken = None

    def savepoint(self, name: str) -> None:
        self.call.check()
        self._session.speak(f"SAVEPOINT {quoted(name)}")

    def release(self, name: str) -> None:
        self.call.check()
        self._session.speak(f"RELEASE {quoted(name)}")

    def rollback_to(self, name: str) -> None:
        if (
            not self.call.ended and self.call.broken is None
        ):  # a broken transaction took its savepoints with it
            self._session.speak(f"ROLLBACK TO {quoted(name)}")

    def close_cursors(self) -> None:
        """Close all cursors: a statement that still has rows to give keeps a transaction from
        ending.
        """
        for cursor in self.call.cursors:
            cursor.close(True)
        self.call.cursors.clear()


class SqliteSandboxDialect(ContainedTransactions, SQLiteDialect_pysqlite):
    """SQLAlchemy's SQLite dialect over :mod:`envs.sandboxes.sqlite.dbapi`."""

    driver = "apsw"
    isolation_level_of_calls = "SERIALIZABLE"
    execution_ctx_cls = SandboxContext
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> ModuleType:  # pyright: ignore[reportIncompatibleMethodOverride]
        return apsw_dbapi

    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        return ["main"]


def make_engine(probe: Session) -> sqlalchemy.Engine:
    """Make the engine for every sandbox of the process; ``probe`` is asked for the features of its
    SQLite, once.
    """
    dialect = SqliteSandboxDialect(dbapi=apsw_dbapi)
    engine = sandbox_engine(dialect, "sqlite://")
    dialect.initialize(sqlalchemy.Connection(engine, connection=CallConnection(probe)))
    return engine
