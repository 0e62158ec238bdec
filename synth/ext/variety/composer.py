"""The composed tasks of one universe: which tasks are asked together."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import islice
from random import Random
from typing import Any, cast

from synth.core.foundation.hashing import canonical, derive_seed, digest
from synth.core.foundation.near_duplicates import NearDuplicates, number_of, shingles, words
from synth.core.tasks.grounding import turns
from synth.core.tasks.yaml.words import TODAY
from synth.core.types.phrasings import JOIN
from synth.core.types.steps import BranchStep, CallStep, ReplyStep, Step, every_step
from synth.ext.variety.composition import joined, setting, shared_form
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

KNOWN = 10_000
"""The most tasks whose facts are kept."""

BEGINNING = 4
"""Words at the beginning of a reply."""

RECENT = 256
"""The most tasks that are kept."""

Places = tuple[tuple[str, int], ...]
"""The requests of a composed task: their families, and their places among the tasks of these."""


Opening = tuple[int, frozenset[int]]
"""The number of a text and its shingles."""


@dataclass(frozen=True, slots=True)
class LastWords:
    """The replies in which a task may end.

    ``ends``: the template of the last one with each thing that the task is about; two tasks that
    share one of these may end in the same words. ``beginnings``: the first words of each of them.
    """

    ends: frozenset[str]
    beginnings: frozenset[str]

    @classmethod
    def of(cls, task: Task) -> LastWords:
        last = task.parts[-1] if task.parts else task
        said = [step.text for step in every_step(last.gold) if isinstance(step, ReplyStep)][-1:]
        text = _without_names(canonical(said))
        about = {canonical(last.key), *_named(last)} if "$" in text else {""}
        replies = _last_replies(last.gold)
        return cls(
            frozenset(digest(text, thing) for thing in about), frozenset(map(_beginning, replies))
        )


def opening_of(found: Sequence[str]) -> Opening:
    """The opening with these words."""
    return number_of(found), shingles(found)


@dataclass(frozen=True, slots=True)
class _PartFacts:
    """The facts of a task that decide what it can be asked with.

    ``only_asks``: it never comes to a change. ``depends``: its end depends on the data or on what
    its user is asked, so that a later request about the same things may contradict it.
    """

    task_id: str
    slots: Mapping[str, Any]
    setting: tuple[object, ...]
    named: frozenset[str]
    acts: Sequence[tuple[str, str]]
    calls: frozenset[str]
    given: Mapping[str, frozenset[str]]
    only_asks: bool
    depends: bool
    is_note: bool
    opening: Opening
    last_words: LastWords
    answer: Mapping[str, object] | None
    form: Mapping[str, object] | None

    def contradicts(self, earlier: Sequence[_PartFacts]) -> bool:
        """True if an earlier request about the same thing gave another value for a parameter: it
        was opened, and then it was not.
        """
        return any(
            self.given[name].isdisjoint(values)
            for one in earlier
            if one.named & self.named
            for name, values in one.given.items()
            if name in self.given
        )


@dataclass(frozen=True)
class Composer:
    """The composed tasks of one universe, each a function of its index.

    ``capacities`` are the families that may be parts, with the number of their tasks; ``count`` is
    the number of composed tasks that are asked. ``firsts`` are the families and places of the tasks
    that may begin one (None: all). ``wanted`` says whether a composed task may be asked (None:
    all may), and ``own`` whether its tools may be called. ``later`` is the number of later requests
    that each family should give (None: all the same). ``settled`` are the requests of composed
    tasks by their index. While they are settled, ``made`` counts the requests of each family and
    each place, and ``asked`` holds the later ones of the plan so far.
    """

    pool: TaskPool
    capacities: Mapping[str, int]
    count: int
    seed: int
    firsts: Sequence[tuple[str, int]] | None = None
    wanted: Callable[[Task], bool] | None = None
    own: Callable[[Sequence[str]], bool] = lambda _: True
    later: Mapping[str, float] | None = None
    settled: Mapping[int, Places] = field(default_factory=dict[int, Places])
    closed: Callable[[LastWords], bool] = lambda _: False
    made: Counter[object] = field(default_factory=Counter[object])
    asked: NearDuplicates = field(default_factory=NearDuplicates)

    @cached_property
    def _task(self) -> Callable[[str, int], Task]:
        """A task; the last ones are kept, as its facts are asked before it is composed."""
        return lru_cache(RECENT)(partial(self.pool.task, seed=self.seed))

    @cached_property
    def facts(self) -> Callable[[str, int], _PartFacts]:
        """The facts of a task; they are kept, as draws of partners come back to it."""
        writers = frozenset(tool.name for tool in self.pool.world.tools if not tool.read_only)
        return lru_cache(KNOWN)(lambda *place: facts_of(self._task(*place), writers))

    @cached_property
    def _partners(self) -> Mapping[tuple[object, ...], Mapping[str, Sequence[int]]]:
        """Places of tasks by their setting and family."""
        found: dict[tuple[object, ...], dict[str, list[int]]] = {}
        for family, capacity in self.capacities.items():
            fruitless = 0
            for index in range(min(capacity, SAMPLE)):
                key = self.facts(family, index).setting
                places = found.setdefault(key, {}).setdefault(family, [])
                places.append(index)
                fruitless = 0 if len(places) <= ENOUGH and key else fruitless + 1
                if fruitless == FRUITLESS:
                    break
        found.pop((), None)
        return found

    def changed(self, **changes: Any) -> Composer:
        """The composer with other values of some fields, and the same partners."""
        made = replace(self, **changes)
        vars(made).update(_partners=self._partners, _task=self._task, facts=self.facts)
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
        return [self._others(*self._first(at))[1] for at in range(0, self.count, step)]

    def _first(self, place: int) -> tuple[str, int]:
        """The family of a first request, and its place among its tasks."""
        return turns(self.capacities, place) if self.firsts is None else self.firsts[place]

    def candidate(self, index: int, size: int, attempt: int) -> Task | None:
        """The ``attempt``-th candidate for the ``index``-th composed task; None if there are no
        more. Once none of ``size`` requests is left, a candidate has fewer, at least two.

        First requests take turns by family, and no two composed tasks have the same one.
        """
        sizes = range(size, 1, -1)
        found = (one for fewer in sizes for one in self._candidates(index, fewer))
        first = self.settled.get(index) or next(found, None)
        others = (
            other
            for fewer in sizes
            for closed in (False, True)
            for other in self._candidates(index, fewer, closed=closed)
            if other != first
        )
        places = next(islice(others, attempt - 1, None), None) if first and attempt else first
        return None if places is None else self._composed(places)

    def _composed(self, places: Sequence[tuple[str, int]]) -> Task:
        """The task that asks for the requests at these places."""
        name = self._id(places)
        return joined([self._task(*place) for place in places], name, derive_seed(name))

    def _id(self, places: Sequence[tuple[str, int]]) -> str:
        """The id of that task, which is known before the task is made."""
        ids = [self.facts(*place).task_id for place in places]
        return f"{JOIN.join(family for family, _ in places)}-{digest('composed', ids, self.seed)}"

    def settle(self, sizes: Sequence[int], takes: Callable[[Task, LastWords], bool]) -> Composer:
        """The composer whose composed tasks, of these ``sizes``, are each the first candidate that
        ``takes`` accepts, where one of the first ones is. ``takes`` gets the first request, with
        the id and slots of the composed task, and the last words. The tasks of a family take turns.
        """
        settled = dict[int, Places]()
        for place in (self.firsts or ())[: self.count]:
            self.made.update([place, place[0]])
        for index, size in enumerate(sizes):
            for places in islice(self._candidates(index, size, closed=False), LOOKED_AT):
                slots = {str(n): self.facts(*place).slots for n, place in enumerate(places, 1)}
                first = replace(self._task(*places[0]), id=self._id(places), slots=slots)
                if takes(first, self.facts(*places[-1]).last_words):
                    settled[index] = places
                    for place in places[1:]:
                        self.made.update([place, place[0]])
                        self.asked.add(self.facts(*place).opening[1])
                    break
        return self.changed(settled=settled, made=Counter[object](), asked=NearDuplicates())

    def _candidates(self, index: int, size: int, *, closed: bool | None = None) -> Iterator[Places]:
        """Requests that can stand together. ``closed``: only those whose last words are closed, or
        open (None: both).
        """
        total = sum(self.capacities.values()) if self.firsts is None else len(self.firsts)
        for place in range(index, total, self.count):
            first = self._first(place)
            partners, others = self._others(*first)
            if len(others) < size - 1:
                continue
            for draw in range(DRAWS):
                dice = Random(derive_seed(self.seed, self.pool.universe, place, draw))
                drawn = sorted(others, key=lambda name: self._rank(name, dice.random()))
                places = [first, *islice(self._later(first, partners, drawn, dice), size - 1)]
                facts = [self.facts(*one) for one in places]
                if len(places) < size or not self.own(self.tools_of([one.acts for one in facts])):
                    continue
                if closed is not None and self.closed(facts[-1].last_words) != closed:
                    continue
                if not shared_form(facts[0].form, [one.answer for one in facts])[0]:
                    continue
                if self.wanted is None or self.wanted(self._composed(places)):
                    yield tuple(places)

    def _later(
        self,
        first: tuple[str, int],
        partners: Mapping[str, Sequence[int]],
        names: Sequence[str],
        dice: Random,
    ) -> Iterator[tuple[str, int]]:
        """Places of requests of these families. None is about a thing that an earlier one is about,
        but for a change to what was only asked about, and none asks for what one has shown. Who
        writes notes goes on to, where there are any.
        """
        parts = [self.facts(*first)]
        made, sides = set(parts[0].calls), {False: set[str](), True: set[str]()}
        sides[parts[0].only_asks].update(parts[0].named)
        taken, asked = sides[False], sides[True]
        for name in names:
            known = self._changing(name, partners[name], asked - taken)
            for draw in range(DRAWS):
                follows = bool(known) and dice.random() < FOLLOWS_ON
                place = self._partner(name, known if follows else partners[name], dice)
                part = self.facts(name, place)
                barred = taken if follows else taken | asked
                shown = part.only_asks and set[str]() < part.calls <= made
                if shown or not barred.isdisjoint(part.named):
                    continue
                if follows and part.contradicts(parts):
                    continue
                if draw < DRAWS // 2 and not self._is_apt(name, place, notes=parts[0].is_note):
                    continue
                parts.append(part)
                made |= part.calls
                sides[part.only_asks].update(part.named)
                yield name, place
                break

    def _changing(self, family: str, places: Sequence[int], asked: Collection[str]) -> list[int]:
        """The places of tasks that ask for a change and can follow a question about a name."""
        facts = ((at, self.facts(family, at)) for at in places if asked)
        able = ((at, one) for at, one in facts if not (one.only_asks or one.depends))
        return [at for at, one in able if not one.named.isdisjoint(asked)]

    def _is_apt(self, family: str, place: int, *, notes: bool) -> bool:
        """True for a request in the manner of the first, made no more often than its family's are
        on average, in other words than those before.
        """
        often = self.made[family, place] * self.capacities[family] > self.made[family]
        one = self.facts(family, place)
        return not often and one.is_note == notes and self.asked.find(one.opening[1]) is None

    @staticmethod
    def acts_of(task: Task) -> Sequence[tuple[str, str]]:
        """The calls of a task's gold: their tools, and their arguments as JSON."""
        steps = (step for step in every_step(task.gold) if isinstance(step, CallStep))
        return [(step.tool, canonical(dict(step.arguments))) for step in steps]

    @staticmethod
    def tools_of(parts: Sequence[Sequence[tuple[str, str]]]) -> Sequence[str]:
        """The tools that parts call, in order; equal calls count once, but for what is saved."""
        saved = re.compile(rf'\{{"\$":"(?!{TODAY}")')
        acts = ((act, saved.search(act[1]) and at) for at, part in enumerate(parts) for act in part)
        return [act[0] for act, _ in dict.fromkeys(acts)]

    def can_begin(self, family: str, place: int, size: int) -> bool:
        """True if tasks of enough other families can follow the task."""
        return len(self._others(family, place)[1]) >= size - 1

    def _others(self, family: str, place: int) -> tuple[Mapping[str, Sequence[int]], list[str]]:
        """The places of tasks in the setting of a first one, and the other families of them."""
        partners = self._partners.get(self.facts(family, place).setting, {})
        return partners, [name for name in partners if name != family]

    def _rank(self, family: str, chance: float) -> float:
        """The place of a family among those drawn by their pulls, without replacement (Efraimidis
        and Spirakis, "Weighted random sampling with a reservoir", 2006).
        """
        return -math.log1p(-chance) / self._pulls[family]

    def _partner(self, family: str, places: Sequence[int], dice: Random) -> int:
        """The place of a task of a family in the setting of its tasks at ``places``: any one, if
        they have the same setting.
        """
        known = dice.choice(places)
        if family not in self._everywhere or len(places) < ENOUGH:
            return known
        place = dice.randrange(self.capacities[family])
        own, other = (self.facts(family, at) for at in (known, place))
        return place if own.setting == other.setting else known


def _without_names(text: str) -> str:
    """JSON in which saved values have no names."""
    return re.sub(r'"\$":"[^"]*"', '"$"', text)


def facts_of(task: Task, writers: Collection[str]) -> _PartFacts:
    """The facts of a task as a part, where ``writers`` are the tools that change something."""
    steps = [step for step in every_step(task.gold) if isinstance(step, CallStep)]
    given = defaultdict[str, set[str]](set)
    for step in steps:
        for name, value in step.arguments.items():
            if "$" not in (text := canonical(value)):
                given[name].add(text)
    gate, acts = task.gate("reply"), Composer.acts_of(task)
    claims = cast("Mapping[str, Any]", gate.options or {}).get("acts", ()) if gate else ()
    return _PartFacts(
        task_id=task.id,
        slots=task.slots,
        setting=setting(task),
        named=frozenset(_named(task)),
        acts=acts,
        calls=frozenset(_without_names(" ".join(act)) for act in acts),
        given={name: frozenset(values) for name, values in given.items()},
        only_asks={step.tool for step in steps}.union(claims).isdisjoint(writers),
        depends=bool(task.role.every_topic)
        or any(isinstance(step, BranchStep) for step in task.gold),
        is_note=grammar().is_note(task.prompt),
        opening=opening_of(words(task.prompt)),
        last_words=LastWords.of(task),
        answer=task.answer,
        form=task.form,
    )


def _named(task: Task) -> set[str]:
    """The things that a request or its user's answers name, such as an order: two requests about
    one would contradict each other. The rules and the person who is signed in do not count.
    """
    values, texts = {str(value) for value in task.slots.values()}, str(task.role)
    said = {value for value in values if value in texts and value not in task.system}
    return {value for value in said if value != value.lower()}


def _last_replies(steps: Sequence[Step]) -> Iterator[object]:
    """The texts of the replies in which steps may end, one of each branch."""
    for step in reversed(steps):
        branches = (step.steps, step.otherwise) if isinstance(step, BranchStep) else ()
        found = [step.text] if isinstance(step, ReplyStep) else []
        found += [text for branch in branches for text in _last_replies(branch)]
        if found:
            yield from found
            return


def _beginning(text: object) -> str:
    """The first words of a reply, in which saved values have no names."""
    parts: Sequence[object] = [text]
    if isinstance(text, Mapping):
        parts = cast("Mapping[str, Sequence[object]]", text).get("$text", parts)
    said = "".join(part if isinstance(part, str) else "$" for part in parts)
    return " ".join(said.split()[:BEGINNING])
