"""Hundreds of sandboxes one after the other leave no connection, database, role, account or thread
behind.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.connection import connect_args, driver_args, parse_url
from envs.sandboxes.base import Sandbox
from envs.sandboxes.mariadb.sandbox import MariaDBSandbox
from envs.sandboxes.mariadb.server import MariaDBServer
from envs.sandboxes.mariadb.session import MariaDBSession
from envs.sandboxes.postgres.sandbox import PostgresSandbox
from envs.sandboxes.postgres.server import PostgresServer
from envs.sandboxes.postgres.session import PostgresSession
from envs.types import Limits, Pins
from tests.servers import server
from tests.unit.envs.sandboxes.calls import ServerTemplate, built, call

SCHEMA = (
    "CREATE TABLE t (id integer PRIMARY KEY, name varchar(20) UNIQUE)",
    "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
)
OPEN = 4
"""Sandboxes that are open at once; a fork makes one more."""

NAMES = {
    "postgresql": "SELECT datname FROM pg_database UNION ALL SELECT rolname FROM pg_roles",
    "mysql": (
        "SELECT schema_name FROM information_schema.schemata UNION ALL SELECT User FROM mysql.user"
    ),
}


def server_of(template: ServerTemplate) -> PostgresServer | MariaDBServer:
    return template.server


def named(engine: str, token: str) -> int:
    """Databases, roles and accounts whose names bear the token, as a session of the test's own sees
    them.
    """
    place = parse_url(server(engine))
    module = place.get_dialect().import_dbapi()
    connection = module.connect(**connect_args(place), **driver_args(place))
    try:
        cursor = connection.cursor()
        cursor.execute(NAMES[engine])
        return sum(token in str(row[0]) for row in cursor.fetchall())
    finally:
        connection.close()


def held() -> tuple[int, int]:
    """Sockets and threads of this process."""
    links = [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    threads = [
        each for each in threading.enumerate() if each.name != "envs-watchdog"
    ]  # it ends by itself
    return sum(each.startswith("socket:") for each in links), len(threads)


def session_of(sandbox: Sandbox) -> PostgresSession | MariaDBSession:
    if isinstance(sandbox, PostgresSandbox):
        return sandbox._session
    assert isinstance(sandbox, MariaDBSandbox)
    assert sandbox._slot is not None
    return sandbox._slot.session


def play(sandbox: Sandbox, number: int) -> None:
    """A call that writes, one that breaks, one that loses its session, and a fork that writes
    too.
    """
    call(sandbox, f"INSERT INTO t VALUES ({10 + number}, 'n{number}')")
    if number % 5 == 0:
        with pytest.raises(DBAPIError):
            call(sandbox, "INSERT INTO t VALUES (1, 'twice')")
    if number % 10 == 3:
        with sandbox.fork() as other:
            call(other, "DELETE FROM t WHERE id = 2")
    if number % 20 == 7:
        with pytest.raises(DBAPIError), sandbox.transaction(Limits()) as transaction:
            session_of(sandbox).terminate()
            transaction.connection.execute(text("SELECT 1"))
    assert len(sandbox.diff().changes) == 1


def use(template: ServerTemplate, count: int) -> None:
    for first in range(0, count, OPEN):
        with contextlib.ExitStack() as stack:
            sandboxes = [stack.enter_context(template.open(Pins())) for _ in range(OPEN)]
            for at, sandbox in enumerate(sandboxes):
                play(sandbox, first + at)
    server_of(template)._dropper.submit(
        int
    ).result()  # what is dropped is dropped in the background


def state(template: ServerTemplate) -> tuple[int, int, int]:
    return (*held(), named(template.dialect, server_of(template).token))


COUNTS = [
    pytest.param("postgresql", "pooled", 200, id="postgresql-pooled"),
    pytest.param("mysql", "pooled", 200, id="mysql-pooled"),
    pytest.param("postgresql", "cloned", 4, id="postgresql-cloned"),
    pytest.param("mysql", "cloned", 4, id="mysql-cloned"),
    pytest.param(
        "postgresql", "pooled", 5_000, id="postgresql-pooled-5000", marks=pytest.mark.long
    ),
    pytest.param("mysql", "pooled", 5_000, id="mysql-pooled-5000", marks=pytest.mark.long),
    pytest.param("postgresql", "cloned", 300, id="postgresql-cloned-300", marks=pytest.mark.long),
    pytest.param("mysql", "cloned", 300, id="mysql-cloned-300", marks=pytest.mark.long),
]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="sockets are counted in /proc")
@pytest.mark.parametrize(("engine", "kind", "count"), COUNTS)
def test_sandboxes_leave_nothing_behind(engine: str, kind: str, count: int):
    """Played in a process of its own, which holds nothing of other tests."""
    server(engine)  # skips here, where there is none
    with warnings.catch_warnings():
        # Python starts its resource tracker again where it is gone, and warns of that.
        warnings.filterwarnings("ignore", "resource_tracker", UserWarning)
        apart = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    with apart:
        apart.submit(check_that_nothing_is_left, engine, kind, count).result()


def check_that_nothing_is_left(engine: str, kind: str, count: int) -> None:
    before = held()
    with built(engine, SCHEMA, kind) as template:
        token = server_of(template).token
        use(template, 24 if kind == "pooled" else OPEN)  # the pool is as large as it gets
        server_of(template).alive(0)  # opens the watchdog's connection if it was not needed so far
        steady = state(template)
        use(template, count)
        after = state(template)
        assert after == steady, f"{steady} sockets, threads and names came to {after}"
        assert steady[2] > 0
    left, names = held(), named(engine, token)
    assert left == before, f"{before} sockets and threads came to {left}"
    assert names == 0, f"{names} databases, roles or accounts are left"
