"""The tables and views of the database that a connection leads to."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, cast

import sqlalchemy

from envs.sandboxes.base import VIEWS
from envs.sql_errors import nearest
from envs.tools.sql import TABLES
from envs.types import ErrorCategory, Table, ToolResult


class Catalog:
    """Tables and views of a database: the names that FROM accepts."""

    def __init__(self, db: sqlalchemy.Connection) -> None:
        self._db = db
        self.tables = cast("Mapping[str, Table]", db.get_execution_options()[TABLES])

    @functools.cached_property
    def views(self) -> list[str]:
        """Asked of the database, unless its sandbox knows them."""
        known = self._known_views
        return _view_names(self._db) if known is None else list(known)

    @property
    def _known_views(self) -> Mapping[str, str | None] | None:
        return cast("Mapping[str, str | None] | None", self._db.get_execution_options().get(VIEWS))

    def find(self, name: str) -> str | ToolResult:
        """The name as the database spells it, or the error result for one that it does not have."""
        names = [*sorted(self.tables), *self.views]
        if name in names:
            return name
        alike = [item for item in names if item.lower() == name.lower()]
        if len(alike) == 1:
            return alike[0]
        near = nearest(name[:80], names)
        return ToolResult.failure(
            f"Unknown table or view {name[:80]!r}.",
            category=ErrorCategory.TABLE_NOT_FOUND,
            advice=f"did you mean {', '.join(near)}?"
            if near
            else f"there are {', '.join(names[:20])}",
        )

    def columns(self, name: str) -> tuple[str, ...]:
        if name in self.tables:
            return tuple(column.name for column in self.tables[name].columns)
        return tuple(self._db.execute(self.rows_of(name).where(sqlalchemy.false())).keys())

    def rows_of(self, name: str) -> sqlalchemy.Select[Any]:
        """``SELECT *`` of a table or view, its name quoted as the engine wants it."""
        views = self._known_views or {}
        schema = self.tables[name].schema if name in self.tables else views.get(name)
        own = name if schema is None else name.removeprefix(f"{schema}.")
        return sqlalchemy.select(
            cast("sqlalchemy.ColumnElement[Any]", sqlalchemy.literal_column("*"))
        ).select_from(sqlalchemy.table(own, schema=schema))


def _view_names(db: sqlalchemy.Connection) -> list[str]:
    inspector = sqlalchemy.inspect(db)
    match db.dialect.name:
        case "mysql" | "mariadb":  # the dialect's default is the database of whoever came first
            return inspector.get_view_names(
                db.scalar(sqlalchemy.select(sqlalchemy.func.database()))
            )
        case "postgresql":
            return sorted([*inspector.get_view_names(), *inspector.get_materialized_view_names()])
        case _:
            return inspector.get_view_names()
