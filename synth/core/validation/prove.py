"""The proof of one task: gold is played, its end recorded, and an independent oracle asked.

A run proves each of its tasks once, before any row of it lands; ``synth check`` adds the attacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from envs.errors import ExecutorError
from envs.plugins import resolve
from envs.sandboxes.base import Template
from envs.types import Limits, ToolOutcome, ToolResult
from envs.world.loader import World
from synth.agent import ReactAgent
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.foundation.json_leaves import parsed
from synth.core.models.scripted.expert import ExpertConversation, GoldStuckError, ScriptedModel
from synth.core.rewards.answer import same_answer
from synth.core.rewards.requests import evidence_of_requests
from synth.core.rewards.state.alternatives import try_end
from synth.core.types.events import UserTurnEvent
from synth.core.types.renaming import renaming_of, with_renaming
from synth.core.types.reply import Act
from synth.core.types.steps import (
    Action,
    AskStep,
    BranchStep,
    CallStep,
    FollowUpStep,
    InstructStep,
    LoopStep,
    TalkStep,
    every_step,
)
from synth.core.users.scripted.proposal import Turn
from synth.core.validation.base import GateValidation, branches_taken, fault, validations_of
from synth.core.validation.gold_reply import gold_reply
from synth.core.validation.gold_run import GoldRun
from synth.episode import Episode
from synth.errors import SynthError, TaskError
from synth.rewards import Evidence, author_error, judge, shared_row, solved, world_rewards
from synth.task import Task
from synth.user import Consent, UserTurn
from synth.verdict import StopReason

if TYPE_CHECKING:
    from synth.core.tasks.parts import Reading

GOLD_LIMITS = AgentLimits(max_turns=500, max_tool_calls=1000)
FINISHED = frozenset({StopReason.FINISHED, StopReason.USER_ENDED})


async def prove(task: Task, world: World, template: Template, limits: Limits | None = None) -> Task:
    """Return the task with its gold end and its oracle's values.

    Raises :class:`TaskError` if a gold call or a turn of the user deviates from what the family
    says, the oracle disagrees, gold does not pass every gate, or ``alternatives`` accepts a wrong
    end.
    """
    if renaming_of(task) is None:
        return (await _prove_own(task, world, template, limits))[0]
    return (await prove_and_keep(task, world, template, limits))[0]


async def prove_and_keep(
    task: Task, world: World, template: Template, limits: Limits | None = None
) -> tuple[Task, GoldRun]:
    """As :func:`prove`; returns the playing of gold beside the task.

    A task in a renaming is proved by the world's own names, and then played once more as the agent
    is shown it; a composed one is played once more, too, without the reads that told nothing new.
    """
    renaming = renaming_of(task)
    own, gold = await _prove_own(with_renaming(task, None), world, template, limits)
    if renaming is None and not task.parts:
        return own, gold
    shown = with_renaming(own, renaming)
    try:
        async with playing(shown, world, template, limits) as gold:
            if message := shortfall(shown, gold, world):
                raise TaskError(f"gold does not earn the full reward: {message} (task {task.id})")
    except TaskError as error:
        if renaming is None:
            raise
        advice = "name variants without this one in tasks.renamings=[...]"
        message = f"under renaming {renaming.number}: {error.message}; {advice}"
        raise TaskError(message, error.file, error.line, task.family) from None
    return shown, gold


async def _prove_own(
    task: Task, world: World, template: Template, limits: Limits | None
) -> tuple[Task, GoldRun]:
    """The proof of a task by the world's own names, completed by its gates."""
    proved = await (_prove_parts if task.parts else _prove_alone)(task, world, template, limits)
    for validation in _completing(task):
        proved = await validation.completed(*proved, world, template, limits)
    return proved


def _completing(task: Task) -> list[GateValidation]:
    return [validation for validation, _ in validations_of(task) if validation.completes]


async def _prove_alone(
    task: Task, world: World, template: Template, limits: Limits | None
) -> tuple[Task, GoldRun]:
    """The proof of a task without parts."""
    try:
        with Episode(task, world, template, limits) as episode:
            oracle = _ask_oracle(task, world, episode)
            gold = await _play_gold(episode, world)
            proved = _with_end(task, gold, oracle)
            if message := shortfall(proved, gold, world):
                raise _Refuted(f"gold does not earn the full reward: {message}", "gold")
            _check_alternatives(proved, gold, world, template, limits)
    except _Refuted as error:
        message = f"{error.message} (task {task.id}, slots {dict(task.slots)})"
        raise fault(task, world, message, *error.words) from None
    return proved, gold


def _with_end(task: Task, gold: GoldRun, oracle: Mapping[str, object]) -> Task:
    """The task with the end of its gold, whose calls are checked."""
    task = replace(task, gold=branches_taken(task.gold, gold.taken))
    _check_calls(task, gold, oracle)
    reply = gold_reply(gold.evidence, oracle, gold.stated, gold.steps)
    return replace(task, oracle=oracle, end=gold.end(reply))


def _check_alternatives(
    task: Task, gold: GoldRun, world: World, template: Template, limits: Limits | None
) -> None:
    """Check that `alternatives` allows gold's end, and not the end of an idle agent."""
    if not task.rules.alternatives or task.end is None or not task.end.writes:
        return
    if message := _not_accepted(replace(gold.evidence, task=task)):
        message = f"gold's own end is none that `alternatives` allows: {message}"
        raise _Refuted(message, "alternatives")
    _check_idle(task, world, template, limits)


class PlayedProof(ScriptedModel):
    """The proof of a task by a rollout of the expert in an open episode, which is judged apart.

    The rollout begins with it: the oracle is asked at once. Only a task that plays in its own
    names, has no parts and is completed by no gate can be proved so. It raises SynthError where
    :func:`prove` would.
    """

    def __init__(self, episode: Episode, world: World) -> None:
        super().__init__(retries=None)
        if _completing(episode.task):
            raise TaskError("a gate completes the task", family=episode.task.family)
        self._episode, self._world = episode, world
        self._oracle = _ask_oracle(episode.task, world, episode)

    def start(self, task: Task, tools: Sequence[object], seed: int) -> ExpertConversation:
        self._expert = super().start(task, tools, seed)
        return self._expert

    async def say(self, text: str, acts: Sequence[Act] = ()) -> UserTurn:
        """Speak to the episode's user, who has to answer as gold expects."""
        return await _said(self._episode, self._expert, self._world, text, acts)

    def settle(self, run: AgentRun, template: Template, limits: Limits) -> Task:
        """The proved task of a rollout that ended; gates are not judged here."""
        gold = _gold_run(run, self._episode, self._expert)
        task = _with_end(self._episode.task, gold, self._oracle)
        _check_alternatives(task, gold, self._world, template, limits)
        return task


async def _prove_parts(
    task: Task, world: World, template: Template, limits: Limits | None
) -> tuple[Task, GoldRun]:
    """Prove a composed task: all gates of all parts are passed, and no row is changed for two of
    them. A part that has branches or loops and writes after another part did is proved alone, and
    takes the same branches in the whole. The whole proves every other part.
    """
    try:
        return await _play_parts(task, world, template, limits)
    except TaskError:
        for part in task.parts:  # a family that is at fault by itself says so
            await prove(part, world, template, limits)
        raise


async def _play_parts(
    task: Task, world: World, template: Template, limits: Limits | None
) -> tuple[Task, GoldRun]:
    """As :func:`_prove_parts`, without the reads of the whole that told nothing new."""
    readers = {tool.name for tool in world.tools if tool.read_only}
    parts, changed = list[Task](), False
    for part in task.parts:
        called = {step.tool for step in every_step(part.gold) if isinstance(step, CallStep)}
        writes = not called <= readers
        alone = _is_proved_alone(part, writes_later=changed and writes)
        changed |= writes
        proved = await prove(part, world, template, limits) if alone else replace(part, end=None)
        parts.append(proved)
    joined_gold = resolve("synth.core.tasks.parts:joined_gold")
    task = replace(task, parts=tuple(parts), gold=joined_gold(task.parts))
    with Episode(task, world, template, limits) as episode:
        parts = [
            part if part.end else replace(part, oracle=_ask_oracle(part, world, episode))
            for part in parts
        ]
        gold = await _play_gold(episode, world)
        whole = replace(_followed(task, gold), parts=_proved_by(gold, parts))
        if whole.gold != joined_gold(whole.parts):
            raise _conflict(task, "one request changes what another one comes to")
        without_repeats = resolve("synth.core.tasks.parts:without_repeats")
        left = without_repeats(whole.gold, _reads(gold, readers))
        repeats = {id(step) for place, step in enumerate(whole.gold) if place not in left}
        whole = replace(whole, gold=[*left.values()])
        gold = gold.without(repeats, whole) if repeats else gold
        return _earned(whole, gold, world), gold


def _is_proved_alone(part: Task, *, writes_later: bool) -> bool:
    decides = any(isinstance(step, BranchStep | LoopStep) for step in every_step(part.gold))
    own_end = part.role.then or part.rules.alternatives or _completing(part)
    return bool((writes_later and decides) or own_end)


def _proved_by(gold: GoldRun, parts: Sequence[Task]) -> tuple[Task, ...]:
    """The parts of a composed task; those without an end get the one that its gold shows."""
    task, proved, first = gold.evidence.task, list[Task](), 0
    steps, requests = iter(task.gold), evidence_of_requests(gold.evidence)
    brings = [FollowUpStep(index, "done") for index in task.role.requests]
    for part, evidence in zip(parts, requests, strict=True):
        assert evidence is not None, "gold brought all follow-ups"
        own = [*takewhile(lambda step: step not in brings, steps)]
        its = slice(first, first + len(evidence.calls))
        first = its.stop
        if part.end is not None:
            proved.append(part)
            continue
        said = set(map(id, every_step(own)))
        played = GoldRun(
            replace(gold.run, outcomes=gold.run.outcomes[its], events=[]),
            gold.tools,
            gold.steps[its],
            evidence,
            [one for one in gold.stated if id(one[0]) in said],
            taken=gold.taken,
        )
        try:
            proved.append(_with_end(replace(part, gold=own), played, part.oracle))
        except _Refuted as error:
            raise _conflict(task, error.message) from None
    return tuple(proved)


def _followed(task: Task, gold: GoldRun) -> Task:
    """A composed task with the branches that its gold took, whose calls went as its parts' did."""
    for outcome, step in zip(gold.run.outcomes, gold.steps, strict=True):
        if message := _deviation(outcome, step):
            raise _conflict(task, message)
    if gold.run.stop_reason not in FINISHED:
        raise _conflict(task, f"gold does not finish: {gold.run.stop_reason}")
    if message := _other_wishes(task, gold):
        raise _conflict(task, message)
    return replace(task, gold=branches_taken(task.gold, gold.taken))


def _earned(task: Task, gold: GoldRun, world: World) -> Task:
    """A composed task with the end of its gold, which passes all gates."""
    reply = resolve("synth.core.tasks.parts:joined_reply")(task.parts)
    whole = replace(task, end=gold.end(reply))
    if row := shared_row(replace(gold.evidence, task=whole)):
        raise _conflict(task, f"two requests change {row}")
    if message := shortfall(whole, gold, world):
        raise _conflict(task, f"gold does not earn the full reward: {message}")
    return whole


def _reads(gold: GoldRun, readers: Collection[str]) -> Mapping[int, Reading]:
    """What each step read that was played once, by its ``id``."""
    times = Counter(map(id, gold.steps))
    return {
        id(step): (step.tool, outcome.arguments or {}, parsed(outcome.content))
        for outcome, step in zip(gold.run.outcomes, gold.steps, strict=True)
        if step.tool in readers and step.fails is None and times[id(step)] == 1
    }


class _Refuted(SynthError):
    """A proof that failed. ``words`` are the keys in tasks.yaml, from the outside in, to blame."""

    def __init__(self, message: str, *words: str) -> None:
        super().__init__(message)
        self.message, self.words = message, words


def _check_calls(task: Task, gold: GoldRun, oracle: Mapping[str, object]) -> None:
    """Check the calls and the answer of gold against its steps, the oracle and the question."""
    for outcome, step in zip(gold.run.outcomes, gold.steps, strict=True):
        if message := _deviation(outcome, step):
            raise _Refuted(message, "gold", outcome.call.name)
    if gold.run.stop_reason not in FINISHED:
        raise _Refuted(f"gold does not finish: {gold.run.stop_reason}", "gold")
    answer = gold.evidence.submitted or {}
    for field, name in _oracle_fields(task).items():
        rule = task.rules.compare_answer.get(field, "exact")
        if field in answer and not same_answer(oracle[name], answer[field], rule):
            submitted = f"{field}={answer[field]!r}"
            message = f"the oracle {name} says {oracle[name]!r}, gold submits {submitted}"
            message += "".join(_empty_saves(gold))
            raise _Refuted(message, "oracle", name)
    if message := _other_wishes(task, gold):
        raise _Refuted(message, "gold")
    for validation, options in validations_of(task):
        if message := validation.open_question(options, gold.evidence):
            raise _Refuted(message, validation.key)
    if not task.role.then and (late := _after_no(gold, gold.writes)):
        message = f"gold calls {late} after the user said no: a case that declines ends"
        raise _Refuted(f"{message} without a write", "gold", late)


def _empty_saves(gold: GoldRun) -> Iterator[str]:
    """What gold saved and is empty, as the likely cause of a wrong answer."""
    for step, values in gold.saved:
        for name, value in values.items():
            if isinstance(step, CallStep) and value in (None, "", [], {}):
                path = step.save[name]
                found = f"`save` {name}" + (f" with {path}" if isinstance(path, str) else "")
                yield f"; on line {step.line}, {found} finds nothing"


def _other_wishes(task: Task, gold: GoldRun) -> str | None:
    """The deviation of the follow-ups that the user brought from those in gold."""
    due = [step.index for step in every_step(task.gold) if isinstance(step, FollowUpStep)]
    turns = [event for event in gold.run.events if isinstance(event, UserTurnEvent)]
    brought = [turn.then for turn in turns if turn.then is not None]
    if due == brought:
        return None
    return (
        f"gold has the follow-ups {due or 'none'} (`then: N`), and the user brought"
        f" {brought or 'none'}"
    )


def _check_idle(task: Task, world: World, template: Template, limits: Limits | None) -> None:
    with Episode(task, world, template, limits) as idle:
        if not _not_accepted(idle.evidence()):
            message = "`alternatives` allows the end of an agent that does nothing"
            raise _Refuted(f"{message}: let `must` be false before the work", "alternatives")


def _deviation(outcome: ToolOutcome, step: Action) -> str | None:
    """The deviation of a gold call from its step; None if there is none."""
    result, fails, name = outcome.result, step.fails, outcome.call.name
    if fails is None and not result.ok:
        return f"the gold call {name} fails: {_refusal(result)}"
    if fails is not None and result.category != fails:
        became = "succeeds" if result.ok else f"fails with {result.category}"
        return f"the gold call {name} should fail with {fails}, but {became}"
    return None


def _refusal(result: ToolResult) -> str:
    """The error that a tool returned, as a clause."""
    advice = f"; {result.advice}" if result.advice else ""
    return f"{(result.message or '').rstrip('.')}{advice} ({result.category})"


def shortfall(task: Task, gold: GoldRun, world: World) -> str:
    """The gates that a playing of gold does not pass, with reasons; empty if it passes all.

    Scores of the world's rewards.py need not be full. Raises :class:`TaskError` with file and line
    for a function there that fails.
    """
    verdicts = judge(replace(gold.evidence, task=task), world_rewards(world))
    if message := author_error(verdicts):
        raise TaskError(f"{world.path}/{message} (task {task.id}, slots {dict(task.slots)})")
    if solved(verdicts):
        return ""
    return "; ".join(
        f"{verdict.verifier}: {verdict.reason}"
        for verdict in verdicts
        if verdict.score is None or (verdict.gate and verdict.score != 1.0)
    )


def _not_accepted(evidence: Evidence) -> str:
    """The reasons for which an end meets none of ``alternatives``; empty if it meets one."""
    findings = [
        try_end(evidence, alternative, evidence.query)
        for alternative in evidence.task.rules.alternatives
    ]
    if any(finding.met for finding in findings):
        return ""
    reasons = [
        finding.unmet
        or ", ".join(
            f"{row.op} in {row.table} lies outside of `may_change`" for row in finding.outside or ()
        )
        for finding in findings
    ]
    return "; ".join(f"alternative {number}: {reason}" for number, reason in enumerate(reasons, 1))


def _after_no(gold: GoldRun, writes: Sequence[int]) -> str | None:
    """The first tool that changed rows after the user had declined."""
    refused = [turn.after for turn in gold.evidence.turns if turn.declines]
    return next(
        (gold.run.outcomes[index].call.name for index in writes if refused and index >= refused[0]),
        None,
    )


def _conflict(task: Task, message: str) -> TaskError:
    """The error of a composed task whose parts cannot stand together."""
    return TaskError(f"{message} (composed task {task.id})", family=task.family)


@asynccontextmanager
async def playing(
    task: Task,
    world: World,
    template: Template,
    limits: Limits | None = None,
    *,
    unordered: bool = False,
) -> AsyncGenerator[GoldRun]:
    """Play gold on a fresh sandbox, as :func:`_play_gold` does. Its end can be queried until the
    block ends.
    """
    with Episode(task, world, template, limits, unordered=unordered) as episode:
        yield await _play_gold(episode, world)


async def _play_gold(episode: Episode, world: World) -> GoldRun:
    """Play gold in an episode, with the user if there is one.

    Raises :class:`TaskError` if a tool breaks, a step finds nothing, or the user does not answer as
    gold expects.
    """
    task = episode.task

    async def say(text: str, acts: Sequence[Act] = ()) -> UserTurn:
        return await _said(episode, expert, world, text, acts)

    try:
        expert = ScriptedModel(retries=None).start(task, episode.offered, task.seed)
    except GoldStuckError as error:
        raise _stuck(task, world, error) from None
    try:
        agent = ReactAgent(expert, episode.call, GOLD_LIMITS)
        run = await agent.run(episode.messages, say)
        episode.said = run.said
    except GoldStuckError as error:
        raise _stuck(task, world, error) from None
    except ExecutorError as error:
        message = f"gold breaks a tool: {error.message} (task {task.id})"
        if error.file is None:
            raise fault(task, world, message, "gold", expert.steps[-1].tool) from error
        raise TaskError(message, error.file, error.line, task.family) from error
    return _gold_run(run, episode, expert)


async def _said(
    episode: Episode, expert: ExpertConversation, world: World, text: str, acts: Sequence[Act]
) -> UserTurn:
    """Speak to the user; raises :class:`TaskError` for an answer that gold does not expect."""
    task, turn = episode.task, await episode.say(text, acts)
    if (step := expert.talking) is not None and (message := _unanswered(episode, step, text, turn)):
        raise fault(task, world, f"{message} (task {task.id})", "gold", step.word)
    return turn


def _gold_run(run: AgentRun, episode: Episode, expert: ExpertConversation) -> GoldRun:
    evidence, stated = episode.evidence(), expert.stated
    return GoldRun(run, episode.offered, expert.steps, evidence, stated, expert.saved, expert.taken)


def _stuck(task: Task, world: World, error: GoldStuckError) -> TaskError:
    return fault(task, world, f"{error.message} (task {task.id})", "gold", error.step)


def _unanswered(episode: Episode, step: TalkStep, text: str, turn: UserTurn) -> str | None:
    """The reason for which the user did not answer a question or a confirmation as gold expects;
    None if it did.
    """
    reply = "the user ends the conversation" if turn.ends else f"the user says {turn.text!r}"
    if isinstance(step, AskStep):
        silent = [topic for topic in step.topics if topic not in turn.told]
        if not silent:
            return None
        advice = f"let `asked` of {silent[0]} hold one of its `words`"
        return f"gold asks {text!r}, but is not told {', '.join(silent)}: {reply}; {advice}"
    if isinstance(step, FollowUpStep):
        due = turn.then == step.index
        return None if due else f"`then: {step.index}` does not come here: {reply}"
    if isinstance(step, InstructStep):
        used = {call.name for call in episode.turns[-1].calls if call.ok}
        return None if step.tool in used else f"the user does not use {step.tool}: {reply}"
    answered = turn.consents or turn.declines or turn.then is not None
    return None if answered else _not_agreed(episode.role.every_consent, text, reply)


def _not_agreed(consents: Sequence[Consent], text: str, reply: str) -> str | None:
    if not consents:
        return None
    missing = min((Turn(text).lacking(one) for one in consents), key=len)
    why = f"it does not restate {', '.join(map(repr, missing))}" if missing else reply
    return f"gold confirms with {text!r}, and the user does not agree: {why}"


def _oracle_fields(task: Task) -> Mapping[str, str]:
    """Map each answer field to the oracle that checks it: of the same name, or named by the gate
    ``answer``.
    """
    properties = (task.answer or {}).get("properties", {})
    fields = {name: name for name in task.oracle_sql if name in properties}
    gate = task.gate("answer")
    named: Mapping[str, str] = {} if gate is None else gate.options or {}
    return {**fields, **named}


def _ask_oracle(task: Task, world: World, episode: Episode) -> dict[str, object]:
    """The oracles' values before the work: a list for an array field, otherwise the only value of
    the only row.
    """
    if not task.oracle_sql:
        return {}
    query, properties = episode.evidence().query, (task.answer or {}).get("properties", {})
    arrays = {
        name for field, name in _oracle_fields(task).items() if properties[field]["type"] == "array"
    }
    values: dict[str, object] = {}
    for name, sql in task.oracle_sql.items():
        try:
            rows = query(sql, task.slots)
        except TaskError as error:
            raise fault(task, world, f"oracle {name}: {error.message}", "oracle", name) from None
        if any(len(row) != 1 for row in rows):
            raise fault(task, world, f"the oracle {name} must select one column", "oracle", name)
        column = [next(iter(row.values())) for row in rows]
        if name not in arrays and len(column) != 1:
            found = f"{len(column)} rows where one is due (slots {dict(task.slots)})"
            raise fault(task, world, f"the oracle {name} gives {found}", "oracle", name)
        values[name] = column if name in arrays else column[0]
    return values
