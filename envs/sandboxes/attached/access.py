"""The rules by which a database of some dialect is read: how it is opened, and what may be asked;
and those by which a rollout writes to it, in a transaction that is always rolled back.

A subclass says what the driver of its dialect offers. :class:`Access` alone serves all other
dialects, by the text of a statement and by the rights of the account.
"""

from __future__ import annotations

import datetime as dt
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import sqlalchemy
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from envs.connection import fix_settings, require_driver
from envs.errors import DatabaseConfigError
from envs.plugins import resolve
from envs.types import Table

QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
"""First words of the statements that read rows."""

CONNECT_S = 10
"""Seconds that a connect may take, where the driver has such a limit."""

ONLY_READS = "this database is read-only, and a statement is one query: SELECT, WITH or VALUES"

_BLANK = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
_MARK = re.compile(r"%(?:\([^)]*\))?([s%])")


def first_word(sql: str) -> str:
    """The first word of a statement in capitals, behind comments and parentheses."""
    blank = _BLANK.match(sql)
    found = _WORD.match(sql, blank.end() if blank else 0)
    return found.group().upper() if found else ""


def without_marks(sql: str, paramstyle: str) -> str:
    """Replace the driver's parameter marks by a text literal, so that a parser reads the statement.

    A mark within quotes becomes a syntax error: a value that a driver writes there could end the
    quotes. Marks of other styles (``?``, ``:name``) are SQL and stay.
    """
    if paramstyle not in {"format", "pyformat"}:
        return sql
    return _MARK.sub(lambda found: "%" if found[1] == "%" else "'x'", sql)


@dataclass(frozen=True, slots=True)
class Places:
    """Schemas of a database: ``near`` are those whose tables need no schema before their name (None
    is the default one), ``far`` all others.
    """

    near: Sequence[str | None]
    far: Sequence[str]


class Access:
    """Reading by one URL. Created in every process that reads."""

    hangs_up: ClassVar[bool] = False
    """True where a result that is not read to its end spoils the connection."""

    def __init__(self, url: sqlalchemy.URL, schemas: Sequence[str] = ()) -> None:
        self.url = url
        self.schemas = tuple(schemas)
        """The schemas to read; empty: all that the connection leads to."""
        self.sql_name = ""
        """The name of the SQL that a model is told to write; empty: the dialect's usual name."""

    def writer(self, tables: Mapping[str, Table], idle_s: int) -> Writer | None:
        """The rules for writing to tables; None where what was written cannot be undone."""

    @cached_property
    def _paramstyle(self) -> str:
        return self.url.get_dialect().import_dbapi().paramstyle

    def engine(self) -> sqlalchemy.Engine:
        """An engine without a pool, whose connections cannot write if the driver can see to it.

        Raises :class:`DatabaseConfigError` if the dialect or its driver is not installed.
        """
        try:
            return fix_settings(
                sqlalchemy.create_engine(
                    self.reading_url(),
                    poolclass=sqlalchemy.NullPool,
                    hide_parameters=True,
                    **self.engine_options(),
                )
            )
        except (NoSuchModuleError, ImportError) as error:
            raise DatabaseConfigError(
                f"no SQLAlchemy dialect or driver for {self.url.drivername}:// is installed"
                f" ({error}); install the package that brings it"
            ) from None

    def reading_url(self) -> sqlalchemy.URL:
        """The URL with what makes its connections read-only."""
        return self.url

    def engine_options(self) -> Mapping[str, Any]:
        return {}

    def places(self, connection: sqlalchemy.Connection) -> Places:
        """The schemas to read."""
        inspector = sqlalchemy.inspect(connection)
        default, known = inspector.default_schema_name, inspector.get_schema_names()
        for name in self.schemas:
            if name not in known:
                raise DatabaseConfigError(
                    f"database.options.schemas: unknown {name!r}; known are {', '.join(known)}"
                )
        near = [None] if not self.schemas or default in self.schemas else []
        return Places(near, [name for name in self.schemas if name != default])

    def names(
        self, connection: sqlalchemy.Connection, schema: str | None
    ) -> tuple[set[str], set[str]]:
        """The names of the tables and of the views in a schema; None is the default one."""
        inspector = sqlalchemy.inspect(connection)
        views: set[str] = set()
        for read in (inspector.get_view_names, inspector.get_materialized_view_names):
            with suppress(NotImplementedError, SQLAlchemyError):
                views.update(read(schema))  # not every dialect tells views from tables
        return set(inspector.get_table_names(schema)), views

    def view_text(self, connection: sqlalchemy.Connection, name: str, schema: str | None) -> str:
        return sqlalchemy.inspect(connection).get_view_definition(name, schema)

    def words(self, error: BaseException) -> str:
        return str(error)

    def prepare(self, raw: Any) -> None:
        """Take rights from a new connection, on which only statements of an agent follow."""

    def begin(self, raw: Any, timeout_ms: int | None) -> None:
        """Begin the transaction of one statement."""

    def pin(self, raw: Any, moment: dt.datetime) -> None:
        """Pin the time of the session, where the database can."""

    def refusal(self, raw: Any, sql: str, parameters: Any) -> str | None:
        """The reason to refuse a statement; None for none. May raise a driver's error instead."""
        refuse = resolve("envs.sandboxes.attached.one_query:refusal")
        text = sql if parameters is None else without_marks(sql, self._paramstyle)
        return refuse(text, self.url.get_backend_name())

    def rows(self, cursor: Any, sql: str, parameters: Any) -> Iterator[Any]:
        """Execute a statement. Its rows are yielded as they come, and are fetched no earlier."""
        if parameters is not None:
            cursor.execute(sql, parameters)
        else:
            cursor.execute(sql)
        while cursor.description and (rows := cursor.fetchmany(100)):
            yield from rows

    def end(self, raw: Any, dialect: sqlalchemy.Dialect) -> None:
        """End the transaction, and undo whatever the statement may have done."""
        dialect.do_rollback(raw)


_WAIT_MS = 10_000
"""Wait for a lock of a statement without a time limit."""


class Writer(Access):
    """Writing to ``tables``. Created in every process that writes; ``idle_s`` are the seconds after
    which the server may end a transaction that is not spoken to.
    """

    isolation: ClassVar[str]
    """The isolation level of a rollout's transaction, by SQLAlchemy's name."""

    conflicts: ClassVar[frozenset[object]]
    """The driver's codes of errors that another transaction causes: its locks, or its commit."""

    def __init__(
        self, url: sqlalchemy.URL, schemas: Sequence[str], tables: Mapping[str, Table], idle_s: int
    ) -> None:
        super().__init__(url, schemas)
        self.tables = tables
        self.idle_s = idle_s
        self.only_reads = False
        """True while the statement of a tool that only reads is executed."""
        self.keeps = False
        """Whether what the statement does is kept for the next one."""

    def problem(self, connection: sqlalchemy.Connection) -> str | None:
        """A reason for which what is written to the tables would stay; None if it is undone."""

    def wait_ms(self, timeout_ms: int | None) -> int:
        """Wait for a lock: half of a statement's time, so that its error names the lock."""
        return _WAIT_MS if timeout_ms is None else max(1, timeout_ms // 2)

    @abstractmethod
    def start(self, raw: Any, timeout_ms: int) -> None:
        """Begin the transaction of a rollout on a new connection."""

    @abstractmethod
    def limit(self, raw: Any, timeout_ms: int | None) -> None:
        """Bound the next statement, and its wait for a lock."""

    def strayed(self, raw: Any) -> str | None:
        """The table, not one of ``tables``, that the transaction has changed; None if none."""

    def speak(self, raw: Any, sql: str) -> None:
        """Execute a statement of our own: a savepoint."""
        cursor = raw.cursor()
        cursor.execute(sql)
        cursor.close()

    def settle(self, raw: Any) -> None:
        """Check what is deferred to the commit, which never comes."""

    def only_these(self) -> str:
        return (
            "a statement is a query, or an INSERT, UPDATE or DELETE of rows of"
            f" {', '.join(self.tables)}"
        )


_FILES = frozenset({"sqlite", "duckdb"})
"""Dialects whose database is a file."""

_OWN = {
    "sqlite": "envs.sandboxes.attached.sqlite:SqliteAccess",
    "postgresql": "envs.sandboxes.attached.postgres:PostgresAccess",
    "mysql": "envs.sandboxes.attached.mariadb:MariaDBAccess",
    "mariadb": "envs.sandboxes.attached.mariadb:MariaDBAccess",
    "hive": "envs.sandboxes.attached.hive:HiveAccess",
    "duckdb": "envs.sandboxes.attached.duckdb:DuckDBAccess",
}


def access_of(address: str, schemas: Sequence[str] = ()) -> Access:
    """The rules for a URL's dialect, and for some schemas of its database (none named: all).

    Raises :class:`DatabaseConfigError` for what is no URL (its text, which may hold a password, is
    not repeated) and for a driver that is not installed.
    """
    try:
        url = sqlalchemy.make_url(address)
    except (ArgumentError, ValueError):
        raise DatabaseConfigError(
            "not a database URL; write for example postgresql://host:5432/database or"
            " duckdb:////data/sales.duckdb"
        ) from None
    backend = url.get_backend_name()
    require_driver("mariadb" if backend == "mysql" else backend)
    own = _OWN.get(backend)
    return Access(url, schemas) if own is None else resolve(own)(url, schemas)


def settled(address: str) -> str:
    """A URL whose file has its absolute path. Another text stays what it is."""
    with suppress(ArgumentError, ValueError):
        url = sqlalchemy.make_url(address)
        path = url.database or ""
        if url.get_backend_name() in _FILES and path and not path.startswith((":", "file:", "md:")):
            absolute = str(Path(path).expanduser().absolute())
            return url.set(database=absolute).render_as_string(hide_password=False)
    return address


def existing_file(url: sqlalchemy.URL, engine: str) -> str:
    """The path of a URL whose database is a file. Raises :class:`DatabaseConfigError`."""
    path = url.database or ""
    if not path or path.startswith((":memory:", "file:")):
        raise DatabaseConfigError(
            f"{url.drivername}:// needs the path of a file, such as"
            f" {url.get_backend_name()}:////data/sales.db: a database in memory holds nothing"
        )
    if not Path(path).is_file():
        raise DatabaseConfigError(f"{engine} file not found: {path}")
    return str(Path(path).absolute())
