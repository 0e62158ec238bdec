"""Composed tasks: two or three tasks of different families, asked in one conversation.

Asked by turns, the user brings the next request once the agent has reported the end of the one
before. Asked together, the first message holds all of them, in one sentence or in several. Gold is
the solutions one after another; each part keeps its gates, its answer, its consents and what its
user knows, and is judged as the task that it is (:mod:`synth.core.rewards.requests`). Whether the
parts do not get in each other's way is proved by playing gold.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from synth.core.foundation.hashing import canonical, derive_seed, digest
from synth.core.tasks.forms import joint_form
from synth.core.tasks.yaml.words import SUBMIT_SQL
from synth.core.types.families import JOIN
from synth.core.types.reply import GoldReply
from synth.core.types.steps import (
    AskStep,
    CallStep,
    NextStep,
    SequelStep,
    Step,
    every_step,
    rewritten,
)
from synth.ext.variety.wording import message_of
from synth.source import TaskPool
from synth.task import GoldEnd, Task
from synth.user import Sequel, UserRole

SIZES = (2, 3)
"""Numbers of requests that a composed task may have."""

Manner = Literal["turns", "message"]
"""How the requests of a composed task come: one after another, or in one message."""

MANNERS: Mapping[str, Sequence[Manner]] = {
    "turns": ("turns",),
    "message": ("message",),
    "both": ("turns", "message"),
}
"""Values of ``tasks.compose_as``, with the manners that composed tasks take turns in."""

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

DRAWS = 3
"""Number of partners that a first request is tried with."""

OF = "@"
"""Stands before the number of a later request in the names of its topics."""

LEADS = (
    "One more thing.",
    "Thanks. Then there is something else.",
    "And now to the next one.",
    "Good, that was the first. Now this:",
    "While I have you:",
)
"""Words before a later request; one is drawn."""


def clock_line(now: str) -> str:
    """The sentence of a system message that says what time it is."""
    return f"It is {dt.datetime.fromisoformat(now):%A, %Y-%m-%d %H:%M}."


def setting(task: Task) -> str:
    """What tasks must have in common to be asked in one conversation: rules, the person who is
    signed in, the day, and the form of answers. Empty for a task that no other can follow.
    """
    if any(isinstance(step, CallStep) and step.tool == SUBMIT_SQL for step in task.gold):
        return ""  # a query is handed in once
    rules = task.system.replace(clock_line(task.now), "")
    return digest(rules, task.now[:10], task.form, task.universe)


def shared_form(parts: Sequence[Task]) -> tuple[bool, Mapping[str, object] | None]:
    """The form in which the answers to all parts are handed in (None: there are none), and whether
    there can be one: a field has one type.
    """
    answers = [part.answer for part in parts if part.answer is not None]
    if parts[0].form is not None or not answers:
        return True, parts[0].form
    form = joint_form(answers)
    return form is not None, form


def fit_in_message(parts: Sequence[Task], writers: Collection[str]) -> bool:
    """True if one message can hold the requests: none has later wishes or several right ends, no
    field of an answer is due to two of them, and nobody's yes or answer can be taken for another
    request. ``writers`` are the tools that may change rows.
    """
    if any(part.role.then or part.alternatives for part in parts):
        return False
    if _shares_field(parts):
        return False
    writing = [part.role for part in parts if _writes(part, writers)]
    quiet = [part.role for part in parts if not _writes(part, writers)]
    asks_in_vain = any(role.knows or role.consents for role in quiet)
    consents = any(role.consents for role in writing)
    return not writing or not (asks_in_vain or (consents and len(writing) > 1))


def _shares_field(parts: Sequence[Task]) -> bool:
    """True if a field is due in the answers to two of the requests."""
    fields = [name for part in parts for name in (part.answer or {}).get("properties", ())]
    return len(fields) > len({*fields})


def _writes(task: Task, writers: Collection[str]) -> bool:
    """True if gold may change rows."""
    return any(
        isinstance(step, CallStep) and step.fails is None and step.tool in writers
        for step in every_step(task.gold)
    )


def compose(parts: Sequence[Task], seed: int, manner: Manner = "turns") -> Task:
    """The task that asks for these parts in their order. They must have one :func:`setting`, and
    :func:`fit_in_message` if that is the manner.

    It depends on the parts and ``seed``, which draws the words between them.
    """
    more = [] if manner == "turns" else [manner]
    identity = digest("composed", [part.id for part in parts], seed, *more)
    return joined(parts, f"{_family(parts)}-{identity}", derive_seed(identity), manner)


def _family(parts: Sequence[Task]) -> str:
    return JOIN.join(part.family for part in parts)


def joined(parts: Sequence[Task], task_id: str, draw: int, manner: Manner = "turns") -> Task:
    """The task of that id and seed that asks for these parts."""
    together = manner == "message"
    message = message_of(parts, draw) if together else None
    own = [_part(part, index, parts[0], draw, manner) for index, part in enumerate(parts)]
    compare = {name: rule for part in own for name, rule in part.compare.items()}
    gates = {canonical(gate.to_json()): gate for part in own for gate in part.gates}
    words = [part.phrasing or "" for part in own]
    return replace(
        own[0],
        id=task_id,
        prompt=message or own[0].prompt,
        family=_family(parts),
        case=None,
        answer=None,
        form=shared_form(own)[1],
        gold=joined_gold(own, together=together),
        slots={str(index + 1): dict(part.slots) for index, part in enumerate(own)},
        key=[part.key for part in own],
        compare=compare,
        compare_answer={},
        gates=tuple(gates.values()),
        oracle_sql={},
        oracle={},
        user=_role(own) if message is None else _role_of_message(own, message),
        alternatives=(),
        difficulty=None,
        end=None,
        parts=tuple(own),
        phrasing=JOIN.join(words) if any(words) else None,
    )


def joined_gold(parts: Sequence[Task], *, together: bool = False) -> list[Step]:
    """The steps of all parts, with the beginning of each later request between them: its coming, or
    that of the work on it where the requests come ``together``.
    """
    steps: list[Step] = []
    wishes = 0
    for index, part in enumerate(parts):
        if index and together:
            steps.append(NextStep())
        elif index:
            steps.append(SequelStep(wishes, "done"))
            wishes += 1
        steps += rewritten(part.gold, _counted_from(wishes))
        wishes += len(part.role.then)
    return steps


def joined_end(parts: Sequence[Task], end: GoldEnd) -> GoldEnd:
    """The end of the whole with what the parts' ends say about replies."""
    replies = [
        GoldReply.from_json(part.end.reply)
        for part in parts
        if part.end is not None and part.end.reply is not None
    ]
    reply = GoldReply(
        tuple(text for one in replies for text in one.said),
        tuple(fact for one in replies for fact in one.must),
        tuple(fact for one in replies for fact in one.facts),
        tuple(sorted({person for one in replies for person in one.people})),
    )
    return replace(end, reply=reply.to_json())


def _part(task: Task, index: int, first: Task, draw: int, manner: Manner) -> Task:
    """A part under the clock of the first one, with names of topics and first words of its own."""
    lead = LEADS[(draw >> (3 * index)) % len(LEADS)]
    opening = f"{lead} {task.prompt}" if index and manner == "turns" else task.prompt
    user = task.role
    names = {name: f"{name}{OF}{index + 1}" if index else name for name in user.every_topic}
    user = replace(
        user,
        opening=opening,
        knows={names[name]: topic for name, topic in user.knows.items()},
        then=[
            replace(wish, knows={names[name]: topic for name, topic in wish.knows.items()})
            for wish in user.then
        ],
    )

    def renamed(step: Step) -> Sequence[Step]:
        if isinstance(step, AskStep):
            step = replace(step, topics=[names[name] for name in step.topics])
        return [step]

    return replace(
        task,
        prompt=opening,
        gold=rewritten(task.gold, renamed),
        user=user,
        now=first.now,
        system=first.system,
        seed=draw,
    )


def request_of(topic: str) -> int:
    """The number, from 1, of the request to which a topic of a composed task belongs."""
    return int(topic.rpartition(OF)[2]) if OF in topic else 1


def _role(parts: Sequence[Task]) -> UserRole:
    """One user with all requests, in their order."""
    first, *later = [part.role for part in parts]
    then = list(first.then)
    for role in later:
        then.append(Sequel("done", role.opening, role.knows, role.consents, fresh=True))
        then += role.then
    return replace(first, then=then)


def _role_of_message(parts: Sequence[Task], message: str) -> UserRole:
    """One user who asks for everything at once; at most one request needs consent."""
    roles = [part.role for part in parts]
    agrees = next((role for role in roles if role.consents), roles[0])
    return replace(
        agrees,
        opening=message,
        knows={name: topic for role in roles for name, topic in role.knows.items()},
        persona=next((role.persona for role in roles if role.persona), ""),
    )


def _counted_from(wishes: int) -> Callable[[Step], Sequence[Step]]:
    def counted(step: Step) -> Sequence[Step]:
        return [replace(step, index=step.index + wishes) if isinstance(step, SequelStep) else step]

    return counted


def turns(share: Mapping[str, int], index: int) -> tuple[str, int]:
    """Name and place within it of the ``index``-th item, where names take turns while their shares
    last. Raises IndexError.
    """
    done = 0
    for size in sorted(set(share.values())):
        alive = [name for name, count in share.items() if count > done]
        block = (size - done) * len(alive)
        if index < block:
            turn, which = divmod(index, len(alive))
            return alive[which], done + turn
        index -= block
        done = size
    raise IndexError(index)


@dataclass(frozen=True)
class Composer:
    """The composed tasks of one universe, each a function of its index.

    ``capacities`` are the families that may be parts, with the number of their tasks; ``count`` is
    the number of composed tasks that are asked. ``firsts`` are the families and places of the tasks
    that may begin one (None: all). ``manners`` are those in which requests come, by turns;
    ``wanted`` tells of a composed task whether it may be asked (None: all may). ``later`` is the
    number of later requests that each family should give (None: all the same).
    """

    pool: TaskPool
    capacities: Mapping[str, int]
    count: int
    seed: int
    firsts: Sequence[tuple[str, int]] | None = None
    manners: Sequence[Manner] = ("turns",)
    wanted: Callable[[Task], bool] | None = None
    later: Mapping[str, float] | None = None

    @cached_property
    def _writers(self) -> frozenset[str]:
        """The tools of the world that may change rows."""
        return frozenset(tool.name for tool in self.pool.world.tools if not tool.read_only)

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
        return [self._followers_of(place) for place in range(0, self.count, step)]

    def _followers_of(self, place: int) -> list[str]:
        """The families that can follow the first request at a place, in the manner of its turn."""
        first = self._first(place)
        partners, others = self._others(first)
        if self.manners[place % len(self.manners)] == "turns":
            return others
        return [
            name
            for name in others
            if fit_in_message(
                [first, self.pool.task(name, partners[name][0], self.seed)], self._writers
            )
        ]

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
        for number, task in enumerate(self._candidates(index, size)):
            if number == attempt:
                return task
        return None

    def _candidates(self, index: int, size: int) -> Iterator[Task]:
        """The candidates in the manner whose turn it is, then those in the others."""
        turn = index % len(self.manners)
        for manner in (*self.manners[turn:], *self.manners[:turn]):
            yield from self._in_manner(index, size, manner)

    def _in_manner(self, index: int, size: int, manner: Manner) -> Iterator[Task]:
        total = sum(self.capacities.values()) if self.firsts is None else len(self.firsts)
        for place in range(index, total, self.count):
            first = self._first(place)
            partners, others = self._others(first)
            if len(others) < size - 1 or not self._may_begin(first, manner):
                continue
            for draw in range(DRAWS):
                seed = derive_seed(self.seed, self.pool.universe, place, draw)
                parts = self._parts(first, partners, others, size, seed, manner)
                if parts is not None and shared_form(parts)[0]:
                    task = compose(parts, self.seed, manner)
                    if self.wanted is None or self.wanted(task):
                        yield task

    def _may_begin(self, task: Task, manner: Manner) -> bool:
        return manner == "turns" or fit_in_message([task], self._writers)

    def can_begin(self, task: Task, size: int) -> bool:
        """True if tasks of enough other families can follow the task."""
        found = len(self._others(task)[1]) >= size - 1
        return found and any(self._may_begin(task, manner) for manner in self.manners)

    def _others(self, first: Task) -> tuple[Mapping[str, Sequence[int]], list[str]]:
        """The places of tasks in the setting of the first one, and the other families of them."""
        partners = self._partners.get(setting(first), {})
        return partners, [name for name in partners if name != first.family]

    def _parts(
        self,
        first: Task,
        partners: Mapping[str, Sequence[int]],
        others: Sequence[str],
        size: int,
        seed: int,
        manner: Manner,
    ) -> list[Task] | None:
        """The first task and tasks of other families in its setting, drawn by ``seed``; None if too
        few fit into its message.
        """
        parts = [first]
        for name in sorted(others, key=lambda name: self._rank(seed, name)):
            more = [*parts, self._partner(name, partners[name], derive_seed(seed, name, "task"))]
            if manner == "turns" or fit_in_message(more, self._writers):
                parts = more
            if len(parts) == size:
                return parts
        return None

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
