"""A world's families as a source of tasks: how many there are, and the k-th of each."""

from __future__ import annotations

import datetime as dt
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envs.folder import World
from envs.sandboxes.base import Template
from envs.types import Pins
from synth.canonical import canonical, derive_seed, digest
from synth.errors import TaskError
from synth.tasks.bird import QUESTIONS_FILE
from synth.tasks.body import Body, WorldRules
from synth.tasks.family import Family, read_tasks
from synth.tasks.gates import realise_gates
from synth.tasks.ground import combination, distinct_sorted, permuted
from synth.tasks.python_families import PythonFamily, Yielded, read_python
from synth.tasks.queries import Queries
from synth.tasks.questions import read_questions
from synth.tasks.scope import nearest
from synth.tasks.steps import realise
from synth.tasks.template import fill, text_of
from synth.types import Task

Json = Any

WORKDAY_MINUTES = 8 * 60
"""A task's clock stands at the world's ``now`` plus up to a working day."""


@dataclass(frozen=True)
class Made:
    """What one task is made of: its slots, and what its family says about them."""

    slots: Mapping[str, Json]
    key: Json
    body: Body


class Pool(ABC):
    """The tasks of one branch of a family, each a function of its place."""

    branch: str | None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, at: int) -> Made: ...

    @abstractmethod
    def find(self, slots: Mapping[str, Json]) -> list[Made]:
        """What is about these slots, which another version of the family may have made."""


@dataclass(frozen=True)
class Grounded(Pool):
    """Grounding rows times varied values."""

    branch: str | None
    family: Family
    rows: Sequence[Mapping[str, Json]]

    def __len__(self) -> int:
        return len(self.rows) * math.prod(len(domain) for domain in self.family.vary.values())

    def __getitem__(self, at: int) -> Made:
        row = self.rows[at % len(self.rows)]
        slots = {**row, **combination(at // len(self.rows), self.family.vary)}
        return Made(slots, row[self.family.key], self.family.body)

    def find(self, slots: Mapping[str, Json]) -> list[Made]:
        family = self.family
        if not {family.key, *family.vary} <= set(slots):
            return []
        varied = {name: slots[name] for name in family.vary}
        rows = [row for row in self.rows if all(row[name] == slots[name] for name in row if name in slots)]
        return [Made({**row, **varied}, row[family.key], family.body) for row in rows]


@dataclass(frozen=True)
class Listed(Pool):
    """What a family in Python yielded."""

    branch: str | None
    tasks: Sequence[Yielded]

    def __len__(self) -> int:
        return len(self.tasks)

    def __getitem__(self, at: int) -> Made:
        one = self.tasks[at]
        return Made(one.slots, one.key, one.body)

    def find(self, slots: Mapping[str, Json]) -> list[Made]:
        return [Made(one.slots, one.key, one.body) for one in self.tasks if one.slots == slots]


class TaskSource:
    """Tasks of one universe of a world, as functions of (family, index): the families of its tasks.yaml, then those of
    its tasks.py. Holds the grounding rows in memory, nothing else.

    ``left_out`` says which questions of a questions.json are none, and why. Raises :class:`~synth.errors.TaskError` for a
    family that cannot be grounded.
    """

    def __init__(
        self, world: World, template: Template, families: Sequence[str] | None = None, universe: int = 0
    ) -> None:
        self.world = world
        self.template = template
        self.universe = universe
        self.left_out: list[str] = []
        with template.open(Pins()) as sandbox:
            queries = Queries(sandbox, template)
            self.rules, known = self._read(queries)
            self.families = self._chosen(known, families)
            self._pools = {each.id: _pools(each, queries) for each in self.families}

    def _read(self, queries: Queries) -> tuple[WorldRules, list[Family | PythonFamily]]:
        """The world's families; without a tasks.yaml those of its tasks.py alone."""
        world, tools = self.world, {each.name: each.parameters for each in self.world.tools}
        in_yaml, in_python = world.path / "tasks.yaml", world.path / "tasks.py"
        rules = WorldRules()
        families: list[Family | PythonFamily] = []
        if (world.path / QUESTIONS_FILE).is_file() and world.databases:
            asked, self.left_out = read_questions(world, self.universe, tools, queries, rules)
            return rules, [*asked]
        if in_yaml.is_file() or not in_python.is_file():
            name = f"{world.name}/{self.universe}" if self.universe else world.name
            read = read_tasks(in_yaml, name, tools, queries)
            rules = read.rules
            families += read.families
        if in_python.is_file():
            families += read_python(world, tools, queries, rules, {each.id for each in families})
        return rules, families

    def _chosen(
        self, known: Sequence[Family | PythonFamily], names: Sequence[str] | None
    ) -> list[Family | PythonFamily]:
        by_id = {each.id: each for each in known}
        if self.world.databases:  # each has families of its own
            return [each for each in known if not names or each.id in names]
        for name in names or ():
            if name not in by_id:
                raise TaskError(f"there is no family {name!r}; {nearest(name, by_id)}", known[0].file)
        return [by_id[name] for name in dict.fromkeys(names)] if names else list(known)

    def capacity(self, family: str) -> int:
        """How many distinct tasks the family can supply."""
        return sum(len(pool) for pool in self._pools[family])

    def branches(self, family: str) -> list[str | None]:
        return [pool.branch for pool in self._pools[family]]

    def task(self, family: str, index: int, seed: int) -> Task:
        """The ``index``-th task of a family under a run's seed; distinct indices give distinct tasks.

        Twins alternate as long as both last. The task's own id, wording and clock depend on its content only.
        """
        pool, index = _turn(self._pools[family], index)
        at = permuted(index, len(pool), f"{seed}/{family}/{pool.branch}")
        return self.make(family, pool.branch, pool[at])

    def find(self, family: str, slots: Mapping[str, Json]) -> list[Task]:
        """The family's tasks about these slots: one, unless another version of the family made the slots."""
        return [self.make(family, pool.branch, made) for pool in self._pools[family] for made in pool.find(slots)]

    def make(self, family: str, branch: str | None, made: Made) -> Task:
        """The task about some slots. Each text that is drawn is drawn on its own, by the task's content.

        Raises :class:`TaskError` for a text that names a field which a slot has not got.
        """
        try:
            return self._made(family, branch, made)
        except TaskError as error:
            known = next(each for each in self.families if each.id == family)
            raise TaskError(error.message, known.file, known.line, family) from None

    def _made(self, family: str, branch: str | None, made: Made) -> Task:
        slots, body = made.slots, made.body
        identity = digest(self.world.name, family, branch, self.universe, slots)
        draw = derive_seed(identity)
        started = dt.datetime.fromisoformat(self.rules.now)
        now = (started + dt.timedelta(minutes=draw % WORKDAY_MINUTES)).isoformat(timespec="seconds")
        prompt = text_of(fill(body.user.says[draw % len(body.user.says)], "$slot", slots))
        if body.hint is not None:
            prompt = f"{prompt}\n\nHint: {text_of(fill(body.hint, '$slot', slots))}"
        user = body.user.role(prompt, slots, branch, draw)
        asked = {name: topic.asked for name, topic in user.knows.items()} if user is not None else {}
        return Task(
            id=f"{family}-{identity}",
            family=family,
            env=self.world.name,
            prompt=prompt,
            gold=realise(body.gold, slots, branch, draw >> 8, asked),
            slots=slots,
            key=made.key,
            branch=branch,
            universe=self.universe,
            now=now,
            seed=draw,
            system=self._system(now, body.user.signed_in, slots),
            answer=body.answer,
            compare_answer=body.compare_answer,
            compare=body.compare,
            gates=realise_gates(body.gates, slots),
            oracle_sql=body.oracle,
            user=user,
            accept=body.accept,
            transient=body.transient,
            difficulty=body.difficulty,
        )

    def _system(self, now: str, signed_in: Json, slots: Mapping[str, Json]) -> str:
        """The world's rules, the date and time, and who is signed in."""
        moment = dt.datetime.fromisoformat(now)
        parts = [self.world.policy, f"It is {moment:%A, %Y-%m-%d %H:%M}."]
        if signed_in is not None:
            parts.append(text_of(fill(signed_in, "$slot", slots)))
        return "\n\n".join(parts).strip()


def _pools(family: Family | PythonFamily, queries: Queries) -> list[Pool]:
    if isinstance(family, PythonFamily):
        branches = dict.fromkeys(each.branch for each in family.tasks)
        return [Listed(branch, [each for each in family.tasks if each.branch == branch]) for branch in branches]
    where = TaskError("", family.file, family.ground_line, family.id)
    whole = distinct_sorted(queries.rows(family.sql, where))
    if not family.twins:
        return [Grounded(None, family, whole)]
    pools: list[Grounded] = []
    for branch, condition in family.twins.items():
        line = family.twin_lines[branch]
        place = TaskError(f"twin {branch}", family.file, line, family.id)
        rows = queries.rows(f"SELECT * FROM (\n{family.sql}\n) AS grounding WHERE (\n{condition}\n)", place)
        if not rows:
            raise family.fail(f"twin {branch!r} has no row: nothing to tell the twins apart", line)
        pools.append(Grounded(branch, family, distinct_sorted(rows)))
    _check_cover(family, whole, pools)
    return list(pools)


def _check_cover(family: Family, whole: Sequence[Mapping[str, Json]], pools: Sequence[Grounded]) -> None:
    """Refuse twins whose conditions leave a row out, or share one."""
    owners: dict[str, list[str]] = {canonical(row): [] for row in whole}
    for pool in pools:
        for row in pool.rows:
            owners.setdefault(canonical(row), []).append(str(pool.branch))
    wrong = next((row for row in whole if len(owners[canonical(row)]) != 1), None)
    if wrong is not None:
        found = " and ".join(owners[canonical(wrong)]) or "none of them"
        message = f"the twins must cover each row exactly once: {dict(wrong)} is in {found}"
        raise family.fail(message, next(iter(family.twin_lines.values())))


def _turn(pools: Sequence[Pool], index: int) -> tuple[Pool, int]:
    """Whose turn it is: round-robin over the branches that still have tasks."""
    done = 0
    for size in sorted({len(pool) for pool in pools}):
        alive = [pool for pool in pools if len(pool) > done]
        if index < (size - done) * len(alive):
            turn, which = divmod(index, len(alive))
            return alive[which], done + turn
        index -= (size - done) * len(alive)
        done = size
    raise IndexError(index)
