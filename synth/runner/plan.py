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
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TypeVar

from synth.errors import OperatorError, TaskError
from synth.foundation.hashing import derive_seed, digest
from synth.foundation.suggestions import hint, nearest
from synth.tasks.base import TaskPool
from synth.tasks.composition import SIZES, Composer, turns
from synth.tasks.wording import grammar_digest, reworded
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
    """The tasks of one universe: how many each family gives, and how many composed tasks of each
    size there are, which ``composer`` makes.
    """

    source: TaskPool
    split: str
    share: Mapping[str, int]
    composed: Mapping[int, int] = field(default_factory=dict[int, int])
    composer: Composer | None = None

    @property
    def tasks(self) -> int:
        return sum(self.share.values()) + sum(self.composed.values())

    def place(self, index: int) -> tuple[str, int]:
        """Family and place within it of the ``index``-th task that is not composed: families take
        turns while they last.
        """
        return turns(self.share, index)

    def is_composed(self, index: int) -> bool:
        """True if the ``index``-th task is composed."""
        composed = sum(self.composed.values())
        return index * composed // self.tasks != (index + 1) * composed // self.tasks

    def task(self, index: int, seed: int, attempt: int) -> Task:
        """The ``index``-th task. Composed tasks are spread evenly among the others.

        Raises :class:`TaskError` for an attempt too many at a composed task.
        """
        composed = sum(self.composed.values())
        before = index * composed // self.tasks
        if not self.is_composed(index):
            return self.source.task(*self.place(index - before), seed)
        size = self._size(before, composed)
        assert self.composer is not None, "a block with composed tasks has a composer"
        task = self.composer.candidate(before, size, attempt)
        if task is None:
            message = (
                f"tasks.compose: {size} requests of universe {self.source.universe} that can stand"
                " together (of different families, with the same person signed in, without a row"
                f" that both change) were not found in {attempt} attempts: ask for fewer, or for"
                " more families"
            )
            raise TaskError(message)
        return task

    def _size(self, index: int, composed: int) -> int:
        """The number of requests of the ``index``-th composed task; sizes are spread evenly."""
        bigger = self.composed.get(max(SIZES), 0)
        more = index * bigger // composed != (index + 1) * bigger // composed
        return max(SIZES) if more else min(SIZES)


@dataclass(frozen=True)
class Plan:
    """``seed`` is the run's: it chooses which tasks are asked and seeds each job. With ``varied``,
    users ask in varied words.
    """

    blocks: Sequence[Block]
    samples: int
    seed: int
    varied: bool = False

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
        compose: Mapping[int, float] | None = None,
        varied: bool = False,
    ) -> Plan:
        """The plan over one source per universe. ``splits`` gives each universe to one split (None:
        all to ``train``); families that are ``held_out`` are asked in all splits but the first, and
        are part of no composed task of it. ``compose`` maps sizes of composed tasks to their share
        of the tasks. ``varied`` asks in varied words (:mod:`synth.tasks.wording`).

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
        sizes = _composed(compose or {}, [count[universe] for _, universe in order])
        blocks = [
            _block(by_universe[universe], split, count[universe], capacities[universe], own, seed)
            for (split, universe), own in zip(order, sizes, strict=True)
        ]
        plan = cls(blocks, samples, seed, varied)
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

    @property
    def shortfalls(self) -> dict[str, tuple[int, int]]:
        """The families that have too few tasks for an equal share somewhere: how many they give,
        and how many an equal share would be, over the universes in which they fall short.
        """
        out: dict[str, tuple[int, int]] = {}
        for block in self.blocks:
            equal = sum(block.share.values()) // max(1, len(block.share))
            for name, given in block.share.items():
                if given == block.source.capacity(name) and given < equal:
                    before = out.get(name, (0, 0))
                    out[name] = before[0] + given, before[1] + equal
        return out

    def capacity(self, family: str) -> int:
        """Number of tasks that a family could give, in the universes where it is asked."""
        return sum(block.source.capacity(family) for block in self.blocks if family in block.share)

    def digest(self) -> str:
        """Of everything that, with the world, decides which jobs there are."""
        blocks = [
            [
                block.split,
                block.source.universe,
                list(block.share.items()),
                *([sorted(block.composed.items())] if block.composer else []),
            ]
            for block in self.blocks
        ]
        origins = [block.source.identity for block in self.blocks]
        beside = [origins] if any(origins) else []  # a world's own families: its digest says all
        words = [grammar_digest()] if self.varied else []
        return digest("plan", self.samples, self.seed, blocks, *beside, *words)

    @property
    def composed(self) -> dict[int, int]:
        """Number of composed tasks of each size."""
        total: Counter[int] = Counter()
        for block in self.blocks:
            total.update(block.composed)
        return dict(sorted((+total).items()))

    def is_composed(self, index: int) -> bool:
        """True if the ``index``-th task is composed."""
        number = bisect_right(self._starts, index) - 1
        return self.blocks[number].is_composed(index - self._starts[number])

    def task(self, index: int, attempt: int = 0) -> Task:
        """The ``index``-th task, not yet proved. A composed task that does not prove itself is
        tried again with other parts by the next ``attempt``.

        Raises :class:`TaskError` for an attempt too many.
        """
        if not 0 <= index < self.tasks:
            raise IndexError(index)
        number = bisect_right(self._starts, index) - 1
        block = self.blocks[number]
        task = block.task(index - self._starts[number], self.seed, attempt)
        parts = tuple(replace(part, split=block.split) for part in task.parts)
        task = replace(task, split=block.split, parts=parts)
        return reworded(task) if self.varied else task

    def job(self, index: int, task: Task) -> Job:
        """The ``index``-th job, about the task at ``index // samples``, proved or not."""
        return job(index, task, self.samples, self.seed)


def _composed(compose: Mapping[int, float], tasks: Sequence[int]) -> list[dict[int, int]]:
    """Numbers of composed tasks of each size in each block of so many tasks."""
    out: list[dict[int, int]] = [{} for _ in tasks]
    for size, share in compose.items():
        ends = [round(end * share) for end in accumulate(tasks, initial=0)]
        for number, (before, through) in enumerate(pairwise(ends)):
            out[number] |= {size: through - before} if through > before else {}
    return out


def _block(
    pool: TaskPool,
    split: str,
    tasks: int,
    capacity: Mapping[str, int],
    sizes: Mapping[int, int],
    seed: int,
) -> Block:
    """The block of a universe. Raises :class:`OperatorError` if it has too few families for a
    composed task.
    """
    asked = [name for name, count in capacity.items() if count]
    if sizes and len(asked) < max(sizes):
        raise OperatorError(
            f"tasks.compose: {max(sizes)} requests in one task take as many families, and universe"
            f" {pool.universe} has {len(asked)} ({', '.join(asked)})"
        )
    many = sum(sizes.values())
    composer = Composer(pool, capacity, many, seed) if many else None
    return Block(pool, split, shares(tasks - many, capacity), sizes, composer)


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
