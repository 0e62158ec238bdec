"""The attacks on one family in one universe: each is played, and what came of it is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envs.asking import Answer
from envs.errors import EnvsError
from envs.folder import World
from envs.sandboxes.base import Template
from envs.types import Limits
from synth.admission.attacks import CONSTANT, TALKLESS, lazy_agents
from synth.admission.judging import end_of, same_end, same_process
from synth.admission.moves import Act, Attack, Move, Played, acts, play
from synth.admission.mutants import CHANGED, mutants, spread, strays_for
from synth.admission.place import family_fault
from synth.admission.proof import GOLD_LIMITS
from synth.admission.report import FamilyReport
from synth.admission.sql_attacks import BY_HEART, WEAKER, lazy_queries, weaker_queries
from synth.admission.twins import twins_work
from synth.agent.react import ReactAgent
from synth.episode import Episode
from synth.errors import TaskError
from synth.models.scripted import ScriptedModel
from synth.tasks.family import Family
from synth.tasks.python_families import PythonFamily
from synth.tasks.sql_question import sql_gate
from synth.types import Task
from synth.verifiers import Evidence

Json = Any

STRAYS = 3
"""Stray writes that are tried per task."""


@dataclass(frozen=True)
class Case:
    """A proved task, what a playing of its gold left behind, and that playing as moves."""

    task: Task
    evidence: Evidence
    moves: Sequence[Move]


class Assault:
    """Plays the attacks on some proved tasks of one family and fills in its report; ``where`` begins each finding."""

    def __init__(
        self,
        family: Family | PythonFamily,
        world: World,
        template: Template,
        limits: Limits,
        report: FamilyReport,
        where: str = "",
    ) -> None:
        self.family, self.world, self.template, self.limits = family, world, template, limits
        self.report, self.where = report, where
        self._schemas = {each.name: each.parameters for each in world.tools}

    async def run(self, cases: Sequence[Case], strays: Sequence[Act]) -> None:
        """All attacks on all cases. What breaks a tool or a query ends them and is a problem of the family."""
        try:
            await self._lazy(cases)
            await self._queries(cases)
            for case in cases:
                own = [act for other in cases if other is not case for act in acts(other.moves) if act.writes]
                await self._mutants(case, [*own, *strays])
                await self._other_twins(case)
        except (TaskError, EnvsError) as error:
            self.report.problems.append(f"{self.where}an attack breaks the world: {error}")

    async def _lazy(self, cases: Sequence[Case]) -> None:
        twins = len({case.task.branch for case in cases}) > 1
        earned: dict[tuple[str, str], list[bool]] = {}
        for case in cases:
            for attack in lazy_agents(case.task, case.moves, self.world.tools):
                played = await self._play(attack, case.task)
                apart = twins or attack.kind == CONSTANT
                wins = earned.setdefault((attack.kind, attack.label if apart else ""), [])
                wins.append(played.score.reward == 1.0)
        for (kind, label), wins in earned.items():
            # A constant refusal is right wherever refusing is right: twins are what it must fail on. So is one of the
            # words of an enum, on some rows.
            if all(wins) or (any(wins) and (kind == TALKLESS or not (twins or kind == CONSTANT))):
                self._problem(f"a lazy agent earns the full reward ({kind}{': ' if label else ''}{label})")
            else:
                self.report.agents[kind] += 1

    async def _queries(self, cases: Sequence[Case]) -> None:
        """Attacks on a question. A weaker query that is as good in all cases shows that what it leaves out is idle."""
        weaker: dict[int, tuple[str, list[bool]]] = {}
        for case in cases:
            option = sql_gate(case.task)
            if option is None:
                continue
            with Episode(case.task, self.world, self.template, self.limits) as episode:
                databases = episode.evidence().databases
                answer = databases.own(option["query"]) if databases is not None else None
                others = databases is not None and any(True for _ in databases.others(option["databases"]))
            for attack in lazy_queries(case.task, case.moves, answer) if isinstance(answer, Answer) else ():
                if attack.kind == BY_HEART and not others:
                    continue
                if (await self._play(attack, case.task)).score.reward == 1.0:
                    self._problem(f"{attack.label} earns the full reward (task {case.task.id})")
                else:
                    self.report.agents[attack.kind] += 1
            for place, attack in enumerate(weaker_queries(case.moves, option["query"])):
                won = (await self._play(attack, case.task)).score.reward == 1.0
                weaker.setdefault(place, (attack.label, []))[1].append(won)
        for label, wins in weaker.values():
            self.report.killed[WEAKER] += wins.count(False)
            if all(wins):
                told = f"{WEAKER}: {label} is as right as gold in {len(wins)} tasks"
                self.report.surviving.append(f"{self.where}{family_fault(self.family.id, self.world, told, 'sql')}")
            else:
                self.report.equivalent[WEAKER] += wins.count(True)

    async def _mutants(self, case: Case, elsewhere: Sequence[Act]) -> None:
        strays = strays_for(case.moves, elsewhere)[:STRAYS]
        every = list(mutants(case.moves, strays, self._schemas, case.task, elsewhere))
        chosen = spread(every)
        self.report.left_out += len(every) - len(chosen)
        for attack in chosen:
            played = await self._play(attack, case.task)
            task, told = case.task, f"{attack.kind}: {attack.label} (task {case.task.id})"
            if played.score.reward != 1.0:
                self.report.killed[attack.kind] += 1
            elif same_end(task, end_of(played.evidence)) and same_process(case.evidence, played.evidence):
                self.report.equivalent[attack.kind] += 1
            elif attack.kind == CHANGED and _by_alternative(played):
                self.report.other_ends.append(f"{self.where}{told}")
            else:
                words = ("gold", attack.tool) if attack.tool else ("gold",)
                self.report.surviving.append(f"{self.where}{family_fault(task.family, self.world, told, *words)}")

    async def _other_twins(self, case: Case) -> None:
        """An agent that takes this row for one of another twin's must not be right in a way of its own."""
        for twin, mistaken in twins_work(case.task, self.family) if isinstance(self.family, Family) else ():
            with Episode(case.task, self.world, self.template, self.limits) as episode:
                expert = ScriptedModel().start(mistaken, episode.tools, mistaken.seed)
                agent = ReactAgent(expert, episode.call, GOLD_LIMITS)
                try:
                    await agent.run(episode.messages, episode.say if case.task.user is not None else None)
                except TaskError as error:  # the other twin's gold finds nothing here: the agent stops
                    if error.file is not None:
                        raise
                won = episode.score().reward == 1.0
                if won and not same_end(case.task, end_of(episode.evidence())):
                    self._problem(f"the work of twin {twin!r} earns the full reward in twin {case.task.branch!r}")
                elif not won:
                    self.report.agents["another twin's work"] += 1

    async def _play(self, attack: Attack, task: Task) -> Played:
        return await play(attack, task, self.world, self.template, self.limits)

    def _problem(self, message: str) -> None:
        told = str(family_fault(self.family.id, self.world, message, "gold"))
        if f"{self.where}{told}" not in self.report.problems:
            self.report.problems.append(f"{self.where}{told}")


def _by_alternative(played: Played) -> bool:
    """Whether the state gate took the end for another right one than gold's."""
    accepted = [each.detail.get("accepted") for each in played.score.verdicts if each.verifier == "state"]
    return any(isinstance(each, str) and each.startswith("alternative") for each in accepted)
