"""Each guard of the processes that free SQL runs in holds something: without it, its attack
succeeds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import ExecutorError
from envs.processes import close_pools, pool_of
from envs.sandboxes.base import Template
from envs.sandboxes.sqlite import subprocess_call as sqlite_apart
from envs.types import Limits, Pins, ToolCall, ToolOutcome
from envs.world.loader import World, load_world
from tests.unit.envs.sandboxes.sqlite.test_subprocess import running
from tests.unit.envs.sandboxes.sqlite.unguarded_subprocess import REMOVALS

pytestmark = pytest.mark.slow

SCHEMA = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
SEED = "INSERT INTO item VALUES (1, 'pen'), (2, 'ink');"
EXECUTORS = '''
import os, tempfile, threading, time
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from envs import tool

@tool(free_sql=True)
def act(db: Connection, what: str, sql: str) -> dict:
    """Do something after a statement, whatever became of that.

    Args:
        what: What.
        sql: The statement.
    """
    caught = ""
    try:
        db.exec_driver_sql(sql).all()
    except DBAPIError as error:
        caught = str(error.orig)
    made = 0
    if what == "sleep":
        time.sleep(3)
    if what == "burn":
        end = time.process_time() + 3
        while time.process_time() < end:
            pass
    if what == "eat":
        made = len(bytes(2**30))
    if what == "fill":
        with tempfile.TemporaryFile() as file:
            file.truncate(65 * 2**20)
    if what == "thread":
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    if what == "fork" and (made := os.fork()) == 0:
        time.sleep(600)
        os._exit(0)
    return {"pid": os.getpid(), "made": made, "caught": caught}
'''

LONG_STEP = "SELECT " + ", ".join(
    (
        f"instr(substr(hex(zeroblob(120000)), 1, {200_000 + n}), substr(hex(zeroblob(60000)), 1,"
        " 100000) || '1')"
    )
    for n in range(18)
)
"""Some seconds in a few steps of SQLite's machine, between which it does not look at the clock."""

WIDE_ROW = "SELECT " + ", ".join(f"max(length(hex(zeroblob(120000)) || {n}))" for n in range(1_900))
"""450 MB at once: more than SQLite may have, less than the process may."""


@dataclass(frozen=True)
class Room:
    """An environment whose free SQL runs in processes of a service."""

    environment: DatabaseExecutableEnvironment

    def act(self, what: str, sql: str = "SELECT 1") -> ToolOutcome:
        return self.environment.call(ToolCall.of("act", {"what": what, "sql": sql}))

    def output(self, what: str, sql: str = "SELECT 1") -> dict[str, Any]:
        outcome = self.act(what, sql)
        assert outcome.result.ok, outcome
        return outcome.result.output


Attack = Callable[[Room], bool]
"""Whether it did its harm."""


def comes_back(what: str, sql: str = "SELECT 1") -> Attack:
    """An attack that has succeeded when its call gives a result, and its statement no error of
    memory.
    """

    def attack(room: Room) -> bool:
        try:
            outcome = room.act(what, sql)
        except ExecutorError:  # a file that grew too large
            return False
        return outcome.result.ok and "memory" not in outcome.result.output["caught"]

    return attack


def thread_stays(room: Room) -> bool:
    """What a call started goes on beside the next one."""
    return room.output("thread")["pid"] == room.output("nothing")["pid"]


def fork_stays(room: Room) -> bool:
    """What a call forked lives on when its process is ended."""
    made = room.output("fork")["made"]
    with sqlite_lease(room) as child:
        child.spent = True
    for _ in range(100):
        if not running(made):
            return False
        time.sleep(0.01)
    os.kill(made, signal.SIGKILL)
    return True


@contextlib.contextmanager
def sqlite_lease(room: Room) -> Generator[Any]:
    pool = room.environment.subprocess_pool
    assert pool is not None
    with pool.lease(lambda child: "sandbox" in child.knows) as child:
        yield child


ATTACKS: dict[str, tuple[Attack, int]] = {
    "alarm": (comes_back("nothing", LONG_STEP), 500),
    "processor time": (comes_back("burn"), 50),
    "heap": (comes_back("nothing", WIDE_ROW), 30_000),
    "address space": (comes_back("eat"), 10_000),
    "size of a file": (comes_back("fill"), 10_000),
    "what it forked": (fork_stays, 10_000),
    "threads": (thread_stays, 10_000),
}
"""The attack that a guard stops, and the time of a statement in ms."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("worlds") / "desk"
    folder.mkdir()
    for name, text in (("schema.sql", SCHEMA), ("seed.sql", SEED), ("executors.py", EXECUTORS)):
        (folder / name).write_text(text)
    yield load_world(folder)
    close_pools()


def succeeds(
    attack: Attack, world: World, template: Template, timeout_ms: int, without: str
) -> bool:
    pool = pool_of(
        "tests.unit.envs.sandboxes.sqlite.unguarded_subprocess",
        (str(world.path), world.digest, without),
    )
    limits = Limits(statement_timeout_ms=timeout_ms)
    with DatabaseExecutableEnvironment(
        world.toolbox, template.open(Pins()), template.tables, limits, pool
    ) as opened:
        return attack(Room(opened))


def test_every_guard_that_can_be_taken_away_has_its_attack():
    assert set(REMOVALS) == {"", *ATTACKS}


@pytest.mark.parametrize("name", ATTACKS)
def test_without_it_its_attack_succeeds(
    world: World, template: Template, monkeypatch: pytest.MonkeyPatch, name: str
):
    attack, timeout_ms = ATTACKS[name]
    if name in {"alarm", "processor time"}:  # the parent's own watch would end it first
        monkeypatch.setattr(sqlite_apart, "STATEMENTS", 10_000)
    assert not succeeds(attack, world, template, timeout_ms, "")
    assert succeeds(attack, world, template, timeout_ms, name)


def test_without_the_parents_watch_a_call_that_waits_is_waited_for(
    world: World, template: Template, monkeypatch: pytest.MonkeyPatch
):
    assert not succeeds(comes_back("sleep"), world, template, 50, "")
    monkeypatch.setattr(sqlite_apart, "STATEMENTS", 10_000)
    assert succeeds(comes_back("sleep"), world, template, 50, "")
