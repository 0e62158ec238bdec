"""`synth inspect --values`: what the states are worth at which rollouts were branched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from synth.core.cli.inspect import main
from synth.core.dataset.reader import Dataset
from synth.core.report.rates import wilson
from synth.core.report.step_values import step_values
from synth.errors import DatasetError
from tests.sample_rows import row, unscored, write_run


def branch(index: int, turn: int, reward: float, **more: Any) -> dict[str, Any]:
    outcome = "success" if reward == 1 else "failure"
    origin = {"parent_id": "parent", "branch_step": turn}
    return row(index, reward=reward, outcome=outcome, **{**origin, **more})


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A parent that failed; the state before turn 0 is worth 3/4, that before turn 2 is 1/4."""
    rows = [
        row(0, trajectory_id="parent", reward=0.0, outcome="failure"),
        *(branch(index, 2, float(index == 1)) for index in range(1, 5)),
        *(branch(index, 0, float(index != 5)) for index in range(5, 9)),
        unscored(9) | {"parent_id": "parent", "branch_step": 0},
    ]
    return write_run(tmp_path / "tree", rows)


def test_values_gains_and_intervals_by_hand(tree: Path):
    document = step_values(Dataset.open(tree))
    assert (document["branches"], document["unscored"]) == (9, 1)
    first, second = document["steps"]
    assert [first["branch_step"], first["samples"], first["value"]] == [0, 4, 0.75]
    assert [second["branch_step"], second["samples"], second["value"]] == [2, 4, 0.25]
    assert first["interval"] == [*wilson(3, 4)]
    assert first["gain"] == -0.5, "turns 0 and 1 lost half"
    assert second["gain"] == -0.25, "the parent's own end follows the last state"


def test_each_model_has_values_of_its_own_and_other_models_ends_do_not_count(tmp_path: Path):
    rows = [
        row(0, trajectory_id="parent", model="teacher"),
        branch(1, 1, 1.0, model="student"),
        branch(2, 1, 0.5, model="student"),
        branch(3, 1, 1.0, model="teacher"),
    ]
    steps = step_values(Dataset.open(write_run(tmp_path / "run", rows)))["steps"]
    found = {step["model"]: (step["samples"], step["value"], step["gain"]) for step in steps}
    assert found == {"student": (2, 0.75, None), "teacher": (1, 1.0, 0.0)}


def test_without_the_parent_the_last_gain_is_unknown(tmp_path: Path, capsys):
    run = write_run(tmp_path / "run", [branch(0, 3, 1.0), branch(1, 3, 1.0)])
    assert main([str(run), "--values"]) == 0
    assert "0.34 to 1.00     -\n\n1 states of 1 rollouts, valued by" in capsys.readouterr().out
    assert main([str(run), "--values", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"][0]["gain"] is None


def test_a_run_without_branches_has_no_values(tmp_path: Path):
    run = write_run(tmp_path / "run", [row(0)])
    with pytest.raises(DatasetError, match="holds no branch; `synth branch` makes them"):
        step_values(Dataset.open(run))
