"""Suspect gold of recorded runs, for ``synth inspect --suspect``. Imports validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.task_table import read_tasks
from synth.core.runner.run_files import TASKS_FILE
from synth.core.validation.suspects import SampleEnd, SuspectReport, find_suspects
from synth.errors import OperatorError
from synth.task import GoldEnd, Task


def suspects_of(dataset: Dataset, directories: Sequence[Path]) -> SuspectReport:
    """The suspects among the tasks of finished or running runs; nothing of them is executed."""
    tasks: dict[str, Task] = {}
    for directory in directories:
        file = directory / TASKS_FILE
        if not file.is_file():
            raise OperatorError(
                f"{directory} has no {TASKS_FILE}: --suspect needs a run's directory"
            )
        read = (Task.from_json(raw) for raw in read_tasks(file) if raw["end"] is not None)
        tasks |= {task.id: task for task in read}
    columns = ["task_id", "reward", "verdicts", "state_diff", "submitted"]
    rows = (row for row in dataset.rows(columns) if row["task_id"] in tasks)
    return find_suspects(_sample_end(tasks[row["task_id"]], row) for row in rows)


def _sample_end(task: Task, row: Mapping[str, Any]) -> SampleEnd:
    gates = [verdict["score"] for verdict in row["verdicts"] if verdict["gate"]]
    solved = None if row["reward"] is None else all(score == 1.0 for score in gates)
    return SampleEnd(task, GoldEnd(row["state_diff"], row["submitted"]), solved)
