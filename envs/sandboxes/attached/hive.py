"""Hive and Spark SQL through PyHive, whose dialect is called `hive` for both."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy

from envs.plugins import resolve
from envs.sandboxes.attached.access import Access

_AT_WORK, _FINISHED = frozenset({0, 1, 7}), 2
"""States of an operation in Hive's protocol: initialized, running and pending; finished."""

_PAUSE_S = 0.02

_CODE = re.compile(r"\[[A-Z_0-9.]+\] (?!org\.)[^\n]*")
"""The words of an error of Spark's, behind the names of its Java classes."""


class HiveAccess(Access):
    """Reading through a HiveServer2 or a Thrift server of Spark's. It has no switch for reading
    only: statements are judged by their text, and the rest is up to the rights of the account.
    """

    _deadline: float | None = None

    def begin(self, raw: Any, timeout_ms: int | None) -> None:
        self._deadline = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000

    def rows(self, cursor: Any, sql: str, parameters: Any) -> Iterator[Any]:
        """Rows of a statement that the server ends after its time. Raises TimeoutError."""
        cursor.execute(sql, parameters, async_=True)
        while (status := cursor.poll()).operationState in _AT_WORK:
            if self._deadline is not None and time.monotonic() > self._deadline:
                cursor.cancel()
                raise TimeoutError
            time.sleep(_PAUSE_S)
        if status.operationState != _FINISHED:
            raise resolve("pyhive.exc:OperationalError")(status.errorMessage)
        while rows := cursor.fetchmany(100):
            yield from rows

    def names(
        self, connection: sqlalchemy.Connection, schema: str | None
    ) -> tuple[set[str], set[str]]:
        quote = connection.dialect.identifier_preparer.quote_identifier
        of = "" if schema is None else f" IN {quote(schema)}"
        tables = connection.exec_driver_sql(f"SHOW TABLES{of}").fetchall()
        views = connection.exec_driver_sql(f"SHOW VIEWS{of}").fetchall()
        if any(len(row) > 1 for row in tables):
            self.sql_name = "Spark SQL"
        return set(map(_name, tables)), set(map(_name, views))

    def view_text(self, connection: sqlalchemy.Connection, name: str, schema: str | None) -> str:
        quote = connection.dialect.identifier_preparer.quote_identifier
        view = ".".join(quote(part) for part in (schema, name) if part is not None)
        rows = connection.exec_driver_sql(f"SHOW CREATE TABLE {view}").fetchall()
        return "\n".join(str(line) for (line,) in rows)

    def words(self, error: BaseException) -> str:
        status = getattr(error.args[0], "status", None) if error.args else None
        words = getattr(status, "errorMessage", None) or str(error)
        found = _CODE.search(words)
        return found.group() if found else words


def _name(row: Sequence[str]) -> str:
    """The name in a row of SHOW TABLES: Spark shows the database before it."""
    return row[1] if len(row) > 1 else row[0]
