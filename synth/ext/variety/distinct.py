"""Choice of tasks whose opening requests are not near-duplicates of one another
(``tasks.max_near_duplicates``), and whose difficulty or expected pass rate is in a range.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from itertools import accumulate
from typing import cast

from synth.core.foundation.hashing import derive_seed
from synth.core.foundation.near_duplicates import NearDuplicates, masked, number_of, shingles, words
from synth.core.types.difficulty import difficulty
from synth.core.types.steps import BranchStep, ReplyStep, Step
from synth.ext.variety.composer import Composer
from synth.ext.variety.pass_rates import PassRates
from synth.source import TaskPool
from synth.task import Task

MOST_REFUSED = 200
"""The tasks of a family that are refused one after another before it counts as exhausted."""

MOST_BEGUN = 0.015
"""The largest share of the tasks whose last replies have one beginning."""

BEGINNING = 4
"""Words at the beginning of a reply."""

SPARE = 4
"""First requests that are chosen for each composed task: one that is not proved gets another."""


@dataclass(frozen=True)
class Levels:
    """A range of difficulty, both ends included; ``most`` None: no upper end."""

    least: int = 0
    most: int | None = None

    def hold(self, task: Task) -> bool:
        """True if the task's difficulty is in the range."""
        level = difficulty(task)
        return self.least <= level and (self.most is None or level <= self.most)

    def __str__(self) -> str:
        end = "" if self.most is None else f" to {self.most}"
        return f"{self.least}{end or ' on'}"


@dataclass(slots=True)
class Openings:
    """The opening requests of a plan so far. At most the share ``most`` are near-duplicates of one
    before them.
    """

    most: float
    _chosen: int = 0
    _near: int = 0
    _texts: set[int] = field(default_factory=set[int])
    _index: NearDuplicates = field(default_factory=NearDuplicates)

    def take(self, found: Sequence[str], *, strict: bool = False) -> bool:
        """Add the words of an opening if it may be in the plan; ``strict`` refuses every
        near-duplicate.
        """
        text, parts = number_of(found), shingles(found)
        is_near = text in self._texts or self._index.find(parts) is not None
        if is_near and (strict or self._near + 1 > self.most * (self._chosen + 1)):
            return False
        self._chosen += 1
        self._near += is_near
        if text not in self._texts:
            self._texts.add(text)
            self._index.add(parts)
        return True


@dataclass(slots=True)
class Filters:
    """Filters of a plan: the openings so far and their ``wordings``, with slots masked (None:
    near-duplicates are welcome), and ``ranges`` that hold a task, by the key of ``tasks``.
    ``splits`` are the splits' shares of the sequences of tools (empty: any split may have any),
    ``split`` is the one that is planned. ``refused`` counts the tasks that were refused, by that
    key. ``shown`` gives a task in the words that its user will use,
    ``asked`` has the later requests of composed tasks.
    """

    openings: Openings | None
    wordings: Openings | None
    ranges: Mapping[str, Levels | PassRates]
    splits: Mapping[str, float] = field(default_factory=dict[str, float])
    split: str = ""
    refused: Counter[str] = field(default_factory=Counter[str])
    shown: Callable[[Task], Task] = lambda task: task
    asked: NearDuplicates = field(default_factory=NearDuplicates)
    _ends: set[str] = field(default_factory=set[str])
    _begun: Counter[str] = field(default_factory=Counter[str])

    def __bool__(self) -> bool:
        return self.openings is not None or bool(self.ranges or self.splits)

    def hold(self, task: Task) -> bool:
        """True if the task is in all ranges."""
        return all(range_.hold(task) for range_ in self.ranges.values())

    def holds_query(self, task: Task) -> bool:
        """True if the query that answers a question is of the split that is planned, whatever the
        question is about; other tasks have none.
        """
        gate = task.gate("sql")
        query = "" if gate is None else str(dict(gate.options or {})["query"])
        return not query or self.is_own("query", masked(words(query), task.slots))

    def is_own(self, kind: str, names: Sequence[str]) -> bool:
        """True if a sequence of names is of the split that is planned."""
        chance = (derive_seed(kind, names) + 1) / 2**63
        ends = zip(self.splits, accumulate(self.splits.values()), strict=True)
        return self.split == next((name for name, end in ends if chance <= end), self.split)

    def closed(self, task: Task) -> bool:
        """True if another task may end in the task's words."""
        return not self._ends.isdisjoint(Composer.ends_of(task))

    def closes(self, task: Task) -> bool:
        """Add a task in whose last words no other task ends and few begin, and whose first words
        nearly repeat another one's, with slots masked, for few tasks only.
        """
        most = max(MOST_BEGUN * self._begun.total(), 1)
        begun = {*map(_beginning, _last_replies(task.gold))}
        full = any(self._begun[beginning] >= most for beginning in begun)
        if self.wordings is None or full or self.closed(task):
            return False
        if taken := self.wordings.take(masked(words(self.shown(task).prompt), task.slots)):
            self._ends |= Composer.ends_of(task)
            self._begun.update(begun)
        return taken

    def take(self, task: Task, *, begins: bool) -> bool:
        """Add a task if it may be in the plan. One that ``begins`` a composed task may be out of
        the ranges, and is a near-duplicate of none.
        """
        for key, range_ in self.ranges.items():
            if not begins and not range_.hold(task):
                self.refused[key] += 1
                return False
        tools = Composer.tools_of([Composer.acts_of(task)])  # a question has a query instead
        if not begins and task.gate("sql") is None and not self.is_own("tools", tools):
            return False
        if self.openings is None:
            return True
        asked = task if begins else self.shown(task)  # a composed task gets words of its own
        taken = self.openings.take(words(asked.prompt), strict=begins)
        if taken and not begins:
            self.closes(task)
        self.refused["max_near_duplicates"] += not taken
        return taken


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


@dataclass(slots=True)
class CandidateFamilies:
    """The tasks of families that have not been looked at. Families take turns by their weights."""

    pool: TaskPool
    seed: int
    capacities: Mapping[str, int]
    filters: Filters
    weights: Mapping[str, float] | None
    looked_at: dict[str, int] = field(default_factory=dict[str, int])
    exhausted: set[str] = field(default_factory=set[str])

    def choose(
        self, count: int, size: int = 1, composer: Composer | None = None
    ) -> Iterator[tuple[str, int]]:
        """Yield family and place of the next tasks, at most ``count``; with a composer, only tasks
        that can begin one of ``size`` requests and that are near-duplicates of none.
        """
        names = [
            name for name, own in self.capacities.items() if own and name not in self.exhausted
        ]
        weights = self.weights or dict.fromkeys(names, 1.0)
        turns = [(1 / weights[name], order, name) for order, name in enumerate(names)]
        heapify(turns)
        while count and turns:
            turn, order, family = turns[0]
            place = self._next(family, size, composer)
            if place is None:
                self.exhausted.add(family)
                heappop(turns)
            else:
                heapreplace(turns, (turn + 1 / weights[family], order, family))
                count -= 1
                yield family, place

    def _next(self, family: str, size: int, composer: Composer | None) -> int | None:
        start = self.looked_at.get(family, 0)
        for place in range(start, min(start + MOST_REFUSED, self.capacities[family])):
            self.looked_at[family] = place + 1
            if composer is not None and not composer.can_begin(family, place, size):
                continue
            task = self.pool.task(family, place, self.seed)
            if self.filters.take(task, begins=composer is not None):
                return place
        return None
