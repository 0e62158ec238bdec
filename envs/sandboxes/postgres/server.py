"""The databases and roles of this process on a PostgreSQL server, and their removal.

Every name begins with ``envs_`` and a token; every role carries :data:`MARK` as its comment, and
every database belongs to such a role. A session of the process holds an advisory lock as long as
the process lives. Objects with the mark and without such a session are orphans, which the next
process to start removes. Nothing else is ever touched.
"""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import sqlalchemy
from psycopg import errors

from envs.connection import POSTGRES, connect_args, connect_postgres, driver_args
from envs.errors import DatabaseConfigError, NoRoomError, SandboxError
from envs.sandboxes.postgres.base_database import GROUP, furnish, prepared_name
from envs.sandboxes.postgres.session_pool import SPARE
from envs.sandboxes.server.admin_session import (
    CONNECT_S,
    DROP_S,
    KEEP_S,
    RETURN_S,
    SWEEP_S,
    AdminSession,
    Removal,
)
from envs.sandboxes.server.control_connection import ControlConnection, Driver

MARK = "made by envs.sandboxes; removed when its process is gone"

_CLASS = int.from_bytes(b"envs", "big")
"""The first key of our advisory locks; the second is the token's first four bytes."""

_SWEEPING = 1
TEMP_FILE_LIMIT = "256MB"

_PAGE = 4096
"""Bytes of a page of memory, as /proc counts; larger pages are watched less closely."""

FILE_COPY_BYTES = 100_000_000

_ROLE_SETTINGS = (
    *POSTGRES,
    "client_encoding = 'UTF8'",
    "lc_messages = 'C'",
    "synchronous_commit = off",
    "jit = off",
    "max_parallel_workers_per_gather = 0",
    f"temp_file_limit = '{TEMP_FILE_LIMIT}'",
)
"""How values are written is fixed: changes are read from text; the last three hold everybody."""


def literal(text: str) -> str:
    """A string literal that reads alike whatever standard_conforming_strings says."""
    return " E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


_NO_ROOM = ("too many clients", "too many connections", "connection slots are reserved")

_DRIVER = Driver[psycopg.Connection[Any]](
    fileno=lambda connection: (
        -1 if connection.closed or connection.broken else connection.pgconn.socket
    ),
    close=lambda connection: connection.close(),
)


class PostgresServer(AdminSession):
    """An administrator's connections to the server: one holds the lock and makes and grants, one
    drops, one ends and weighs sessions. Safe for threads.

    The administrator is a superuser, or a role for which a superuser has prepared the server
    (:mod:`envs.sandboxes.postgres.prepare`).
    """

    server_name = "PostgreSQL"
    driver_error = psycopg.Error

    def __init__(self, url: sqlalchemy.URL, *, sweep: bool = True) -> None:
        token = secrets.token_hex(6)
        super().__init__(url, token, prefix=f"envs_{token}")
        self.users = f"{self.prefix}_users"
        self.spare = threading.BoundedSemaphore(SPARE)
        """Room for sessions beside those that each sandbox has."""
        self._superuser = True
        self._admin = ControlConnection(self._open_admin, _DRIVER)
        self._drops = ControlConnection(lambda: self._open_bounded(DROP_S), _DRIVER)
        self._watch = ControlConnection(lambda: self._open_bounded(CONNECT_S), _DRIVER, wait_s=0)
        self.controls = (self._drops, self._watch, self._admin)
        try:
            if sweep:
                self.sweep()
            self._make_role(self.users, "NOLOGIN")
            self._make_role(self.owner, f"LOGIN PASSWORD '{self._password}'")
        except BaseException:
            self._close_connections()
            raise
        self._start()

    def _open_admin(self) -> psycopg.Connection[Any]:
        """Connect, and hold the lock that says that this process lives."""
        connection = self.connect()
        try:
            self._superuser = _is_superuser(connection)
            connection.execute(
                f"SELECT pg_advisory_lock_shared({_CLASS}, {_key(self.token)})".encode()
            )
            if (
                self._started
                and not connection.execute(
                    f"SELECT FROM pg_roles WHERE rolname = '{self.owner}'".encode()
                ).fetchall()
            ):
                raise SandboxError(
                    "the connection was lost for so long that another process has removed the"
                    " templates of this one"
                )
        except psycopg.OperationalError as error:
            connection.close()
            raise self.unreachable(first_line(error)) from None
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_bounded(self, seconds: int) -> psycopg.Connection[Any]:
        connection = self.connect()
        connection.execute(f"SET statement_timeout = '{seconds}s'".encode())
        return connection

    def connect(
        self, database: str | None = None, user: str | None = None, options: str = ""
    ) -> psycopg.Connection[Any]:
        """A connection to a database, as the URL's user or as one of our roles, with more options
        of the server. Raises DatabaseConfigError if there is no such database.
        """
        url = self.url.set(database=database or self.url.database or "postgres")
        if user is not None:
            url = url.set(username=user, password=self._password)
        args: dict[str, Any] = {
            **connect_args(url, CONNECT_S),
            **driver_args(url),
            "application_name": "envs",
        }
        if options:
            args["options"] = f"{args.get('options', '')} {options}".strip()

        def connect() -> psycopg.Connection[Any]:
            try:
                connection = connect_postgres(psycopg, **args, autocommit=True)
                try:
                    connection.execute("; ".join(f"SET {setting}" for setting in POSTGRES).encode())
                except psycopg.Error:
                    connection.close()
                    raise
                return connection
            except psycopg.Error as error:
                if any(words in str(error) for words in _NO_ROOM):
                    raise NoRoomError(first_line(error)) from None
                raise self.unreachable(first_line(error)) from None

        return self.with_room(connect)

    def new_template(self) -> str:
        name = self.new_database("t")
        if self._superuser:
            with self.connect(name) as admin:
                furnish(admin, self.owner)
        return name

    def new_database(self, kind: str, template: str | None = None) -> str:
        """An empty database, or a copy; nobody but superuser and owner may connect yet."""
        name = self.new_name(kind)
        source = template or ("template0" if self._superuser else prepared_name())
        encoding = "" if template else " ENCODING 'UTF8'"
        self._ask(
            f"CREATE DATABASE {name} OWNER {self.owner} TEMPLATE"
            f" {source}{encoding}{self._strategy(template)}"
        )
        self._ask(f"REVOKE ALL ON DATABASE {name} FROM PUBLIC")
        return name

    def new_login(self, database: str) -> str:
        """A role that may connect to this one database, with the rights of the sandboxes' users."""
        self._make_role(database, f"LOGIN PASSWORD '{self._password}' IN ROLE {self.users}")
        self._ask(f"GRANT CONNECT ON DATABASE {database} TO {database}")
        return database

    def seal(self, database: str) -> None:
        """Allow no further connection to a template: one would keep it from being copied."""
        self._ask(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")

    def _strategy(self, template: str | None) -> str:
        """Copying files costs two checkpoints, copying through the log none: files if large."""
        if template is None or int(self._ask("SHOW server_version_num")[0][0]) < 150000:
            return ""
        size = self._ask(f"SELECT pg_database_size('{template}')")[0][0]
        return " STRATEGY file_copy" if size > FILE_COPY_BYTES else " STRATEGY wal_log"

    def _drop(self, removal: Removal) -> None:
        for name in removal.databases:
            self._say(self._drops, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            self._say(self._drops, f"DROP ROLE IF EXISTS {name}")

    def terminate(self, pid: int) -> None:
        self._say(self._watch, f"SELECT pg_terminate_backend({pid})")

    def alive(self, pid: int) -> bool:
        return bool(self._say(self._watch, f"SELECT FROM pg_stat_activity WHERE pid = {pid}"))

    def weigh(self, pid: int) -> tuple[int, int]:
        """The bytes of memory that a session takes, and the bytes of its database on disk.

        Zeros where the session is gone, and for the memory where the server's machine has no /proc.
        """
        memory = (
            f"pg_read_file('/proc/{pid}/statm', 0, 200, true)"
            if self._superuser
            else f"{GROUP}.memory({pid})"
        )
        try:
            rows = self._say(
                self._watch,
                f"SELECT {memory}, pg_database_size(datid) FROM pg_stat_activity WHERE pid = {pid}",
            )
        except SandboxError:
            return 0, 0  # whoever speaks to the server next says what is wrong with it
        if not rows:
            return 0, 0
        pages = [int(number) for number in str(rows[0][0] or "").split()]
        return (pages[1] - pages[2]) * _PAGE if len(pages) > 2 else 0, int(rows[0][1])

    def bounds(self, pid: int) -> tuple[Callable[[], int], Callable[[], None]]:
        """The size of a session's database, and the end of the session."""
        return lambda: self.weigh(pid)[1], lambda: self.terminate(pid)

    def _make_role(self, name: str, options: str) -> None:
        settings = "; ".join(f"ALTER ROLE {name} SET {setting}" for setting in _ROLE_SETTINGS)
        self._ask(
            f"CREATE ROLE {name} {options}; COMMENT ON ROLE {name} IS '{MARK}';"
            f" {settings if options != 'NOLOGIN' else ''}"
        )
        if not self._superuser and name == self.owner:
            self._ask(f"GRANT {name} TO CURRENT_USER")

    def sweep(self) -> None:
        """See :meth:`AdminSession.sweep`; one sweeper at a time."""
        if not self._ask(f"SELECT pg_try_advisory_lock({_CLASS}, {_SWEEPING})")[0][0]:
            return
        try:
            if dead := set(self._dead()):
                # A process whose connection was ended takes its lock again within KEEP_S.
                time.sleep(2 * KEEP_S)
                dead &= set(self._dead())
            self._say_sweep(sum(len(self._databases(token)) for token in dead))
            deadline = time.monotonic() + SWEEP_S
            for token in sorted(dead):
                self._remove_orphan(token, deadline)
        finally:
            self._ask(f"SELECT pg_advisory_unlock({_CLASS}, {_SWEEPING})")

    def orphans(self) -> list[str]:
        names: list[str] = []
        for token in self._dead():
            names += self._databases(token) + self._roles(token)
        return names

    def _dead(self) -> list[str]:
        """The tokens of processes that are gone: they hold no lock and have no session. Nobody is
        dead just after a start of the server. Roles are read before locks: whoever is new has its
        lock by then.
        """
        if self._ask(f"SELECT now() < pg_postmaster_start_time() + interval '{RETURN_S} s'")[0][0]:
            return []
        tokens = {
            str(name).split("_")[1]
            for (name,) in self._ask(
                "SELECT rolname FROM pg_roles JOIN pg_shdescription ON objoid = oid"
                " AND classoid = 'pg_authid'::regclass WHERE rolname ~"
                f" '^envs_[0-9a-f]{{12}}_' AND description = '{MARK}'"
            )
        }
        alive = {
            key
            for (key,) in self._ask(
                "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid ="
                f" {_CLASS} AND objsubid = 2"
            )
        }
        connected = {
            str(name).split("_")[1]
            for (name,) in self._ask(
                "SELECT usename FROM pg_stat_activity WHERE usename ~ '^envs_[0-9a-f]{12}_'"
            )
        }
        return sorted(token for token in tokens - connected if int(token[:8], 16) not in alive)

    def _remove(self, token: str, until: float = math.inf) -> None:
        if not self._superuser and f"envs_{token}_owner" in self._roles(token):
            self._ask(f"GRANT envs_{token}_owner TO CURRENT_USER")
        for name in self._databases(token):
            if time.monotonic() > until:
                return
            self._say(self._drops, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        for name in self._roles(token):
            self._ask(f"DROP ROLE IF EXISTS {name}")

    def _databases(self, token: str) -> list[str]:
        rows = self._ask(
            "SELECT datname FROM pg_database JOIN pg_roles r ON r.oid = datdba"
            f" WHERE r.rolname = 'envs_{token}_owner' AND datname ~ '^envs_{token}_'"
        )
        return [str(name) for (name,) in rows]

    def _roles(self, token: str) -> list[str]:
        rows = self._ask(
            "SELECT rolname FROM pg_roles JOIN pg_shdescription ON objoid = oid AND classoid ="
            f" 'pg_authid'::regclass WHERE rolname ~ '^envs_{token}_' AND description = '{MARK}'"
        )
        return [str(name) for (name,) in rows]

    def _words(self, error: Exception) -> str:
        return first_line(error)

    def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        return self._say(self._admin, sql)

    def _say(
        self, control: ControlConnection[psycopg.Connection[Any]], sql: str
    ) -> list[tuple[Any, ...]]:
        """Execute a statement on one of our connections. SandboxError where that fails."""
        with control.use() as connection:
            try:
                cursor = connection.execute(sql.encode())
            except psycopg.Error as error:
                if connection.closed or connection.broken:
                    raise SandboxError(
                        "the connection to the PostgreSQL server was lost"
                    ) from error
                words = f"PostgreSQL refused: {first_line(error)}"
                if not self._started and isinstance(error, errors.InsufficientPrivilege):
                    raise DatabaseConfigError(words) from error
                raise SandboxError(words) from error
            return cursor.fetchall() if cursor.description else []


def _is_superuser(connection: psycopg.Connection[Any]) -> bool:
    """True for a superuser, False for a role that one prepared; others: DatabaseConfigError."""
    row = connection.execute(
        "SELECT rolsuper, rolcreatedb AND rolcreaterole AND EXISTS (SELECT FROM pg_proc p JOIN"
        " pg_namespace n ON n.oid = p.pronamespace  WHERE n.nspname = %s AND proname = 'memory' AND"
        " has_schema_privilege(n.oid, 'usage')  AND has_function_privilege(p.oid, 'execute')) AND"
        " EXISTS (SELECT FROM pg_database WHERE datname = %s AND datistemplate), rolname FROM"
        " pg_roles WHERE rolname = current_user",
        (GROUP, prepared_name()),
    ).fetchone()
    if row is not None and not (row[0] or row[1]):
        raise DatabaseConfigError(
            "sandboxes on PostgreSQL need a superuser, or a role with CREATEDB and CREATEROLE for"
            " which a superuser has prepared the server and this database: python -m"
            f" envs.sandboxes.postgres.prepare {row[2]} --dsn-env-var SUPERUSER_URL"
        )
    return row is None or bool(row[0])


def first_line(error: Exception) -> str:
    """The first line of an error's words that is not blank."""
    return next((line for line in str(error).splitlines() if line.strip()), "no reason given")


def _key(token: str) -> int:
    """The token as the signed 32-bit integer that an advisory lock takes."""
    value = int(token[:8], 16)
    return value - 2**32 if value >= 2**31 else value
