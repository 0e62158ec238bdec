"""The proof of one task: gold is played, its end recorded, and an independent oracle asked.

A run proves each of its tasks once, before the first rollout; ``synth check`` adds the attacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from envs.errors import ExecutorError
from envs.folder import World
from envs.sandboxes.base import Template
from envs.types import Limits, Pins
from synth.agent.react import AgentLimits, AgentRun, ReactAgent
from synth.episode import Episode
from synth.errors import TaskError
from synth.models.scripted import ScriptedModel
from synth.tasks.source import run_query
from synth.tasks.yaml_source import line_of, load_yaml
from synth.types import GoldEnd, StopReason, Task
from synth.verifiers import Evidence, judge, reward
from synth.verifiers.answer import same_answer

Json = Any

GOLD_LIMITS = AgentLimits(max_turns=500, max_tool_calls=1000)


@dataclass(frozen=True)
class GoldRun:
    """One playing of gold: the run, the tools shown, the step behind each call, and what a verifier sees."""

    run: AgentRun
    tools: Sequence[Json]
    steps: Sequence[Json]
    evidence: Evidence


async def prove(task: Task, world: World, template: Template, limits: Limits | None = None) -> Task:
    """The task with its gold end and its oracle's values.

    Raises :class:`TaskError` where a gold call goes otherwise than the family says, the oracle disagrees, or
    gold does not earn the full reward.
    """

    def fail(message: str, *words: str) -> TaskError:
        return fault(task, world, f"{message} (task {task.id}, slots {dict(task.slots)})", *words)

    oracle = ask_oracle(task, world, template)
    gold = await play_gold(task, world, template, limits)
    for outcome, step in zip(gold.run.outcomes, gold.steps, strict=True):
        result, fails = outcome.result, step.get("fails")
        if fails is None and not result.ok:
            raise fail(f"the gold call {outcome.call.name} fails: {result.content()}", "gold", outcome.call.name)
        if fails is not None and result.category != fails:
            became = "succeeds" if result.ok else f"fails with {result.category}"
            message = f"the gold call {outcome.call.name} should fail with {fails}, but {became}"
            raise fail(message, "gold", outcome.call.name)
    if gold.run.stop_reason is not StopReason.FINISHED:
        raise fail(f"gold does not finish: {gold.run.stop_reason}", "gold")
    answer = None if gold.evidence.submitted is None else dict(gold.evidence.submitted)
    for field, name in oracle_fields(task).items():
        if answer is not None and field in answer:
            rule = task.compare_answer.get(field, "exact")
            if not same_answer(oracle[name], answer[field], rule):
                message = f"the oracle {name} says {oracle[name]!r}, gold submits {field}={answer[field]!r}"
                raise fail(message, "oracle", name)
    end = GoldEnd([each.to_json() for each in gold.evidence.changes], answer, len(gold.run.outcomes))
    proved = replace(task, oracle=oracle, end=end)
    verdicts = judge(replace(gold.evidence, task=proved))
    if reward(verdicts) != 1.0:
        reasons = "; ".join(v.reason for v in verdicts if v.score != 1.0)
        raise fail(f"gold does not earn the full reward: {reasons}", "gold")
    return proved


def fault(task: Task, world: World, message: str, *words: str) -> TaskError:
    """An error about a task's family, with the line of the first of ``words`` below it, of the next below that, ..."""
    file = world.path / "tasks.yaml"
    return TaskError(message, str(file), line_of(load_yaml(file), task.family, *words), task.family)


async def play_gold(
    task: Task, world: World, template: Template, limits: Limits | None = None, *, unordered: bool = False
) -> GoldRun:
    """Play gold on a fresh sandbox. Raises :class:`TaskError` where a tool breaks or a step finds nothing."""
    with Episode(task, world, template, limits, unordered=unordered) as episode:
        try:
            expert = ScriptedModel().start(task, episode.tools, task.seed)
            run = await ReactAgent(expert, episode.call, GOLD_LIMITS).run(episode.messages)
        except TaskError as error:
            raise fault(task, world, error.message, "gold") from None
        except ExecutorError as error:
            message = f"gold breaks a tool: {error.message} (task {task.id})"
            raise TaskError(message, error.file, error.line, task.family) from error
        return GoldRun(run, episode.tools, expert.steps, episode.evidence())


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
