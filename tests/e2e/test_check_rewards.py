"""A world's rewards.py through all commands: check, run, the dataset, and grade."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from synth.core.cli.grade import main
from synth.core.dataset.reader import Dataset
from tests.e2e.command import synth
from tests.unit import small_world

FIVE_LINES = """\
from synth.rewards import gate, reward
@gate(families=["plan"])
def lists_nothing(evidence): return all(call.name != "all_items" for call in evidence.calls)
@reward(weight=0.25)
def brief(evidence): return (0.5, "rather long") if evidence.said else 1.0
"""
ROWS = 6


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checked world beside a run of it."""
    home = tmp_path_factory.mktemp("rewards")
    folder = small_world.make(home / "items")
    (folder / "rewards.py").write_text(FIVE_LINES, "utf-8")
    checked = synth("check", "items", "--tasks", "1", "--workers", "1", cwd=home)
    assert "lowest scores of gold: brief 0.5" in checked.stdout
    words = ["env.path=items", f"tasks.count={ROWS}", "runtime=inline", "output.dir=run"]
    synth("run", *words, cwd=home)
    return home


def graded(home: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    code = main([str(home / "run"), *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_verdicts_are_in_the_rows_and_shade_the_reward(home: Path):
    rows = list(Dataset.open(home / "run").rows())
    assert len(rows) == ROWS
    for row in rows:
        names = [verdict["verifier"] for verdict in row["verdicts"]]
        assert names[-1] == "brief"
        assert ("lists_nothing" in names) is (row["family"] == "plan")
        brief = row["verdicts"][-1]
        assert (brief["score"], brief["gate"], brief["weight"]) == (0.5, False, 0.25)
        assert brief["reason"] == "rather long"
        assert row["reward"] == pytest.approx((1 + 0.25 * 0.5) / 1.25)
        assert (row["outcome"], row["blame"]) == ("success", None)


def test_grade_replays_the_archived_rewards(home: Path, capsys: pytest.CaptureFixture[str]):
    code, report = graded(home, capsys=capsys)
    assert (code, report["trajectories"], report["changes"], report["not_graded"]) == (
        0,
        ROWS,
        [],
        [],
    )


def test_grade_uses_the_rewards_of_todays_world(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = small_world.make(tmp_path / "items")
    text = "from synth.rewards import reward\nfrom .measure import LONG\n"
    text += "@reward\ndef wordy(evidence): return float(len(evidence.said) > LONG)\n"
    (folder / "rewards.py").write_text(text, "utf-8")
    (folder / "measure.py").write_text("LONG = 1000\n", "utf-8")
    code, report = graded(home, "--world", str(folder), capsys=capsys)
    assert (code, report["rewards_changed"], report["not_graded"]) == (1, ROWS, [])
    change = report["changes"][0]
    assert change["new_reward"] == 0.5
    assert [item["verifier"] for item in change["new_verdicts"]][1:] == ["reply", "wordy"]
