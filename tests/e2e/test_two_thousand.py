"""Two thousand tasks over four universes: all solved by the expert.

Run it with ``pytest -m long tests/e2e/test_two_thousand.py``.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from tests.e2e.command import synth

pytestmark = pytest.mark.long

TASKS = 1_000
WORLDS = ("ehr_db", "shop")


@pytest.mark.parametrize("world", WORLDS)
def test_the_expert_solves_every_task(tmp_path: Path, world: str):
    job = (f"env={world}", f"tasks.count={TASKS}", "tasks.universes=4", "seed=11", "output.dir=run")
    synth("run", *job, cwd=tmp_path, timeout=1800)
    rows = list(
        Dataset.open(tmp_path / "run").rows(columns=["reward", "universe", "task_id", "family"])
    )
    assert len({row["task_id"] for row in rows}) == TASKS
    assert Counter(row["reward"] for row in rows) == {1.0: TASKS}
    assert {row["universe"] for row in rows} == {0, 1, 2, 3}
