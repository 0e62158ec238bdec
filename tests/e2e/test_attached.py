"""Datasets from databases that exist: made, continued, replayed and judged again, never written."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from envs.types import ToolCall
from synth.core.dataset.reader import Dataset
from synth.model import Completion
from tests.e2e.command import synth
from tests.e2e.expert_endpoint import endpoint
from tests.unit.envs.sandboxes.attached.databases import duckdb_file, on_server, run, sqlite_file
from tests.unit.envs.sandboxes.attached.test_writes import rows_of

pytestmark = pytest.mark.slow

QUESTIONS = [
    {"question": "How many authors are there?", "SQL": "SELECT COUNT(*) FROM author"},
    {
        "question": "Which books cost more than 11?",
        "SQL": "SELECT title FROM book WHERE price > 11",
        "evidence": "price is in euros",
        "difficulty": "simple",
    },
    {"question": "Whose first visit?", "SQL": "SELECT name FROM author LIMIT 1"},
    {"question": "Which day is it?", "SQL": "SELECT CURRENT_DATE"},
    {"question": "Clear the visits.", "SQL": "DELETE FROM visit"},
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "asked"
    folder.mkdir()
    (folder / "questions.json").write_text(json.dumps(QUESTIONS))
    return tmp_path


def job(*more: str) -> list[str]:
    source = ["tasks=questions", "tasks.path=asked", "tasks.count=2", "runtime=inline"]
    return ["run", "database=attached", "database.dsn_env_var=THE_DB", *source, *more]


def test_duckdb_from_questions_to_rows(home: Path):
    """Questions that can be judged are asked, told in DuckDB's name; the rest are named. A relative
    path holds from any folder.
    """
    duckdb_file(home)
    env = {"THE_DB": "duckdb:///library.duckdb"}
    done = synth(*job("output.dir=out"), cwd=home, env=env)
    assert "questions: 2 of 5 used" in done.stderr
    assert "its query reads no table: a constant answers it" in done.stderr
    with Dataset.open(home / "out") as dataset:
        rows = list(dataset.rows())
        assert [row["reward"] for row in rows] == [1.0, 1.0]
        told = {
            tool["function"]["name"]: tool["function"]["description"] for tool in rows[0]["tools"]
        }
        assert "The database is DuckDB." in told["submit_sql"]
    manifest = json.loads((home / "out" / "manifest.json").read_text())
    assert manifest["identity"]["more"]["database"]["author"]["rows"] == 3
    other = {"THE_DB": f"duckdb:///{home}/library.duckdb"}
    (home / "elsewhere").mkdir()
    for command in ("replay", "grade"):
        synth(command, str(home / "out"), cwd=home / "elsewhere", env=other)


def test_a_changed_database_is_named(home: Path):
    """Resume, replay and grade say which table changed, and do not go on."""
    url = sqlite_file(home)
    env = {"THE_DB": url}
    synth(*job("output.dir=out", "tasks.samples=4"), cwd=home, env=env)
    little = ("tasks.samples=12", "runtime.concurrency=1", "budget.turns=2")
    stopped = synth(*job("output.dir=half", *little), cwd=home, env=env, code=None)
    assert json.loads((home / "half" / "manifest.json").read_text())["status"] == "partial", stopped
    run(url, "INSERT INTO author (id, name) VALUES (77, 'New')")
    for command in (
        ["replay", "out"],
        ["grade", "out"],
        ["run", "--resume", "half", "budget.turns=null"],
    ):
        done = synth(*command, cwd=home, env=env, code=None)
        assert done.returncode != 0
        assert "the table author has 4 rows, not 3" in done.stdout + done.stderr, command
    run(url, "DELETE FROM author WHERE id = 77")
    synth("run", "--resume", "half", "budget.turns=null", cwd=home, env=env)


def test_a_replay_asks_for_the_database(home: Path):
    """Without the variable the message says what it needs."""
    synth(*job("output.dir=out"), cwd=home, env={"THE_DB": sqlite_file(home)})
    done = synth("replay", "out", cwd=home, env={"THE_DB": ""}, code=None)
    assert done.returncode != 0
    assert "put its URL into the variable THE_DB" in done.stdout + done.stderr


def test_families_of_a_world_that_only_read(home: Path):
    """A world's look-ups are asked of the data of somebody else, and what writes is left out with
    the reason.
    """
    world = home / "lookups"
    world.mkdir()
    (world / "policy.md").write_text("Answer from the database.")
    (world / "executors.py").write_text(
        "from sqlalchemy import Connection, text\n"
        "from envs import tool\n\n\n"
        "@tool(read_only=True)\n"
        "def find_author(db: Connection, name: str) -> dict:\n"
        '    """Find an author.\n\n    Args:\n        name: The name.\n    """\n'
        '    row = db.execute(text("SELECT id FROM author WHERE name = :n"), {"n": name}).one()\n'
        '    return {"id": row.id}\n\n\n'
        "@tool\n"
        "def forget(db: Connection, name: str) -> dict:\n"
        '    """Forget an author.\n\n    Args:\n        name: The name.\n    """\n'
        '    db.execute(text("DELETE FROM author WHERE name = :n"), {"n": name})\n'
        "    return {}\n"
    )
    (world / "tasks.yaml").write_text(
        "families:\n"
        "- id: number_of_author\n"
        "  ground: {key: id, sql: 'SELECT id, name FROM author'}\n"
        "  user: {says: 'Which number has {name}?'}\n"
        "  answer: {number: {type: integer, description: The number.}}\n"
        "  gold:\n"
        "  - find_author: {name: '{name}'}\n"
        "    save: {found: $.id}\n"
        "  - submit: {number: $found}\n"
        "- id: forget_author\n"
        "  ground: {key: id, sql: 'SELECT id, name FROM author'}\n"
        "  user: {says: 'Forget {name}.'}\n"
        "  gold:\n"
        "  - forget: {name: '{name}'}\n"
    )
    env = {"THE_DB": duckdb_file(home)}
    base = ["run", "env.path=lookups", "database=attached", "database.dsn_env_var=THE_DB"]
    base += ["tasks.count=3", "runtime=inline", "output.dir=out"]
    done = synth(*base, cwd=home, env=env)
    assert "forget_author: gold calls forget, which may write" in done.stdout + done.stderr
    with Dataset.open(home / "out") as dataset:
        assert [row["reward"] for row in dataset.rows()] == [1.0] * 3
    synth("replay", "out", cwd=home, env=env)
    refused = synth(*base, "tasks.families=[forget_author]", cwd=home, env=env, code=None)
    assert refused.returncode != 0
    assert "gold calls forget, which may write" in refused.stdout + refused.stderr
    built = synth(
        "run", "env.path=lookups", "runtime=inline", cwd=home, env=dict(os.environ), code=None
    )
    assert built.returncode != 0
    assert "a world needs a schema.sql" in built.stdout + built.stderr


@contextlib.contextmanager
def rooms(home: Path, engine: str) -> Generator[tuple[str, list[str]]]:
    """A world that writes to an existing database: the URL of that, and the arguments of a run."""
    world = home / "rooms"
    world.mkdir()
    (world / "policy.md").write_text("Keep the rooms.")
    (world / "executors.py").write_text(
        "from sqlalchemy import Connection, text\n"
        "from envs import tool\n\n\n"
        "@tool\n"
        "def set_beds(db: Connection, name: str, beds: int) -> dict:\n"
        '    """Set the beds of a room.\n\n    Args:\n        name: Its name.\n'
        '        beds: The number.\n    """\n'
        '    sql = "UPDATE room SET beds = :b WHERE name = :n"\n'
        '    return {"rows": db.execute(text(sql), {"b": beds, "n": name}).rowcount}\n'
    )
    (world / "tasks.yaml").write_text(
        "families:\n"
        "- id: more_beds\n"
        "  ground: {key: id, sql: 'SELECT id, name FROM room'}\n"
        "  user: {says: 'Room {name} has 9 beds now.'}\n"
        "  gold:\n"
        "  - set_beds: {name: '{name}', beds: 9}\n"
    )
    with contextlib.ExitStack() as stack:
        url = sqlite_file(home) if engine == "sqlite" else stack.enter_context(on_server(engine))
        run(
            url,
            "CREATE TABLE room (id INTEGER PRIMARY KEY, name VARCHAR(20) UNIQUE, beds INTEGER)",
            "INSERT INTO room VALUES (1, 'North', 1), (2, 'South', 2), (3, 'East', 3)",
        )
        base = ["run", "env.path=rooms", "database=attached", "database.dsn_env_var=THE_DB"]
        base += ["tasks.count=3", "runtime=inline", "output.dir=out"]
        yield url, [*base, "runtime.concurrency=1", "database.options.writes=[room]"]


def test_families_that_write_leave_the_database_as_it_was(home: Path):
    """Each rollout earns its reward by rows that nobody finds afterwards."""
    with rooms(home, "postgresql") as (url, base):
        before = rows_of(url)
        synth(*base, cwd=home, env={"THE_DB": url})
        with Dataset.open(home / "out") as dataset:
            rows = list(dataset.rows())
        assert [row["reward"] for row in rows] == [1.0] * 3
        assert rows_of(url) == before
        synth("replay", "out", cwd=home, env={"THE_DB": url})
        assert rows_of(url) == before
        mistaken = ["output.dir=wrong", "model.mistake_rate=1.0", "model.mistakes=[wrong_argument]"]
        synth(*base, *mistaken, cwd=home, env={"THE_DB": url})
        with Dataset.open(home / "wrong") as dataset:
            rows = list(dataset.rows())
        assert [row["reward"] for row in rows] == [0.0] * 3
        for row in rows:
            (state,) = [one for one in row["verdicts"] if one["verifier"] == "state"]
            assert "room" in state["reason"], state
        assert rows_of(url) == before


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_rollout_that_loses_to_another_transaction_is_played_again(home: Path, engine: str):
    """A proof waits for the other one to end. A rollout that has cost something is given up, with
    the reason, and a resume plays it.
    """
    with rooms(home, engine) as (url, base), contextlib.ExitStack() as stack:
        other = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool).connect()
        stack.enter_context(other)
        write = sqlalchemy.text("UPDATE room SET beds = 5 WHERE id = 1")
        base += ["database.statement_timeout_ms=1000"]
        other.execute(write)
        timer = threading.Timer(5, other.rollback)
        timer.start()
        done = synth(*base, cwd=home, env={"THE_DB": url}, code=None)
        timer.join()
        assert (done.returncode, "3 of 3 rollouts" in done.stdout) == (0, True), done.stderr

        async def clerk(request: dict[str, Any]) -> Completion:
            """Takes the row as soon as it is asked to work on it."""
            asked = next(one["content"] for one in request["messages"] if one["role"] == "user")
            name = asked.split()[1]
            if request["messages"][-1]["role"] == "tool":
                return Completion(f"Room {name} has 9 beds now.")
            if name == "North" and not done.returncode:
                other.execute(write)
            call = ToolCall.of("set_beds", {"name": name, "beds": 9})
            return Completion(tool_calls=(call,), finish_reason="tool_calls")

        base += ["model=openai", "model.name=expert", "model.api_key_env=null"]
        base += ["model.base_url=" + stack.enter_context(endpoint(clerk)), "preflight=false"]
        done = synth(*base, "output.dir=held", cwd=home, env={"THE_DB": url}, code=None)
        assert done.returncode != 0
        held = 3 if engine == "sqlite" else 1  # all of a file is locked
        assert f"{3 - held} of 3 rollouts in held" in done.stdout
        assert "another transaction has its rows" in done.stdout
        assert ("one writer: runtime.workers=1" in done.stdout) == (engine == "sqlite")
        assert "next: synth run --resume held" in done.stdout
        other.rollback()
        again = synth("run", "--resume", "held", cwd=home, env={"THE_DB": url}, code=None)
        assert (again.returncode, "3 of 3" in again.stdout) == (0, True), again.stderr
        with Dataset.open(home / "held") as dataset:
            assert [row["reward"] for row in dataset.rows()] == [1.0] * 3


def test_of_two_rollouts_in_a_deadlock_one_is_played_again(home: Path):
    """Each holds the row that the other asks for. The server gives one up, and the other is whole."""
    beds = {"North": 1, "South": 2, "East": 3}
    holding: list[str] = []
    both = asyncio.Event()

    async def clerk(request: dict[str, Any]) -> Completion:
        asked = next(one["content"] for one in request["messages"] if one["role"] == "user")
        name = asked.split()[1]
        results = [one for one in request["messages"] if one["role"] == "tool"]
        arguments: dict[str, object] = {"name": name, "beds": 9}
        if len(results) == 1 and len(holding) < 2:
            holding.append(name)
            if len(holding) == 2:
                both.set()
            await both.wait()
            (other,) = {*holding} - {name}
            arguments = {"name": other, "beds": beds[other]}
        elif results:
            return Completion(f"Room {name} has 9 beds now.")
        call = ToolCall.of("set_beds", arguments)
        return Completion(tool_calls=(call,), finish_reason="tool_calls")

    with rooms(home, "mariadb") as (url, base), endpoint(clerk) as address:
        before = rows_of(url)
        both_at_once = [one for one in base if "concurrency" not in one]
        model = ["model=openai", "model.name=expert", "model.api_key_env=null", "preflight=false"]
        done = synth(
            *both_at_once,
            *model,
            f"model.base_url={address}",
            cwd=home,
            env={"THE_DB": url},
            code=None,
        )
        assert (done.returncode != 0, "2 of 3 rollouts in out" in done.stdout) == (True, True), done
        assert "eadlock" in done.stdout
        again = synth("run", "--resume", "out", cwd=home, env={"THE_DB": url}, code=None)
        assert (again.returncode, "3 of 3" in again.stdout) == (0, True), again.stderr
        with Dataset.open(home / "out") as dataset:
            assert [row["reward"] for row in dataset.rows()] == [1.0] * 3
        assert rows_of(url) == before
