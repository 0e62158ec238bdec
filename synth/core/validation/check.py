"""The check of a family: gold works and is reachable, the order of rows does not matter, laziness
and mistakes cost reward.

It has two passes, so that each family can be attacked with the writes of all others: every family
is proved first, and attacked afterwards. Both passes take and give plain data, and run on a
:class:`FamilyChecker` that any process can set up from the world's folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import make_url

from envs.errors import EnvsError
from envs.sandboxes.base import DatabaseTarget, Template
from envs.types import Limits
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.core.agent.rollout_result import AgentLimits
from synth.core.agent.state import RolloutIdentity
from synth.core.foundation.hashing import derive_seed
from synth.core.personal import people_of
from synth.core.rewards.reply.acts import CHECK as FALSE_CLAIM
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.yaml.family import Family
from synth.core.tasks.yaml.scope import nearest as suggestion
from synth.core.tasks.yaml.words import SUBMIT
from synth.core.validation.argument_provenance import ungrounded_arguments
from synth.core.validation.attacks.runner import AttackRunner, Case, FamilyRunner, first_of_each
from synth.core.validation.attacks.steps import Move, ToolStep, acts, moves_of, talk
from synth.core.validation.base import fault
from synth.core.validation.cases import check_cases
from synth.core.validation.dead_parts import Finding, findings, parts_of, writes_nothing
from synth.core.validation.equivalence import end_of
from synth.core.validation.family_guess import PER_FAMILY, FamilyGuess, guess_families
from synth.core.validation.gold_run import GoldRun
from synth.core.validation.honest.runner import HonestRunner
from synth.core.validation.prove import playing, prove_and_keep, shortfall
from synth.core.validation.report import FamilyReport
from synth.core.validation.show import ShownAttacks, ShownHonest, ShownRollout
from synth.core.validation.suspects import SampleEnd, SuspectReport, find_suspects
from synth.episode import Episode
from synth.errors import ModelAuthError, ModelError, TaskError
from synth.evidence import end_state_gone
from synth.model import Model
from synth.plugins import HONEST_AGENTS, TASK_TRANSFORMS
from synth.rewards import Evidence, check_reward_families, verifier_for, world_rewards
from synth.source import TaskFamily
from synth.task import Task
from synth.transform import Block

R = TypeVar("R", bound=FamilyRunner)

IN_FLIGHT = 8
"""Rollouts that are played at once."""


async def _sample_tasks(
    model: Model,
    tasks: Sequence[Task],
    count: int,
    world: World,
    template: Template,
    limits: Limits,
) -> list[SampleEnd]:
    """``count`` samples of each task. One that the endpoint breaks off is unscored.

    Raises :class:`ModelAuthError` for a key that is not accepted.
    """
    slots = asyncio.Semaphore(IN_FLIGHT)

    async def one(task: Task, number: int) -> SampleEnd:
        seed = derive_seed(task.id, number)
        async with slots:
            with Episode(task, world, template, limits, seed=seed) as episode:
                identity = RolloutIdentity(f"{task.id}/{number}", number, seed, task.id)
                agent = episode.agent(model, AgentLimits(), identity=identity)
                try:
                    run = await agent.run(episode.messages, episode.say)
                except ModelAuthError:
                    raise
                except ModelError as error:
                    return SampleEnd(task, end_of(episode.evidence()), None, str(error))
                episode.said = run.said
                score = await episode.scored()
                solved = None if score.reward is None else score.solved
                return SampleEnd(task, end_of(episode.evidence()), solved)

    return list(await asyncio.gather(*(one(task, n) for task in tasks for n in range(count))))


SEED = 0

MORE = 24
"""Further tasks whose gold is played while a part of it has done nothing yet."""


@dataclass(frozen=True, slots=True)
class Options:
    """The scope of a check: ``per_case`` tasks of each case of each of ``families`` (None: all),
    in each of ``universes``, with the ``honest`` agents of these names. ``transforms`` change each
    task. ``attacked`` is the number of tasks of each case that liars, mutants and honest agents
    play in each universe; None: every task.
    """

    families: tuple[str, ...] | None = None
    per_case: int = 4
    universes: int = 1
    engine: str = "sqlite"
    place: DatabaseTarget = field(default_factory=DatabaseTarget)
    limits: Limits = field(default_factory=Limits)
    honest: tuple[str, ...] = tuple(HONEST_AGENTS.builtin)
    transforms: tuple[str, ...] = ()
    attacked: int | None = None

    @property
    def key(self) -> dict[str, Any]:
        """The key under which a proof is cached: all options but the password of the server."""
        url = self.place.url
        return asdict(self) | {
            "place": [self.place.kind, url and make_url(url).render_as_string(hide_password=True)],
            "honest": [asdict(HONEST_AGENTS.find(name)) for name in self.honest],
        }


@dataclass(frozen=True)
class Proved:
    """Result of the first pass of a family in a universe.

    ``capacity`` is the number of its tasks in that universe. ``problems`` are what keeps it from
    being attacked, ``notes`` what its author should know.
    """

    family: str
    universe: int
    capacity: int = 0
    cases: Sequence[Case] = ()
    problems: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def writes(self) -> list[ToolStep]:
        """Calls of gold that changed rows, as stray writes for attacks on other tasks."""
        return [act for case in self.cases[:1] for act in acts(case.moves) if act.writes]


OpenTasks = Callable[[World, Template, Sequence[str] | None, int], FamilyTasks]
"""Opens the tasks of some families (None: all) in a universe of a world."""


class FamilyChecker:
    """A world set up for proofs in this process. Close it.

    The tasks come from the world's own families, or from ``open_tasks``.
    """

    def __init__(self, folder: Path, options: Options, open_tasks: OpenTasks = FamilyTasks) -> None:
        self._open_tasks = open_tasks
        self.world: World = load_world(folder)
        self.options = options
        self._transforms = [TASK_TRANSFORMS.load(name)() for name in options.transforms]
        self._templates = Templates(self.world, options.engine, place=options.place)
        self._sources: dict[int, FamilyTasks] = {}
        # asyncio.run would hold back a first Ctrl-C until the tool that it should end returns
        self._loop = asyncio.new_event_loop()

    def families(self) -> list[str]:
        """The names of the families to check. Raises what :meth:`read` raises."""
        return [family.id for family in self._source(0).families]

    def read(self, universe: int) -> list[str]:
        """Ground the families in a universe. Returns the account of what is left out in lines, and
        what the author should know besides.

        Raises :class:`TaskError` or :class:`~envs.errors.WorldError` if it cannot be read at all.
        """
        try:
            source = self._source(universe)
            return [*source.account.lines(), *(source.notes if universe == 0 else ())]
        except TaskError as error:
            if universe == 0:
                raise
            raise TaskError(
                f"in universe {universe}: {error.message}", error.file, error.line, error.family
            ) from None

    def personal_columns(self) -> list[str]:
        """The personal columns as ``table.column (kind)``, those that were guessed with a word for
        it.
        """
        with self._templates.use(0) as template:
            people = people_of(self.world, template)
        return [
            f"{column.name} ({column.kind}{'' if column.declared else ', guessed'})"
            for column in (people.columns if people is not None else ())
        ]

    def guess(self) -> FamilyGuess | None:
        """How well the family of a task is guessed from what is shown; None for one family."""
        source = self._source(0)
        return guess_families(
            [
                self._task(source, family.id, index)
                for family in source.families
                for index in range(min(PER_FAMILY, source.capacity(family.id)))
            ]
        )

    def tasks(self, name: str, count: int) -> list[Task]:
        """At most ``count`` tasks of a family in universe 0, unproved."""
        source = self._source(0)
        return [
            source.task(name, index, SEED) for index in range(min(count, source.capacity(name)))
        ]

    def prove(self, name: str, universe: int) -> Proved:
        """The first pass: gold of some tasks of each case is played and judged."""
        return self._loop.run_until_complete(self._prove(name, universe))

    def prove_task(self, name: str, index: int) -> Proved:
        """The first pass of one task of a family, in universe 0, by itself."""
        return self._loop.run_until_complete(self._prove_task(name, index))

    async def _prove_task(self, name: str, index: int) -> Proved:
        source = self._source(0)
        family = next(family for family in source.families if family.id == name)
        try:
            case, gold = await self._case(source.task(name, index, SEED), family)
        except (TaskError, EnvsError) as error:
            return Proved(name, 0, 1, (), [getattr(error, "message", str(error))])
        dead = [finding.message for finding in findings([parts_of(gold)]) if finding.dead]
        return Proved(name, 0, 1, [case], dead)

    def attack(self, proved: Proved, strays: Sequence[ToolStep] | None) -> FamilyReport:
        """The second pass, attackers and honest agents; returns the report of both passes.

        ``strays`` are writes of this and other families. With None only honest agents play: the
        part that other words of the user can change.
        """
        report = FamilyReport(proved.family, proved.capacity, len(proved.cases))
        for case in proved.cases:
            report.add_gold_scores(case.scores)
        where = f"universe {proved.universe}: " if proved.universe else ""
        claims = [words for case in proved.cases if (words := _unbacked(case))]
        notes = [fault(proved.cases[0].task, self.world, words, "gold") for words in claims[:1]]
        report.notes += [f"{where}{note}" for note in (*proved.notes, *notes)]
        if proved.problems or not proved.cases:
            report.problems += [where + problem for problem in proved.problems]
            return report
        most = self.options.attacked
        with self._templates.use(proved.universe) as template:
            if strays is not None:
                runner = self._runner(AttackRunner, proved, template, report)
                self._loop.run_until_complete(runner.run(proved.cases, strays, most))
            honest = self._runner(HonestRunner, proved, template, report)
            chosen = first_of_each(proved.cases, most)
            self._loop.run_until_complete(honest.run(chosen, self.options.honest))
        return report

    def _runner(self, kind: type[R], proved: Proved, template: Template, report: FamilyReport) -> R:
        families = self._source(proved.universe).families
        family = next(family for family in families if family.id == proved.family)
        where = f"universe {proved.universe}: " if proved.universe else ""
        return kind(family, self.world, template, self.options.limits, report, where)

    def show(self, name: str, agent: str) -> list[ShownRollout]:
        """The rollouts of an agent on a family: an honest agent by its name, or all attacks of a
        kind, such as ``drop write``.

        Raises :class:`TaskError` if the family does not prove itself, and for an unknown agent.
        """
        proved = self.prove(name, 0)
        if proved.problems:
            raise TaskError("; ".join(proved.problems))
        report = FamilyReport(name)
        with self._templates.use(0) as template:
            if agent in self.options.honest or ":" in agent:
                runner = self._runner(ShownHonest, proved, template, report)
                self._loop.run_until_complete(runner.run(proved.cases, [agent]))
                if not runner.shown and report.problems:
                    raise TaskError(report.problems[0])
                return runner.shown
            attacks = self._runner(ShownAttacks, proved, template, report)
            self._loop.run_until_complete(attacks.run(proved.cases, ()))
        kinds = dict.fromkeys(one.kind for one in attacks.shown)
        if agent not in kinds:
            known = [*self.options.honest, *kinds]
            raise TaskError(f"no agent {agent!r} plays {name}; {suggestion(agent, known)}")
        return [one for one in attacks.shown if one.kind == agent]

    def sample(self, model: Model, count: int) -> SuspectReport:
        """Play ``count`` samples of a model on some proved tasks of each family.

        Raises :class:`TaskError` for a family that does not prove itself.
        """
        samples: list[SampleEnd] = []
        for name in self.families():
            proved = self.prove(name, 0)
            if proved.problems:
                raise TaskError("\n".join(proved.problems))
            tasks = [case.task for case in proved.cases]
            with self._templates.use(0) as template:
                playing = _sample_tasks(
                    model, tasks, count, self.world, template, self.options.limits
                )
                samples += self._loop.run_until_complete(playing)
        self._loop.run_until_complete(model.aclose())
        return find_suspects(samples)

    def close(self) -> None:
        self._templates.close()
        self._loop.close()

    def _source(self, universe: int) -> FamilyTasks:
        if universe not in self._sources:
            with self._templates.use(universe) as template:
                source = self._open_tasks(self.world, template, self.options.families, universe)
                share = {one.id: source.capacity(one.id) for one in source.families}
                for transform in self._transforms:
                    transform.look(template)
                    transform.choose([Block(source, "train", SEED, share)], _as_it_is)
            check_reward_families(self.world, source.all_families)
            self._sources[universe] = source
        return self._sources[universe]

    def _task(self, source: FamilyTasks, family: str, index: int) -> Task:
        """The ``index``-th task of a family, as the check's transforms change it."""
        task = source.task(family, index, SEED)
        for transform in self._transforms:
            task = transform.changed(task, index, first=True)
        return task

    async def _prove(self, name: str, universe: int) -> Proved:
        cases: list[Case] = []
        golds: list[GoldRun] = []
        capacity = 0
        try:
            source = self._source(universe)
            if name in source.absent:
                note = f"it has no task here: {source.absent[name]}"
                return Proved(name, universe, notes=[note])
            capacity = source.capacity(name)
            family = next(family for family in source.families if family.id == name)
            if isinstance(family, Family):
                check_cases(source, family, SEED)
            for index in range(min(self.options.per_case * len(source.cases(name)), capacity)):
                case, gold = await self._case(self._task(source, name, index), family)
                cases.append(case)
                golds.append(gold)
            count = len(golds)
            while count < min(capacity, len(cases) + MORE) and self._dead(golds):
                task = self._task(source, name, count)
                with self._templates.use(universe) as template:
                    golds.append((await prove_and_keep(task, self.world, template))[1])
                count += 1
        except (TaskError, EnvsError) as error:
            return Proved(name, universe, capacity, cases, [str(error)])
        found = [
            (item.dead, str(TaskError(item.message, family.file, item.line or family.line, name)))
            for item in self._findings(golds)
        ]
        problems, notes = ([line for dead, line in found if dead is sort] for sort in (True, False))
        return Proved(name, universe, capacity, cases, problems, notes)

    def _dead(self, golds: Sequence[GoldRun]) -> bool:
        """True if a part of gold has done nothing in any of these playings."""
        return any(finding.dead for finding in self._findings(golds))

    def _findings(self, golds: Sequence[GoldRun]) -> list[Finding]:
        reads = {tool.name for tool in self.world.tools if tool.read_only}
        return findings([parts_of(gold) for gold in golds]) + writes_nothing(golds, reads)

    async def _case(self, task: Task, family: TaskFamily) -> tuple[Case, GoldRun]:
        world, limits = self.world, self.options.limits
        with self._templates.use(task.universe) as template:
            task, gold = await prove_and_keep(task, world, template, limits)
            pure = {tool.name for tool in world.tools if tool.pure}
            for tool, message in ungrounded_arguments(task, gold, pure, family.inferred(task)):
                raise fault(task, world, message, "gold", tool)
            moves = moves_of(gold.run)
            if message := _ungated(task, moves):
                raise fault(task, world, message, "gates")
            async with playing(task, world, template, limits) as again:
                if message := _changed(task, gold, again, world):
                    message = (
                        f"{message}: a tool depends on something besides the database and"
                        " its arguments"
                    )
                    raise fault(task, world, f"{message} (task {task.id})", "gold")
                scores = _gold_scores(replace(again.evidence, task=task), world)
            async with playing(task, world, template, limits, unordered=True) as backwards:
                if message := shortfall(task, backwards, world):
                    message = (
                        "gold comes out otherwise when rows without ORDER BY stand in"
                        f" another order: {message}"
                    )
                    raise fault(task, world, f"{message} (task {task.id})", "gold")
        evidence = replace(gold.evidence, query=end_state_gone, databases=None, people=None)
        return Case(task, evidence, moves, scores), gold


def _as_it_is(block: Block, task: Task) -> Task:
    return task


def _gold_scores(evidence: Evidence, world: World) -> dict[str, float]:
    """The scores that the world's ``@reward`` functions give to a playing of gold."""
    verdicts = [
        item.verify(evidence)
        for item in world_rewards(world)
        if not item.mark.gate and item.applies_to(evidence.task.family)
    ]
    return {verdict.verifier: verdict.score or 0.0 for verdict in verdicts}


def _changed(task: Task, first: GoldRun, second: GoldRun, world: World) -> str | None:
    """The difference of a second playing of gold, in the same order of rows, from the first."""
    if message := shortfall(task, second, world):
        return f"gold comes out otherwise when it is played again: {message}"
    for before, after in zip(first.run.outcomes, second.run.outcomes, strict=True):
        if before.content != after.content:
            return f"{before.call.name} gives another result when gold is played again"
    return None


def _ungated(task: Task, moves: Sequence[Move]) -> str | None:
    """An effect of gold that no gate demands: a write, an answer, a question or a confirmation
    before the first write. None if there is none.
    """
    gates = {gate.name: gate.options for gate in task.gates}
    calls = {index: move for index, move in enumerate(moves) if isinstance(move, ToolStep)}
    writes = [index for index, call in calls.items() if call.writes]
    submits = any(call.name == SUBMIT for call in calls.values())
    if writes and "state" not in gates:
        return "gold changes rows, but no gate looks at them: add `state`"
    if submits and "answer" not in gates:
        return "gold submits an answer, but no gate looks at it: add `answer`"
    if "answer" in gates and not submits:
        return f"gold of case {task.case!r} submits nothing, though the gate `answer` waits for it"
    return _unguarded_talk(gates, moves, writes[0]) if writes else None


def _unguarded_talk(gates: Mapping[str, Any], moves: Sequence[Move], write: int) -> str | None:
    """The talk before gold's first write that no gate demands."""
    early = _talk_before(moves, write)
    if unguarded := sorted(early - set(gates.get("no_write_before") or ())):
        words = " and ".join({"ask": "asks", "confirm": "confirms"}[word] for word in unguarded)
        return (
            f"gold {words} before it writes, but no gate demands it: add {{no_write_before:"
            f" [{', '.join(sorted(early))}]}}"
        )
    return None


def _talk_before(moves: Sequence[Move], first_write: int) -> set[str]:
    """The kinds of talk (``ask``, ``confirm``) that gold has completed before its first write."""
    turns = talk(moves)
    kinds = {
        "ask": [turn for turn in turns if not turn.agreed],
        "confirm": [turn for turn in turns if turn.agreed],
    }
    before = moves[:first_write]
    return {
        kind
        for kind, kind_turns in kinds.items()
        if kind_turns and all(turn in before for turn in kind_turns)
    }


def _unbacked(case: Case) -> str:
    """A note if gold changes no row and says what the gate ``reply`` would not let an agent say."""
    task, end, gate = case.task, case.task.end, case.task.gate("reply")
    if gate is None or end is None or end.changes or end.reply is None:
        return ""
    wordless = replace(task, end=replace(end, reply={**end.reply, "said": []}))
    verifier = verifier_for(gate.name, task)
    options = verifier.parse_options(gate.options)
    verdict = verifier.verify(replace(case.evidence, task=wordless), options)
    found = (one for one in verdict.detail.get("findings", ()) if one["check"] == FALSE_CLAIM)
    return next((f"gold changes no row and says: {one['words']}" for one in found), "")
