"""Printing of suspect gold: pass rates, and ends on which samples agree against gold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.task_table import read_tasks
from synth.core.foundation.standard_output import say
from synth.core.runner.run_files import TASKS_FILE
from synth.core.screen import Screen
from synth.core.validation.suspects import SampleEnd, SuspectReport, find_suspects, side_by_side
from synth.errors import OperatorError
from synth.task import GoldEnd, Task


def show_suspects(report: SuspectReport, screen: Screen, *, as_json: bool) -> None:
    """Print the report, families with the lowest pass rate first."""
    if as_json:
        say(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
        return
    rates = sorted(report.families.items(), key=lambda item: item[1][0] / item[1][1])
    for family, (solved, count) in rates:
        screen.line(f"{family}: {solved} of {count} samples solved")
    for suspect in report.suspects:
        screen.line()
        screen.line(
            f"{suspect.task.family}: {suspect.agreeing} of {suspect.samples} samples agree on an"
            f" end that is not gold's (task {suspect.task.id})",
            "bold",
        )
        screen.line(f"request: {suspect.task.prompt}", indent=2)
        for line in side_by_side(suspect):
            screen.line(line, indent=2)
    screen.line()
    if report.unscored:
        reason = f": {report.broken}" if report.broken else ""
        screen.line(f"{report.unscored} samples have no score{reason}", "yellow")
    count = len(report.suspects)
    screen.line(f"{count} {'suspect' if count == 1 else 'suspects'}")


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
