"""The plan: a fixed, ordered sequence of jobs, each a function of its index.

Job ``i`` is sample ``i % samples`` of task ``i // samples``. Families take turns, each with an equal share as far as
it can supply one. Nothing here depends on the engine, the model or the number of workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from synth.canonical import derive_seed, digest
from synth.errors import OperatorError
from synth.tasks.source import TaskSource
from synth.types import Job, Task


def shares(count: int, capacities: Mapping[str, int]) -> dict[str, int]:
    """Equal shares of ``count``; what a small family cannot supply, the others take. Sums to ``count``."""
    out = dict.fromkeys(capacities, 0)
    left = count
    while left:
        alive = [name for name in capacities if out[name] < capacities[name]]
        rounds = min(left // len(alive), *(capacities[name] - out[name] for name in alive))
        for name in alive if rounds else alive[:left]:
            out[name] += rounds or 1
            left -= rounds or 1
    return out


@dataclass(frozen=True)
class Plan:
    """``seed`` is the run's: it chooses which tasks are asked and seeds each job."""

    source: TaskSource
    tasks: int
    samples: int
    seed: int
    share: Mapping[str, int]

    @classmethod
    def make(cls, source: TaskSource, tasks: int, samples: int, seed: int) -> Plan:
        """Raises :class:`OperatorError` when the families cannot supply that many distinct tasks."""
        capacities = {family.id: source.capacity(family.id) for family in source.families}
        total = sum(capacities.values())
        if tasks > total:
            each = ", ".join(f"{name} {size}" for name, size in capacities.items())
            raise OperatorError(f"tasks.count: {tasks} is more than the families can supply, which is {total} ({each})")
        return cls(source, tasks, samples, seed, shares(tasks, capacities))

    @property
    def jobs(self) -> int:
        return self.tasks * self.samples

    def place(self, index: int) -> tuple[str, int]:
        """Family and place within it of the ``index``-th task: families take turns while they last."""
        done = 0
        for size in sorted(set(self.share.values())):
            alive = [name for name, share in self.share.items() if share > done]
            block = (size - done) * len(alive)
            if index < block:
                turn, which = divmod(index, len(alive))
                return alive[which], done + turn
            index -= block
            done = size
        raise IndexError(index)

    def task(self, index: int) -> Task:
        """The ``index``-th task, not yet proved."""
        family, at = self.place(index)
        return self.source.task(family, at, self.seed)


def job(index: int, task: Task, samples: int, seed: int) -> Job:
    """The ``index``-th job, about the task at ``index // samples``."""
    sample = index % samples
    return Job(index, digest("job", task.id, sample, seed, length=20), task, sample, derive_seed(seed, task.id, sample))
