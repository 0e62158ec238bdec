"""Small runs to damage, and their comparison with the undisturbed one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from rich.console import Console

from synth.coordinator import RunReport
from synth.core.config.compose import compose
from synth.core.dataset.columns import VOLATILE
from synth.core.dataset.reader import Dataset
from synth.core.runner.resuming import resume
from synth.launch import launch


def play(directory: Path, *overrides: str) -> RunReport:
    """Play a job in this process."""
    words = ["runtime=inline", *overrides, f"output.dir={directory}"]
    return launch(compose(words)[0].config, Console(quiet=True))


def go_on(directory: Path, **changes: object) -> tuple[RunReport, str]:
    """Resume a run in this process; return its report and what it said."""
    console = Console(record=True, quiet=False, stderr=True, width=400)
    report = resume(directory, changes, console)
    return report, console.export_text()


def copy(run: Path, to: Path) -> Path:
    return Path(shutil.copytree(run, to))


def stable(run: Path) -> list[dict[str, Any]]:
    """Rows without the columns that differ between equal runs."""
    with Dataset.open(run) as dataset:
        return [
            {name: value for name, value in row.items() if name not in VOLATILE}
            for row in dataset.rows()
        ]


def made_again(before: Path, after: Path) -> list[int]:
    """The jobs whose rows are not those of the earlier dataset, by the time of their making."""
    with Dataset.open(before) as old, Dataset.open(after) as new:
        times = {row["job_index"]: row["created_at"] for row in old.rows()}
        return [
            row["job_index"]
            for row in new.rows()
            if times.get(row["job_index"]) != row["created_at"]
        ]
