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

from envs.sandboxes.contained import (
    ContainedConnection,
    ContainedTransactions,
    sandbox_engine,
)
from envs.sandboxes.sqlite import dbapi as apsw_dbapi
from envs.sandboxes.sqlite.dbapi import ApswCursor, Call, Session
from envs.sandboxes.sqlite.results import SandboxContext


class CallConnection(ContainedConnection):
    """The connection of one tool call on SQLite."""

    call: Call

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

    def rollback(self) -> None:
        if not self.call.ended:
            self.call.close_cursors()
        super().rollback()


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
    """Make the process's engine for every sandbox; ``probe`` tells SQLite's features, once."""
    dialect = SqliteSandboxDialect(dbapi=apsw_dbapi)
    engine = sandbox_engine(dialect, "sqlite://")
    dialect.initialize(
        sqlalchemy.Connection(engine, connection=CallConnection(Call(probe, None, None)))
    )
    return engine
