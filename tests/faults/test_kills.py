"""A run is killed again and again, with everything that it has started, and resumed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from synth.dataset.reader import Dataset
from tests.e2e.command import synth
from tests.e2e.test_kill import assert_equal_runs, disturbed
from tests.faults.promises import promise
from tests.servers import VARIABLES, server

KILLS = int(os.environ.get("SYNTH_FAULT_KILLS", "100"))
JOBS = 400

CONFIGURATIONS = {
    "inline, SQLite": ("runtime=inline",),
    "inline, PostgreSQL": (
        "runtime=inline",
        "database=postgres",
        f"database.dsn_env_var={VARIABLES['postgresql']}",
    ),
    "Ray, SQLite": ("runtime=ray", "runtime.workers=2"),
}


@pytest.mark.long
@promise("A run that is killed at any moment resumes to the dataset of an undisturbed run")
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_seeded_kills(
    name: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    options = (
        "env=ehr_db",
        f"tasks.count={JOBS}",
        "seed=5",
        "output.rows_per_shard=32",
        *CONFIGURATIONS[name],
    )
    if "PostgreSQL" in name:
        server("postgresql")
    done = synth("run", *options, "output.dir=whole", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    killed = disturbed(tmp_path, options, kills=KILLS, rows=max(2, 2 * JOBS // KILLS), seed=KILLS)
    assert killed >= 1
    assert_equal_runs(tmp_path, JOBS)
    with Dataset.open(tmp_path / "killed") as dataset:
        played = len({row["trajectory_id"] for row in dataset.rows()})
    assert played == JOBS
    record_property("figure", f"{name}: {killed} kills of {JOBS} rollouts")
