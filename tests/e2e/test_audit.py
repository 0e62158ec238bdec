"""The audit of a run: a line for every tool call of the dataset, on every engine and runtime, and
not one secret value.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.reader import Dataset
from tests.e2e.command import synth
from tests.servers import VARIABLES, server

Json = Any

DATABASES = {"sqlite": "", "postgres": "postgresql", "mariadb": "mariadb"}

FILES = {
    "schema.sql": (
        "CREATE TABLE safes (safe_id INTEGER PRIMARY KEY, owner VARCHAR(40) NOT NULL,"
        " code VARCHAR(40) NOT NULL);\n"
    ),
    "seed.sql": (
        "INSERT INTO safes VALUES (1, 'Ada', 'a0'), (2, 'Ben', 'b0'), (3, 'Cyd', 'c0'),"
        " (4, 'Dee', 'd0');\n"
    ),
    "executors.py": '''
from envs import ToolError, tool
from sqlalchemy import Connection, text

@tool(secret=("code",))
def lock(db: Connection, owner: str, code: str) -> dict:
    """Give a safe another code.

    Args:
        owner: Whose safe.
        code: The new code.
    """
    if not db.execute(text("SELECT safe_id FROM safes WHERE owner = :o"), {"o": owner}).fetchall():
        raise ToolError(f"{owner} has no safe, and {code} is spent.", category="not_found")
    done = db.execute(text(f"UPDATE safes SET code = '{code}' WHERE owner = :o"), {"o": owner})
    return {"locked": done.rowcount}
''',
    "tools.yaml": "- builtin: [run_select_query, run_mutation_query]\n",
    "tasks.yaml": """\
now: "2026-03-02T09:00:00"
families:
- id: lock
  ground: {key: safe_id, sql: "SELECT safe_id, owner FROM safes"}
  vary: {n: {int: [10000000, 99999999]}}
  user: {says: ["Lock the safe of {owner} with SECRET{n}."]}
  answer: {safes: {type: integer, description: How many were locked.}}
  oracle: {safes: "SELECT count(*) FROM safes WHERE safe_id = :safe_id"}
  gold:
  - lock: {owner: "Nobody", code: "SECRET{n}"}
    fails: not_found
  - lock: {owner: "{owner}", code: "SECRET{n}"}
  - run_select_query: {sql: "SELECT SECRET{n} FROM safes -- SECRET{n}"}
    fails: column_not_found
  - run_select_query: {sql: "SELECT owner FROM safes WHERE code = 'SECRET{n}'"}
  - run_mutation_query: {sql: "UPDATE safes SET code = 'SECRET{n}-b' WHERE owner = '{owner}'"}
  - submit: {safes: 1}
  - say: Done.
""",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit") / "safes"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def lines(run: Path) -> list[dict[str, Json]]:
    return [
        json.loads(line)
        for file in sorted((run / "logs").glob("audit-*"))
        for line in file.read_text().splitlines()
    ]


def assert_a_line_each(run: Path, calls: list[dict[str, Json]]) -> None:
    """Each call of each row has its line, which says what the row says, and there is no other."""
    rows = list(
        Dataset.open(run).rows(
            ["job_index", "trajectory_id", "events", "executions", "call_changes"]
        )
    )
    said = Counter(
        (each["rollout"], each["job"], each["id"], each["tool"], each["outcome"]) for each in calls
    )
    expected = Counter[tuple[Json, ...]]()
    for row in rows:
        for event in row["events"]:
            if event["event"] == "tool_result":
                result = event["result"]
                failed = isinstance(result, dict) and result.get("status") == "error"
                outcome = result["category"] if failed else "ok"
                expected[
                    row["trajectory_id"], row["job_index"], event["id"], event["name"], outcome
                ] += 1
    assert said == expected
    changed = {
        (row["trajectory_id"], each["id"]): each["rows_changed"]
        for row in rows
        for each in row["executions"]
    }
    told = {
        (each["rollout"], each["id"]): each["rows_changed"]
        for each in calls
        if each["tool"] != "submit"
    }
    assert told == changed


def assert_no_secret(run: Path) -> None:
    files = [each for each in (run / "logs").iterdir() if each.is_file()]
    assert files
    for each in files:
        data = each.read_bytes()
        assert b"SECRET" not in data
        assert b"Ada" not in data
        assert b"Nobody" not in data


@pytest.mark.parametrize("database", DATABASES)
def test_every_call_has_a_line_and_no_line_a_secret(world: Path, tmp_path: Path, database: str):
    place = (
        () if database == "sqlite" else (f"database.dsn_env_var={VARIABLES[DATABASES[database]]}",)
    )
    if database != "sqlite":
        server(DATABASES[database])
    options = ("tasks.count=4", "runtime=inline", "runtime.concurrency=3", "output.dir=out")
    synth(
        *("run", f"env.path={world}", f"database={database}", *place, *options),
        *("database.audit=true", "database.audit_level=debug"),
        cwd=tmp_path,
    )
    found = lines(tmp_path / "out")
    calls = [each for each in found if each["event"] == "tool_call"]
    assert_a_line_each(tmp_path / "out", calls)
    assert_no_secret(tmp_path / "out")
    assert all(
        each["ms"] > 0 and each["step"] > 0 and each["attempt"] > 0 and each["run"] == "out"
        for each in calls
    )
    one = [each for each in calls if each["job"] == 0]
    assert [(each["tool"], each["rows_read"], each["rows_changed"]) for each in one] == [
        ("lock", 0, 0),
        ("lock", 1, 1),
        ("run_select_query", 0, 0),
        ("run_select_query", 1, 0),
        ("run_mutation_query", 0, 1),
        ("submit", 0, 0),
    ]
    statements = [each for each in found if each["event"] == "statement" and each["job"] == 0]
    updates = [
        each
        for each in statements
        if each["sql"] and each["sql"].startswith("UPDATE safes SET code = ?")
    ]
    assert [(each["tool"], each["rows_changed"], each["ok"]) for each in updates] == [
        ("lock", 1, True),
        ("run_mutation_query", 1, True),
    ]
    (failed,) = [each for each in statements if not each["ok"]]
    assert failed["sql"] == "SELECT n1 FROM safes"


def test_without_it_nothing_is_written(world: Path, tmp_path: Path):
    options = ("tasks.count=2", "runtime=inline", "output.dir=out")
    synth("run", f"env.path={world}", *options, cwd=tmp_path)
    assert not (tmp_path / "out" / "logs").exists()
