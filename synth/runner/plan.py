"""The plan: a fixed, ordered sequence of jobs, each a function of its index.

Job ``i`` is sample ``i % samples`` of task ``i // samples``. Tasks come split by split, within a
split universe by universe, and there families take turns. Universes have equal shares, and in each
of them families have, as far as they can supply one. Nothing here depends on the engine, the model
or the number of workers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

from synth.errors import OperatorError
from synth.foundation.hashing import derive_seed, digest
from synth.foundation.suggestions import hint, nearest
from synth.tasks.base import TaskPool
from synth.types import Job, Task

Name = TypeVar("Name", bound=Hashable)

TRAIN = "train"
"""The one split of a plan without splits."""


def shares(count: int, capacities: Mapping[Name, int]) -> dict[Name, int]:
    """Equal shares of ``count``; what a small one cannot supply, the others take. Sums to
    ``count``.
    """
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
class Block:
    """The tasks of one universe: how many each family gives."""

    source: TaskPool
    split: str
    share: Mapping[str, int]

    @property
    def tasks(self) -> int:
        return sum(self.share.values())

    def place(self, index: int) -> tuple[str, int]:
        """Family and place within it of the ``index``-th task: families take turns while they
        last.
        """
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


@dataclass(frozen=True)
class Plan:
    """``seed`` is the run's: it chooses which tasks are asked and seeds each job."""

    blocks: Sequence[Block]
    samples: int
    seed: int

    @classmethod
    def make(
        cls,
        sources: Sequence[TaskPool],
        tasks: int,
        samples: int,
        seed: int,
        *,
        splits: Mapping[str, Iterable[int]] | None = None,
        held_out: Iterable[str] = (),
    ) -> Plan:
        """The plan over one source per universe. ``splits`` gives each universe to one split (None:
        all to ``train``); families that are ``held_out`` are asked in all splits but the first.

        Raises :class:`OperatorError` when the families cannot supply that many distinct tasks, or a
        split gets none.
        """
        by_universe = {source.universe: source for source in sources}
        splits = splits or {TRAIN: by_universe}
        first, held = next(iter(splits)), frozenset(held_out)
        _check_families(held, sources)
        order = [(split, universe) for split, own in splits.items() for universe in sorted(own)]
        capacities = {
            universe: {
                family.id: by_universe[universe].capacity(family.id)
                for family in by_universe[universe].families
                if split != first or family.id not in held
            }
            for split, universe in order
        }
        supply = {universe: sum(capacity.values()) for universe, capacity in capacities.items()}
        if tasks > sum(supply.values()):
            raise OperatorError(_too_many(tasks, capacities))
        count = shares(tasks, dict(sorted(supply.items())))
        blocks = [
            Block(by_universe[universe], split, shares(count[universe], capacities[universe]))
            for split, universe in order
        ]
        plan = cls(blocks, samples, seed)
        if empty := [split for split, own in plan.splits.items() if not own]:
            why = (
                "every family is held out"
                if not sum(supply[split] for split in splits[empty[0]])
                else "too few tasks"
            )
            raise OperatorError(
                f"tasks.splits: {empty[0]} would get no task of tasks.count={tasks}: {why}"
            )
        return plan

    @cached_property
    def _starts(self) -> list[int]:
        """The first task of each block, with their number at the end."""
        return [0, *accumulate(block.tasks for block in self.blocks)]

    @property
    def tasks(self) -> int:
        return self._starts[-1]

    @property
    def jobs(self) -> int:
        return self.tasks * self.samples

    @property
    def splits(self) -> dict[str, int]:
        """Number of tasks of each split, in the plan's order."""
        out: dict[str, int] = {}
        for block in self.blocks:
            out[block.split] = out.get(block.split, 0) + block.tasks
        return out

    @property
    def share(self) -> dict[str, int]:
        """Number of tasks that each family gives, over all universes."""
        total: Counter[str] = Counter()
        for block in self.blocks:
            total.update(block.share)
        names = dict.fromkeys(
            family.id for block in self.blocks for family in block.source.families
        )
        return {name: total[name] for name in names}

    def capacity(self, family: str) -> int:
        """Number of tasks that a family could give, in the universes where it is asked."""
        return sum(block.source.capacity(family) for block in self.blocks if family in block.share)

    def digest(self) -> str:
        """Of everything that, with the world, decides which jobs there are."""
        blocks = [
            [block.split, block.source.universe, list(block.share.items())] for block in self.blocks
        ]
        origins = [block.source.identity for block in self.blocks]
        beside = [origins] if any(origins) else []  # a world's own families: its digest says all
        return digest("plan", self.samples, self.seed, blocks, *beside)

    def task(self, index: int) -> Task:
        """The ``index``-th task, not yet proved."""
        if not 0 <= index < self.tasks:
            raise IndexError(index)
        number = bisect_right(self._starts, index) - 1
        block = self.blocks[number]
        family, place = block.place(index - self._starts[number])
        return replace(block.source.task(family, place, self.seed), split=block.split)

    def job(self, index: int, task: Task) -> Job:
        """The ``index``-th job, about the task at ``index // samples``, proved or not."""
        return job(index, task, self.samples, self.seed)


def _check_families(held: frozenset[str], sources: Sequence[TaskPool]) -> None:
    known = list(dict.fromkeys(family.id for source in sources for family in source.families))
    for name in sorted(held - set(known)):
        raise OperatorError(
            f"tasks.held_out: there is no family {name!r}{hint(nearest(name, known))}"
        )


def _too_many(tasks: int, capacities: Mapping[int, Mapping[str, int]]) -> str:
    """Says how much there is: by family, or by universe where there are several."""
    total = sum(sum(families.values()) for families in capacities.values())
    if len(capacities) == 1:
        each = ", ".join(
            f"{name} {size}" for families in capacities.values() for name, size in families.items()
        )
    else:
        sizes = {
            universe: sum(families.values()) for universe, families in sorted(capacities.items())
        }
        each = ", ".join(f"universe {universe} {size}" for universe, size in sizes.items())
    return f"tasks.count: {tasks} is more than the families can supply, which is {total} ({each})"


def job(index: int, task: Task, samples: int, seed: int) -> Job:
    """The ``index``-th job, about the task at ``index // samples``."""
    sample = index % samples
    return Job(
        index,
        digest("job", task.id, sample, seed, length=20),
        task,
        sample,
        derive_seed(seed, task.id, sample),
    )
