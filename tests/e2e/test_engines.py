"""One job, every engine: what a model would be shown and what changed in the database are the same."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from synth.dataset.reader import Dataset
from tests.e2e.command import synth

SERVERS = {"postgres": "SYNTH_TEST_POSTGRES_URL", "mysql": "SYNTH_TEST_MYSQL_URL"}
SAME = ("task_id", "messages", "tools", "state_diff", "call_changes", "reward", "outcome", "stop_reason", "submitted")


def played(home: Path, *overrides: str) -> list[dict[str, Any]]:
    job = ("runtime=inline", "runtime.concurrency=4", "tasks.count=64", "seed=3", "output.dir=out")
    home.mkdir()
    shown = synth("run", *job, *overrides, cwd=home)
    assert shown.returncode == 0, shown.stderr
    again = synth("replay", "out", cwd=home)
    assert again.returncode == 0, again.stdout
    return [{key: row[key] for key in SAME} for row in Dataset.open(home / "out").rows()]


@pytest.mark.parametrize("database", SERVERS)
def test_a_job_is_the_same_on_every_engine(tmp_path, database):
    variable = SERVERS[database]
    if not os.environ.get(variable):
        if os.environ.get("SYNTH_REQUIRE_DATABASES") == "1":
            pytest.fail(f"set {variable}")
        pytest.skip(f"set {variable} to a server where databases may be created")
    here = played(tmp_path / "sqlite", "database=sqlite")
    there = played(tmp_path / database, f"database={database}", f"database.dsn_env_var={variable}")
    assert len(here) == len(there) == 64
    for left, right in zip(here, there, strict=True):
        assert json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
