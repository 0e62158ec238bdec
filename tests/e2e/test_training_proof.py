"""A study in small: rows, some steps of training with a kill in between, both evaluations, a table.

Run it with ``pytest -m long tests/e2e/test_training_proof.py``; it needs `uv` and a package index.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from synth.core.dataset.reader import Dataset
from tests.documents import ROOT
from tests.e2e.isolated import make_environment

pytestmark = [pytest.mark.long, pytest.mark.timeout(5_400)]

EXAMPLE = ROOT / "examples" / "training"
FAMILIES = ["guest_room", "room_beds", "mark_clean"]
ROWS = 48
STEPS = ROWS // 8
STUDY = {
    "world": str(EXAMPLE / "hotel"),
    "run": ["tasks.count=96", "tasks.universes=8", f"tasks.families=[{','.join(FAMILIES)}]"],
    "train": ["--save-steps", "2"],
    "tasks": 4,
    "held_out": {"databases": {"families": FAMILIES, "universes": "100"}},
    "points": {"before": {"rows": 0}, "after": {"rows": ROWS}},
    "compare": [["before", "after"]],
}


def start(home: Path, python: Path) -> subprocess.Popen[str]:
    """The driver in a group of its own with all that it starts."""
    script = [sys.executable, EXAMPLE / "study.py", home / "study.yaml", home / "out"]
    with (home / "study.log").open("a") as log:
        return subprocess.Popen(
            [*script, "--python", python, "--port", "8917", "--threads", "1"],
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )


def test_a_killed_study_goes_on_and_the_model_calls_tools(tmp_path: Path):
    requirements = (EXAMPLE / "requirements.txt").read_text().split()
    weights = (EXAMPLE / "weights.txt").read_text().split()
    python = make_environment(tmp_path / "venv", requirements, alone=weights)
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(STUDY, sort_keys=False))
    model = tmp_path / "out" / "after" / "seed-0" / "model"
    study = start(tmp_path, python)
    while not (model / "checkpoints" / "checkpoint-2" / "trainer_state.json").exists():
        assert study.poll() is None, (tmp_path / "study.log").read_text()
        time.sleep(0.5)
    second = start(tmp_path, python)
    assert second.wait() == 2
    assert "is being written by another process" in (tmp_path / "study.log").read_text()
    os.killpg(study.pid, signal.SIGKILL)
    study.wait()
    first_step = re.compile(rf" 1/{STEPS} ")
    begun = len(first_step.findall((model.parent / "train.log").read_text()))
    assert start(tmp_path, python).wait() == 0, (tmp_path / "study.log").read_text()

    log = (model.parent / "train.log").read_text()
    assert log.count(f"{ROWS} of {ROWS} rows") == 2, "no row was skipped, at either start"
    assert len(first_step.findall(log)) == begun, "the first step was not taken again"
    training = json.loads((model / "training.json").read_text())
    assert (training["rows"], len(training["losses"])) == (ROWS, STEPS)
    assert training["losses"][-1] < training["losses"][0] * 0.75
    rows = list(Dataset.open(model.parent / "databases").rows(["num_tool_calls"]))
    assert any(row["num_tool_calls"] for row in rows)
    assert json.loads((model.parent / "databases" / "eval.json").read_text())["broken"] == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [(one["point"], one["tasks"]) for one in results["points"]] == [
        ("before", 4),
        ("after", 4),
    ]
    assert results["pairs"][0]["tasks"] == 4
    assert not results["missing"]

    made = {file: file.stat().st_mtime_ns for file in model.rglob("*")}
    assert start(tmp_path, python).wait() == 0
    assert {file: file.stat().st_mtime_ns for file in model.rglob("*")} == made
