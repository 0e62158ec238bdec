"""Questions answered with SQL, on every engine: the expert is right on each, and what it is shown
reads alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.reader import Dataset
from synth.ext.text2sql.result_sets import Rules, fixed, same_rows
from tests.e2e.command import synth
from tests.e2e.handing_in import handing_in
from tests.e2e.test_engines import SERVERS, variable

FEW = "paid_by_method,products_of_category,refunds_for_reason,share_of_status,median_order,running_total"
"""Sums, averages, quotients and texts; without and with an order."""

Json = Any


@dataclass(frozen=True)
class Submitted:
    """What one task's last submission showed: ``rows`` are the first of ``count``."""

    sql: str
    columns: int
    count: int
    rows: list[tuple[Json, ...]]
    digest: str


def submitted(home: Path, *overrides: str) -> dict[str, Submitted]:
    """The submissions of a run by task; every one of them is right."""
    home.mkdir()
    world = handing_in(home / "worlds")
    job = (
        f"env.path={world}",
        "runtime=inline",
        "runtime.concurrency=1",
        "seed=3",
        "output.dir=out",
    )
    synth("run", *job, *overrides, cwd=home)
    found: dict[str, Submitted] = {}
    for row in Dataset.open(home / "out").rows():
        assert row["reward"] == 1.0, (row["task_id"], row["verdicts"])
        calls = [
            call["function"] for each in row["messages"] for call in each.get("tool_calls", ())
        ]
        (sql,) = [each["arguments"]["sql"] for each in calls if each["name"] == "submit_sql"]
        (told,) = [
            json.loads(each["content"])
            for each in row["messages"]
            if each.get("name") == "submit_sql"
        ]
        rows = list(map(tuple, told["rows"]))
        found[row["task_id"]] = Submitted(
            sql, len(told["columns"]), told["row_count"], rows, told["digest"]
        )
    return found


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Submitted]]:
    """The submissions on SQLite, once for both servers."""
    known: dict[tuple[str, ...], dict[str, Submitted]] = {}

    def rows(*overrides: str) -> dict[str, Submitted]:
        if overrides not in known:
            home = tmp_path_factory.mktemp("sqlite") / "home"
            known[overrides] = submitted(home, "database=sqlite", *overrides)
        return known[overrides]

    return rows


JOBS = [
    ("tasks.count=6", f"tasks.families=[{FEW}]"),
    pytest.param(("tasks.count=130", "tasks.universes=2"), marks=pytest.mark.long),
]


@pytest.mark.parametrize("database", SERVERS)
@pytest.mark.parametrize("job", JOBS, ids=["few", "all"])
def test_a_question_has_one_answer_on_every_engine(
    tmp_path: Path,
    on_sqlite: Callable[..., dict[str, Submitted]],
    job: tuple[str, ...],
    database: str,
):
    """The digest of its rows, which knows no order; only a quotient may differ in its last
    digits.
    """
    there = submitted(
        tmp_path / database,
        f"database={database}",
        f"database.dsn_env_var={variable(database)}",
        *job,
    )
    here = on_sqlite(*job)
    assert here.keys() == there.keys()
    for task, ours in here.items():
        theirs = there[task]
        assert (theirs.sql, theirs.count) == (ours.sql, ours.count)
        if ours.digest != theirs.digest:
            assert len(ours.rows) == ours.count, task
            assert any(isinstance(cell, float) for row in ours.rows for cell in row), (
                task,
                ours,
                theirs,
            )
            assert same_rows(
                fixed(ours.rows), theirs.rows, ours.columns, theirs.columns, Rules(tolerance=1e-9)
            ), (task, theirs)
