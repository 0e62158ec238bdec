"""MariaDB and MySQL: READ ONLY transactions, and no statement that writes beside them.

A rollout that writes has a transaction of InnoDB. Neither server says which tables a statement
changed, so its targets are read from its text, and no routine of the database may be called.
"""

from __future__ import annotations

import datetime as dt
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import Any

import sqlalchemy
from pymysql.constants import CLIENT
from pymysql.cursors import SSCursor
from pymysql.err import MySQLError
from sqlalchemy.exc import SQLAlchemyError

from envs.connection import SILENCE_S
from envs.plugins import resolve
from envs.sandboxes.attached.access import (
    CONNECT_S,
    ONLY_READS,
    QUERIES,
    Access,
    Writer,
    first_word,
    without_marks,
)
from envs.sandboxes.mariadb import statement_guard
from envs.sandboxes.mariadb.wire import abandon
from envs.types import Table

_BESIDE = re.compile(
    r"/\*\+|\b(OUTFILE|DUMPFILE|LOAD_FILE|FOR\s+(UPDATE|SHARE)|LOCK\s+IN\s+SHARE\s+MODE)\b",
    re.IGNORECASE,
)
"""Words of a query that writes files of the server, reads them, or locks rows, and hints, which
lift a time limit. They are refused wherever they stand, texts and comments included: a comment may
be code to the server.
"""


_VARIABLES = {"statement_ms": "max_execution_time", "idle_s": "wait_timeout"}


def limit_of(version: str, kind: str, value: int) -> str:
    """The assignment of a session's limit, by the server's version: MariaDB says its name there.

    ``statement_ms`` bounds a statement, on MySQL only a query; ``idle_s`` the pause between two.

    >>> limit_of("8.0.36", "idle_s", 60)
    'wait_timeout = 60'
    """
    if "MariaDB" not in version:
        return f"{_VARIABLES[kind]} = {value}"
    if kind == "idle_s":
        return f"idle_transaction_timeout = {value}"
    return f"max_statement_time = {value / 1000}"


class MariaDBAccess(Access):
    """Reading a database on a server of MariaDB or MySQL."""

    hangs_up = True

    def writer(self, tables: Mapping[str, Table], idle_s: int) -> Writer:
        return _MariaDBWriter(self.url, self.schemas, tables, idle_s)

    def reading_url(self) -> sqlalchemy.URL:
        return self.url.set(drivername="mysql+pymysql")

    def engine_options(self) -> dict[str, Any]:
        flags = int(str(self.url.query.get("client_flag", 0)))
        own = {"client_flag": flags & ~CLIENT.MULTI_STATEMENTS, "local_infile": False}
        limits = {"connect_timeout": CONNECT_S, "read_timeout": SILENCE_S}
        limits = {key: limit for key, limit in limits.items() if key not in self.url.query}
        return {"connect_args": {**limits, **own}}

    def begin(self, raw: Any, timeout_ms: int | None) -> None:
        limit = limit_of(raw.get_server_info(), "statement_ms", timeout_ms or 0)
        with raw.cursor() as cursor:
            cursor.execute(f"SET SESSION {limit}")
            cursor.execute("START TRANSACTION READ ONLY")

    def pin(self, raw: Any, moment: dt.datetime) -> None:
        with raw.cursor() as cursor:
            cursor.execute(f"SET SESSION timestamp = {moment.replace(tzinfo=dt.UTC).timestamp()}")

    def refusal(self, raw: Any, sql: str, parameters: Any) -> str | None:
        if (denied := statement_guard.refusal(sql, read_only=True)) is not None:
            raise denied
        if first_word(sql) not in QUERIES:
            return ONLY_READS
        if (found := _BESIDE.search(sql)) is not None:
            return f"{ONLY_READS}; {' '.join(found.group().upper().split())} may not stand in one"
        return None

    def rows(self, cursor: Any, sql: str, parameters: Any) -> Iterator[Any]:
        reader = SSCursor(cursor.connection)
        try:
            reader.execute(sql, parameters)
            cursor.description = reader.description
            yield from iter(reader.fetchone, None)
        except GeneratorExit:
            abandon(reader)
            raise


_OUTSIDE = re.compile(
    r"/\*M?!|/\*\+|\b(OUTFILE|DUMPFILE|LOAD_FILE|NEXTVAL|SETVAL|LASTVAL|NEXT\s+VALUE)\b",
    re.IGNORECASE,
)
"""What no statement of a rollout holds that writes: comments that are code or hints to the server,
files, and sequences, which do not roll back.
"""

_CHANGING = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE"})

_DIALECTS = frozenset({"ANSI_QUOTES", "NO_BACKSLASH_ESCAPES"})
"""Modes of a session in which a statement reads differently."""


class _MariaDBWriter(Writer, MariaDBAccess):
    """Writing to tables on a server of MariaDB or MySQL."""

    isolation = "REPEATABLE READ"
    conflicts = frozenset({1205, 1213, 1020})
    _routines: re.Pattern[str] | None = None
    _timeout_ms: int | None = None

    def problem(self, connection: sqlalchemy.Connection) -> str | None:
        ask = connection.exec_driver_sql
        modes = set(str(ask("SELECT @@sql_mode").scalar()).split(","))
        if found := sorted(modes & _DIALECTS):
            return (
                f"sql_mode of the session has {found[0]}, in which statements cannot be checked;"
                " set another one by init_command in the URL"
            )
        engines = dict(
            ask(
                "SELECT table_name, engine FROM information_schema.tables"
                " WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
            ).all()
        )
        for name in self.tables:
            if (engine := engines.get(name)) != "InnoDB":
                return f"the table {name} is of the engine {engine}, which does not roll back"
        routines = self._found(ask)
        strange = re.compile(
            rf"\b({'|'.join(map(re.escape, engines.keys() - self.tables.keys())) or '(?!)'})\b"
        )
        triggers = ask(
            "SELECT trigger_name, event_object_table, action_statement"
            " FROM information_schema.triggers WHERE trigger_schema = DATABASE()"
        )
        for trigger, table, body in triggers:
            if table in self.tables:
                other = strange.search(body) or routines.search(body)
                if other is not None or re.search(r"\bCALL\b", body, re.IGNORECASE):
                    more = other.group().rstrip("`( ") if other is not None else "more"
                    return (
                        f"the trigger {trigger} of {table} may change {more} as well; name that"
                        " table, too"
                    )
        return None

    def _found(self, ask: Any) -> re.Pattern[str]:
        """The stored functions of the server, and the views that call them."""
        functions = {
            name
            for (name,) in ask(
                "SELECT routine_name FROM information_schema.routines"
                " WHERE routine_type = 'FUNCTION' AND routine_schema <> 'sys'"
            )
        }
        views = ask(
            "SELECT table_name, view_definition FROM information_schema.views"
            " WHERE table_schema <> 'sys'"
        ).all()
        calling: set[str] = set()
        for _ in range(len(views) + 1):  # a view may stand on another
            found = _names(functions, calling)
            more = {name for name, text in views if found.search(text or "")}
            if more <= calling:
                break
            calling |= more
        return _names(functions, calling)

    def start(self, raw: Any, timeout_ms: int) -> None:
        limit = limit_of(raw.get_server_info(), "idle_s", self.idle_s)
        with raw.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute(f"SET SESSION {limit}, autocommit = 0")
            cursor.execute("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'")
            if cursor.fetchall():
                cursor.execute("SET SESSION innodb_snapshot_isolation = ON")

            def ask(sql: str) -> Any:
                cursor.execute(sql)
                return _AllRows(cursor.fetchall())

            self._routines = self._found(ask)
            raw.rollback()
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")

    def limit(self, raw: Any, timeout_ms: int | None) -> None:
        self._timeout_ms = timeout_ms
        version = raw.get_server_info()
        least = int("MariaDB" not in version)  # a statement's time may be less than two seconds
        wait = max(least, self.wait_ms(timeout_ms) // 1000)
        with raw.cursor() as cursor:
            limit = limit_of(version, "statement_ms", timeout_ms or 0)
            cursor.execute(
                f"SET SESSION {limit},"
                f" innodb_lock_wait_timeout = {wait}, lock_wait_timeout = {wait}"
            )

    def refusal(self, raw: Any, sql: str, parameters: Any) -> str | None:
        if (denied := statement_guard.refusal(sql, read_only=self.only_reads)) is not None:
            raise denied
        word = first_word(sql)
        if word not in QUERIES | (frozenset() if self.only_reads else _CHANGING):
            return ONLY_READS if self.only_reads else self.only_these()
        if (found := _OUTSIDE.search(sql)) is not None:
            return f"permission denied: {found.group().upper()} may not stand in a statement"
        assert self._routines is not None
        if (called := self._routines.search(sql)) is not None:
            return f"permission denied for {called.group().rstrip('`( ')}: it may write"
        targets = resolve("envs.sandboxes.attached.one_query:targets")
        text = sql if parameters is None else without_marks(sql, "pyformat")
        changed: set[tuple[str, str]] | str = targets(text, word)
        if isinstance(changed, str):
            return f"{changed}; {self.only_these()}"
        if self.only_reads and changed:
            return ONLY_READS
        for schema, table in sorted(changed):
            if table not in self.tables or schema not in {"", self.url.database}:
                return f"permission denied for table {table}: {self.only_these()}"
        return None

    def rows(self, cursor: Any, sql: str, parameters: Any) -> Iterator[Any]:
        raw = cursor.connection
        if self._timeout_ms is None or "MariaDB" in raw.get_server_info():
            yield from Access.rows(self, cursor, sql, parameters)
            return
        # MySQL's own limit is for queries.
        timer = threading.Timer(self._timeout_ms / 1000, self._end_statement, [raw.thread_id()])
        timer.start()
        try:
            yield from Access.rows(self, cursor, sql, parameters)
        finally:
            timer.cancel()
            timer.join()

    def _end_statement(self, session: int) -> None:
        """End what a session executes. Where that fails, the process of the rollout is killed."""
        with (
            suppress(SQLAlchemyError, MySQLError, OSError),
            closing(self.engine().raw_connection()) as connection,
        ):
            connection.cursor().execute(f"KILL QUERY {session}")


class _AllRows(list[Any]):
    def all(self) -> list[Any]:
        return self


def _names(functions: set[str], views: set[str]) -> re.Pattern[str]:
    """The names of functions as they are called, and of views."""

    def any_of(names: set[str]) -> str:
        return "|".join(map(re.escape, sorted(names))) or "(?!)"

    return re.compile(
        rf"(?<![\w$])(?:(?:{any_of(views)})(?![\w$])|(?:{any_of(functions)})`?\s*[(/#-])",
        re.IGNORECASE,
    )
