"""A world proves itself: gold works and is reachable, order does not matter, laziness and mistakes cost reward.

Two passes, so that each family can be attacked with the writes of all others: first each is proved, then each is
attacked. Both take and give plain data, and run on a :class:`Bench` that any process sets up from the world's folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from envs.connection import parse_url
from envs.errors import EnvsError
from envs.folder import World, load_world
from envs.sandboxes.base import Place
from envs.templates import Templates
from envs.types import Limits
from synth.admission.assault import Assault, Case
from synth.admission.moves import Act, Move, acts, moves_of, talk
from synth.admission.place import fault
from synth.admission.proof import GoldRun, playing, prove_and_keep, shortfall
from synth.admission.report import FamilyReport
from synth.admission.told import unreachable
from synth.admission.twins import check_twins
from synth.errors import TaskError
from synth.tasks.family import Family
from synth.tasks.source import TaskSource
from synth.tasks.words import SUBMIT
from synth.types import Task

Json = Any

SEED = 0


@dataclass(frozen=True, slots=True)
class Options:
    """What is proved: ``per_branch`` tasks of each branch of each of ``families`` (None: all) in each of ``universes``."""

    families: tuple[str, ...] | None = None
    per_branch: int = 4
    universes: int = 1
    engine: str = "sqlite"
    place: Place = field(default_factory=Place)
    limits: Limits = field(default_factory=Limits)

    @property
    def key(self) -> dict[str, Json]:
        """What a proof is remembered under: all of it but the password of the server."""
        url = self.place.url
        return asdict(self) | {"place": [self.place.kind, url and parse_url(url).render_as_string(hide_password=True)]}


@dataclass(frozen=True)
class Proved:
    """What the first pass of a family in a universe found. ``capacity`` counts its tasks there."""

    family: str
    universe: int
    capacity: int = 0
    cases: Sequence[Case] = ()
    problem: str | None = None

    @property
    def writes(self) -> list[Act]:
        """Calls of gold that changed rows, to be tried where they do not belong."""
        return [act for case in self.cases[:1] for act in acts(case.moves) if act.writes]


class Bench:
    """A world set up for proofs in this process. Close it."""

    def __init__(self, folder: Path, options: Options) -> None:
        self.world: World = load_world(folder)
        self.options = options
        self._templates = Templates(self.world, options.engine, place=options.place)
        self._sources: dict[int, TaskSource] = {}
        # asyncio.run would keep a first Ctrl-C until the tool returns that it is meant to end
        self._loop = asyncio.new_event_loop()

    def families(self) -> list[str]:
        """Raises what :meth:`read` raises."""
        return [each.id for each in self._source(0).families]

    def read(self, universe: int) -> None:
        """Ground the families in a universe.

        Raises :class:`TaskError` or :class:`~envs.errors.WorldError` for what keeps it from being read at all.
        """
        try:
            self._source(universe)
        except TaskError as error:
            if universe == 0:
                raise
            raise TaskError(f"in universe {universe}: {error.message}", error.file, error.line, error.family) from None

    def prove(self, name: str, universe: int) -> Proved:
        """The first pass: gold of some tasks of each branch is played and judged."""
        return self._loop.run_until_complete(self._prove(name, universe))

    def attack(self, proved: Proved, strays: Sequence[Act]) -> FamilyReport:
        """The second pass, and what both came to. ``strays`` are writes of this and other families."""
        report = FamilyReport(proved.family, proved.capacity, len(proved.cases))
        where = f"universe {proved.universe}: " if proved.universe else ""
        if proved.problem is not None:
            report.problems.append(where + proved.problem)
            return report
        source = self._source(proved.universe)
        family = next(each for each in source.families if each.id == proved.family)
        with self._templates.use(proved.universe) as template:
            assault = Assault(family, self.world, template, self.options.limits, report, where)
            self._loop.run_until_complete(assault.run(proved.cases, strays))
        return report

    def close(self) -> None:
        self._templates.close()
        self._loop.close()

    def _source(self, universe: int) -> TaskSource:
        if universe not in self._sources:
            with self._templates.use(universe) as template:
                self._sources[universe] = TaskSource(self.world, template, self.options.families, universe)
        return self._sources[universe]

    async def _prove(self, name: str, universe: int) -> Proved:
        cases: list[Case] = []
        capacity = 0
        try:
            source = self._source(universe)
            capacity = source.capacity(name)
            family = next(each for each in source.families if each.id == name)
            if isinstance(family, Family):
                check_twins(source, family, SEED)
            for at in range(min(self.options.per_branch * len(source.branches(name)), capacity)):
                cases += [await self._case(source.task(name, at, SEED))]
        except (TaskError, EnvsError) as error:
            return Proved(name, universe, capacity, cases, str(error))
        return Proved(name, universe, capacity, cases)

    async def _case(self, task: Task) -> Case:
        world, limits = self.world, self.options.limits
        with self._templates.use(task.universe) as template:
            task, gold = await prove_and_keep(task, world, template, limits)
            for tool, message in unreachable(task, gold):
                raise fault(task, world, message, "gold", tool)
            moves = moves_of(gold.run)
            if message := _ungated(task, moves):
                raise fault(task, world, message, "gates")
            async with playing(task, world, template, limits) as again:
                if message := _changed(task, gold, again):
                    message = f"{message}: a tool depends on something besides the database and its arguments"
                    raise fault(task, world, f"{message} (task {task.id})", "gold")
            async with playing(task, world, template, limits, unordered=True) as backwards:
                if message := shortfall(task, backwards):
                    message = f"gold comes out otherwise when rows without ORDER BY stand in another order: {message}"
                    raise fault(task, world, f"{message} (task {task.id})", "gold")
        return Case(task, replace(gold.evidence, query=None, databases=None), moves)


def _changed(task: Task, first: GoldRun, second: GoldRun) -> str | None:
    """How a second playing of gold, in the same order of rows, differs from the first."""
    if message := shortfall(task, second):
        return f"gold comes out otherwise when it is played again: {message}"
    for before, after in zip(first.run.outcomes, second.run.outcomes, strict=True):
        if before.content != after.content:
            return f"{before.call.name} gives another result when gold is played again"
    return None


def _ungated(task: Task, moves: Sequence[Move]) -> str | None:
    """What gold does and no gate demands: to write, to answer, to ask or confirm before it writes. None for nothing."""
    judged = {gate if isinstance(gate, str) else next(iter(gate)) for gate in task.gates}
    first = next((at for at, each in enumerate(moves) if isinstance(each, Act) and each.writes), None)
    if first is not None and "state" not in judged:
        return "gold changes rows, but no gate looks at them: add `state`"
    if "answer" not in judged and any(isinstance(each, Act) and each.name == SUBMIT for each in moves):
        return "gold submits an answer, but no gate looks at it: add `answer`"
    if "answer" in judged and not any(isinstance(each, Act) and each.name == SUBMIT for each in moves):
        return f"gold of twin {task.branch!r} submits nothing, though the gate `answer` waits for it"
    if first is None:
        return None
    done = {
        "ask": [each for each in talk(moves) if not each.agreed],
        "confirm": [each for each in talk(moves) if each.agreed],
    }
    early = {word for word, spoken in done.items() if spoken and all(each in moves[:first] for each in spoken)}
    options = [cast("dict[str, list[str]]", gate) for gate in task.gates if isinstance(gate, dict)]
    unguarded = sorted(early - {word for gate in options for word in gate.get("no_write_before", ())})
    if not unguarded:
        return None
    words = " and ".join({"ask": "asks", "confirm": "confirms"}[word] for word in unguarded)
    return (
        f"gold {words} before it writes, but no gate demands it: add {{no_write_before: [{', '.join(sorted(early))}]}}"
    )
