"""SQLite files: opened with `mode=ro`, behind an authorizer that knows reading only.

A rollout that writes opens the file with `mode=rw`. The authorizer then allows changes of rows of
its tables as well. Nothing reaches the file, since no commit comes and the cache is not spilled.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import sqlalchemy

from envs.sandboxes.attached.access import QUERIES, Access, Writer, existing_file, first_word
from envs.types import Table

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

    def writer(self, tables: Mapping[str, Table], idle_s: int) -> Writer:
        return _SqliteWriter(self.url, self.schemas, tables, idle_s)

    def reading_url(self) -> sqlalchemy.URL:
        return _opened(self.url, "ro")

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


def _opened(url: sqlalchemy.URL, mode: str) -> sqlalchemy.URL:
    name = f"file:{quote(existing_file(url, 'SQLite'))}"
    return sqlalchemy.URL.create("sqlite", database=name, query={"mode": mode, "uri": "true"})


_WRITES = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})

_STATEMENTS = QUERIES | {"INSERT", "UPDATE", "DELETE", "REPLACE", "EXPLAIN"}

_STEPS = 1_000
"""Instructions of SQLite between looks at the clock."""


class _SqliteWriter(Writer):
    """Writing to tables of a SQLite file, which one rollout does at a time."""

    isolation = "SERIALIZABLE"
    conflicts = frozenset({sqlite3.SQLITE_BUSY})
    _deadline: float | None = None

    def reading_url(self) -> sqlalchemy.URL:
        return _opened(self.url, "rw")

    def prepare(self, raw: Any) -> None:
        raw.isolation_level = None
        raw.text_factory = _text
        raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
        raw.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        raw.set_progress_handler(self._late, _STEPS)

    def start(self, raw: Any, timeout_ms: int) -> None:
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute("PRAGMA cache_spill = OFF")
        raw.execute(f"PRAGMA busy_timeout = {self.wait_ms(timeout_ms)}")
        if raw.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            raw.execute("PRAGMA journal_mode = MEMORY")  # a killed process leaves no journal
        raw.execute("BEGIN IMMEDIATE")

    def words(self, error: BaseException) -> str:
        if getattr(error, "sqlite_errorcode", None) not in self.conflicts:
            return super().words(error)
        return f"{error}; a SQLite file has one writer: runtime.workers=1 runtime.concurrency=1"

    def limit(self, raw: Any, timeout_ms: int | None) -> None:
        self._deadline = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000

    def _late(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

    def speak(self, raw: Any, sql: str) -> None:
        raw.set_authorizer(None)
        if not raw.in_transaction:  # INSERT OR ROLLBACK ended it: a savepoint would begin another
            raise sqlite3.OperationalError("a statement rolled the whole transaction back")
        deadline, self._deadline = self._deadline, None
        raw.execute(sql)
        self._deadline = deadline

    def refusal(self, raw: Any, sql: str, parameters: Any) -> str | None:
        if first_word(sql) not in _STATEMENTS:  # SQLite asks nobody about VACUUM
            return self.only_these()
        raw.set_authorizer(self._authorize)  # which also compiles anew what was compiled before
        return None

    def rows(self, cursor: Any, sql: str, parameters: Any) -> Iterator[Any]:
        try:
            yield from super().rows(cursor, sql, parameters)
        except sqlite3.OperationalError:
            if self._late():
                raise TimeoutError from None
            raise

    def _authorize(self, action: int, *about: str | None) -> int:
        table, _, database, _ = about
        if action in _WRITES and not self.only_reads:
            known = table in self.tables and database == "main"
            return sqlite3.SQLITE_OK if known else sqlite3.SQLITE_DENY
        return _authorize(action, *about)
