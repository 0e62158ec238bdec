"""The proof of one task: gold is played, its end recorded, and an independent oracle asked.

A run proves each of its tasks once, before the first rollout; ``synth check`` adds the attacks.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from envs.errors import ExecutorError
from envs.folder import World
from envs.sandboxes.base import Template
from envs.types import Limits, Pins, ToolOutcome, ToolResult
from synth.admission.place import fault
from synth.admission.settled import unsettled
from synth.agent.react import ReactAgent
from synth.agent.run import AgentLimits, AgentRun
from synth.episode import Episode
from synth.errors import TaskError
from synth.models.scripted import GoldStuckError, ScriptedModel
from synth.tasks.queries import run_query
from synth.tasks.sql_question import sql_gate
from synth.tasks.words import SUBMIT
from synth.types import GoldEnd, StopReason, Task, UserTurn
from synth.users.restated import Turn
from synth.verifiers import Evidence, judge, reward
from synth.verifiers.accept import try_end
from synth.verifiers.answer import same_answer

Json = Any

GOLD_LIMITS = AgentLimits(max_turns=500, max_tool_calls=1000)
FINISHED = frozenset({StopReason.FINISHED, StopReason.USER_ENDED})


@dataclass(frozen=True)
class GoldRun:
    """One playing of gold: the run, the tools shown, the step behind each call, and what a verifier sees."""

    run: AgentRun
    tools: Sequence[Json]
    steps: Sequence[Json]
    evidence: Evidence


async def prove(task: Task, world: World, template: Template, limits: Limits | None = None) -> Task:
    """The task with its gold end and its oracle's values.

    Raises :class:`TaskError` where a gold call or a turn of the user goes otherwise than the family says, the oracle
    disagrees, gold does not earn the full reward, or an end that ``accept`` describes is no right one.
    """
    return (await prove_and_keep(task, world, template, limits))[0]


async def prove_and_keep(
    task: Task, world: World, template: Template, limits: Limits | None = None
) -> tuple[Task, GoldRun]:
    """What :func:`prove` gives and raises, and the playing of gold that it looked at."""

    def fail(message: str, *words: str) -> TaskError:
        return fault(task, world, f"{message} (task {task.id}, slots {dict(task.slots)})", *words)

    oracle = ask_oracle(task, world, template)
    async with playing(task, world, template, limits) as gold:
        for outcome, step in zip(gold.run.outcomes, gold.steps, strict=True):
            if message := _otherwise(outcome, step):
                raise fail(message, "gold", outcome.call.name)
        if gold.run.stop_reason not in FINISHED:
            raise fail(f"gold does not finish: {gold.run.stop_reason}", "gold")
        answer = None if gold.evidence.submitted is None else dict(gold.evidence.submitted)
        for field, name in oracle_fields(task).items():
            if answer is not None and field in answer:
                rule = task.compare_answer.get(field, "exact")
                if not same_answer(oracle[name], answer[field], rule):
                    message = f"the oracle {name} says {oracle[name]!r}, gold submits {field}={answer[field]!r}"
                    raise fail(message, "oracle", name)
        if message := _open_question(task, gold.evidence):
            raise fail(message, "sql")
        writes = tuple(at for at, outcome in enumerate(gold.run.outcomes) if outcome.changes)
        if late := _after_no(gold, writes):
            message = f"gold calls {late} after the user said no: a twin that declines ends without a write"
            raise fail(message, "gold", late)
        changes = [each.to_json() for each in gold.evidence.changes]
        played = [{"tool": each.call.name, "arguments": dict(each.arguments or {})} for each in gold.run.outcomes]
        proved = replace(task, oracle=oracle, end=GoldEnd(changes, answer, len(played), writes, played))
        if message := shortfall(proved, gold):
            raise fail(f"gold does not earn the full reward: {message}", "gold")
        if writes and task.accept:
            if message := _not_accepted(replace(gold.evidence, task=proved)):
                raise fail(f"gold's own end is none that `accept` allows: {message}", "accept")
            with Episode(proved, world, template, limits) as idle:
                if not _not_accepted(idle.evidence()):
                    raise fail(
                        "`accept` allows the end of an agent that does nothing: let `must` be false before the work",
                        "accept",
                    )
    return proved, gold


def _open_question(task: Task, evidence: Evidence) -> str | None:
    """Why a question that a query answers has no one answer; None where it has, or is no such question."""
    option = sql_gate(task)
    if option is None or evidence.databases is None:
        return None
    return unsettled(option["query"], evidence.databases.own)


def _otherwise(outcome: ToolOutcome, step: Json) -> str | None:
    """How a gold call went otherwise than its step says."""
    result, fails, name = outcome.result, step.get("fails"), outcome.call.name
    if fails is None and not result.ok:
        return f"the gold call {name} fails: {_refusal(result)}"
    if fails is not None and result.category != fails:
        became = "succeeds" if result.ok else f"fails with {result.category}"
        return f"the gold call {name} should fail with {fails}, but {became}"
    return None


def _refusal(result: ToolResult) -> str:
    """What a tool answered instead of a result, in a sentence."""
    advice = f"; {result.advice}" if result.advice else ""
    return f"{(result.message or '').rstrip('.')}{advice} ({result.category})"


def shortfall(task: Task, gold: GoldRun) -> str:
    """Why a playing of gold does not earn the proved task's full reward; empty where it does."""
    verdicts = judge(replace(gold.evidence, task=task))
    return "" if reward(verdicts) == 1.0 else "; ".join(each.reason for each in verdicts if each.score != 1.0)


def _not_accepted(evidence: Evidence) -> str:
    """Why no alternative of ``accept`` is met by an end; empty where one is."""
    assert evidence.query is not None, "the end is there to be asked while its episode is open"
    findings = [try_end(evidence, each, evidence.query) for each in evidence.task.accept]
    if any(each.met for each in findings):
        return ""
    reasons = [
        each.unmet or ", ".join(f"{row.op} in {row.table} lies outside of `may_change`" for row in each.outside or ())
        for each in findings
    ]
    return "; ".join(f"alternative {number}: {reason}" for number, reason in enumerate(reasons, 1))


def _after_no(gold: GoldRun, writes: Sequence[int]) -> str | None:
    """The first tool that changed rows after the user had declined."""
    refused = [turn.after for turn in gold.evidence.turns if turn.declines]
    return next((gold.run.outcomes[at].call.name for at in writes if refused and at >= refused[0]), None)


@asynccontextmanager
async def playing(
    task: Task, world: World, template: Template, limits: Limits | None = None, *, unordered: bool = False
) -> AsyncGenerator[GoldRun]:
    """Play gold on a fresh sandbox, with the user if there is one. Its end can be asked until the block ends.

    Raises :class:`TaskError` where a tool breaks, a step finds nothing, or the user does not answer as gold expects.
    """
    with Episode(task, world, template, limits, unordered=unordered) as episode:
        talks = (step for step in task.gold if step["do"] in {"ask", "confirm"})
        heard = [task.prompt]

        async def say(text: str) -> UserTurn:
            turn = await episode.say(text)
            if (step := next(talks, None)) is not None and (message := _unheard(task, step, text, turn, heard)):
                raise fault(task, world, f"{message} (task {task.id})", "gold", step["do"])
            heard.append(turn.text)
            return turn

        try:
            expert = ScriptedModel(retries=None).start(task, episode.tools, task.seed)
        except GoldStuckError as error:
            raise _stuck(task, world, error) from None
        try:
            agent = ReactAgent(expert, episode.call, GOLD_LIMITS)
            run = await agent.run(episode.messages, say if task.user is not None else None)
            episode.said = run.said
        except GoldStuckError as error:
            raise _stuck(task, world, error) from None
        except ExecutorError as error:
            message = f"gold breaks a tool: {error.message} (task {task.id})"
            if error.file is None:
                raise fault(task, world, message, "gold", expert.steps[-1].get("tool", SUBMIT)) from error
            raise TaskError(message, error.file, error.line, task.family) from error
        yield GoldRun(run, episode.tools, expert.steps, episode.evidence())


def _stuck(task: Task, world: World, error: GoldStuckError) -> TaskError:
    return fault(task, world, f"{error.message} (task {task.id})", "gold", error.step)


def _unheard(task: Task, step: Json, text: str, turn: UserTurn, heard: Sequence[str]) -> str | None:
    """Why the user did not answer a question or a confirmation as gold expects; None where it did."""
    assert task.user is not None
    reply = "the user ends the conversation" if turn.ends else f"the user says {turn.text!r}"
    if step["do"] == "ask":
        silent = [topic for topic in step["topics"] if topic not in turn.told]
        if not silent:
            return None
        advice = f"let `asked` of {silent[0]} hold one of its `words`"
        return f"gold asks {text!r}, but is not told {', '.join(silent)}: {reply}; {advice}"
    consent = task.user.consent
    if consent is None or turn.consents or turn.declines:
        return None
    missing = Turn(text, "\n".join(heard)).unclear(consent.mentions)
    why = f"it does not clearly restate {', '.join(map(repr, missing))}" if missing else f"it is no question: {reply}"
    return f"gold confirms with {text!r}, and the user does not agree: {why}"


def oracle_fields(task: Task) -> Mapping[str, str]:
    """Which answer field is checked by which oracle: fields and oracles of one name, and what the gate itself says."""
    properties = (task.answer or {}).get("properties", {})
    fields = {name: name for name in task.oracle_sql if name in properties}
    for gate in task.gates:
        if isinstance(gate, dict) and "answer" in gate:
            fields |= cast("Mapping[str, str]", gate["answer"])
    return fields


def ask_oracle(task: Task, world: World, template: Template) -> dict[str, Json]:
    """The oracles' values on a fresh sandbox: a list for an array field, else the one value of the one row."""
    if not task.oracle_sql:
        return {}
    properties = (task.answer or {}).get("properties", {})
    arrays = {name for field, name in oracle_fields(task).items() if properties[field]["type"] == "array"}
    values: dict[str, Json] = {}
    with template.open(Pins(task.now, task.seed)) as sandbox:
        for name, sql in task.oracle_sql.items():
            try:
                rows = run_query(sandbox, sql, task.slots, template, TaskError("", family=task.family))
            except TaskError as error:
                raise fault(task, world, f"oracle {name}: {error.message}", "oracle", name) from None
            if any(len(row) != 1 for row in rows):
                raise fault(task, world, f"the oracle {name} must select one column", "oracle", name)
            column = [next(iter(row.values())) for row in rows]
            if name not in arrays and len(column) != 1:
                message = f"the oracle {name} gives {len(column)} rows where one is due (slots {dict(task.slots)})"
                raise fault(task, world, message, "oracle", name)
            values[name] = column if name in arrays else column[0]
    return values
