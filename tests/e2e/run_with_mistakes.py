"""A run in which the expert makes mistakes and corrects some of them, for tests of exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.ext.exporters.row_policy import without_submit
from tests.e2e.command import synth

JOB = (
    *("run", "env=ehr_db", "tasks.count=16", "tasks.samples=3", "seed=5", "runtime=inline"),
    "model.mistakes=[wrong_argument,stray_write]",
    "model.mistake_rate=0.6",
)
"""48 rollouts."""


def play_with_mistakes(home: Path) -> Path:
    """Play the job in a folder and return the run's directory."""
    synth(*JOB, "output.dir=run", cwd=home)
    return home / "run"


def successes(run: Path) -> list[dict[str, Any]]:
    """The rows of the right rollouts as exports have them, without ``submit``."""
    return [without_submit(row) for row in Dataset.open(run).rows() if row["outcome"] == "success"]


def is_trained(message: dict[str, Any]) -> bool:
    """True for a turn of the assistant that no mistake was put into."""
    return message["role"] == "assistant" and message.get("train") is not False
