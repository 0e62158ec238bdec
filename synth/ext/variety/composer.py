"""The composed tasks of one universe: which tasks are asked together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from synth.core.foundation.hashing import derive_seed
from synth.core.tasks.grounding import turns
from synth.ext.variety.composition import compose, setting, shared_form
from synth.source import TaskPool
from synth.task import Task

SAMPLE = 200
"""The most tasks of a family among which a partner for another task is looked for."""

ENOUGH = 8
"""Tasks of a family in one setting; after so many, and ``FRUITLESS`` more without a setting that
has fewer, no other task of the family is looked at.
"""

FRUITLESS = 24

FOLLOWED = 100
"""The most first requests whose followers are counted."""

ROUNDS = 12
"""Times that the pulls of families are corrected by how often they are drawn."""

LEAST = 0.01
"""The number of later requests that are asked of a family that has its share already: in some
settings no other can follow.
"""

DRAWS = 6
"""Number of draws of partners for a first request, and of tasks of each partner's family."""


@dataclass(frozen=True)
class Composer:
    """The composed tasks of one universe, each a function of its index.

    ``capacities`` are the families that may be parts, with the number of their tasks; ``count`` is
    the number of composed tasks that are asked. ``firsts`` are the families and places of the tasks
    that may begin one (None: all). ``wanted`` tells of a composed task whether it may be asked
    (None: all may). ``later`` is the number of later requests that each family should give (None:
    all the same).
    """

    pool: TaskPool
    capacities: Mapping[str, int]
    count: int
    seed: int
    firsts: Sequence[tuple[str, int]] | None = None
    wanted: Callable[[Task], bool] | None = None
    later: Mapping[str, float] | None = None

    @cached_property
    def _partners(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """Places of tasks by their setting and family."""
        found: dict[str, dict[str, list[int]]] = {}
        for family, capacity in self.capacities.items():
            fruitless = 0
            for index in range(min(capacity, SAMPLE)):
                key = setting(self.pool.task(family, index, self.seed))
                places = found.setdefault(key, {}).setdefault(family, [])
                places.append(index)
                fruitless = 0 if len(places) <= ENOUGH and key else fruitless + 1
                if fruitless == FRUITLESS:
                    break
        found.pop("", None)
        return found

    def changed(self, **changes: Any) -> Composer:
        """The composer with other ``count``, ``firsts`` or ``later``, and the same partners."""
        made = replace(self, **changes)
        vars(made)["_partners"] = self._partners
        return made

    @cached_property
    def _everywhere(self) -> frozenset[str]:
        """The families all of whose tasks that were looked at have one setting."""
        times = Counter(family for own in self._partners.values() for family in own)
        return frozenset(family for family, count in times.items() if count == 1)

    @cached_property
    def _pulls(self) -> Mapping[str, float]:
        """The weights by which families are drawn as later requests. A family that can follow many
        first requests is drawn too often by the numbers of ``later`` alone, so they are corrected
        by how often it is expected (iterative proportional fitting).
        """
        if self.later is None:
            return dict.fromkeys(self.capacities, 1.0)
        due = {name: max(self.later.get(name, 0), LEAST) for name in self.capacities}
        pulls = dict(due)
        for _ in range(ROUNDS):
            drawn = self._drawn(pulls)
            pulls = {
                name: pull * due[name] / drawn[name] if drawn[name] else pull
                for name, pull in pulls.items()
            }
        return pulls

    @property
    def expected(self) -> Mapping[str, float]:
        """The expected number of later requests of each family."""
        return self._drawn(self._pulls)

    def _drawn(self, pulls: Mapping[str, float]) -> Mapping[str, float]:
        """How often families are drawn by these pulls, in proportion to some first requests."""
        drawn = dict.fromkeys(pulls, 0.0)
        for names in self._followers:
            whole = sum(pulls[name] for name in names)
            for name in names:
                drawn[name] += pulls[name] / whole
        scale = sum((self.later or {}).values()) / (sum(drawn.values()) or 1)
        return {name: number * scale for name, number in drawn.items()}

    @cached_property
    def _followers(self) -> Sequence[Sequence[str]]:
        """The families that can follow each of some first requests, which are spread evenly."""
        step = max(1, self.count // FOLLOWED)
        return [self._others(self._first(place))[1] for place in range(0, self.count, step)]

    def _first(self, place: int) -> Task:
        """The first request at a place."""
        family, position = (
            turns(self.capacities, place) if self.firsts is None else self.firsts[place]
        )
        return self.pool.task(family, position, self.seed)

    def candidate(self, index: int, size: int, attempt: int) -> Task | None:
        """The ``attempt``-th candidate for the ``index``-th composed task; None if there are no
        more.

        First requests take turns by family, and no two composed tasks have the same one.
        """
        return next(islice(self._candidates(index, size), attempt, None), None)

    def _candidates(self, index: int, size: int) -> Iterator[Task]:
        total = sum(self.capacities.values()) if self.firsts is None else len(self.firsts)
        for place in range(index, total, self.count):
            first = self._first(place)
            partners, others = self._others(first)
            if len(others) < size - 1:
                continue
            for draw in range(DRAWS):
                seed = derive_seed(self.seed, self.pool.universe, place, draw)
                others.sort(key=lambda name: self._rank(seed, name))
                parts = [first, *islice(self._later(first, partners, others, seed), size - 1)]
                if len(parts) == size and shared_form(parts)[0]:
                    task = compose(parts, self.seed)
                    if self.wanted is None or self.wanted(task):
                        yield task

    def _later(
        self, first: Task, partners: Mapping[str, Sequence[int]], names: Sequence[str], seed: int
    ) -> Iterator[Task]:
        """Requests of these families about other things than the requests before them."""
        taken = _named(first)
        for name in names:
            for draw in range(DRAWS):
                part = self._partner(name, partners[name], derive_seed(seed, name, draw))
                if taken.isdisjoint(named := _named(part)):
                    taken |= named
                    yield part
                    break

    def can_begin(self, task: Task, size: int) -> bool:
        """True if tasks of enough other families can follow the task."""
        return len(self._others(task)[1]) >= size - 1

    def _others(self, first: Task) -> tuple[Mapping[str, Sequence[int]], list[str]]:
        """The places of tasks in the setting of the first one, and the other families of them."""
        partners = self._partners.get(setting(first), {})
        return partners, [name for name in partners if name != first.family]

    def _rank(self, seed: int, family: str) -> float:
        """The place of a family among those drawn by their pulls, without replacement (Efraimidis
        and Spirakis, "Weighted random sampling with a reservoir", 2006).
        """
        chance = (derive_seed(seed, family) + 1) / 2**63
        return -math.log(chance) / self._pulls[family]

    def _partner(self, family: str, places: Sequence[int], draw: int) -> Task:
        """A task of a family in the setting of its tasks at ``places``: any one, if they have the
        same setting.
        """
        known = self.pool.task(family, places[draw % len(places)], self.seed)
        if family not in self._everywhere:
            return known
        task = self.pool.task(family, draw % self.capacities[family], self.seed)
        return task if setting(task) == setting(known) else known


def _named(task: Task) -> set[str]:
    """The things that a request or its user's answers name, such as an order: two requests about
    one would contradict each other. The rules and the person who is signed in do not count.
    """
    values, words = {str(value) for value in task.slots.values()}, str(task.role)
    said = {value for value in values if value in words and value not in task.system}
    return {value for value in said if value != value.lower()}
