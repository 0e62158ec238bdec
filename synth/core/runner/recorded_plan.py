"""A plan over the rows of a recorded run, whose rollouts are played again in some way.

An extension of `RECORDED_PLANS` is a function ``(section, tasks, seed) -> RecordedPlan``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from synth.core.dataset.reader import Dataset
from synth.core.dataset.row_cache import RowCache
from synth.core.dataset.store.task_table import TaskTable
from synth.core.foundation.consent import Consent
from synth.core.runner.run_files import TASKS_FILE, recorded_world
from synth.errors import OperatorError
from synth.task import Job, Task
from synth.transform import Block


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
