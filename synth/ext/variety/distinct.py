"""Choice of tasks whose opening requests are not near-duplicates of one another
(``tasks.max_near_duplicates``), and whose difficulty or expected pass rate is in a range.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from itertools import accumulate

from synth.core.foundation.hashing import derive_seed
from synth.core.foundation.near_duplicates import NearDuplicates, masked, words
from synth.core.types.difficulty import difficulty
from synth.ext.variety.composer import Composer, LastWords, Opening, opening_of
from synth.ext.variety.pass_rates import PassRates
from synth.source import TaskPool
from synth.task import Task

MOST_REFUSED = 200
"""The tasks of a family that are refused one after another before it counts as exhausted."""

MOST_BEGUN = 0.015
"""The largest share of the tasks whose last replies have one beginning."""

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

    def take(self, opening: Opening, *, strict: bool = False) -> bool:
        """Add an opening if it may be in the plan; ``strict`` refuses every near-duplicate."""
        text, parts = opening
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
    key. ``opening`` gives the first words of a task as its user will say them,
    ``asked`` has the later requests of composed tasks.
    """

    openings: Openings | None
    wordings: Openings | None
    ranges: Mapping[str, Levels | PassRates]
    splits: Mapping[str, float] = field(default_factory=dict[str, float])
    split: str = ""
    refused: Counter[str] = field(default_factory=Counter[str])
    opening: Callable[[Task], str] = lambda task: task.prompt
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

    def closed(self, last: LastWords) -> bool:
        """True if another task may end in these words, or enough of them begin like these."""
        most = max(MOST_BEGUN * self._begun.total(), 1)
        full = any(self._begun[beginning] >= most for beginning in last.beginnings)
        return full or not self._ends.isdisjoint(last.ends)

    def closes(self, task: Task, last: LastWords) -> bool:
        """Add a task whose last words are open, and whose first words nearly repeat another one's,
        with slots masked, for few tasks only.
        """
        if self.wordings is None or self.closed(last):
            return False
        asked = masked(words(self.opening(task)), task.slots)
        if taken := self.wordings.take(opening_of(asked)):
            self._ends_in(last)
        return taken

    def _ends_in(self, last: LastWords) -> None:
        """Close the last words of a task of the plan."""
        self._ends |= last.ends
        self._begun.update(last.beginnings)

    def begins(self, opening: Opening) -> bool:
        """Add the opening of a composed task if it is a near-duplicate of none. Its task may be out
        of the ranges, and gets words of its own.
        """
        return self.openings is None or self._counted(self.openings.take(opening, strict=True))

    def take(self, task: Task) -> bool:
        """Add a task if it may be in the plan."""
        for key, range_ in self.ranges.items():
            if not range_.hold(task):
                self.refused[key] += 1
                return False
        tools = Composer.tools_of([Composer.acts_of(task)])  # a question has a query instead
        if task.gate("sql") is None and not self.is_own("tools", tools):
            return False
        if self.openings is None:
            return True
        taken = self.openings.take(opening_of(words(self.opening(task))))
        if taken and not self.closes(task, last := LastWords.of(task)):
            self._ends_in(last)
        return self._counted(taken)

    def _counted(self, taken: bool) -> bool:
        self.refused["max_near_duplicates"] += not taken
        return taken


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
            if composer is None:
                taken = self.filters.take(self.pool.task(family, place, self.seed))
            else:
                able = composer.can_begin(family, place, size)
                taken = able and self.filters.begins(composer.facts(family, place).opening)
            if taken:
                return place
        return None
