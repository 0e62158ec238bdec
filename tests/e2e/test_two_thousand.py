"""Two thousand tasks over four universes: all solved by the expert, and by one that errs all but
those that its log explains.

Run it with ``pytest -m long tests/e2e/test_two_thousand.py``.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from synth.core.models.scripted.mistakes import implied_failure
from tests.e2e.command import synth

pytestmark = pytest.mark.long

TASKS = 1_000
WORLDS = ("ehr_db", "shop")
EVERY = "model.mistakes=[wrong_argument,forgotten_step,stray_write,invented_fact,premature_answer]"


@pytest.mark.parametrize("world", WORLDS)
def test_the_expert_solves_every_task(tmp_path: Path, world: str):
    job = (f"env={world}", f"tasks.count={TASKS}", "tasks.universes=4", "seed=11", "output.dir=run")
    done = synth("run", *job, cwd=tmp_path, timeout=1800)
    assert done.returncode == 0, done.stderr
    rows = list(
        Dataset.open(tmp_path / "run").rows(columns=["reward", "universe", "task_id", "family"])
    )
    assert len({row["task_id"] for row in rows}) == TASKS
    assert Counter(row["reward"] for row in rows) == {1.0: TASKS}
    assert {row["universe"] for row in rows} == {0, 1, 2, 3}


@pytest.mark.parametrize("world", WORLDS)
def test_a_faulty_expert_fails_exactly_where_its_log_says_so(tmp_path: Path, world: str):
    job = (f"env={world}", f"tasks.count={TASKS}", "tasks.universes=4", "seed=12", "output.dir=run")
    done = synth("run", *job, EVERY, "model.mistake_rate=0.7", cwd=tmp_path, timeout=1800)
    assert done.returncode == 0, done.stderr
    rows = list(Dataset.open(tmp_path / "run").rows())
    assert len(rows) == TASKS
    failed = [row for row in rows if row["reward"] < 1]
    assert {row["trajectory_id"] for row in failed} == {
        row["trajectory_id"] for row in rows if implied_failure(row)
    }
    assert 0.1 * TASKS < len(failed) < 0.7 * TASKS
    recovered = [row for row in rows if row["provider_fields"] and row["reward"] == 1.0]
    assert recovered
