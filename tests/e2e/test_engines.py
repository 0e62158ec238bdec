"""One job, every engine: what a model would be shown and what changed in the database are the same."""

from __future__ import annotations

import json

import pytest

from synth.dataset.reader import Dataset
from tests.e2e.command import synth

ENGINES = ("postgres",)
SAME = ("task_id", "messages", "tools", "state_diff", "call_changes", "reward", "outcome", "stop_reason", "submitted")


def played(tmp_path, database: str, *more: str) -> list[dict]:
    out = tmp_path / database
    shown = synth("run", f"database={database}", "runtime=inline", "tasks.count=60", "seed=3", f"output.dir={out}", *more)
    assert shown.returncode == 0, shown.stderr
    assert synth("replay", str(out)).returncode == 0
    return [{key: row[key] for key in SAME} for row in Dataset.open(out).rows()]


@pytest.mark.parametrize("database", ENGINES)
def test_a_job_is_the_same_on_every_engine(tmp_path, database, request):
    request.getfixturevalue(f"{ {'postgres': 'postgres', 'mysql': 'mysql'}[database] }_url".replace(" ", ""))
    here, there = played(tmp_path, "sqlite"), played(tmp_path, database)
    assert len(here) == len(there) == 60
    for left, right in zip(here, there, strict=True):
        assert json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
