"""Lazy agents, which know the task's notation but do not work, and must not pass.

Attacks are plain sequences of concrete moves; each is played on a fresh sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, cast

from envs.tools.tool import Tool
from synth.core.tasks.yaml.words import SUBMIT
from synth.core.validation.attacks.steps import Attack, Move, SayStep, ToolStep, acts, closing, talk
from synth.core.validation.base import validations_of
from synth.task import Task

CONSTANTS = 64
"""Constant answers that are tried per task."""

CONSTANT = "constant answer"
TALKLESS = "act without talking"


def lazy_agents(task: Task, gold: Sequence[Move], tools: Sequence[Tool]) -> Iterator[Attack]:
    """Agents that do less than the work."""
    calls, replies, last = acts(gold), talk(gold), closing(gold)
    submitting = {SUBMIT}.union(*(validation.submits for validation, _ in validations_of(task)))
    submits = [call for call in calls if call.name in submitting]
    reads = [call for call in calls if call.name not in submitting and not call.writes]
    writes = any(call.writes for call in calls)
    open_reads = [
        ToolStep(tool.name, {})
        for tool in tools
        if tool.read_only and not tool.parameters.get("required")
    ]
    yield Attack("silence", "says nothing", ())
    yield Attack("dump reads", "reads what there is and stops", [*open_reads, *reads])
    yield from _answers(task)
    if task.user is not None:
        yield from _talkers(task, replies)
    if submits:
        yield from _half_workers(gold, submits, writes)
    if replies and writes:
        yield Attack(TALKLESS, "acts without asking and without consent", [*calls, *last])


def _half_workers(
    gold: Sequence[Move], submits: Sequence[ToolStep], writes: bool
) -> Iterator[Attack]:
    """Agents that answer without acting, or act without answering."""
    replies, last = talk(gold), closing(gold)
    if writes:
        yield Attack("answer only", "answers without acting", [*submits, *last])
    if writes and replies:
        moves = [*replies, *submits, *last]
        yield Attack("talk and answer", "talks and answers without acting", moves)
    kept = [move for move in gold if move not in submits]
    yield Attack("act only", "acts without answering", kept)


def _answers(task: Task) -> Iterator[Attack]:
    """Agents that answer without having read anything."""
    if task.answer is None:
        return
    for chosen in islice(_choices(task.answer), CONSTANTS):
        label = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
        yield Attack(
            CONSTANT,
            f"always answers {label}",
            [ToolStep(SUBMIT, _filled(task.answer, chosen, ""))],
        )
    yield Attack(
        "echo",
        "hands the request back as its answer",
        [ToolStep(SUBMIT, _filled(task.answer, {}, task.prompt))],
    )


def _talkers(task: Task, replies: Sequence[SayStep]) -> Iterator[Attack]:
    """Agents that talk instead of working."""
    assert task.user is not None
    questions = [
        SayStep(topic.asked or f"Could you tell me the {name.replace('_', ' ')}?", (name,))
        for name, topic in task.user.knows.items()
    ]
    if questions:
        yield Attack("always ask", "asks all that the user knows and stops", questions)
        yield Attack(
            "always ask",
            "asks all that the user knows and takes leave",
            [*questions, SayStep("Thank you, bye.")],
        )
    if any(turn.agreed for turn in replies):
        yield Attack("always confirm", "asks and confirms as gold does and stops", replies)


def _choices(schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the answer's enums and booleans."""
    domains: dict[str, list[Any]] = {}
    for name, spec in cast("Mapping[str, Mapping[str, Any]]", schema["properties"]).items():
        if "enum" in spec:
            domains[name] = spec["enum"]
        elif spec["type"] == "boolean" and name in schema["required"]:
            domains[name] = [False, True]
    if domains:
        yield from (
            dict(zip(domains, values, strict=True)) for values in product(*domains.values())
        )


def _filled(schema: Mapping[str, Any], chosen: Mapping[str, Any], words: str) -> dict[str, Any]:
    """An answer of the right schema without any work behind it."""
    empty: dict[str, Any] = {
        "integer": 0,
        "number": 0,
        "boolean": False,
        "array": [],
        "string": words,
    }
    out: dict[str, Any] = {}
    for name, spec in cast("Mapping[str, Mapping[str, Any]]", schema["properties"]).items():
        if name in chosen:
            out[name] = chosen[name]
        elif "enum" in spec:
            out[name] = spec["enum"][0]
        elif name in schema["required"]:
            out[name] = empty[spec["type"]]
    return out
