"""SQLite files: opened with `mode=ro`, behind an authorizer that knows reading only."""

from __future__ import annotations

import sqlite3
from typing import Any
from urllib.parse import quote

import sqlalchemy

from envs.sandboxes.attached.access import Access, existing_file

VALUE_BYTES = 16_000_000
"""Bytes of one value, so that no single step of SQLite takes all memory."""

_READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)


_VIRTUAL = frozenset(
    {(sqlite3.SQLITE_UPDATE, "sqlite_master"), (sqlite3.SQLITE_PRAGMA, "data_version")}
)
"""What a virtual table of full texts asks for as it is opened to be read. In a file that is opened
for reading only, and without writable_schema, no statement of an agent writes by it.
"""


class SqliteAccess(Access):
    """Reading a SQLite file."""

    def reading_url(self) -> sqlalchemy.URL:
        name = f"file:{quote(existing_file(self.url, 'SQLite'))}"
        return sqlalchemy.URL.create("sqlite", database=name, query={"mode": "ro", "uri": "true"})

    def prepare(self, raw: Any) -> None:
        raw.text_factory = _text
        raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
        raw.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        raw.set_authorizer(_authorize)

    def refusal(self, raw: Any, sql: str, parameters: Any) -> str | None:
        return None  # the authorizer says it, and the driver takes one statement at a time


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _authorize(action: int, *about: str | None) -> int:
    if action in _READS or (action, about[0]) in _VIRTUAL:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
