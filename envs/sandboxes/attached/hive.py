"""Hive and Spark SQL through PyHive, whose dialect is called `hive` for both."""

from __future__ import annotations

import re
from collections.abc import Sequence

import sqlalchemy

from envs.sandboxes.attached.access import Access

_CODE = re.compile(r"\[[A-Z_0-9.]+\] (?!org\.)[^\n]*")
"""The words of an error of Spark's, behind the names of its Java classes."""


class HiveAccess(Access):
    """Reading through a HiveServer2 or a Thrift server of Spark's. It has no switch for reading
    only: statements are judged by their text, and the rest is up to the rights of the account.
    """

    def names(self, connection: sqlalchemy.Connection) -> tuple[set[str], set[str]]:
        tables = connection.exec_driver_sql("SHOW TABLES").fetchall()
        views = connection.exec_driver_sql("SHOW VIEWS").fetchall()
        if any(len(row) > 1 for row in tables):
            self.sql_name = "Spark SQL"
        return set(map(_name, tables)), set(map(_name, views))

    def words(self, error: BaseException) -> str:
        status = getattr(error.args[0], "status", None) if error.args else None
        words = getattr(status, "errorMessage", None) or str(error)
        found = _CODE.search(words)
        return found.group() if found else words


def _name(row: Sequence[str]) -> str:
    """The name in a row of SHOW TABLES: Spark shows the database before it."""
    return row[1] if len(row) > 1 else row[0]
