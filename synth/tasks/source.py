"""A world's families as a source of tasks: how many there are, and the k-th of each."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from envs.folder import World
from envs.sandboxes.base import Sandbox, Template
from envs.sql_errors import to_result
from envs.types import Limits, Pins
from synth.canonical import derive_seed, digest
from synth.errors import TaskError
from synth.tasks.family import Family, TaskFile, read_tasks
from synth.tasks.ground import combination, distinct_sorted, permuted, select
from synth.tasks.steps import nearest, realise
from synth.tasks.template import fill
from synth.types import Task

Json = Any

READING = Limits(read_only=True, statement_timeout_ms=60_000, max_rows=None, max_result_bytes=None)
WORKDAY_MINUTES = 8 * 60
"""A task's clock stands at the world's ``now`` plus up to a working day."""


@dataclass(frozen=True)
class Pool:
    """The grounding rows of one branch of a family."""

    branch: str | None
    rows: Sequence[Mapping[str, Json]]


class TaskSource:
    """Tasks of one universe of a world, as functions of (family, index). Holds the grounding rows in memory, nothing else.

    Raises :class:`~synth.errors.TaskError` for a family that cannot be grounded.
    """

    def __init__(
        self, world: World, template: Template, families: Sequence[str] | None = None, universe: int = 0
    ) -> None:
        self.world = world
        self.template = template
        self.universe = universe
        with template.open(Pins()) as sandbox:
            self._sandbox = sandbox
            tools = {each.name: frozenset(each.parameters.get("properties", {})) for each in world.tools}
            self.file: TaskFile = read_tasks(world.path / "tasks.yaml", tools, template.tables, self._columns)
            self.families = self._chosen(families)
            self._pools = {each.id: self._ground(each) for each in self.families}
        del self._sandbox

    def _chosen(self, names: Sequence[str] | None) -> list[Family]:
        by_id = {each.id: each for each in self.file.families}
        for name in names or ():
            if name not in by_id:
                raise TaskError(f"there is no family {name!r}; {nearest(name, set(by_id))}", self.file.file)
        return [by_id[name] for name in dict.fromkeys(names)] if names else list(self.file.families)

    def _select(self, sql: str, file: str, line: int, family: str) -> list[dict[str, Json]]:
        return run_query(self._sandbox, sql, {}, self.template, TaskError("", file, line, family))

    def _columns(self, sql: str, file: str, line: int, family: str) -> tuple[str, ...]:
        rows = self._select(sql, file, line, family)
        if not rows:
            raise TaskError("the grounding yields no row", file, line, family)
        return tuple(rows[0])

    def _ground(self, family: Family) -> list[Pool]:
        where = (family.file, family.ground_line, family.id)
        conditions = family.twins or {None: "1=1"}
        pools: list[Pool] = []
        for branch, condition in conditions.items():
            rows = self._select(f"SELECT * FROM (\n{family.sql}\n) AS grounding WHERE (\n{condition}\n)", *where)
            if not rows:
                raise TaskError(f"twin {branch!r} has no row: nothing to tell the twins apart", *where)
            pools.append(Pool(branch, distinct_sorted(rows)))
        if family.twins:
            whole = len(distinct_sorted(self._select(family.sql, *where)))
            covered = [row for pool in pools for row in pool.rows]
            if len(covered) != whole or len(distinct_sorted(covered)) != whole:
                raise TaskError("the conditions of the twins must cover each row exactly once", *where)
        return pools

    def capacity(self, family: str) -> int:
        """How many distinct tasks the family can supply."""
        one = next(each for each in self.families if each.id == family)
        return sum(len(pool.rows) for pool in self._pools[family]) * math.prod(len(d) for d in one.vary.values())

    def branches(self, family: str) -> list[str | None]:
        return [pool.branch for pool in self._pools[family]]

    def task(self, family: str, index: int, seed: int) -> Task:
        """The ``index``-th task of a family under a run's seed; distinct indices give distinct tasks.

        Twins alternate as long as both last. The task's own id, wording and clock depend on its content only.
        """
        one = next(each for each in self.families if each.id == family)
        combos = math.prod(len(domain) for domain in one.vary.values())
        pool, index = self._turn(self._pools[family], index, combos)
        at = permuted(index, len(pool.rows) * combos, f"{seed}/{family}/{pool.branch}")
        return self.make(one, pool.branch, pool.rows[at % len(pool.rows)], combination(at // len(pool.rows), one.vary))

    def _turn(self, pools: Sequence[Pool], index: int, combos: int) -> tuple[Pool, int]:
        """Whose turn it is: round-robin over the branches that still have tasks."""
        sizes = sorted({len(pool.rows) * combos for pool in pools})
        done = 0
        for size in sizes:
            alive = [pool for pool in pools if len(pool.rows) * combos > done]
            if index < (size - done) * len(alive):
                turn, which = divmod(index, len(alive))
                return alive[which], done + turn
            index -= (size - done) * len(alive)
            done = size
        raise IndexError(index)

    def make(self, family: Family, branch: str | None, row: Mapping[str, Json], varied: Mapping[str, Json]) -> Task:
        """The task about one grounding row with the varied values."""
        slots = {**row, **varied}
        identity = digest(self.world.name, family.id, branch, self.universe, slots)
        draw = derive_seed(identity)
        started = dt.datetime.fromisoformat(self.file.now)
        now = (started + dt.timedelta(minutes=draw % WORKDAY_MINUTES)).isoformat(timespec="seconds")
        return Task(
            id=f"{family.id}-{identity}",
            family=family.id,
            env=self.world.name,
            prompt=fill(family.says[draw % len(family.says)], "$slot", slots),
            gold=realise(family.gold, slots, branch, draw >> 8),
            slots=slots,
            key=row[family.key],
            branch=branch,
            universe=self.universe,
            now=now,
            seed=draw,
            system=self._system(now),
            answer=family.answer,
            compare_answer=family.compare_answer,
            compare=family.compare,
            gates=family.gates,
            oracle_sql=family.oracle,
        )

    def _system(self, now: str) -> str:
        moment = dt.datetime.fromisoformat(now)
        return f"{self.world.policy}\n\nIt is {moment:%A, %Y-%m-%d %H:%M}.".strip()


def run_query(
    sandbox: Sandbox, sql: str, values: Mapping[str, Json], template: Template, where: TaskError
) -> list[dict[str, Json]]:
    """Rows of an author's query on a sandbox; a refusal is a :class:`TaskError` at the place of ``where``."""
    place = (where.file, where.line, where.family)
    try:
        with sandbox.transaction(READING) as transaction:
            return select(transaction.connection, sql, values)
    except KeyError as error:
        raise TaskError(
            f"the query binds :{error.args[0]}, which is no slot; {nearest(error.args[0], set(values))}", *place
        ) from None
    except DBAPIError as error:
        result = to_result(error, template.engine, template.tables)
        raise TaskError(f"the query fails: {result.message} {result.advice or ''}".rstrip(), *place) from None
    except (SQLAlchemyError, ValueError) as error:
        raise TaskError(f"the query fails: {error}", *place) from None
