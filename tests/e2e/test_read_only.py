"""``database.read_only``: no tool writes, whatever it declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.errors import TaskError
from tests.faults.runs import play, stable
from tests.unit.small_world import make


def test_a_tool_that_writes_is_refused_and_one_that_reads_is_not(tmp_path: Path) -> None:
    world = make(tmp_path / "world")
    job = (f"env.path={world}", "tasks.count=2", "database.read_only=true")
    play(tmp_path / "reads", *job, "tasks.families=[price]")
    assert [row["reward"] for row in stable(tmp_path / "reads")] == [1.0, 1.0]
    with pytest.raises(TaskError, match="this tool may only read"):
        play(tmp_path / "writes", *job, "tasks.families=[plan]")
