"""A plan over the rows of a recorded run, whose rollouts are played again in some way.

An extension of `RECORDED_PLANS` is a function ``(section, tasks, seed) -> RecordedPlan``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from synth.core.dataset.reader import Dataset
from synth.core.dataset.row_cache import RowCache
from synth.core.dataset.store.task_table import TaskTable
from synth.core.foundation.consent import Consent
from synth.core.runner.run_files import TASKS_FILE, recorded_config, recorded_world
from synth.errors import OperatorError
from synth.task import Job, Task
from synth.transform import Block

_PLACED = ("trajectory_id", "job_index", "family", "split", "universe")
"""Columns of a recorded row that say where its points are."""


@dataclass(frozen=True)
class RecordedPoint:
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
class RecordedPlan(ABC):
    """The plan over the points of a recorded run; ``seed`` seeds the model of each job.

    ``notes`` are for the operator.
    """

    TAKEN: ClassVar[tuple[str, ...]] = ()
    """Columns of a recorded row that a job takes along."""

    points: Sequence[RecordedPoint]
    samples: int
    seed: int
    dataset: Dataset
    notes: Sequence[str] = ()
    blocks: Sequence[Block] = ()

    @cached_property
    def rows(self) -> RowCache:
        """The rows of the recorded run, with the columns that a job takes along."""
        return RowCache(self.dataset, self.TAKEN)

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

    @abstractmethod
    def digest(self) -> str:
        """The digest of what is played."""

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

    @abstractmethod
    def job(self, index: int, task: Task) -> Job:
        """The ``index``-th job, about the task of its point."""

    def world(self, folder: Path, consent: Consent) -> Path:
        """Unpack the world of the recorded run to ``folder``.

        Raises what :func:`~synth.core.runner.run_files.recorded_world` raises.
        """
        return recorded_world(self.dataset.path, folder, consent)


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


def find_points(
    dataset: Dataset,
    columns: Sequence[str],
    where: str | None,
    turns_of: Callable[[Mapping[str, Any], Callable[[], Task]], tuple[Sequence[int], str | None]],
    verb: str,
) -> tuple[list[RecordedPoint], list[str]]:
    """The points of the rows that meet ``where``, in the order of the rows, and notes on the rows
    that lack one. ``turns_of`` takes ``columns`` of a row and its task, and returns the turns at
    which it has points, and why it has no more.

    Raises :class:`OperatorError` if there is no point: there is nothing to ``verb``.
    """
    ids = None if where is None else dataset.ids(where)
    cache = RowCache(dataset, (*_PLACED, *columns))
    table = TaskTable(dataset.path / TASKS_FILE)
    samples = recorded_config(dataset.path).tasks.samples
    points: list[RecordedPoint] = []
    left_out, rows = Counter[str](), 0
    for number, part in enumerate(dataset.parts):
        for place in range(part.count()):
            row = cache.row(number, place)
            if ids is not None and row["trajectory_id"] not in ids:
                continue
            rows += 1
            task = row["job_index"] // samples
            turns, why = turns_of(row, lambda task=task: Task.from_json(table.task(task)))
            left_out.update([] if why is None else [why])
            at = (number, place, task, row["family"], row["split"], row["universe"])
            points += [RecordedPoint(row["trajectory_id"], turn, *at) for turn in turns]
    notes = [f"{many} of {rows} rollouts {why}" for why, many in left_out.items()]
    if not points:
        found = "; ".join(notes) or "it has no such row"
        raise OperatorError(f"{dataset.path}: there is nothing to {verb}: {found}")
    return points, notes


def turn_places(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """Where the messages of the assistant are."""
    return [index for index, message in enumerate(messages) if message["role"] == "assistant"]
