"""A world without a line of Python: an agent works it with the built-in SQL tools alone, and
hostile SQL leaves nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

import synth
from tests.e2e.command import stable_rows
from tests.e2e.command import synth as command

FILES = {
    "schema.sql": """\
CREATE TABLE rooms (room_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, seats INTEGER NOT NULL);
CREATE TABLE bookings (
  booking_id INTEGER PRIMARY KEY, room_id INTEGER NOT NULL REFERENCES rooms (room_id), day TEXT NOT NULL,
  UNIQUE (room_id, day)
);
""",
    "seed.sql": """\
INSERT INTO rooms VALUES (101, 'Aster', 12), (102, 'Borage', 30), (103, 'Clover', 45), (104, 'Dahlia', 18);
INSERT INTO bookings VALUES (501, 101, '2026-03-10'), (502, 103, '2026-03-11');
""",
    "policy.md": "You keep the booking of rooms in an SQL database.\n",
    "tools.yaml": """\
- builtin: [list_tables, describe_table, sample_rows, run_select_query, run_mutation_query, submit_sql]
  critic: true
  max_rows: 50
  statement_timeout_ms: 2000
""",
    "tasks.yaml": """\
now: "2026-03-02T09:00:00"
families:
- id: book
  ground: {key: room_id, sql: "SELECT room_id, name FROM rooms"}
  vary: {day: {date: ["2026-04-01", "2026-04-20"]}}
  user: {says: ["Please book {name} for {day}."]}
  gold:
  - list_tables:
  - describe_table: {table: bookings}
  - run_select_query: {sql: "SELECT room_id FROM rooms WHERE name = '{name}'"}
    save: {room: "$.rows[0][0]"}
  - run_mutation_query: {sql: "INSERT INTO bookings (room_id, day) VALUES ({room}, '{day}')"}
  - say: Booked.
- id: seats
  ground: {key: room_id, sql: "SELECT room_id, name FROM rooms"}
  user: {says: ["How many seats does {name} have?"]}
  answer: {seats: {type: integer, description: The number of seats.}}
  oracle: {seats: "SELECT seats FROM rooms WHERE room_id = :room_id"}
  gold:
  - run_select_query: {sql: "SELECT seats FROM rooms WHERE name = '{name}'"}
    save: {seats: "$.rows[0][0]"}
  - submit: {seats: $seats}
  - say: "{seats} seats."
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sql") / "rooms"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def test_an_agent_finds_its_way_with_sql(folder: Path):
    """A first query with a mistake, what it is told about it, and a booking that is judged
    right.
    """
    with synth.open(folder, family="book") as episode:
        prompt = str(episode.messages[-1]["content"])
        name, day = prompt.removeprefix("Please book ").removesuffix(".").split(" for ")

        async def work() -> None:
            tables = await episode.call("list_tables", {})
            assert tables.result.output["tables"] == ["bookings", "rooms"]
            failed = await episode.call(
                "run_select_query", {"sql": f"SELECT id FROM room WHERE name = '{name}'"}
            )
            assert (failed.result.category, failed.result.advice) == (
                "table_not_found",
                "no table `room`; did you mean rooms?",
            )
            found = await episode.call(
                "run_select_query", {"sql": f"SELECT room_id FROM rooms WHERE name = '{name}'"}
            )
            (room,) = found.result.output["rows"][0]
            sql = (
                f"INSERT INTO bookings (room_id, day) VALUES ({room}, '{day}') RETURNING booking_id"
            )
            booked = await episode.call("run_mutation_query", {"sql": sql})
            assert booked.result.output["row_count"] == 1
            assert [change.table for change in booked.changes] == ["bookings"]
            await episode.say("Booked.")

        asyncio.run(work())
        assert episode.score().reward == 1.0


def test_the_world_proves_itself(folder: Path):
    """Gold works, and every constant in its SQL stands in the request or in an earlier result."""
    done = subprocess.run(
        [sys.executable, "-m", "synth", "check", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.ray
def test_free_sql_runs_in_processes_of_ray_workers(folder: Path, tmp_path: Path):
    """Two workers give what one process gives, and the processes of their free SQL end with
    them.
    """
    job = (f"env.path={folder}", "tasks.count=8", "runtime.workers=2", "seed=4")
    mark = {"SYNTH_TEST_MARK": tmp_path.as_uri()}
    for runtime in ("ray", "inline"):
        command("run", *job, f"runtime={runtime}", f"output.dir={runtime}", cwd=tmp_path, env=mark)
        assert {row["reward"] for row in stable_rows(tmp_path / runtime)} == {1.0}
    assert stable_rows(tmp_path / "ray") == stable_rows(tmp_path / "inline")
    for _ in range(500):
        if not (left := free_sql_processes(tmp_path.as_uri())):
            return
        time.sleep(0.02)
    raise AssertionError(f"processes of free SQL are left: {left}")


def free_sql_processes(mark: str) -> list[str]:
    """Processes that were started for free SQL by descendants of a command with this mark."""
    found: list[str] = []
    for each in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (each / "cmdline").read_bytes()
            if (
                b"envs.processes.zygote" in words
                and mark.encode() in (each / "environ").read_bytes()
            ):
                found.append(each.name)
    return found
