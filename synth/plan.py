"""The plan: a fixed, ordered sequence of jobs, each a function of its index.

Job ``i`` is sample ``i % samples`` of task ``i // samples``. Tasks come split by split, within a
split universe by universe, and there families take turns. Universes have equal shares, and in each
of them families have, as far as they can supply one. Nothing here depends on the engine, the model
or the number of workers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import TypeVar

from synth.core.foundation.hashing import derive_seed, digest
from synth.core.foundation.suggestions import hint, nearest
from synth.core.runner.asked import Levels, weights_of
from synth.errors import OperatorError, TaskError
from synth.ext.variety.composition import MANNERS, SIZES, Composer, Manner, turns
from synth.ext.variety.distinct import Filters, Wish, choose_tasks
from synth.ext.variety.wording import joints_digest
from synth.source import TaskPool
from synth.task import Job, Task
from synth.transform import TaskList, TaskTransform

Name = TypeVar("Name", bound=Hashable)

TRAIN = "train"
"""The one split of a plan without splits."""


def shares(
    count: int, capacities: Mapping[Name, int], weights: Mapping[Name, float] | None = None
) -> dict[Name, int]:
    """Shares of ``count`` by ``weights`` (None: equal ones); what a small one cannot supply, the
    others take. Sums to ``count``.
    """
    if weights is not None:
        return _weighted(count, capacities, weights)
    out = dict.fromkeys(capacities, 0)
    left = count
    while left:
        alive = [name for name in capacities if out[name] < capacities[name]]
        rounds = min(left // len(alive), *(capacities[name] - out[name] for name in alive))
        for name in alive if rounds else alive[:left]:
            out[name] += rounds or 1
            left -= rounds or 1
    return out


def _weighted(
    count: int, capacities: Mapping[Name, int], weights: Mapping[Name, float]
) -> dict[Name, int]:
    out = dict.fromkeys(capacities, 0)
    while left := count - sum(out.values()):
        alive = [name for name in capacities if out[name] < capacities[name]]
        whole = sum(weights[name] for name in alive)
        due = {name: left * weights[name] / whole for name in alive}
        given = {name: min(int(due[name]), capacities[name] - out[name]) for name in alive}
        if all(given[name] == int(due[name]) for name in alive):
            open_ones = [name for name in alive if out[name] + given[name] < capacities[name]]
            remainders = sorted(open_ones, key=lambda name: int(due[name]) - due[name])
            for name in remainders[: left - sum(given.values())]:
                given[name] += 1
        for name, more in given.items():
            out[name] += more
    return out


def top_up(
    more: int, given: Mapping[str, int], weights: Mapping[str, float] | None
) -> dict[str, float]:
    """Divide ``more`` so that the totals with ``given`` are equal, or in proportion to ``weights``.

    A name that has its share already gets nothing and is left out. The shares sum to ``more``.
    """
    weights = weights or dict.fromkeys(given, 1.0)
    names = sorted(given, key=lambda name: given[name] / weights[name])
    while True:
        whole = sum(weights[name] for name in names)
        level = (more + sum(given[name] for name in names)) / whole
        if given[names[-1]] <= level * weights[names[-1]]:
            return {name: level * weights[name] - given[name] for name in names}
        names.pop()


@dataclass(frozen=True)
class Block:
    """The tasks of one universe: how many each family gives, and how many composed tasks of each
    size there are, which ``composer`` makes. ``places`` are the places in the pool of each family's
    tasks (None: the first ones), ``exhausted`` the families that have no more of them. ``weights``
    are those of the families (None: equal ones).
    """

    source: TaskPool
    split: str
    share: Mapping[str, int]
    composed: Mapping[int, int] = field(default_factory=dict[int, int])
    composer: Composer | None = None
    places: Mapping[str, Sequence[int]] | None = None
    exhausted: frozenset[str] = frozenset()
    weights: Mapping[str, float] | None = None

    def due(self, family: str) -> int:
        """The tasks that the family would give if none were short of them."""
        weights = self.weights or dict.fromkeys(self.share, 1.0)
        whole = sum(weights[name] for name in self.share)
        return int(sum(self.share.values()) * weights[family] / whole)

    @property
    def tasks(self) -> int:
        return sum(self.share.values()) + sum(self.composed.values())

    @property
    def requests(self) -> Mapping[str, float]:
        """The requests of each family, alone and in composed tasks, whose later ones are an
        expected number.
        """
        if self.composer is None:
            return self.share
        begun, later = _begun(self.composer), self.composer.expected
        return {name: self.share[name] + begun[name] + later[name] for name in self.share}

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
            family, number = self.place(index - before)
            place = number if self.places is None else self.places[family][number]
            return self.source.task(family, place, seed)
        size = self._size(before, composed)
        assert self.composer is not None, "a block with composed tasks has a composer"
        task = self.composer.candidate(before, size, attempt)
        if task is None:
            asked = "" if self.composer.wanted is None else ", of the difficulty that is asked"
            message = (
                f"tasks.compose: {size} requests of universe {self.source.universe} that can stand"
                " together (of different families, with the same person signed in, without a row"
                f" that both change{asked}) were not found in {attempt} attempts: ask for fewer, or"
                " for more families"
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
    """``seed`` is the run's: it chooses which tasks are asked and seeds each job. ``left_out``
    counts the tasks that were left out as near-duplicates, ``lacking`` those that no other could
    replace, ``outside`` those that were left out for their difficulty. ``transforms`` change the
    tasks of the blocks, one after the other.
    """

    blocks: Sequence[Block]
    samples: int
    seed: int
    left_out: int = 0
    lacking: int = 0
    outside: int = 0
    transforms: Sequence[TaskTransform] = ()

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
        compose_as: str = "turns",
        max_near_duplicates: float | None = None,
        weights: Mapping[str, float] | None = None,
        levels: Levels | None = None,
        transforms: Sequence[TaskTransform] = (),
    ) -> Plan:
        """The plan over one source per universe. ``splits`` gives each universe to one split (None:
        all to ``train``); families that are ``held_out`` are asked in all splits but the first, and
        are part of no composed task of it. ``compose`` maps sizes of composed tasks to their share
        of the tasks, ``compose_as`` says how their requests come
        (:data:`~synth.ext.variety.composition.MANNERS`). ``max_near_duplicates`` is the largest
        share of tasks whose opening is a near-duplicate of one before it; what a universe then
        lacks, the next ones of its split give.
        ``weights`` map families, by name or pattern, to their share of the tasks that are asked
        alone, in relation to the others' 1. ``levels`` is the difficulty that tasks must have.
        ``transforms`` change the tasks that were chosen.

        Raises :class:`OperatorError` when the families cannot supply that many distinct tasks, or a
        split gets none.
        """
        by_universe = {source.universe: source for source in sources}
        splits = splits or {TRAIN: by_universe}
        first, held = next(iter(splits)), frozenset(held_out)
        _check_families(held, sources)
        order = [(split, universe) for split, own in splits.items() for universe in sorted(own)]
        capacities = _capacities(order, by_universe, first, held)
        supply = {universe: sum(capacity.values()) for universe, capacity in capacities.items()}
        if tasks > sum(supply.values()):
            raise OperatorError(_too_many(tasks, capacities))
        count = shares(tasks, dict(sorted(supply.items())))
        by_family = weights_of(weights, _names(capacities))
        sizes = _composed(compose or {}, [count[universe] for _, universe in order])
        asked = [
            _Asked(
                by_universe[universe],
                split,
                count[universe],
                capacities[universe],
                own,
                MANNERS[compose_as],
                by_family,
                levels,
            )
            for (split, universe), own in zip(order, sizes, strict=True)
        ]
        filters = Filters.of(max_near_duplicates, levels)
        blocks = _blocks(asked, seed, filters, _shown_words(splits, transforms))
        lacking = tasks - sum(block.tasks for block in blocks)
        counts = filters.left_out, lacking, filters.outside
        plan = cls(blocks, samples, seed, *counts, transforms)
        _check_some(plan, levels)
        _check_splits(plan, {split for split, universe in order if supply[universe]})
        return plan

    @cached_property
    def _starts(self) -> list[int]:
        """The first task of each block, with their number at the end."""
        return [0, *accumulate(block.tasks for block in self.blocks)]

    @property
    def chosen(self) -> int:
        """Number of tasks before the transforms."""
        return self._starts[-1]

    @cached_property
    def _list(self) -> TaskList:
        """The tasks after all transforms."""
        splits: Counter[str] = Counter()
        for block in self.blocks:
            splits[block.split] += block.tasks
        tasks = TaskList(splits, self._chosen)
        for transform in self.transforms:
            tasks = transform.apply(tasks)
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
    def requests(self) -> dict[str, int]:
        """Number of requests of each family, alone and in composed tasks, about."""
        return {
            name: round(sum(block.requests.get(name, 0) for block in self.blocks))
            for name in self.share
        }

    @property
    def shortfalls(self) -> dict[str, tuple[int, int]]:
        """The families that have too few tasks for an equal share somewhere: how many they give,
        and how many an equal share would be, over the universes in which they fall short.
        """
        out: dict[str, tuple[int, int]] = {}
        for block in self.blocks:
            for name, given in block.share.items():
                ended = name in block.exhausted or given == block.source.capacity(name)
                if ended and given < (due := block.due(name)):
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
        blocks = [
            [
                block.split,
                block.source.universe,
                list(block.share.items()),
                *([sorted(block.composed.items()), "balanced"] if block.composer else []),
                *([list(block.places.items())] if block.places is not None else []),
                *([block.composer.firsts] if block.composer and block.composer.firsts else []),
                *(_manners(block.composer) if block.composer else []),
            ]
            for block in self.blocks
        ]
        origins = [block.source.identity for block in self.blocks]
        beside = [origins] if any(origins) else []  # a world's own families: its digest says all
        changes = [transform.digest() for transform in self.transforms]
        return digest("plan", self.samples, self.seed, blocks, *beside, *changes)

    @property
    def weighted(self) -> bool:
        """True if families have other shares than equal ones."""
        return any(block.weights is not None for block in self.blocks)

    @property
    def composed(self) -> dict[int, int]:
        """Number of composed tasks of each size."""
        total: Counter[int] = Counter()
        for block in self.blocks:
            total.update(block.composed)
        return dict(sorted((+total).items()))

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
        task = block.task(index - self._starts[number], self.seed, attempt)
        parts = tuple(replace(part, split=block.split) for part in task.parts)
        return replace(task, split=block.split, parts=parts)

    def job(self, index: int, task: Task) -> Job:
        """The ``index``-th job, about the task at ``index // samples``, proved or not."""
        return job(index, task, self.samples, self.seed)


def _shown_words(
    splits: Iterable[str], transforms: Sequence[TaskTransform]
) -> dict[str, Callable[[Task], Task]]:
    """By split, the function that gives a task in the words of its user."""
    rewording = [transform for transform in transforms if transform.rewords]

    def shown(task: Task, *, first: bool) -> Task:
        for transform in rewording:
            task = transform.changed(task, 0, first=first)
        return task

    return {split: partial(shown, first=number == 0) for number, split in enumerate(splits)}


def _manners(composer: Composer) -> list[object]:
    """The rules for words of messages, for a digest; empty if all requests come by turns."""
    manners = list(composer.manners)
    return [] if manners == [*MANNERS["turns"]] else [manners, joints_digest()]


def _composed(compose: Mapping[int, float], tasks: Sequence[int]) -> list[dict[int, int]]:
    """Numbers of composed tasks of each size in each block of so many tasks."""
    out: list[dict[int, int]] = [{} for _ in tasks]
    for size, share in compose.items():
        ends = [round(end * share) for end in accumulate(tasks, initial=0)]
        for number, (before, through) in enumerate(pairwise(ends)):
            out[number] |= {size: through - before} if through > before else {}
    return out


@dataclass(frozen=True)
class _Asked:
    """The tasks that are asked of a universe, and sizes and manners of those that are composed."""

    pool: TaskPool
    split: str
    tasks: int
    capacity: Mapping[str, int]
    sizes: Mapping[int, int]
    manners: Sequence[Manner]
    weights: Mapping[str, float] | None
    levels: Levels | None


def _blocks(
    asked: Iterable[_Asked],
    seed: int,
    filters: Filters,
    shown: Mapping[str, Callable[[Task], Task]],
) -> list[Block]:
    """The blocks of all universes. ``shown`` gives the tasks of each split in the words that their
    users will use. What a universe lacks is asked of the next ones of its split.
    """
    blocks: list[Block] = []
    lacking: Counter[str] = Counter()
    for one in asked:
        if filters.openings is not None:
            filters.openings.shown = shown[one.split]
        tasks = min(one.tasks + lacking[one.split], sum(one.capacity.values()))
        blocks.append(_block(replace(one, tasks=tasks), seed, filters))
        lacking[one.split] += one.tasks - blocks[-1].tasks
    return blocks


def _block(one: _Asked, seed: int, filters: Filters) -> Block:
    """The block of a universe. Raises :class:`OperatorError` if it has too few families for a
    composed task.
    """
    pool, split, tasks = one.pool, one.split, one.tasks
    capacity, sizes = one.capacity, one.sizes
    asked = [name for name, count in capacity.items() if count]
    if sizes and len(asked) < max(sizes):
        raise OperatorError(
            f"tasks.compose: {max(sizes)} requests in one task take as many families, and universe"
            f" {pool.universe} has {len(asked)} ({', '.join(asked)})"
        )
    many = sum(sizes.values())
    manners, weights = one.manners, one.weights
    wanted = None if one.levels is None else one.levels.hold
    composer = Composer(pool, capacity, many, seed, None, manners, wanted) if many else None
    if not filters:
        share = shares(tasks - many, capacity, weights)
        composer = _balanced(composer, sizes, share, weights)
        return Block(pool, split, share, sizes, composer, weights=weights)
    most = max(sizes, default=1)
    wish = Wish(tasks - many, most, weights)
    chosen = choose_tasks(pool, capacity, wish, composer, seed, filters)
    sizes = _reduced(sizes, many - len(chosen.firsts))
    many = sum(sizes.values())
    firsts = chosen.firsts
    composer = Composer(pool, capacity, many, seed, firsts, manners, wanted) if many else None
    share = {name: len(places) for name, places in chosen.places.items()}
    composer = _balanced(composer, sizes, share, weights)
    return Block(pool, split, share, sizes, composer, chosen.places, chosen.exhausted, weights)


def _balanced(
    composer: Composer | None,
    sizes: Mapping[int, int],
    share: Mapping[str, int],
    weights: Mapping[str, float] | None,
) -> Composer | None:
    """The composer with the later requests that each family should give, so that all requests of a
    universe, asked alone or in a composed task, are shared out by ``weights``.
    """
    if composer is None:
        return None
    more = sum((size - 1) * count for size, count in sizes.items())
    given = Counter(share) + _begun(composer)
    names = [name for name, capacity in composer.capacities.items() if capacity]
    return replace(composer, later=top_up(more, {name: given[name] for name in names}, weights))


def _begun(composer: Composer) -> Counter[str]:
    """The number of composed tasks that each family begins."""
    if composer.firsts is None:
        return Counter(shares(composer.count, composer.capacities))
    return Counter(name for name, _ in composer.firsts[: composer.count])


def _reduced(sizes: Mapping[int, int], missing: int) -> dict[int, int]:
    """The numbers of composed tasks without the missing ones, the biggest of which go first."""
    out: dict[int, int] = {}
    for size, count in sorted(sizes.items(), reverse=True):
        out[size] = count - min(count, max(missing, 0))
        missing -= count - out[size]
    return {size: count for size, count in sorted(out.items()) if count}


def _capacity(pool: TaskPool, held: frozenset[str]) -> dict[str, int]:
    """The number of tasks of each family that is not held out."""
    return {
        family.id: pool.capacity(family.id) for family in pool.families if family.id not in held
    }


def _capacities(
    order: Sequence[tuple[str, int]],
    pools: Mapping[int, TaskPool],
    first: str,
    held: frozenset[str],
) -> dict[int, dict[str, int]]:
    """The number of tasks of each family, by universe; of the ``first`` split, without those that
    are ``held`` out.
    """
    return {
        universe: _capacity(pools[universe], held if split == first else frozenset())
        for split, universe in order
    }


def _names(capacities: Mapping[int, Mapping[str, int]]) -> list[str]:
    """The families of all universes."""
    return list(dict.fromkeys(name for own in capacities.values() for name in own))


def _check_some(plan: Plan, levels: Levels | None) -> None:
    """Refuse a range of difficulty that no task has, and transforms that leave no task."""
    if levels is not None and not plan.chosen:
        raise OperatorError(f"tasks.difficulty: no task has a difficulty of {levels}")
    if plan.chosen and not plan.tasks:
        raise OperatorError(f"tasks.transforms: none of the {plan.chosen} tasks is left")


def _check_splits(plan: Plan, supplied: Collection[str]) -> None:
    """Refuse a split without a task; those of ``supplied`` have families."""
    if empty := [split for split, own in plan.splits.items() if not own]:
        why = "too few tasks" if empty[0] in supplied else "every family is held out"
        asked = plan.tasks + plan.lacking
        raise OperatorError(
            f"tasks.splits: {empty[0]} would get no task of tasks.count={asked}: {why}"
        )


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
        supply = ", ".join(
            f"{name} {size}" for families in capacities.values() for name, size in families.items()
        )
    else:
        sizes = {
            universe: sum(families.values()) for universe, families in sorted(capacities.items())
        }
        supply = ", ".join(f"universe {universe} {size}" for universe, size in sizes.items())
    return f"tasks.count: {tasks} is more than the families can supply, which is {total} ({supply})"


def job(index: int, task: Task, samples: int, seed: int) -> Job:
    """The ``index``-th job, about the task at ``index // samples``."""
    sample = index % samples
    shown = [] if task.surface is None else [{"surface": task.surface.number}]
    return Job(
        index,
        digest("job", task.id, sample, seed, *shown, length=20),
        task,
        sample,
        derive_seed(seed, task.id, sample),
    )
