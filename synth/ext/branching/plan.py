"""The plan of a run of branches: its jobs are functions of a recorded run and an index.

Job ``i`` is sample ``i % samples`` of branch point ``i // samples``. Points are in the order of the
recorded rows, so splits stay together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.config import TasksConfig
from synth.core.dataset.reader import Dataset
from synth.core.dataset.row_cache import RowCache
from synth.core.dataset.store.task_table import TaskTable
from synth.core.foundation.hashing import derive_seed, digest
from synth.core.runner.recorded_plan import RecordedPlan, RecordedPoint, open_source
from synth.core.runner.run_files import TASKS_FILE, recorded_config
from synth.errors import OperatorError
from synth.ext.branching.config import BranchConfig
from synth.ext.branching.points import COLUMNS, Row, branch_turns
from synth.task import Branch, Job, Task

PLAYED = ("seed", "messages", "tools", "events", "token_ids", "logprobs", "provider_fields")
"""Columns of a parent that a branch is played from."""

DETERMINISTIC_USERS = ("scripted", "none")
"""Users who say the same again under the same seed."""


@dataclass(frozen=True)
class BranchPlan(RecordedPlan):
    """A plan whose points are turns at which rollouts branch."""

    TAKEN = PLAYED

    def digest(self) -> str:
        points = [[point.parent, point.step] for point in self.points]
        return digest("branches", self.samples, self.seed, points)

    def job(self, index: int, task: Task) -> Job:
        """The ``index``-th job, about the task of its point."""
        point, sample = self.points[index // self.samples], index % self.samples
        row = self.rows.row(point.part, point.place)
        name = (point.parent, point.step, sample, self.seed)
        branch = Branch(point.parent, point.step, derive_seed("branch", *name), _begun(row, point))
        return Job(
            index, digest("branch", *name, length=20), task, sample, row["seed"], branch=branch
        )


def branch_plan(config: BranchConfig, tasks: TasksConfig, seed: int) -> BranchPlan:
    """Find the branch points of a recorded run.

    Raises :class:`OperatorError` if there is none, and DatasetError for a directory that holds no
    run.
    """
    directory = Path(config.path or "").expanduser()
    recorded = recorded_config(directory)
    dataset = open_source(directory)
    by_model = recorded.users.kind not in DETERMINISTIC_USERS
    points, notes = _points(dataset, recorded.tasks.samples, config, model_user=by_model)
    if not points:
        found = "; ".join(notes) or "it has no such row"
        raise OperatorError(f"{directory}: there is nothing to branch: {found}")
    return BranchPlan(points, tasks.samples, seed, dataset, notes)


def _points(
    dataset: Dataset, samples: int, config: BranchConfig, *, model_user: bool
) -> tuple[list[RecordedPoint], list[str]]:
    """The branch points in the order of the rows, and notes on rollouts without any. ``samples``
    are the recorded run's of each task, ``model_user`` is true if a model played its user.
    """
    ids = None if config.where is None else dataset.ids(config.where)
    table = TaskTable(dataset.path / TASKS_FILE)
    points: list[RecordedPoint] = []
    left_out, rows = Counter[str](), 0
    for part, place, row in _places(dataset):
        if ids is not None and row["trajectory_id"] not in ids:
            continue
        rows += 1
        task = row["job_index"] // samples
        turns = branch_turns(row, config.at, Task.from_json(table.task(task)))
        fit = [turn for turn in turns if not (model_user and _has_replies(row["messages"], turn))]
        if not turns:
            left_out[f"have no turn for at={config.at}"] += 1
        elif len(fit) < len(turns):
            left_out["had a user whom a model played, who cannot be asked again"] += 1
        where = (part, place, task, row["family"], row["split"], row["universe"])
        points += [RecordedPoint(row["trajectory_id"], turn, *where) for turn in fit]
    return points, [f"{count} of {rows} rollouts {why}" for why, count in left_out.items()]


def _places(dataset: Dataset) -> Iterator[tuple[int, int, Row]]:
    """Each row's part, its place in it, and the columns that decide its branches."""
    cache = RowCache(dataset, COLUMNS)
    for number, part in enumerate(dataset.parts):
        for place in range(part.count()):
            yield number, place, cache.row(number, place)


def _turn_places(messages: Sequence[Row]) -> list[int]:
    return [index for index, message in enumerate(messages) if message["role"] == "assistant"]


def _has_replies(messages: Sequence[Row], turn: int) -> bool:
    """True if the user has answered before a turn."""
    places = _turn_places(messages)
    begun = messages[places[0] : places[turn]] if places else ()
    return any(message["role"] == "user" for message in begun)


def _begun(row: Row, point: RecordedPoint) -> Mapping[str, Any]:
    """The beginning of a parent's row, up to the turn at which it branches."""
    messages, events = row["messages"], row["events"]
    place = _turn_places(messages)[point.step]
    turns = [index for index, event in enumerate(events) if event["event"] == "completion"]
    lists = {
        name: None if row[name] is None else row[name][: point.step]
        for name in ("token_ids", "logprobs", "provider_fields")
    }
    return {
        "messages": messages[:place],
        "tools": row["tools"],
        "events": events[: turns[point.step]],
        "stop_reason": "branched",
        **lists,
    }
