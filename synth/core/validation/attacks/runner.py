"""The attacks on one family in one universe, played and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from envs.errors import EnvsError
from envs.sandboxes.base import Template
from envs.types import Limits
from envs.world.loader import World
from synth.agent import ReactAgent
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.personal import people_of
from synth.core.rewards.gate_costs import notes_in
from synth.core.tasks.yaml.family import Family
from synth.core.validation.attacks.base import dishonest_attacks
from synth.core.validation.attacks.lazy import CONSTANT, TALKLESS, lazy_agents
from synth.core.validation.attacks.mutants import CHANGED, mutants, spread, strays_for
from synth.core.validation.attacks.steps import Attack, AttackResult, Move, ToolStep, acts, play
from synth.core.validation.base import family_fault, validations_of
from synth.core.validation.cases import cases_work
from synth.core.validation.equivalence import end_of, same_end, same_process
from synth.core.validation.prove import GOLD_LIMITS
from synth.core.validation.report import FamilyReport
from synth.episode import Episode, Score
from synth.errors import TaskError
from synth.rewards import Evidence, author_error
from synth.source import TaskFamily
from synth.task import Task

STRAYS = 3
"""The most stray writes that are tried per task."""


@dataclass(frozen=True)
class Case:
    """A proved task, the evidence of a playing of its gold, and that playing as moves.

    ``scores`` are those that the world's ``@reward`` functions give to gold.
    """

    task: Task
    evidence: Evidence
    moves: Sequence[Move]
    scores: Mapping[str, float] = field(default_factory=dict[str, float])


def first_of_each(cases: Sequence[Case], most: int | None) -> Sequence[Case]:
    """The first ``most`` of the tasks of each case; None: all."""
    seen = Counter[str | None]()
    kept = list[Case]()
    for case in cases:
        seen[case.task.case] += 1
        if most is None or seen[case.task.case] <= most:
            kept.append(case)
    return kept


@dataclass
class FamilyRunner:
    """What plays proved tasks of one family and fills in its report. ``where`` is a prefix of each
    finding.
    """

    family: TaskFamily
    world: World
    template: Template
    limits: Limits
    report: FamilyReport
    where: str = ""

    def finding(self, agent: str, message: str, *words: str) -> str:
        """The message with the place in the world's files that ``words`` lead to."""
        self.report.example = self.report.example or agent
        return f"{self.where}{family_fault(self.family.id, self.world, message, *words)}"


class AttackRunner(FamilyRunner):
    """Plays the attacks."""

    async def run(
        self, cases: Sequence[Case], strays: Sequence[ToolStep], most: int | None = None
    ) -> None:
        """Play the attacks: lazy agents and weaker gold on all cases, the others on ``most`` tasks
        of each case. An attack that breaks a tool, a query or a function of rewards.py ends them
        and is a problem of the family.
        """
        chosen = first_of_each(cases, most)
        try:
            await self._lazy(cases)
            await self._gates(cases)
            await self._dishonest(cases, chosen)
            for case in chosen:
                own = [
                    act
                    for other in cases
                    if other is not case
                    for act in acts(other.moves)
                    if act.writes
                ]
                await self._mutants(case, [*own, *strays])
                await self._other_cases(case)
        except (TaskError, EnvsError) as error:
            self.report.problems.append(f"{self.where}an attack breaks the world: {error}")

    async def _lazy(self, cases: Sequence[Case]) -> None:
        has_cases = len({case.task.case for case in cases}) > 1
        earned: dict[tuple[str, str], list[bool]] = {}
        for case in cases:
            for attack in lazy_agents(case.task, case.moves, self.world.tools):
                played = await self._play(attack, case.task)
                by_label = has_cases or attack.kind == CONSTANT
                wins = earned.setdefault((attack.kind, attack.label if by_label else ""), [])
                wins.append(played.score.solved)
        for (kind, label), wins in earned.items():
            # A constant refusal is right in tasks where refusing is right, and one word of an enum
            # is right on some rows: they must fail in another case, or on another row.
            if all(wins) or (
                any(wins) and (kind == TALKLESS or not (has_cases or kind == CONSTANT))
            ):
                self._problem(
                    kind,
                    f"a lazy agent earns the full reward ({kind}{': ' if label else ''}{label})",
                )
            else:
                self.report.agents[kind] += 1

    async def _dishonest(self, cases: Sequence[Case], chosen: Sequence[Case]) -> None:
        """Play the dishonest agents. In a family whose replies are not judged they may win."""
        people = people_of(self.world, self.template)
        for case in chosen:
            elsewhere = [move for other in cases if other is not case for move in other.moves]
            attacks = dishonest_attacks(case.task, case.moves, elsewhere, people, self.world.tools)
            for name, attack in attacks:
                score = (await self._play(attack, case.task)).score
                if score.solved and not is_judged(attack, score):
                    self._problem(
                        attack.kind,
                        f"a dishonest agent earns the full reward ({name}: {attack.label};"
                        f" task {case.task.id})",
                    )
                else:
                    self.report.agents[name] += 1

    async def _gates(self, cases: Sequence[Case]) -> None:
        """Play the attacks of the gates' own validations. A weaker gold that passes in all cases
        shows that the part which it leaves out has no effect.
        """
        weaker: dict[tuple[str, str, int], tuple[str, list[bool]]] = {}
        for case in cases:
            for validation, options in validations_of(case.task):
                with Episode(case.task, self.world, self.template, self.limits) as episode:
                    idle = episode.evidence()
                    self.report.known_answers += validation.known_answer_possible(options, idle)
                    lazy = list(validation.lazy(case.task, options, case.moves, idle))
                for attack in lazy:
                    if (await self._play(attack, case.task)).score.solved:
                        message = f"{attack.label} earns the full reward (task {case.task.id})"
                        self._problem(attack.kind, message)
                    else:
                        self.report.agents[attack.kind] += 1
                for index, attack in enumerate(validation.weaker(options, case.moves)):
                    won = (await self._play(attack, case.task)).score.solved
                    place = (validation.key, attack.kind, index)
                    weaker.setdefault(place, (attack.label, []))[1].append(won)
        for (key, kind, _), (label, wins) in weaker.items():
            self.report.killed[kind] += wins.count(False)
            if all(wins):
                message = f"{kind}: {label} is as right as gold in {len(wins)} tasks"
                self.report.surviving.append(self.finding(kind, message, key))
            else:
                self.report.equivalent[kind] += wins.count(True)

    async def _mutants(self, case: Case, elsewhere: Sequence[ToolStep]) -> None:
        strays = strays_for(case.moves, elsewhere)[:STRAYS]
        schemas = {tool.name: tool.parameters for tool in self.world.whole_toolbox.tools}
        every = list(mutants(case.moves, strays, schemas, case.task, elsewhere))
        chosen = spread(every)
        self.report.left_out += len(every) - len(chosen)
        for attack in chosen:
            played = await self._play(attack, case.task)
            task, message = case.task, f"{attack.kind}: {attack.label} (task {case.task.id})"
            if not played.score.solved:
                self.report.killed[attack.kind] += 1
            elif same_end(task, end_of(played.evidence)) and same_process(
                case.evidence, played.evidence
            ):
                self.report.equivalent[attack.kind] += 1
            elif attack.kind == CHANGED and _by_alternative(played):
                self.report.other_ends.append(f"{self.where}{message}")
            else:
                words = ("gold", attack.tool) if attack.tool else ("gold",)
                self.report.surviving.append(self.finding(attack.kind, message, *words))

    async def _other_cases(self, case: Case) -> None:
        """Play the gold of each other case: an agent that mistakes the case must not pass, unless
        it reaches gold's own end.
        """
        for other, mistaken in (
            cases_work(case.task, self.family) if isinstance(self.family, Family) else ()
        ):
            with Episode(case.task, self.world, self.template, self.limits) as episode:
                expert = ScriptedModel().start(mistaken, episode.tools, mistaken.seed)
                agent = ReactAgent(expert, episode.call, GOLD_LIMITS)
                try:
                    await agent.run(episode.messages, episode.say)
                except TaskError as error:
                    # The gold of the other case finds nothing here: the agent stops.
                    if error.file is not None:
                        raise
                score = episode.score()
                _refuse_author_error(score)
                won = score.solved
                if won and not same_end(case.task, end_of(episode.evidence())):
                    self._problem(
                        "",
                        f"the work of case {other!r} earns the full reward in case"
                        f" {case.task.case!r}",
                    )
                elif not won:
                    self.report.agents["another case's work"] += 1

    async def _play(self, attack: Attack, task: Task) -> AttackResult:
        result = await play(attack, task, self.world, self.template, self.limits)
        _refuse_author_error(result.score)
        return result

    def _problem(self, agent: str, message: str) -> None:
        problem = self.finding(agent, message, "gold")
        if problem not in self.report.problems:
            self.report.problems.append(problem)


def _refuse_author_error(score: Score) -> None:
    """Raise :class:`TaskError` for a gate or score of the world that fails during an attack."""
    if (message := author_error(score.verdicts)) is not None:
        raise TaskError(message)


def _by_alternative(played: AttackResult) -> bool:
    """True if the state gate accepted the end as another right one than gold's."""
    accepted = [
        verdict.detail.get("accepted")
        for verdict in played.score.verdicts
        if verdict.verifier == "state"
    ]
    return any(isinstance(end, str) and end.startswith("alternative") for end in accepted)


def is_judged(attack: Attack, score: Score) -> bool:
    """True if a judge would be asked about the statement of an attack."""
    noted = [note["words"] for verdict in score.verdicts for note in notes_in(verdict.detail)]
    return bool(attack.statement) and any(attack.statement in words for words in noted)
