"""One job, every engine: what a model would be shown, what users said and what changed in the
database are the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.task_table import TaskTable
from synth.task import Task
from tests.e2e.command import synth
from tests.servers import VARIABLES, server

SERVERS = {"postgres": "postgresql", "mariadb": "mariadb"}
SAME = (
    "task_id", "split", "universe", "messages", "tools", "events", "state_diff", "call_changes", "verdicts", "reward",
    "outcome", "stop_reason", "submitted",
)  # fmt: skip
WHOLE = 84
"""Two tasks of each family at least, since families take turns, in two universes."""

FEW = 8

Rows = list[dict[str, Any]]


def played(home: Path, *overrides: str) -> Rows:
    """The rows of a run whose replay shows no difference."""
    home.mkdir()
    job = (
        "runtime=inline",
        "runtime.concurrency=1",
        "tasks.universes=2",
        "seed=3",
        "output.dir=out",
    )
    synth("run", *job, *overrides, cwd=home)
    synth("replay", "out", cwd=home)
    return [{key: row[key] for key in SAME} for row in Dataset.open(home / "out").rows()]


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], tuple[Path, Rows]]:
    """A world's run on SQLite, once for all engines that are held against it."""
    home, known = tmp_path_factory.mktemp("sqlite"), dict[str, Rows]()

    def rows(world: str, count: int) -> tuple[Path, Rows]:
        name = f"{world}-{count}"
        if name not in known:
            known[name] = played(
                home / name, f"env={world}", f"tasks.count={count}", "database=sqlite"
            )
        return home / name / "out", known[name]

    return rows


def variable(database: str) -> str:
    """The name of the variable that holds the server's URL."""
    server(SERVERS[database])
    return VARIABLES[SERVERS[database]]


def alike(here: Rows, there: Rows) -> None:
    assert len(here) == len(there)
    for left, right in zip(here, there, strict=True):
        assert json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


JOBS = [
    ("ehr_db", FEW),
    pytest.param("ehr_db", WHOLE, marks=pytest.mark.long),
    pytest.param("shop", WHOLE, marks=pytest.mark.long),
]


@pytest.mark.parametrize("database", SERVERS)
@pytest.mark.parametrize(("world", "count"), JOBS)
def test_a_job_is_the_same_on_every_engine(tmp_path, on_sqlite, world, count, database):
    place = (f"database={database}", f"database.dsn_env_var={variable(database)}")
    _, here = on_sqlite(world, count)
    alike(here, played(tmp_path / database, f"env={world}", f"tasks.count={count}", *place))


@pytest.mark.long
@pytest.mark.parametrize("database", SERVERS)
def test_a_job_is_the_same_in_databases_that_are_dropped(tmp_path, database):
    """A database of its own for each rollout is dear: a few tasks only."""
    few = ("tasks.families=[cancel_order,swap_for_another_colour]", "env=shop", "tasks.count=4")
    place = (
        f"database={database}",
        f"database.dsn_env_var={variable(database)}",
        "database.sandbox=cloned",
    )
    alike(
        played(tmp_path / "sqlite", *few, "database=sqlite"),
        played(tmp_path / database, *few, *place),
    )


@pytest.mark.long
@pytest.mark.parametrize("world", ["ehr_db", "shop"])
def test_the_job_holds_what_engines_could_differ_in(on_sqlite, world):
    """Both universes, conversations, loops of writes, and tasks with other right ends than
    gold's.
    """
    directory, rows = on_sqlite(world, WHOLE)
    table = TaskTable(directory / "tasks.parquet")
    tasks = [Task.from_json(table.task(at)) for at in range(WHOLE)]
    assert {each.universe for each in tasks} == {0, 1}
    assert any(each.rules.alternatives for each in tasks)
    assert any(
        len([each for each in row["messages"] if each["role"] == "user"]) > 2 for row in rows
    )
    assert any(len(row["state_diff"]) > 3 for row in rows)
    assert {row["reward"] for row in rows} == {1.0}
