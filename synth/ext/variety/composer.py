"""The composed tasks of one universe: which tasks are asked together."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, cast

from synth.core.foundation.hashing import canonical, derive_seed, digest
from synth.core.foundation.near_duplicates import NearDuplicates, shingles, words
from synth.core.tasks.grounding import turns
from synth.core.types.steps import BranchStep, CallStep, ReplyStep, every_step
from synth.ext.variety.composition import compose, setting, shared_form
from synth.ext.variety.wording.grammar import grammar
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

DRAWS = 16
"""Number of draws of partners for a first request, and of tasks of each partner's family."""

LOOKED_AT = 40
"""The most candidates for a composed task among which one with an end of its own is looked for."""

FOLLOWS_ON = 0.5
"""The chance that a change is asked for what an earlier request asked about, if it can be."""

BEGINNING = 4
"""Words at the beginning of the last reply."""


Places = tuple[tuple[str, int], ...]
"""The requests of a composed task: their families, and their places among the tasks of these."""


@dataclass(frozen=True)
class Composer:
    """The composed tasks of one universe, each a function of its index.

    ``capacities`` are the families that may be parts, with the number of their tasks; ``count`` is
    the number of composed tasks that are asked. ``firsts`` are the families and places of the tasks
    that may begin one (None: all). ``wanted`` tells of a composed task whether it may be asked
    (None: all may). ``later`` is the number of later requests that each family should give (None:
    all the same). ``settled`` are the requests of composed tasks by their index. While they
    are settled, ``made`` counts the requests of each family and each place, and ``asked`` holds
    the later ones of the plan so far.
    """

    pool: TaskPool
    capacities: Mapping[str, int]
    count: int
    seed: int
    firsts: Sequence[tuple[str, int]] | None = None
    wanted: Callable[[Task], bool] | None = None
    later: Mapping[str, float] | None = None
    settled: Mapping[int, Places] = field(default_factory=dict[int, Places])
    closed: Callable[[Task], bool] = lambda _: False
    made: Counter[object] = field(default_factory=Counter[object])
    asked: NearDuplicates = field(default_factory=NearDuplicates)

    @cached_property
    def _writers(self) -> frozenset[str]:
        """The names of the tools that change something."""
        return frozenset(tool.name for tool in self.pool.world.tools if not tool.read_only)

    @cached_property
    def _about(self) -> dict[tuple[str, int], set[str]]:
        """What tasks name that ask for a change, by family and place; known for partners. Those
        whose user answers questions are left out: the answers may contradict what was said before.
        So are those that ask for something else where the change cannot be made.
        """
        return {}

    @cached_property
    def _partners(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """Places of tasks by their setting and family."""
        found: dict[str, dict[str, list[int]]] = {}
        for family, capacity in self.capacities.items():
            fruitless = 0
            for index in range(min(capacity, SAMPLE)):
                task = self.pool.task(family, index, self.seed)
                key = setting(task)
                depends = any(isinstance(step, BranchStep) for step in task.gold)
                if not (self._only_asks(task) or task.role.every_topic or depends):
                    self._about[family, index] = _named(task)
                places = found.setdefault(key, {}).setdefault(family, [])
                places.append(index)
                fruitless = 0 if len(places) <= ENOUGH and key else fruitless + 1
                if fruitless == FRUITLESS:
                    break
        found.pop("", None)
        return found

    def changed(self, **changes: Any) -> Composer:
        """The composer with other values of some fields, and the same partners."""
        made = replace(self, **changes)
        vars(made).update(_partners=self._partners, _about=self._about)
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
        firsts = (self.pool.task(*self._first(at), self.seed) for at in range(0, self.count, step))
        return [self._others(first)[1] for first in firsts]

    def _first(self, place: int) -> tuple[str, int]:
        """The family of a first request, and its place among its tasks."""
        return turns(self.capacities, place) if self.firsts is None else self.firsts[place]

    def candidate(self, index: int, size: int, attempt: int) -> Task | None:
        """The ``attempt``-th candidate for the ``index``-th composed task; None if there are no
        more.

        First requests take turns by family, and no two composed tasks have the same one.
        """
        first = self.settled.get(index) or next(self._candidates(index, size), None)
        if first is None or not attempt:
            return None if first is None else self._composed(first)
        others = (
            task
            for closed in (False, True)
            for task in map(self._composed, filter(first.__ne__, self._candidates(index, size)))
            if self.closed(task) == closed
        )
        return next(islice(others, attempt - 1, None), None)

    def settle(self, sizes: Sequence[int], takes: Callable[[Task], bool]) -> Composer:
        """The composer whose composed tasks, of these ``sizes``, are each the first candidate that
        ``takes`` accepts, where one of the first ones is. The tasks of a family take turns.
        """
        settled = dict[int, Places]()
        for place in (self.firsts or ())[: self.count]:
            self.made.update([place, place[0]])
        for index, size in enumerate(sizes):
            for places in islice(self._candidates(index, size), LOOKED_AT):
                if takes(self._composed(places)):
                    settled[index] = places
                    for place in places[1:]:
                        self.made.update([place, place[0]])
                        self.asked.add(self._shingles(*place))
                    break
        return self.changed(settled=settled, made=Counter[object](), asked=NearDuplicates())

    def _shingles(self, family: str, place: int) -> frozenset[int]:
        return shingles(words(self.pool.task(family, place, self.seed).prompt))

    def _composed(self, places: Places) -> Task:
        return compose([self.pool.task(*place, self.seed) for place in places], self.seed)

    def _candidates(self, index: int, size: int) -> Iterator[Places]:
        total = sum(self.capacities.values()) if self.firsts is None else len(self.firsts)
        for place in range(index, total, self.count):
            first = self.pool.task(*self._first(place), self.seed)
            partners, others = self._others(first)
            if len(others) < size - 1:
                continue
            for draw in range(DRAWS):
                seed = derive_seed(self.seed, self.pool.universe, place, draw)
                others.sort(key=lambda name: self._rank(seed, name))
                later = islice(self._later(first, partners, others, seed), size - 1)
                places = [self._first(place), *later]
                parts = [self.pool.task(*one, self.seed) for one in places]
                fit = len(parts) == size and shared_form(parts)[0]
                if fit and (self.wanted is None or self.wanted(compose(parts, self.seed))):
                    yield tuple(places)

    def _later(
        self, first: Task, partners: Mapping[str, Sequence[int]], names: Sequence[str], seed: int
    ) -> Iterator[tuple[str, int]]:
        """Places of requests of these families. None is about a thing that an earlier one is about,
        but for a change to what was only asked about, and none asks for what one has shown. Who
        writes notes goes on to, where there are any.
        """
        notes = grammar().is_note(first.prompt)
        parts, made = [first], _calls(first)
        sides = {False: set[str](), True: set[str]()} | {self._only_asks(first): _named(first)}
        taken, asked = sides[False], sides[True]
        for name in names:
            known = [
                at for at in partners[name] if self._about.get((name, at), set()) & asked - taken
            ]
            for draw in range(DRAWS):
                chance = derive_seed(seed, name, draw)
                follows = bool(known) and (chance / 2**63) < FOLLOWS_ON
                place = self._partner(name, known if follows else partners[name], chance)
                part = self.pool.task(name, place, self.seed)
                own, asks = _named(part), self._only_asks(part)
                barred = taken if follows else taken | asked
                apt = draw >= DRAWS // 2 or self._is_apt(name, place, notes=notes)
                if not (apt and barred.isdisjoint(own)):
                    continue
                if (asks and _is_answered(part, made)) or (follows and contradicts(part, parts)):
                    continue
                parts.append(part)
                made |= _calls(part)
                sides[asks].update(own)
                yield name, place
                break

    def _is_apt(self, family: str, place: int, *, notes: bool) -> bool:
        """True for a request in the manner of the first, made no more often than its family's are
        on average, in other words than those before.
        """
        often = self.made[family, place] * self.capacities[family] > self.made[family]
        return (
            not often
            and self.asked.find(self._shingles(family, place)) is None
            and grammar().is_note(self.pool.task(family, place, self.seed).prompt) == notes
        )

    def _only_asks(self, task: Task) -> bool:
        """True for a request that never comes to a change, whatever the data turn out to be."""
        calls = {step.tool for step in every_step(task.gold) if isinstance(step, CallStep)}
        gate = task.gate("reply")
        acts = cast("Mapping[str, Any]", gate.options or {}).get("acts", ()) if gate else ()
        return self._writers.isdisjoint(calls.union(acts))

    @staticmethod
    def ends_of(task: Task) -> tuple[str, set[str]]:
        """The beginning of a task's last words, and the template with each thing that it is about:
        two tasks that share one of these may end in the same words.
        """
        last = task.parts[-1] if task.parts else task
        said = [step.text for step in every_step(last.gold) if isinstance(step, ReplyStep)][-1:]
        text = _without_names(said)
        about = {canonical(last.key), *_named(last)} if "$" in text else {""}
        return " ".join(text.split()[:BEGINNING]), {digest(text, thing) for thing in about}

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

    def _partner(self, family: str, places: Sequence[int], draw: int) -> int:
        """The place of a task of a family in the setting of its tasks at ``places``: any one, if
        they have the same setting.
        """
        known = places[draw % len(places)]
        if family not in self._everywhere or len(places) < ENOUGH:
            return known
        place = draw % self.capacities[family]
        own, other = (setting(self.pool.task(family, at, self.seed)) for at in (known, place))
        return place if own == other else known


def _without_names(value: object) -> str:
    """JSON as text, in which saved values have no names."""
    return re.sub(r'\{"\$":"[^"]*"\}', "$", canonical(value))


def _calls(task: Task) -> set[str]:
    """The calls that gold makes, as text."""
    steps = (step for step in every_step(task.gold) if isinstance(step, CallStep))
    return {_without_names([step.tool, dict(step.arguments)]) for step in steps}


def _is_answered(task: Task, made: set[str]) -> bool:
    """True if all calls of gold were made: the answer was seen already."""
    return set[str]() < _calls(task) <= made


def contradicts(task: Task, earlier: Sequence[Task]) -> bool:
    """True if an earlier request about the same thing gave another value for a parameter: it was
    opened, and then it was not.
    """
    own = _literals(task)
    return any(
        own[name].isdisjoint(values)
        for one in earlier
        if _named(one) & _named(task)
        for name, values in _literals(one).items()
        if name in own
    )


def _literals(task: Task) -> Mapping[str, set[str]]:
    """The values that gold gives for a parameter without having read them."""
    found = defaultdict[str, set[str]](set)
    for step in every_step(task.gold):
        for name, value in dict(step.arguments).items() if isinstance(step, CallStep) else ():
            if "$" not in (text := canonical(value)):
                found[name].add(text)
    return found


def _named(task: Task) -> set[str]:
    """The things that a request or its user's answers name, such as an order: two requests about
    one would contradict each other. The rules and the person who is signed in do not count.
    """
    values, words = {str(value) for value in task.slots.values()}, str(task.role)
    said = {value for value in values if value in words and value not in task.system}
    return {value for value in said if value != value.lower()}
