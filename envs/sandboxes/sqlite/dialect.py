"""SQLAlchemy over a SQLite sandbox: one engine for the process, a connection per tool call."""

# pyright: reportPrivateUsage=false
# ruff: noqa: SLF001 SQLAlchemy caches the same thing for its own constructs, in an attribute of the
# compiled statement.

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import closing
from types import ModuleType
from typing import Any

import sqlalchemy
from sqlalchemy.dialects.sqlite.base import SQLiteExecutionContext
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from envs.sandboxes.contained import ContainedConnection, ContainedTransactions, sandbox_engine
from envs.sandboxes.sqlite import dbapi as apsw_dbapi
from envs.sandboxes.sqlite.dbapi import ApswCursor, Call, Session

KEPT = 8
"""So many sets of columns of one statement; tables of one name in several worlds make several."""

_KEPT = "_envs_by_columns"


class _SandboxContext(SQLiteExecutionContext):
    """One execution of a statement: the presentation of a textual statement's rows, computed once.

    SQLAlchemy computes it for ``text()`` at each execution, a good part of the cost of a small
    query, since the columns of ``SELECT *`` may differ the next time. Here it is cached under the
    statement and the columns that the driver names. The cache goes with the compiled statement.
    """

    def _setup_result_proxy(self) -> Any:
        compiled: Any = self.compiled
        columns: Any = self.cursor.description
        if (
            columns is None
            or compiled is None
            or not self.is_text
            or compiled._result_columns
            or self.execution_options
        ):
            return super()._setup_result_proxy()
        kept: dict[Any, Any] = compiled.__dict__.setdefault(_KEPT, {})
        known = kept.get(columns)
        if known is not None:
            self.compiled = known
            return super()._setup_result_proxy()
        result = super()._setup_result_proxy()
        if len(kept) < KEPT:
            known = copy.copy(compiled)
            known._cached_metadata = result._metadata
            kept[columns] = known
        return result


class CallConnection(ContainedConnection):
    """The connection of one tool call on SQLite."""

    call: Call

    def fetch(
        self, sql: str, binds: Mapping[str, object]
    ) -> tuple[Sequence[str], Sequence[tuple[Any, ...]]] | None:
        if "\\" in sql or "::" in sql:  # what SQLAlchemy reads in its own way
            return None
        with closing(ApswCursor(self.call)) as cursor:
            cursor.execute(sql, binds)
            if cursor.description is None:
                return (), ()
            return [column[0] for column in cursor.description], cursor.fetchall()

    def rollback(self) -> None:
        if not self.call.ended:
            self.call.close_cursors()
        super().rollback()


class _SqliteSandboxDialect(ContainedTransactions, SQLiteDialect_pysqlite):
    """SQLAlchemy's SQLite dialect over :mod:`envs.sandboxes.sqlite.dbapi`."""

    driver = "apsw"
    isolation_level_of_calls = "SERIALIZABLE"
    execution_ctx_cls = _SandboxContext
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> ModuleType:  # pyright: ignore[reportIncompatibleMethodOverride]
        return apsw_dbapi

    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        return ["main"]


def make_engine(probe: Session) -> sqlalchemy.Engine:
    """Make the process's engine for every sandbox; ``probe`` tells SQLite's features, once."""
    dialect = _SqliteSandboxDialect(dbapi=apsw_dbapi)
    engine = sandbox_engine(dialect, "sqlite://")
    dialect.initialize(
        sqlalchemy.Connection(engine, connection=CallConnection(Call(probe, None, None)))
    )
    return engine
