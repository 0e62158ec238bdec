"""The plan of a run of branches: its jobs are functions of a recorded run and an index.

Job ``i`` is sample ``i % samples`` of branch point ``i // samples``. Points are in the order of the
recorded rows, so splits stay together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from synth.config import BranchConfig, RunConfig
from synth.core.dataset.reader import Dataset
from synth.core.dataset.row_cache import RowCache
from synth.core.dataset.store.task_table import TaskTable, read_gate_names
from synth.core.foundation.archive import unpack_world
from synth.core.foundation.consent import (
    Consent,
    config_part,
    require_consent,
    tasks_part,
    world_part,
)
from synth.core.foundation.hashing import derive_seed, digest
from synth.core.runner.run_files import CONFIG_FILE, TASKS_FILE, recorded_config
from synth.errors import OperatorError
from synth.ext.branching.points import COLUMNS, Row, branch_turns
from synth.plan import Block
from synth.task import Branch, Job, Task

PLAYED = ("seed", "messages", "tools", "events", "token_ids", "logprobs", "provider_fields")
"""Columns of a parent that a branch is played from."""

DETERMINISTIC_USERS = ("scripted", "none")
"""Users who say the same again under the same seed."""


@dataclass(frozen=True)
class BranchPoint:
    """A turn of a recorded rollout: ``part`` and ``place`` say where its row is, ``task`` where its
    task is in tasks.parquet.
    """

    parent: str
    step: int
    part: int
    place: int
    task: int
    family: str
    split: str
    universe: int


@dataclass(frozen=True)
class BranchPlan:
    """The plan over the branch points of a recorded run; ``seed`` seeds the model of each job.

    ``notes`` are for the operator.
    """

    points: Sequence[BranchPoint]
    samples: int
    seed: int
    dataset: Dataset
    notes: Sequence[str] = ()
    blocks: Sequence[Block] = ()

    @cached_property
    def rows(self) -> RowCache:
        """The rows of the recorded run, with the columns that a job takes along."""
        return RowCache(self.dataset, PLAYED)

    @cached_property
    def _tasks(self) -> TaskTable:
        return TaskTable(self.dataset.path / TASKS_FILE)

    @property
    def tasks(self) -> int:
        return len(self.points)

    @property
    def jobs(self) -> int:
        return len(self.points) * self.samples

    @property
    def splits(self) -> dict[str, int]:
        """Number of points of each split, in the order of the recorded rows."""
        return dict(Counter(point.split for point in self.points))

    @property
    def share(self) -> dict[str, int]:
        """Number of points of each family."""
        return dict(Counter(point.family for point in self.points))

    def capacity(self, family: str) -> int:
        return self.share.get(family, 0)

    def digest(self) -> str:
        points = [[point.parent, point.step] for point in self.points]
        return digest("branches", self.samples, self.seed, points)

    @property
    def composed(self) -> dict[int, int]:
        """Empty: the tasks were composed for the recorded run."""
        return {}

    @property
    def requests(self) -> dict[str, int]:
        """Number of requests of each family: that of its tasks."""
        return dict(self.share)

    def is_published(self, index: int) -> bool:
        """False: the recorded tasks were proved."""
        return False

    def is_composed(self, index: int) -> bool:
        """False, as no other task can take the place of the recorded one."""
        del index
        return False

    def task(self, index: int, attempt: int = 0) -> Task:
        """The task of a point, as it was proved."""
        assert not attempt
        return Task.from_json(self._tasks.task(self.points[index].task))

    def job(self, index: int, task: Task) -> Job:
        """The ``index``-th job, about the task of its point."""
        point, sample = self.points[index // self.samples], index % self.samples
        row = self.rows.row(point.part, point.place)
        name = (point.parent, point.step, sample, self.seed)
        branch = Branch(point.parent, point.step, derive_seed("branch", *name), _begun(row, point))
        return Job(
            index, digest("branch", *name, length=20), task, sample, row["seed"], branch=branch
        )


def branch_plan(config: BranchConfig, samples: int, seed: int) -> BranchPlan:
    """Find the branch points of a recorded run.

    Raises :class:`OperatorError` if there is none, and DatasetError for a directory that holds no
    run.
    """
    directory = Path(config.path or "").expanduser()
    recorded = recorded_config(directory)
    dataset = open_source(directory)
    points, notes = _points(dataset, recorded, config)
    if not points:
        found = "; ".join(notes) or "it has no such row"
        raise OperatorError(f"{directory}: there is nothing to branch: {found}")
    return BranchPlan(points, samples, seed, dataset, notes)


def open_source(directory: Path) -> Dataset:
    """The rows of a recorded run whose rollouts are played again.

    Raises :class:`OperatorError` for a run that has not ended or lacks its tasks.
    """
    dataset = Dataset.open(directory)
    if dataset.status == "running":
        raise OperatorError(f"{directory} is still being written: wait until it has ended")
    if not (directory / TASKS_FILE).is_file():
        raise OperatorError(f"{directory} lacks {TASKS_FILE}: it takes the tasks of the run")
    return dataset


def _points(
    dataset: Dataset, recorded: RunConfig, config: BranchConfig
) -> tuple[list[BranchPoint], list[str]]:
    """The branch points in the order of the rows, and notes on rollouts without any."""
    ids = None if config.where is None else dataset.ids(config.where)
    table = TaskTable(dataset.path / TASKS_FILE)
    model_user = recorded.users.kind not in DETERMINISTIC_USERS
    points: list[BranchPoint] = []
    left_out, rows = Counter[str](), 0
    for part, place, row in _places(dataset):
        if ids is not None and row["trajectory_id"] not in ids:
            continue
        rows += 1
        task = row["job_index"] // recorded.tasks.samples
        turns = branch_turns(row, config.at, Task.from_json(table.task(task)))
        fit = [turn for turn in turns if not (model_user and _has_replies(row["messages"], turn))]
        if not turns:
            left_out[f"have no turn for at={config.at}"] += 1
        elif len(fit) < len(turns):
            left_out["had a user whom a model played, who cannot be asked again"] += 1
        where = (part, place, task, row["family"], row["split"], row["universe"])
        points += [BranchPoint(row["trajectory_id"], turn, *where) for turn in fit]
    return points, [f"{count} of {rows} rollouts {why}" for why, count in left_out.items()]


def parents_world(directory: Path, folder: Path, consent: Consent) -> Path:
    """Unpack the world of a recorded run to ``folder``.

    Raises :class:`OperatorError` if its archive is missing, and
    :class:`~synth.errors.UntrustedCode` if ``consent`` to a stranger's code is not given.
    """
    archives = sorted((directory / "world").glob("*.tar.zst"))
    if len(archives) != 1:
        raise OperatorError(
            f"{directory}: it takes the world of the run, and there is no world/<digest>.tar.zst"
        )
    archive, tasks = archives[0].read_bytes(), directory / TASKS_FILE
    parts = [world_part(archive), config_part((directory / CONFIG_FILE).read_bytes())]
    if tasks.is_file():
        parts.append(tasks_part(tasks, read_gate_names(tasks)))
    require_consent(directory, parts, consent)
    return unpack_world(archive, folder)


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


def _begun(row: Row, point: BranchPoint) -> Mapping[str, Any]:
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


def with_path(config: RunConfig) -> RunConfig:
    """The config with an absolute path of the recorded run: a resume may come from another working
    directory.
    """
    if config.recording is None:
        return config
    path = str(Path(config.recording).expanduser().absolute())
    if config.narrate.path is not None:
        return replace(config, narrate=replace(config.narrate, path=path))
    return replace(config, branch=replace(config.branch, path=path))
