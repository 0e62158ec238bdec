"""Calls that only read overlap on PostgreSQL, each in a session of its own; what writes is
alone.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.errors import SandboxError
from envs.sandboxes.postgres.sandbox import PostgresSandbox, PostgresTemplate
from envs.sandboxes.postgres.server import PostgresServer
from envs.sandboxes.postgres.session import PostgresSession
from envs.types import Limits, Pins
from tests.unit.envs.sandboxes.calls import ask, built, call

READ = Limits(read_only=True)
PATIENCE_S = 20.0


@pytest.fixture(scope="module")
def template() -> Generator[PostgresTemplate]:
    with built("postgresql", ["CREATE TABLE t (id serial PRIMARY KEY, n int)"]) as made:
        yield made


def together(sandbox: PostgresSandbox, count: int, meet: bool = True) -> list[tuple[int, float]]:
    """The sessions and the random numbers of so many reads; with ``meet`` none ends before the last
    one has begun.
    """
    door = threading.Barrier(count) if meet else None

    def read(_: int) -> tuple[int, float]:
        with sandbox.transaction(READ) as transaction:
            if door is not None:
                door.wait(PATIENCE_S)
            return tuple(
                transaction.connection.execute(text("SELECT pg_backend_pid(), random()")).one()
            )

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(read, range(count)))


def spare(template: PostgresTemplate) -> threading.Semaphore:
    made: PostgresServer = template.server  # pyright: ignore[reportPrivateUsage]
    return made.spare


def test_each_read_has_a_session_and_all_draw_alike(template: PostgresTemplate):
    """What a read draws does not depend on which comes first, and is what it draws by itself."""
    with template.open(Pins(seed=5)) as sandbox:
        (alone,) = together(sandbox, 1)
        found = together(sandbox, 4)
        assert len({pid for pid, _ in found}) == 4
        assert alone[0] in {pid for pid, _ in found}
        assert {number for _, number in found} == {alone[1]}
        call(sandbox, "INSERT INTO t (n) VALUES (1)")
        (after,) = together(sandbox, 1)
        assert after[0] == alone[0]
        assert after[1] != alone[1]


def test_reads_for_which_there_is_no_session_wait(template: PostgresTemplate):
    room = spare(template)
    taken = 0
    while room.acquire(blocking=False):
        taken += 1
    try:
        with template.open(Pins()) as sandbox:
            assert len({pid for pid, _ in together(sandbox, 6, meet=False)}) == 1
    finally:
        room.release(taken)


def test_further_sessions_end_with_the_rollout(template: PostgresTemplate):
    room = spare(template)
    for _ in range(3):
        with template.open(Pins()) as sandbox:
            own = together(sandbox, 1)[0][0]
            pids = {pid for pid, _ in together(sandbox, 4)} - {own}
            assert len(pids) == 3
        with template.open(Pins()) as sandbox:
            assert together(sandbox, 1)[0][0] == own, "the pool gave the same database again"
            assert not pids & {pid for pid, _ in together(sandbox, 4)}
    taken = 0
    while room.acquire(blocking=False):
        taken += 1
    room.release(taken)
    assert taken == 8


def test_what_writes_is_alone(template: PostgresTemplate):
    with template.open(Pins()) as sandbox:
        with sandbox.transaction(READ), pytest.raises(SandboxError, match="only read"):
            call(sandbox, "INSERT INTO t (n) VALUES (1)")
        with sandbox.transaction(Limits()), pytest.raises(SandboxError, match="only read"):
            together(sandbox, 1)
        with sandbox.transaction(READ), pytest.raises(SandboxError, match="between its calls"):
            sandbox.diff()
        call(sandbox, "INSERT INTO t (n) VALUES (1)")
        assert len(sandbox.diff().changes) == 1


def test_a_read_in_a_further_session_can_neither_write_nor_outstay_its_time(
    template: PostgresTemplate,
):
    short = Limits(read_only=True, statement_timeout_ms=100)
    with template.open(Pins()) as sandbox, sandbox.transaction(READ):
        for sql, words in (
            ("INSERT INTO t (n) VALUES (1)", "read-only"),
            ("SELECT pg_sleep(30)", "timeout"),
        ):
            with pytest.raises(DBAPIError, match=words):
                call(sandbox, sql, limits=short)
        assert ask(sandbox, "SELECT count(*) FROM t", short) == [(0,)]


@pytest.mark.parametrize("moment", ["first", "within a call"])
def test_a_socket_that_closes_while_the_driver_waits_is_a_lost_connection(
    template: PostgresTemplate, monkeypatch: pytest.MonkeyPatch, moment: str
):
    """The driver's own error has no code, and its connection does not know yet that it is broken."""

    def closed(*_: object) -> None:
        raise psycopg.OperationalError("connection socket closed")

    sandbox = template.open(Pins())
    session: PostgresSession = sandbox._session  # pyright: ignore[reportPrivateUsage]

    def asked() -> None:
        if moment == "first":
            monkeypatch.setattr(session.connection, "wait", closed)
        with sandbox.transaction(READ) as transaction:
            monkeypatch.setattr(session.connection, "wait", closed)
            transaction.connection.execute(text("SELECT 1")).one()

    with pytest.raises(SandboxError, match="connection to the sandbox was lost"):
        asked()
    monkeypatch.undo()
    with contextlib.suppress(SandboxError):
        sandbox.close()
