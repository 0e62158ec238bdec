"""The plan: a fixed, ordered sequence of jobs, each a function of its index.

Job ``i`` is sample ``i % samples`` of task ``i // samples``. Tasks come split by split, within a
split universe by universe, and there families take turns. Universes have equal shares, and in each
of them families have, as far as they can supply one. Transforms choose other tasks, and change
those that were chosen (:mod:`synth.transform`). Nothing here depends on the engine, the model or
the number of workers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

from envs.ledger import Ledger
from synth.core.foundation.hashing import derive_seed, digest
from synth.core.types.renaming import renaming_of
from synth.errors import OperatorError, returned
from synth.source import TaskPool
from synth.task import Job, Task
from synth.transform import Block, TaskList, TaskTransform

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
class Plan:
    """``seed`` is the run's: it chooses which tasks are asked and seeds each job. ``asked`` is the
    number of tasks that the ``blocks`` should have. ``transforms`` change the tasks of the blocks,
    one after the other.
    """

    blocks: Sequence[Block]
    samples: int
    seed: int
    asked: int
    transforms: Sequence[TaskTransform] = ()

    @classmethod
    def make(
        cls,
        pools: Sequence[TaskPool] | Mapping[str, Sequence[TaskPool]],
        tasks: int,
        samples: int,
        seed: int,
        transforms: Sequence[TaskTransform] = (),
    ) -> Plan:
        """The plan over one pool per universe, all for the split ``train`` or by split.

        Raises :class:`OperatorError` when the families cannot supply that many distinct tasks, or a
        split gets none.
        """
        by_split = pools if isinstance(pools, Mapping) else {TRAIN: pools}
        order = [
            (split, pool)
            for split, own in by_split.items()
            for pool in sorted(own, key=lambda pool: pool.universe)
        ]
        capacities = {
            pool.universe: {family.id: pool.capacity(family.id) for family in pool.families}
            for _, pool in order
        }
        supply = {universe: sum(own.values()) for universe, own in sorted(capacities.items())}
        if tasks > sum(supply.values()):
            raise OperatorError(_too_many(tasks, capacities, order))
        count = shares(tasks, supply)
        blocks: Sequence[Block] = [
            Block(pool, split, seed, shares(count[pool.universe], capacities[pool.universe]))
            for split, pool in order
        ]

        def opening(block: Block, task: Task) -> str:
            for transform in transforms:
                said = transform.opening(task, first=block.split == order[0][0])
                task = replace(task, prompt=said) if said != task.prompt else task
            return task.prompt

        for transform in transforms:
            blocks = transform.choose(blocks, opening)
        plan = cls(blocks, samples, seed, tasks, transforms)
        if not plan.tasks:
            raise OperatorError(f"tasks.transforms: none of the {plan.chosen} tasks is left")
        _check_splits(plan, {split for split, pool in order if supply[pool.universe]})
        return plan

    @cached_property
    def _starts(self) -> list[int]:
        """The first task of each block, with their number at the end."""
        return [0, *accumulate(block.tasks for block in self.blocks)]

    @property
    def chosen(self) -> int:
        """Number of tasks before the transforms change them."""
        return self._starts[-1]

    @property
    def lacking(self) -> int:
        """Number of tasks that were asked and not found."""
        return self.asked - self.chosen

    @cached_property
    def _list(self) -> TaskList:
        """The tasks after all transforms."""
        splits: Counter[str] = Counter()
        for block in self.blocks:
            splits[block.split] += block.tasks
        tasks = TaskList(splits, self._chosen)
        for transform in self.transforms:
            tasks = returned(transform.apply(tasks), TaskList, transform, "apply")
        return tasks

    @property
    def tasks(self) -> int:
        return len(self._list)

    @property
    def jobs(self) -> int:
        return self.tasks * self.samples

    @property
    def splits(self) -> dict[str, int]:
        """Number of tasks of each split, in the plan's order."""
        return dict(self._list.splits)

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

    @property
    def shortfalls(self) -> dict[str, tuple[int, int]]:
        """The families that have too few tasks for their share somewhere: how many they give, and
        how many that share would be, over the universes in which they fall short.
        """
        out: dict[str, tuple[int, int]] = {}
        for block in self.blocks:
            for name, (given, due) in block.shortfalls.items():
                before = out.get(name, (0, 0))
                out[name] = before[0] + given, before[1] + due
        return out

    def capacity(self, family: str) -> int:
        """Number of tasks that a family could give, in the universes where it is asked."""
        return sum(block.source.capacity(family) for block in self.blocks if family in block.share)

    def is_published(self, index: int) -> bool:
        """True if the task at an index is one of a set that somebody published."""
        names = {
            family.id
            for block in self.blocks
            for family in block.source.families
            if family.published
        }
        return bool(names) and self.task(index).family in names

    def digest(self) -> str:
        """Of everything that, with the world, decides which jobs there are."""
        blocks = [block.identity() for block in self.blocks]
        origins = [block.source.identity for block in self.blocks]
        beside = [origins] if any(origins) else []  # a world's own families: its digest says all
        changes = [transform.digest() for transform in self.transforms]
        return digest("plan", self.samples, self.seed, blocks, *beside, *changes)

    def is_composed(self, index: int) -> bool:
        """True if the ``index``-th task is composed."""
        return bool(self.task(index).parts)

    def task(self, index: int, attempt: int = 0) -> Task:
        """The ``index``-th task, not yet proved. A composed task that does not prove itself is
        tried again with other parts by the next ``attempt``.

        Raises :class:`TaskError` for an attempt too many.
        """
        return self._list.task(index, attempt)

    def _chosen(self, index: int, attempt: int) -> Task:
        """The ``index``-th task of the blocks."""
        number = bisect_right(self._starts, index) - 1
        block = self.blocks[number]
        task = block.task(index - self._starts[number], attempt)
        parts = tuple(replace(part, split=block.split) for part in task.parts)
        return replace(task, split=block.split, parts=parts)

    def job(self, index: int, task: Task) -> Job:
        """The ``index``-th job, about the task at ``index // samples``, proved or not."""
        return job(index, task, self.samples, self.seed)


def _check_splits(plan: Plan, supplied: Collection[str]) -> None:
    """Refuse a split without a task; the pools of ``supplied`` ones have families."""
    if empty := [split for split, own in plan.splits.items() if not own]:
        why = "too few tasks" if empty[0] in supplied else "every family is held out"
        message = f"{empty[0]} would get no task of tasks.count={plan.asked}: {why}"
        raise OperatorError(f"tasks.splits: {message}")


def _too_many(
    tasks: int, capacities: Mapping[int, Mapping[str, int]], order: Sequence[tuple[str, TaskPool]]
) -> str:
    """Says how much there is, by family, or by universe where there are several, and what is left
    out.
    """
    account = Ledger()
    for _, pool in order:
        account.add(pool.account)
    total = sum(sum(families.values()) for families in capacities.values())
    if len(capacities) == 1:
        supply = ", ".join(
            f"{name} {size}" for families in capacities.values() for name, size in families.items()
        )
    else:
        sizes = {
            universe: sum(families.values()) for universe, families in sorted(capacities.items())
        }
        supply = ", ".join(f"universe {universe} {size}" for universe, size in sizes.items())
    many = f"tasks.count: {tasks} is more than the families can supply, which is {total} ({supply})"
    return "\n".join([f"{many}; tasks.count={total} takes all", *account.lines()])


def job(index: int, task: Task, samples: int, seed: int) -> Job:
    """The ``index``-th job, about the task at ``index // samples``."""
    sample = index % samples
    renaming = renaming_of(task)
    shown = [] if renaming is None else [{"renaming": renaming.number}]
    return Job(
        index,
        digest("job", task.id, sample, seed, *shown, length=20),
        task,
        sample,
        derive_seed(seed, task.id, sample),
    )
