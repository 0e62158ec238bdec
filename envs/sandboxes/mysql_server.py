"""What this process makes on a MariaDB server: databases and accounts with names of its own, and their end.

Every name begins with ``envs_`` and a token. A database named after the token alone keeps the list of what was made,
and as long as the process lives a session of its holds a named lock that says so. What stands on the list of a token
without such a session is an orphan, and is removed by whoever starts next. Nothing else is ever touched.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import itertools
import logging
import re
import secrets
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import sqlalchemy
from pymysql import err

from envs.connection import connect_args, driver_args
from envs.errors import DatabaseConfigError, SandboxError
from envs.sandboxes.mysql_wire import BoundedConnection
from envs.sandboxes.served import Lent

_CONNECT_S = 10
_log = logging.getLogger(__name__)

_TOKEN = re.compile(r"envs_[0-9a-f]{12}")

COLLATION = "utf8mb4_nopad_bin"
"""Of tables whose script names none: text compares exactly, as it does on SQLite and PostgreSQL."""

SESSION = (
    "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin, time_zone = '+00:00', auto_increment_increment = 1,"
    " auto_increment_offset = 1, group_concat_max_len = 1048576, max_recursive_iterations = 4294967295,"
    " tmp_disk_table_size = 268435456, max_heap_table_size = 67108864, tmp_table_size = 67108864,"
    " max_error_count = 64, div_precision_increment = 12, max_session_mem_used = 536870912"
)
"""How values are written and what a statement may use; the sandbox's account cannot change it from inside. Quotients and
averages have as many places as a double would show: with the server's four, 1/3 said in two ways is two figures.
"""

MAX_CHANGED_BYTES = 128_000_000
"""What one look at the rows that a call changed, before and after, may bring to this process."""

_GONE = frozenset({2006, 2013, 2055, 4031})


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


class MysqlServer:
    """An administrator's session on the server, which holds the lock and makes, grants and drops. Safe for threads."""

    def __init__(self, url: sqlalchemy.URL) -> None:
        self.url = url
        self.token = f"envs_{secrets.token_hex(6)}"
        self.owner = f"{self.token}_owner"
        self._lock = threading.RLock()
        self._reading = threading.Lock()
        self._names = itertools.count()
        self._password = secrets.token_urlsafe(24)
        self._dropper = ThreadPoolExecutor(1, thread_name_prefix="envs-drop")
        self._admin = self.connect()
        try:
            self._check()
            self._ask(f"SELECT GET_LOCK('{self.token}', 0)")
            self._sweep()
            self._ask(f"CREATE DATABASE {self.token}")
            self._ask(f"CREATE TABLE {self.token}.made (kind varchar(8), name varchar(80), PRIMARY KEY (kind, name))")
            self._make_user(self.owner)
            own = self.token.replace("_", "\\_")
            self._ask(f"GRANT ALL PRIVILEGES ON `{own}\\_%`.* TO {self.owner}@'%'")
            self._reader = self._open_reader()
        except err.OperationalError as error:
            self._admin.close()
            raise DatabaseConfigError(f"MariaDB refuses what sandboxes need: {error.args[-1]}") from None
        except BaseException:
            self._admin.close()
            raise

    def _open_reader(self) -> BoundedConnection:
        reader = self.connect()
        reader.query("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")
        return reader

    def _check(self) -> None:
        version = str(self._ask("SELECT VERSION()")[0][0])
        if "mariadb" not in version.lower():
            raise DatabaseConfigError(f"sandboxes run on MariaDB 10.6 or newer; this server is MySQL {version}")
        number = tuple(int(part) for part in version.split(".")[:2])
        if number < (10, 6):
            raise DatabaseConfigError(f"sandboxes run on MariaDB 10.6 or newer; this server is {version}")

    def connect(self, database: str | None = None, user: str | None = None) -> BoundedConnection:
        """A connection in autocommit mode, as the URL's user or as one of our accounts."""
        url = self.url.set(database=None)
        if user is not None:
            url = url.set(username=user, password=self._password)
        ours: dict[str, Any] = {
            "charset": "utf8mb4",
            "autocommit": True,
            "local_infile": False,
            "init_command": SESSION,
        }
        args: dict[str, Any] = {
            "host": "127.0.0.1",
            **connect_args(url, _CONNECT_S),
            **driver_args(url),
            **ours,
            "database": database,
        }
        try:
            return BoundedConnection(**args)
        except (err.Error, TypeError, ValueError) as error:  # the latter two for an option of the URL
            code, words = error.args[0], error.args[-1]
            if code in {1040, 1203, 1226}:
                raise SandboxError("the server has no connection left for another sandbox") from None
            raise DatabaseConfigError(f"cannot connect to MariaDB: {words}") from None

    def new_name(self, kind: str) -> str:
        return f"{self.token}_{kind}{next(self._names)}"

    def new_database(self, name: str) -> str:
        """An empty database, on the list before it is there."""
        with self._lock:
            self._ask(f"REPLACE INTO {self.token}.made VALUES ('database', '{name}')")
            self._ask(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE {COLLATION}")
        return name

    def new_login(self, name: str, database: str) -> None:
        """An account that may read and write the rows of one database, call its routines, and nothing else."""
        with self._lock:
            self._make_user(name, "WITH MAX_USER_CONNECTIONS 2")
            self._ask(f"GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE, SHOW VIEW ON {database}.* TO {name}@'%'")

    def run(self, statements: Sequence[str], database: str) -> None:
        """Execute statements of our own in a database, past foreign keys and strict modes."""
        with self._lock:
            cursor = self._admin.cursor()
            try:
                cursor.execute(f"USE {database}")
                cursor.execute("SET foreign_key_checks = 0, unique_checks = 0, sql_mode = ''")
                for each in statements:
                    cursor.execute(each)
            finally:
                cursor.execute("SET foreign_key_checks = 1, unique_checks = 1")

    def write(self, changes: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Set rows as told: statements with values, past all foreign keys."""
        with self._lock:
            cursor = self._admin.cursor()
            try:
                cursor.execute("SET foreign_key_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
                for sql, values in changes:
                    cursor.execute(sql, values)
            finally:
                cursor.execute("SET foreign_key_checks = 1")

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows for the administrator, in committed data."""
        return self._ask(sql)

    def peek(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows as they are now, those of an open transaction too. OperationalError 1153 for more than MAX_CHANGED_BYTES."""
        with self._reading:
            self._reader.allowance = MAX_CHANGED_BYTES
            try:
                cursor = self._reader.cursor()
                cursor.execute(sql, values or None)
                return list(cursor.fetchall())
            finally:
                if not self._reader.open:
                    self._reader = self._open_reader()

    def kill(self, thread: int, *, query: bool = False) -> None:
        """End a session, or only its statement, from outside; does not wait for what the administrator is at."""
        try:
            self.peek(f"KILL {'QUERY' if query else 'CONNECTION'} {thread}")
        except err.OperationalError as error:
            if error.args[0] != 1094:  # it has gone already
                raise

    def drop(self, *databases: str, login: str | None = None) -> None:
        """Drop databases of ours and their account, in the background. :meth:`close` waits."""
        try:
            self._dropper.submit(self._drop, databases, login)
        except RuntimeError:  # the interpreter is about to end: it starts nothing in the background any more
            self._drop(databases, login)

    def _drop(self, databases: Sequence[str], login: str | None) -> None:
        with self._lock:
            if login is not None:
                self._ask(f"DROP USER IF EXISTS {login}@'%'")
                self._ask(f"DELETE FROM {self.token}.made WHERE kind = 'user' AND name = '{login}'")
            for name in databases:
                self._ask(f"DROP DATABASE IF EXISTS {name}")
                self._ask(f"DELETE FROM {self.token}.made WHERE kind = 'database' AND name = '{name}'")

    def close(self) -> None:
        """Remove what is left of this process's databases and accounts, and the lock with the session."""
        self._dropper.shutdown(wait=True)
        with self._lock:
            if self._admin.open:
                self._reader.close()
                self._remove(self.token)
                self._admin.close()

    def _make_user(self, name: str, limits: str = "") -> None:
        self._ask(f"REPLACE INTO {self.token}.made VALUES ('user', '{name}')")
        self._ask(f"CREATE USER {name}@'%' IDENTIFIED BY '{self._password}' {limits}")

    def _sweep(self) -> None:
        """Remove what dead processes left; one sweeper at a time."""
        if not self._ask("SELECT GET_LOCK('envs_sweep', 0)")[0][0]:
            return
        try:
            homes = self._ask(
                "SELECT table_schema FROM information_schema.tables WHERE table_name = 'made'"
                " AND table_schema REGEXP '^envs_[0-9a-f]{12}$'"
            )
            for (token,) in homes:
                if token != self.token and self._ask(f"SELECT GET_LOCK('{token}', 0)")[0][0]:
                    self._remove_orphan(token)
                    self._ask(f"SELECT RELEASE_LOCK('{token}')")
        finally:
            self._ask("SELECT RELEASE_LOCK('envs_sweep')")

    def _remove_orphan(self, token: str) -> None:
        """A dead process's last DROP may still run: what it takes away from under us needs no removing."""
        try:
            self._remove(token)
        except err.MySQLError as error:
            _log.info("what %s left on the MariaDB server stays for the next start: %s", token, error)

    def _remove(self, token: str) -> None:
        assert _TOKEN.fullmatch(token)
        for kind, name in self._ask(f"SELECT kind, name FROM {token}.made"):
            if str(name).startswith(f"{token}_"):
                self._ask(f"DROP USER IF EXISTS {name}@'%'" if kind == "user" else f"DROP DATABASE IF EXISTS {name}")
        self._ask(f"DROP DATABASE IF EXISTS {token}")

    def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                cursor = self._admin.cursor()
                cursor.execute(sql)
                return list(cursor.fetchall())
            except (err.OperationalError, err.InterfaceError) as error:
                if not self._admin.open or error.args[0] in _GONE:
                    raise SandboxError("the connection to the MariaDB server was lost") from error
                raise


servers = Lent(MysqlServer)
