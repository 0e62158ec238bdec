"""What this process makes on a PostgreSQL server: databases and roles with names of its own, and their end.

Every name begins with ``envs_`` and a token; every role carries :data:`MARK` as its comment, and every database belongs
to such a role. As long as the process lives, a session of its holds an advisory lock that says so. What bears the
mark and has no such session is an orphan, and is removed by whoever starts next. Nothing else is ever touched.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import itertools
import logging
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import sqlalchemy

from envs.connection import connect_args, driver_args
from envs.errors import DatabaseConfigError, SandboxError
from envs.sandboxes.postgres_sessions import SPARE
from envs.sandboxes.served import Lent

_log = logging.getLogger(__name__)

MARK = "made by envs.sandboxes; removed when its process is gone"

_CLASS = int.from_bytes(b"envs", "big")
"""The first key of our advisory locks; the second is the token's first four bytes."""

_SWEEPING = 1
_CONNECT_S = 10
TEMP_FILE_LIMIT = "256MB"

_PAGE = 4096
"""Bytes of a page of memory, as /proc counts it; larger on some machines, which are then watched less closely."""

FILE_COPY_BYTES = 100_000_000

_ROLE_SETTINGS = (
    "timezone = 'UTC'",
    "datestyle = 'ISO, MDY'",
    "intervalstyle = 'postgres'",
    "bytea_output = 'hex'",
    "extra_float_digits = 1",
    "client_encoding = 'UTF8'",
    "lc_messages = 'C'",
    "synchronous_commit = off",
    "jit = off",
    "max_parallel_workers_per_gather = 0",
    "idle_in_transaction_session_timeout = 0",
    f"temp_file_limit = '{TEMP_FILE_LIMIT}'",
)
"""How values are written is fixed, since changes are read from text; the last three hold whoever is connected."""


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string literal that reads alike whatever standard_conforming_strings says."""
    return " E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


class PostgresServer:
    """A superuser's session on the server, which holds the lock and makes, grants and drops. Safe for threads."""

    def __init__(self, url: sqlalchemy.URL) -> None:
        self.url = url
        self.token = secrets.token_hex(6)
        self._lock = threading.RLock()
        self._names = itertools.count()
        self._password = secrets.token_urlsafe(24)
        self.owner = f"envs_{self.token}_owner"
        self.users = f"envs_{self.token}_users"
        self.spare = threading.BoundedSemaphore(SPARE)
        """Room for sessions beside those that each sandbox has."""
        self._dropper = ThreadPoolExecutor(1, thread_name_prefix="envs-drop")
        self._admin = self.connect()
        try:
            if not self._ask("SELECT usesuper FROM pg_user WHERE usename = current_user")[0][0]:
                raise DatabaseConfigError(
                    "sandboxes on PostgreSQL need a superuser: they make databases, roles with limits, and revoke"
                    " functions from PUBLIC in databases of their own"
                )
            self._ask(f"SELECT pg_advisory_lock({_CLASS}, {_key(self.token)})")
            self._sweep()
            self._make_role(self.users, "NOLOGIN")
            self._make_role(self.owner, f"LOGIN PASSWORD '{self._password}'")
        except BaseException:
            self._admin.close()
            raise

    def connect(self, database: str | None = None, user: str | None = None) -> psycopg.Connection[Any]:
        """A connection to a database, as the URL's user or as one of our roles. DatabaseConfigError where there is none."""
        url = self.url.set(database=database or self.url.database or "postgres")
        if user is not None:
            url = url.set(username=user, password=self._password)
        args: dict[str, Any] = {**connect_args(url, _CONNECT_S), **driver_args(url), "application_name": "envs"}
        try:
            return psycopg.connect(**args, autocommit=True)
        except psycopg.Error as error:
            if "too many clients" in str(error) or "too many connections" in str(error):
                raise SandboxError("the server has no connection left for another sandbox") from None
            words = next((line for line in str(error).splitlines() if line.strip()), "no reason given")
            raise DatabaseConfigError(f"cannot connect to PostgreSQL: {words}") from None

    def new_database(self, kind: str, template: str | None = None) -> str:
        """An empty database, or a copy of one of ours; nobody but superuser and owner may connect yet."""
        name = f"envs_{self.token}_{kind}{next(self._names)}"
        with self._lock:
            source = template or "template0"
            encoding = "" if template else " ENCODING 'UTF8'"
            self._ask(
                f"CREATE DATABASE {name} OWNER {self.owner} TEMPLATE {source}{encoding}{self._strategy(template)}"
            )
            self._ask(f"REVOKE ALL ON DATABASE {name} FROM PUBLIC")
        return name

    def new_login(self, database: str) -> str:
        """A role that may connect to this one database, with the rights of the sandboxes' users."""
        with self._lock:
            self._make_role(database, f"LOGIN PASSWORD '{self._password}' IN ROLE {self.users}")
            self._ask(f"GRANT CONNECT ON DATABASE {database} TO {database}")
        return database

    def seal(self, database: str) -> None:
        """No connection to a template any more: one would keep it from being copied."""
        self._ask(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")

    def _strategy(self, template: str | None) -> str:
        """Copying files costs two checkpoints, copying pages through the log does not: files for large ones only."""
        if template is None or self._admin.info.server_version < 150000:
            return ""
        size = self._ask(f"SELECT pg_database_size('{template}')")[0][0]
        return " STRATEGY file_copy" if size > FILE_COPY_BYTES else " STRATEGY wal_log"

    def drop(self, database: str) -> None:
        """Drop a database of ours, and its login, in the background: it costs a checkpoint. :meth:`close` waits."""
        try:
            self._dropper.submit(self._drop, database)
        except RuntimeError:  # the interpreter is about to end: it starts nothing in the background any more
            self._drop(database)

    def _drop(self, database: str) -> None:
        with self.connect() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)".encode())
            connection.execute(f"DROP ROLE IF EXISTS {database}".encode())

    def terminate(self, pid: int) -> None:
        """End a session from outside."""
        self._ask(f"SELECT pg_terminate_backend({pid})")

    def weigh(self, pid: int) -> tuple[int, int]:
        """What a session takes: bytes of memory of its own, and bytes of its database on disk. Zeros where it is gone, and
        for the memory where the server's machine has no /proc.
        """
        try:
            rows = self._ask(
                f"SELECT pg_read_file('/proc/{pid}/statm', 0, 200, true), pg_database_size(datid)"
                f" FROM pg_stat_activity WHERE pid = {pid}"
            )
        except (SandboxError, psycopg.Error):
            return 0, 0  # whoever speaks to the server next says what is wrong with it
        if not rows:
            return 0, 0
        pages = [int(each) for each in str(rows[0][0] or "").split()]
        return (pages[1] - pages[2]) * _PAGE if len(pages) > 2 else 0, int(rows[0][1])

    def close(self) -> None:
        """Drop what is left of this process's databases and roles, and the lock with the session."""
        self._dropper.shutdown(wait=True)
        with self._lock:
            if not self._admin.closed:
                self._remove(self.token)
                self._admin.close()

    def _make_role(self, name: str, options: str) -> None:
        settings = "; ".join(f"ALTER ROLE {name} SET {setting}" for setting in _ROLE_SETTINGS)
        self._ask(
            f"CREATE ROLE {name} {options}; COMMENT ON ROLE {name} IS '{MARK}'; {settings if options != 'NOLOGIN' else ''}"
        )

    def _sweep(self) -> None:
        """Remove what dead processes left. Roles are read before locks: whoever is new has its lock by then."""
        if not self._ask(f"SELECT pg_try_advisory_lock({_CLASS}, {_SWEEPING})")[0][0]:
            return
        try:
            tokens = {
                str(name).split("_")[1]
                for (name,) in self._ask(
                    "SELECT rolname FROM pg_roles JOIN pg_shdescription ON objoid = oid"
                    f" AND classoid = 'pg_authid'::regclass WHERE rolname ~ '^envs_[0-9a-f]{{12}}_' AND description = '{MARK}'"
                )
            }
            alive = {
                key
                for (key,) in self._ask(
                    f"SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = {_CLASS} AND objsubid = 2"
                )
            }
            for token in sorted(tokens):
                if int(token[:8], 16) not in alive:
                    self._remove_orphan(token)
        finally:
            self._ask(f"SELECT pg_advisory_unlock({_CLASS}, {_SWEEPING})")

    def _remove_orphan(self, token: str) -> None:
        """Another may be at it too (the lock is one database's; a dead process's last DROP may still run): whose turn it is matters not."""
        try:
            self._remove(token)
        except (SandboxError, psycopg.Error) as error:
            if self._admin.closed or self._admin.broken:
                raise
            _log.info("what %s left on the PostgreSQL server stays for the next start: %s", token, error)

    def _remove(self, token: str) -> None:
        databases = self._ask(
            "SELECT datname FROM pg_database JOIN pg_roles r ON r.oid = datdba"
            f" WHERE r.rolname = 'envs_{token}_owner' AND datname ~ '^envs_{token}_'"
        )
        for (name,) in databases:
            self._ask(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        roles = self._ask(
            "SELECT rolname FROM pg_roles JOIN pg_shdescription ON objoid = oid AND classoid = 'pg_authid'::regclass"
            f" WHERE rolname ~ '^envs_{token}_' AND description = '{MARK}'"
        )
        for (name,) in roles:
            self._ask(f"DROP ROLE IF EXISTS {name}")

    def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                cursor = self._admin.execute(sql.encode())
            except psycopg.OperationalError as error:
                if self._admin.closed or self._admin.broken:
                    raise SandboxError("the connection to the PostgreSQL server was lost") from error
                raise SandboxError(f"PostgreSQL refused: {str(error).splitlines()[0]}") from error
            return cursor.fetchall() if cursor.description else []


def _key(token: str) -> int:
    """The token as the signed 32-bit integer that an advisory lock takes."""
    value = int(token[:8], 16)
    return value - 2**32 if value >= 2**31 else value


servers = Lent(PostgresServer)
