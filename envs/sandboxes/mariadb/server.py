"""The databases and accounts of this process on a MariaDB server, and their removal.

Every name begins with ``envs_`` and a token. A database named after the token alone lists all that
was made, and a session of the process holds a named lock as long as the process lives. Objects on
the list of a token without such a session are orphans, which the next process to start removes.
Nothing else is ever touched.
"""

from __future__ import annotations

import math
import re
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import sqlalchemy
from pymysql import err
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions

from envs.connection import connect_args, driver_args
from envs.errors import DatabaseConfigError, NoRoomError, SandboxError
from envs.sandboxes.mariadb.wire import LOST, BoundedConnection
from envs.sandboxes.server.admin_session import (
    CONNECT_S,
    DROP_S,
    RETURN_S,
    SWEEP_S,
    AdminSession,
    Removal,
)
from envs.sandboxes.server.control_connection import ControlConnection, Driver

T = TypeVar("T")

_TOKEN = re.compile(r"envs_[0-9a-f]{12}")

COLLATION = "utf8mb4_nopad_bin"
"""Of tables whose script names none: text compares exactly, as it does on SQLite and PostgreSQL."""

SESSION = (
    "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin, time_zone = '+00:00',"
    " auto_increment_increment = 1,"
    " auto_increment_offset = 1, group_concat_max_len = 1048576, max_recursive_iterations ="
    " 4294967295,"
    " tmp_disk_table_size = 268435456, max_heap_table_size = 67108864, tmp_table_size = 67108864,"
    " max_error_count = 64, div_precision_increment = 12, max_session_mem_used = 536870912,"
    " max_statement_time = 0"
)
"""How values are written and what a statement may use; the sandbox's account cannot change it from
inside. Quotients and averages have as many places as a double would show: with the server's four,
1/3 said in two ways is two figures.
"""

MAX_CHANGED_BYTES = 128_000_000
"""What one look at the rows that a call changed, before and after, may bring to this process."""

_NO_SUCH_THREAD = 1094

_CANNOT_REMOVE_DIRECTORY = 1010

_NO_ROOM = frozenset({1040, 1203, 1226})

_NOT_MARIADB = frozenset({1193, 1273})
"""An unknown variable, an unknown collation: MySQL's answer to the settings of a session."""

_DRIVER = Driver[BoundedConnection](BoundedConnection.fileno, BoundedConnection.drop)


class MariaDBServer(AdminSession):
    """An administrator's connections to the server: one holds the lock and makes and grants, one
    drops, one reads the rows that calls change, one ends sessions. Safe for threads.
    """

    server_name = "MariaDB"
    driver_error = err.MySQLError

    def __init__(self, url: sqlalchemy.URL, *, sweep: bool = True) -> None:
        token = f"envs_{secrets.token_hex(6)}"
        super().__init__(url, token, prefix=token)
        self._thread: int | None = None
        self._admin = ControlConnection(self._open_admin, _DRIVER)
        self._drops = ControlConnection(self._open_drops, _DRIVER)
        self._reader = ControlConnection(self._open_reader, _DRIVER)
        self._killer = ControlConnection(self.connect, _DRIVER, wait_s=0)
        self.controls = (self._drops, self._reader, self._killer, self._admin)
        try:
            if sweep:
                self.sweep()
            self._ask(f"CREATE DATABASE {self.token}")
            self._ask(
                f"CREATE TABLE {self.token}.made (kind varchar(8), name varchar(80), PRIMARY KEY"
                " (kind, name)) COLLATE utf8mb4_nopad_bin"
            )
            self._make_user(self.owner)
            own = _literally(self.token + "_", "%")
            self._ask(f"GRANT ALL PRIVILEGES ON {own}.* TO {self.owner}@'%'")
        except BaseException as error:
            self._close_connections()
            if isinstance(error, err.OperationalError):
                raise DatabaseConfigError(
                    f"MariaDB refuses what sandboxes need: {error.args[-1]}"
                ) from None
            raise
        self._start()

    def _open_admin(self) -> BoundedConnection:
        """Connect, and hold the lock that says that this process lives."""
        connection = self.connect()
        try:
            if not self._started:
                self._check(connection)
            elif self._thread is not None:
                _end(connection, self._thread)  # the lost session may still hold the lock
            if not connection.rows(f"SELECT GET_LOCK('{self.token}', {CONNECT_S})")[0][0]:
                raise SandboxError("the lost session of this process still holds its lock")
            if self._started and not connection.rows(f"SHOW DATABASES LIKE '{self.token}'"):
                raise SandboxError(
                    "the connection was lost for so long that another process has removed the"
                    " templates of this one"
                )
        except BaseException:
            connection.drop()
            raise
        self._thread = connection.thread_id()
        return connection

    def _open_reader(self) -> BoundedConnection:
        reader = self.connect()
        reader.query("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")
        return reader

    def _open_drops(self) -> BoundedConnection:
        connection = self.connect()
        connection.query(f"SET lock_wait_timeout = {DROP_S}, innodb_lock_wait_timeout = {DROP_S}")
        return connection

    def _check(self, connection: BoundedConnection) -> None:
        version = str(connection.rows("SELECT VERSION()")[0][0])
        number = tuple(int(part) for part in version.split(".")[:2])
        if number < (10, 6):
            raise DatabaseConfigError(
                f"sandboxes run on MariaDB 10.6 or newer; this server is {version}"
            )

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
            "conv": {**conversions, FIELD_TYPE.BIT: int.from_bytes},
        }
        args: dict[str, Any] = {
            "host": "127.0.0.1",
            **connect_args(url, CONNECT_S),
            **driver_args(url),
            **ours,
            "database": database,
        }

        def connect() -> BoundedConnection:
            try:
                return BoundedConnection(**args)
            except (
                err.Error,
                TypeError,
                ValueError,
            ) as error:  # the latter two for an option of the URL
                code, words = error.args[0], error.args[-1]
                if code in _NO_ROOM:
                    raise NoRoomError(str(words)) from None
                if code in _NOT_MARIADB:
                    raise DatabaseConfigError(
                        f"sandboxes run on MariaDB 10.6 or newer; this server says: {words}"
                    ) from None
                raise self.unreachable(str(words)) from None

        return self.with_room(connect)

    def new_template(self) -> str:
        return self.new_database(self.new_name("t"))

    def new_database(self, name: str) -> str:
        """An empty database, on the list before it is there."""
        self._ask(f"REPLACE INTO {self.token}.made VALUES ('database', '{name}')")
        self._ask(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE {COLLATION}")
        return name

    def new_login(self, name: str, database: str) -> None:
        """An account that may read and write one database's rows, call its routines, no more."""
        self._make_user(name, "WITH MAX_USER_CONNECTIONS 2")
        self._ask(
            "GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE, SHOW VIEW ON"
            f" {_literally(database)}.* TO {name}@'%'"
        )

    def note_triggers(self, names: Iterable[str]) -> None:
        """Note the triggers of a schema: they may be in the way when its copies are dropped."""

        def work(connection: BoundedConnection) -> None:
            for name in names:
                connection.rows(f"REPLACE INTO {self.token}.made VALUES ('trigger', %s)", (name,))

        self._with(self._admin, work)

    def run(self, statements: Sequence[str], database: str) -> None:
        """Execute statements of our own in a database, past foreign keys and strict modes."""

        def work(connection: BoundedConnection) -> None:
            connection.query(f"USE {database}")
            connection.query("SET foreign_key_checks = 0, unique_checks = 0, sql_mode = ''")
            try:
                for statement in statements:
                    connection.query(statement)
            finally:
                if connection.open:
                    connection.query("SET foreign_key_checks = 1, unique_checks = 1")

        self._with(self._admin, work)

    def write(self, changes: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Execute statements with values that set rows, past all foreign keys."""

        def work(connection: BoundedConnection) -> None:
            cursor = connection.cursor()
            cursor.execute("SET foreign_key_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
            try:
                for sql, values in changes:
                    cursor.execute(sql, values)
            finally:
                if connection.open:
                    cursor.execute("SET foreign_key_checks = 1")

        self._with(self._admin, work)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Execute a statement as the administrator; its rows. Only committed data is seen."""
        return self._ask(sql)

    def peek(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the present rows, also of an open transaction. Raises OperationalError 1153 for
        more than MAX_CHANGED_BYTES.
        """

        def work(connection: BoundedConnection) -> list[tuple[Any, ...]]:
            connection.allowance = MAX_CHANGED_BYTES
            return connection.rows(sql, values)

        return self._with(self._reader, work)

    def kill(self, thread: int, *, query: bool = False) -> None:
        """End a session, or only its statement, from outside, without waiting for others."""
        with self._refusals():
            self._with(self._killer, lambda connection: _end(connection, thread, query=query))

    def size(self, database: str) -> int:
        sql = (
            "SELECT COALESCE(SUM(file_size), 0) FROM information_schema.innodb_sys_tablespaces"
            f" WHERE name LIKE '{database}/%'"
        )
        return int(self._with(self._killer, lambda connection: connection.rows(sql))[0][0])

    def alive(self, thread: int) -> bool:
        sql = f"SELECT 1 FROM information_schema.processlist WHERE id = {thread}"
        return bool(self._with(self._killer, lambda connection: connection.rows(sql)))

    def _drop(self, removal: Removal) -> None:
        def work(connection: BoundedConnection) -> None:
            if (login := removal.login) is not None:
                connection.query(f"DROP USER IF EXISTS {login}@'%'")
                connection.query(
                    f"DELETE FROM {self.token}.made WHERE kind = 'user' AND name = '{login}'"
                )
            for name in removal.databases:
                _drop_database(connection, name)
                connection.query(
                    f"DELETE FROM {self.token}.made WHERE kind = 'database' AND name = '{name}'"
                )

        with self._refusals():
            self._with(self._drops, work)

    def _make_user(self, name: str, limits: str = "") -> None:
        self._ask(f"REPLACE INTO {self.token}.made VALUES ('user', '{name}')")
        self._ask(f"CREATE USER {name}@'%' IDENTIFIED BY '{self._password}' {limits}")

    def sweep(self) -> None:
        """See :meth:`AdminSession.sweep`; one sweeper at a time."""
        if not self._ask("SELECT GET_LOCK('envs_sweep', 0)")[0][0]:
            return
        try:
            deadline = time.monotonic() + SWEEP_S
            lifeless = self._lifeless()
            made = self._ask(
                "SELECT schema_name FROM information_schema.schemata"
                " WHERE schema_name REGEXP '^envs_[0-9a-f]{12}_'"
            )
            self._say_sweep(sum(str(name)[:17] in lifeless for (name,) in made))
            for token in lifeless:
                if time.monotonic() > deadline:
                    return
                if self._ask(f"SELECT GET_LOCK('{token}', 0)")[0][0]:
                    self._remove_orphan(token, deadline)
                    self._ask(f"SELECT RELEASE_LOCK('{token}')")
        finally:
            self._ask("SELECT RELEASE_LOCK('envs_sweep')")

    def orphans(self) -> list[str]:
        names: list[str] = []
        for token in self._lifeless():
            if self._ask(f"SELECT IS_FREE_LOCK('{token}')")[0][0]:
                names += [token, *(name for _, name in self._made(token))]
        return names

    def _homes(self) -> list[str]:
        """The tokens of other processes, those that live and those that do not."""
        rows = self._ask(
            "SELECT table_schema FROM information_schema.tables WHERE table_name = 'made'"
            " AND table_schema REGEXP '^envs_[0-9a-f]{12}$'"
        )
        return [str(token) for (token,) in rows if token != self.token]

    def _lifeless(self) -> list[str]:
        """The tokens of other processes that have no session. Empty in the first RETURN_S of the
        server, whose processes connect again.
        """
        if int(self._ask("SHOW GLOBAL STATUS LIKE 'Uptime'")[0][1]) < RETURN_S:
            return []
        homes = self._homes()
        users = self._ask("SELECT DISTINCT user FROM information_schema.processlist")
        connected = {str(name).rpartition("_")[0] for (name,) in users}
        return [token for token in homes if token not in connected]

    def _remove(self, token: str, until: float = math.inf) -> None:
        assert _TOKEN.fullmatch(token)
        for kind, name in self._made(token):
            if time.monotonic() > until:
                return
            if name.startswith(f"{token}_"):
                self._remove_one(kind, name)
        self._remove_one("database", token)

    def _made(self, token: str) -> list[tuple[str, str]]:
        listed = self._ask(f"SELECT kind, name FROM {token}.made WHERE kind <> 'trigger'")
        return [(str(kind), str(name)) for kind, name in listed]

    def _remove_one(self, kind: str, name: str) -> None:
        def work(connection: BoundedConnection) -> None:
            if kind == "user":
                connection.query(f"DROP USER IF EXISTS {name}@'%'")
            else:
                _drop_database(connection, name)

        self._with(self._drops, work)

    def _words(self, error: Exception) -> str:
        return str(error.args[-1])

    def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        return self._with(self._admin, lambda connection: connection.rows(sql))

    def _with(
        self, control: ControlConnection[BoundedConnection], work: Callable[[BoundedConnection], T]
    ) -> T:
        """Do work on one of our connections. SandboxError if it was lost, else the driver's."""
        with control.use() as connection:
            try:
                return work(connection)
            except (err.OperationalError, err.InterfaceError) as error:
                if error.args and error.args[0] in LOST:
                    control.discard()
                    raise SandboxError("the connection to the MariaDB server was lost") from error
                raise


def _literally(database: str, rest: str = "") -> str:
    """A database in a GRANT, where an underscore is a wildcard unless escaped; ``rest`` too."""
    return f"`{database.replace('_', chr(92) + '_')}{rest}`"


def _drop_database(connection: BoundedConnection, name: str) -> None:
    """Drop a database, also where an earlier drop was killed: that leaves files of triggers without
    their table, which keep MariaDB from dropping the rest, and which DROP TRIGGER removes.
    """
    try:
        connection.query(f"DROP DATABASE IF EXISTS {name}")
    except err.OperationalError as error:
        if error.args[0] != _CANNOT_REMOVE_DIRECTORY:
            raise
        for trigger in _possible_triggers(connection, name):
            connection.query(f"DROP TRIGGER IF EXISTS {name}.`{trigger.replace('`', '``')}`")
        connection.query(f"DROP DATABASE IF EXISTS {name}")


def _possible_triggers(connection: BoundedConnection, name: str) -> list[str]:
    """Triggers whose files may outlive a database's tables: one for each table of its log and
    event, and the triggers of all schemata of the process.
    """
    tables = connection.rows(
        f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{name}_log'"
    )
    home = "_".join(name.split("_")[:2])
    listed = connection.rows(f"SELECT name FROM {home}.made WHERE kind = 'trigger'")
    return [
        *(f"envs_{event}{table[1:]}" for (table,) in tables for event in "IUD"),
        *(trigger for (trigger,) in listed),
    ]


def _end(connection: BoundedConnection, thread: int, *, query: bool = False) -> None:
    try:
        connection.query(f"KILL {'QUERY' if query else 'CONNECTION'} {thread}")
    except err.OperationalError as error:
        if error.args[0] != _NO_SUCH_THREAD:
            raise
