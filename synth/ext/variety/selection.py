"""The choice of tasks by keys of ``tasks``: composed ones (``compose``), shares of families
(``weights``), no near-duplicates (``max_near_duplicates``), a range of ``difficulty``, a range of
the pass rate of an earlier run (``from_run``, ``pass_rate``); and their order by difficulty
(``tasks.order=difficulty``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from itertools import accumulate, pairwise

from synth.core.foundation.hashing import derive_seed
from synth.core.foundation.suggestions import hint, nearest
from synth.core.tasks.grounding import turns
from synth.core.types.difficulty import difficulty
from synth.errors import DatasetError, OperatorError, TaskError
from synth.ext.variety.composer import Composer
from synth.ext.variety.composition import joined
from synth.ext.variety.config import SelectionConfig
from synth.ext.variety.distinct import SPARE, CandidateFamilies, Filters, Levels, Openings
from synth.ext.variety.pass_rates import PassRates
from synth.plan import shares
from synth.source import TaskPool
from synth.task import Task
from synth.transform import Block, TaskList, TaskTransform


def weights_of(
    asked: Mapping[str, float] | None, families: Sequence[str]
) -> dict[str, float] | None:
    """The weight of each family: the weight of the last name or pattern that fits it, else 1. None
    without weights.

    Raises :class:`OperatorError` for a name or pattern that fits no family.
    """
    if asked is None:
        return None
    for pattern in asked:
        if not any(fnmatchcase(name, pattern) for name in families):
            close = hint(nearest(pattern, families))
            raise OperatorError(f"tasks.weights: no family is named like {pattern!r}{close}")
    weights = dict.fromkeys(families, 1.0)
    for pattern, weight in asked.items():
        weights |= {name: weight for name in families if fnmatchcase(name, pattern)}
    return weights


def shares_by(
    weights: Mapping[str, float] | None, count: int, capacities: Mapping[str, int]
) -> dict[str, int]:
    """Shares of ``count`` by ``weights`` (None: equal ones); what a small one cannot supply, the
    others take. Sums to ``count``.
    """
    if weights is None:
        return shares(count, capacities)
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


_RANGED = {"difficulty": "a difficulty", "pass_rate": "an expected pass rate"}
"""What a range is of, by the key of ``tasks``."""


class TaskSelection(TaskTransform):
    """Chooses tasks of each universe, alone or composed; what a universe lacks, the next ones of
    its split give.
    """

    Options = SelectionConfig

    def __init__(self, options: SelectionConfig) -> None:
        super().__init__(options)
        self._asked = options
        self._ranges: dict[str, Levels | PassRates] = {}
        if (ends := options.difficulty) is not None:
            self._ranges["difficulty"] = Levels(ends.get("min", 0), ends.get("max"))
        if options.from_run is not None:
            try:
                self._ranges["pass_rate"] = PassRates.read(
                    options.from_run, *(options.pass_rate or (0.2, 0.8))
                )
            except DatasetError as error:
                raise OperatorError(f"tasks.from_run: {error}") from None

    def choose(
        self, blocks: Sequence[Block], opening: Callable[[Block, Task], str]
    ) -> Sequence[SelectedBlock]:
        names = list(dict.fromkeys(name for block in blocks for name in block.share))
        weights, most = weights_of(self._asked.weights, names), self._asked.max_near_duplicates
        openings, wordings = (None if most is None else Openings(most) for _ in range(2))
        filters = Filters(openings, wordings, self._ranges)
        if self._asked.split_tools:
            planned = Counter[str]()
            for block in blocks:
                planned[block.split] += block.tasks
            filters.splits = {name: count / planned.total() for name, count in planned.items()}
        if isinstance(rates := self._ranges.get("pass_rate"), PassRates) and not rates.known(names):
            raise OperatorError(
                f"tasks.from_run: {self._asked.from_run} has no scored rollout of these families"
            )
        chosen: list[SelectedBlock] = []
        lacking: Counter[str] = Counter()
        for block, sizes in zip(blocks, self._sizes(blocks), strict=True):
            filters.opening, filters.split = partial(opening, block), block.split
            chosen.append(self._selected(block, lacking[block.split], sizes, weights, filters))
            lacking[block.split] += block.tasks - chosen[-1].tasks
        if self._ranges and not any(block.tasks for block in chosen):
            raise OperatorError(
                "; ".join(
                    f"tasks.{key}: no task has {_RANGED[key]} of {range_}"
                    for key, range_ in self._ranges.items()
                )
            )
        return chosen

    def again(self, task: Task, recorded: Task) -> Task:
        if not recorded.parts:
            return task
        return replace(joined(task.parts, recorded.id, recorded.seed), split=recorded.split)

    def notes(self, blocks: Sequence[Block], asked: int) -> Iterator[str]:
        refused = next(one.refused for one in blocks if isinstance(one, SelectedBlock))
        found = sum(block.tasks for block in blocks)
        lacking = f"the plan has {found} of {asked} tasks" if found < asked else ""
        if left_out := refused["max_near_duplicates"]:
            more = "more wordings (`says` in tasks.yaml), families or universes give more"
            replaced = f", and not all could be replaced: {lacking}; {more}" if lacking else ""
            note = f"tasks.max_near_duplicates: {left_out} candidate tasks were near-duplicates"
            yield note + (replaced or "; others took their places")
        for key in self._ranges:
            note = f"tasks.{key}: {refused[key]} candidate tasks were easier or harder"
            yield f"{note}, and {lacking}" if lacking else note

    def _sizes(self, blocks: Sequence[Block]) -> list[dict[int, int]]:
        """Numbers of composed tasks of each size in each block."""
        out: list[dict[int, int]] = [{} for _ in blocks]
        for size, share in (self._asked.compose or {}).items():
            tasks = accumulate((block.tasks for block in blocks), initial=0)
            for sizes, (before, end) in zip(out, pairwise(tasks), strict=True):
                due = round(end * share) - round(before * share)
                if count := min(due, end - before - sum(sizes.values())):
                    sizes[int(size)] = count
        return out

    def _selected(
        self,
        block: Block,
        more: int,
        sizes: Mapping[int, int],
        weights: Mapping[str, float] | None,
        filters: Filters,
    ) -> SelectedBlock:
        """The tasks of one universe, ``more`` than its block has. Raises :class:`OperatorError` if
        it has too few families for a composed task.
        """
        pool, seed, many = block.source, block.seed, sum(sizes.values())
        drawn = sorted(block.share, key=lambda name: derive_seed(seed, pool.universe, name))
        capacities = {name: pool.capacity(name) for name in drawn}  # also who gets one more
        if filters.splits:
            capacities = _of_split(capacities, pool, seed, filters, max(sizes, default=1))
        alone = min(block.tasks + more, sum(capacities.values())) - many
        asked = [name for name, count in capacities.items() if count]
        if sizes and len(asked) < max(sizes):
            raise OperatorError(
                f"tasks.compose: {max(sizes)} requests in one task take as many families, and"
                f" universe {pool.universe} has {len(asked)} ({', '.join(asked)})"
            )
        own = replace(filters)
        rules = None, own.hold if own.ranges else None, partial(own.is_own, "tools")
        composer = Composer(pool, capacities, many, seed, *rules) if many else None
        places: dict[str, list[int]] | None = None
        share, exhausted = shares_by(weights, alone, capacities), frozenset[str]()
        if filters:
            families = CandidateFamilies(pool, seed, capacities, filters, weights)
            places = {name: [] for name in capacities}
            for family, place in families.choose(alone):
                places[family].append(place)
            share = {name: len(own) for name, own in places.items()}
            exhausted = frozenset(families.exhausted)
            if composer is not None:
                firsts = list(families.choose(SPARE * many, max(sizes), composer))
                sizes = _reduced(sizes, many - len(firsts))
                composer = composer.changed(count=sum(sizes.values()), firsts=firsts)
        composer = _balanced(composer, sizes, share, weights, filters)
        own = (sizes, composer, places, exhausted, weights, filters.refused)
        return SelectedBlock(pool, block.split, seed, share, *own)


@dataclass(frozen=True)
class SelectedBlock(Block):
    """The chosen tasks of one universe, of which ``composer`` makes the composed ones. ``places``
    are the places in the pool of each family's tasks (None: the first ones), ``exhausted`` the
    families that have no more of them, ``weights`` weigh the families (None: equally).
    ``refused`` counts the candidates that the filters of the plan refused.
    """

    composer: Composer | None = None
    places: Mapping[str, Sequence[int]] | None = None
    exhausted: frozenset[str] = frozenset()
    weights: Mapping[str, float] | None = None
    refused: Mapping[str, int] = field(default_factory=Counter[str])

    @property
    def requests(self) -> Mapping[str, float]:
        if self.composer is None:
            return self.share
        begun, later = _begun(self.composer), self.composer.expected
        return {name: self.share[name] + begun[name] + later[name] for name in self.share}

    @property
    def shortfalls(self) -> dict[str, tuple[int, int]]:
        weights = self.weights or dict.fromkeys(self.share, 1.0)
        whole, alone = sum(weights[name] for name in self.share), sum(self.share.values())
        due = {name: int(alone * weights[name] / whole) for name in self.share}
        return {
            name: (given, due[name])
            for name, given in self.share.items()
            if given < due[name] and (name in self.exhausted or given == self.source.capacity(name))
        }

    def identity(self) -> list[object]:
        firsts = None if self.composer is None else self.composer.firsts
        places = None if self.places is None else list(self.places.items())
        return [*super().identity(), sorted(self.composed.items()), places, firsts]

    def task(self, index: int, attempt: int = 0) -> Task:
        """The ``index``-th task. Composed tasks are spread evenly among the others."""
        composed = sum(self.composed.values())
        before, through = (at * composed // self.tasks for at in (index, index + 1))
        if before == through:
            family, number = turns(self.share, index - before)
            place = number if self.places is None else self.places[family][number]
            return self.source.task(family, place, self.seed)
        size = self._composed_sizes[before]
        assert self.composer is not None, "a block with composed tasks has a composer"
        task = self.composer.candidate(before, size, attempt)
        if task is None:
            message = (
                f"tasks.compose: 2 requests of universe {self.source.universe} that can stand"
                " together (of different families, with the same person signed in, without a row"
                f" that both change, in the ranges that are asked) were not found in {attempt}"
                " attempts; more families help"
            )
            raise TaskError(message)
        return task

    @cached_property
    def _composed_sizes(self) -> Sequence[int]:
        return _spread(self.composed)


def _spread(sizes: Mapping[int, int]) -> Sequence[int]:
    """The number of requests of each composed task; sizes are spread evenly."""
    places = [
        ((place + 0.5) / count, size) for size, count in sizes.items() for place in range(count)
    ]
    return [size for _, size in sorted(places)]


def _of_split(
    capacities: Mapping[str, int], pool: TaskPool, seed: int, filters: Filters, least: int
) -> Mapping[str, int]:
    """The families whose queries are of the split that is planned; all if fewer than ``least``
    are.
    """
    asked = [name for name, count in capacities.items() if count]
    own = [name for name in asked if filters.holds_query(pool.task(name, 0, seed))]
    return {name: capacities[name] for name in own} if len(own) >= least else capacities


def _balanced(
    composer: Composer | None,
    sizes: Mapping[int, int],
    share: Mapping[str, int],
    weights: Mapping[str, float] | None,
    filters: Filters,
) -> Composer | None:
    """The composer with the later requests that each family should give, so that all requests of a
    universe, asked alone or in a composed task, are shared out by ``weights``; its tasks do not
    repeat the first and last words of others where that is asked.
    """
    if composer is None or not sizes:
        return None
    more = sum((size - 1) * count for size, count in sizes.items())
    given = Counter(share) + _begun(composer)
    names = [name for name, capacity in composer.capacities.items() if capacity]
    later = top_up(more, {name: given[name] for name in names}, weights)
    composer = composer.changed(later=later, closed=filters.closed, asked=filters.asked)
    return composer if filters.openings is None else composer.settle(_spread(sizes), filters.closes)


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


class ByDifficulty(TaskTransform):
    """Sorts the tasks of each split by their difficulty, then by their place."""

    def apply(self, tasks: TaskList) -> TaskList:
        levels = [difficulty(tasks[index]) for index in range(len(tasks))]
        parts = [range(*part) for part in pairwise(accumulate(tasks.splits.values(), initial=0))]
        return tasks.chosen([at for part in parts for at in sorted(part, key=levels.__getitem__)])
