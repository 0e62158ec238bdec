"""Connections that are lost or silent, and rollouts that change too much: the process reconnects,
bounded, and no rollout is wrong.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError

from envs.connection import connect_args, parse_url
from envs.errors import SandboxError
from envs.sandboxes.mariadb import sandbox as mariadb_sandbox
from envs.sandboxes.mariadb.server import MariaDBServer
from envs.sandboxes.postgres import sandbox as postgres_sandbox
from envs.sandboxes.postgres.server import _CLASS, _SWEEPING
from envs.sql_errors.classify import classify
from envs.types import ErrorCategory, Pins
from tests.servers import server
from tests.unit.envs.sandboxes.calls import ServerTemplate, built, call

SCHEMA = "CREATE TABLE t (id integer PRIMARY KEY, name varchar(20))"
ENGINES = ("postgresql", "mariadb")
LISTS = {"postgresql": "SELECT datname FROM pg_database", "mariadb": "SHOW DATABASES"}
ENDS = {"postgresql": "SELECT pg_terminate_backend({})", "mariadb": "KILL {}"}
HOLDS = {
    "postgresql": f"SELECT pg_advisory_lock({_CLASS}, {_SWEEPING})",
    "mariadb": "SELECT GET_LOCK('envs_sweep', 600)",
}
"""Keep the starts of other processes, of other tests say, from removing what is there: a process
that lost its control connection looks dead until it connects again.
"""


def control_sessions(made: ServerTemplate) -> list[int]:
    """The numbers of the process's own sessions on the server."""
    place: Any = made.server
    controls = [place._admin, place._drops]
    if isinstance(place, MariaDBServer):
        return [
            control._connection.thread_id()
            for control in [*controls, place._reader, place._killer]
            if control._connection is not None
        ]
    return [
        control._connection.info.backend_pid
        for control in [*controls, place._watch]
        if control._connection is not None
    ]


@contextmanager
def administrator(engine: str) -> Iterator[sqlalchemy.Connection]:
    url = parse_url(server(engine))
    admin = sqlalchemy.create_engine(
        url,
        poolclass=sqlalchemy.NullPool,
        isolation_level="AUTOCOMMIT",
        connect_args=connect_args(url),
    )
    with admin.connect() as connection:
        yield connection


def end(engine: str, sessions: list[int]) -> None:
    """End the sessions; one that has ended by itself is no error (MariaDB says that it is one)."""
    with administrator(engine) as connection:
        for session in sessions:
            try:
                connection.execute(text(ENDS[engine].format(session)))
            except OperationalError as error:
                if "Unknown thread id" not in str(error):
                    raise


def databases(engine: str, token: str) -> set[str]:
    with administrator(engine) as connection:
        found = connection.execute(text(LISTS[engine])).scalars()
        return {str(name) for name in found if token in str(name)}


def insert(made: ServerTemplate) -> int:
    with made.open(Pins()) as sandbox:
        call(sandbox, "INSERT INTO t VALUES (1, 'a')")
        return len(sandbox.diff().changes)


@pytest.mark.parametrize("engine", ENGINES)
def test_control_connections_are_opened_again(engine: str):
    with (
        built(engine, [SCHEMA]) as other,  # templates of one process share a server's connections
        administrator(engine) as holding,
    ):
        holding.execute(text(HOLDS[engine]))
        token = other.server.token
        before = databases(engine, token)
        with built(engine, [SCHEMA]) as made:
            assert made.server is other.server
            assert insert(made) == 1
            assert databases(engine, token) > before
            for _ in range(2):
                end(engine, control_sessions(made))
                time.sleep(0.1)
                # At most the one call that meets the loss fails, and it is worth another attempt.
                with suppress(SandboxError):
                    insert(made)
                assert insert(made) == 1
                assert made.new_slot().drop() is None  # a copy is made, and dropped, by them
            made_there = databases(engine, token) - before
        deadline = time.monotonic() + 30  # databases are dropped in the background
        while made_there & databases(engine, token) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not made_there & databases(engine, token)
        assert not other.server.leftovers


def start_another(made: ServerTemplate) -> None:
    """What the start of another process does on the server, its sweep included."""
    another = type(made.server)(made.server.url)
    another.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_process_at_work_is_alive_without_its_control_connections(engine: str):
    """Its rollouts have sessions, so that another process's start removes nothing of it."""
    with built(engine, [SCHEMA]) as made, made.open(Pins()) as sandbox:
        call(sandbox, "INSERT INTO t VALUES (1, 'a')")
        before = databases(engine, made.server.token)
        end(engine, control_sessions(made))
        start_another(made)
        assert databases(engine, made.server.token) == before
        assert len(sandbox.diff().changes) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_an_idle_process_takes_its_lock_again(engine: str):
    """Nothing is asked of it after the loss, for hours perhaps."""
    with built(engine, [SCHEMA]) as made, administrator(engine) as holding:
        holding.execute(text(HOLDS[engine]))
        first = made.server._admin._connection
        end(engine, control_sessions(made))
        deadline = time.monotonic() + 120
        while made.server._admin._connection in {first, None} and time.monotonic() < deadline:
            time.sleep(0.05)
        holding.close()
        before = databases(engine, made.server.token)
        start_another(made)
        assert databases(engine, made.server.token) == before
        assert insert(made) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_the_call_that_changes_too_much_is_refused(engine: str, monkeypatch: pytest.MonkeyPatch):
    """The bound is made small here; the calls before it stay."""
    for module in (mariadb_sandbox, postgres_sandbox):
        monkeypatch.setattr(module, "MAX_ROLLOUT_BYTES", 100)
    with built(engine, [SCHEMA]) as made, made.open(Pins()) as sandbox:
        done = 0
        with pytest.raises(DBAPIError) as caught:
            for number in range(20):
                call(sandbox, f"INSERT INTO t VALUES ({number}, 'nineteen letters ok')")
                done += 1
        assert classify(caught.value, sandbox.dialect) is ErrorCategory.LIMIT_EXCEEDED
        assert 2 < done < 10
        assert len(sandbox.diff().changes) == done
