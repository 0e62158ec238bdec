"""What must not earn a full reward, first half: lazy agents that know the task's notation but do not work.

Attacks are plain sequences of concrete moves, played on a fresh sandbox each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, cast

from envs.tool import Tool
from synth.admission.moves import Act, Attack, Move, Say, acts, closing, talk
from synth.tasks.sql_question import sql_gate
from synth.tasks.words import SUBMIT, SUBMIT_SQL
from synth.types import Task

Json = Any

CONSTANTS = 64
"""Constant answers that are tried per task."""

CONSTANT = "constant answer"
TALKLESS = "act without talking"


def lazy_agents(task: Task, gold: Sequence[Move], tools: Sequence[Tool]) -> Iterator[Attack]:
    """Agents that do less than the work."""
    made, spoken, last = acts(gold), talk(gold), closing(gold)
    handing = {SUBMIT} if sql_gate(task) is None else {SUBMIT, SUBMIT_SQL}
    submits = [act for act in made if act.name in handing]
    reads = [act for act in made if act.name not in handing and not act.writes]
    writes = [act for act in made if act.writes]
    open_reads = [Act(tool.name, {}) for tool in tools if tool.read_only and not tool.parameters.get("required")]
    yield Attack("silence", "says nothing", ())
    yield Attack("dump reads", "reads what there is and stops", [*open_reads, *reads])
    yield from _answers(task)
    if task.user is not None:
        yield from _talkers(task, spoken)
    if submits and writes:
        yield Attack("answer only", "answers without acting", [*submits, *last])
        if spoken:
            yield Attack("talk and answer", "talks and answers without acting", [*spoken, *submits, *last])
    if submits:
        yield Attack("act only", "acts without answering", [each for each in gold if each not in submits])
    if spoken and writes:
        yield Attack(TALKLESS, "acts without asking and without consent", [*made, *last])


def _answers(task: Task) -> Iterator[Attack]:
    """Agents that answer without having looked."""
    if task.answer is None:
        return
    for chosen in islice(_choices(task.answer), CONSTANTS):
        label = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
        yield Attack(CONSTANT, f"always answers {label}", [Act(SUBMIT, _filled(task.answer, chosen, ""))])
    yield Attack("echo", "hands the request back as its answer", [Act(SUBMIT, _filled(task.answer, {}, task.prompt))])


def _talkers(task: Task, spoken: Sequence[Say]) -> Iterator[Attack]:
    """Agents that talk instead of working."""
    assert task.user is not None
    questions = [
        Say(topic.asked or f"Could you tell me the {name.replace('_', ' ')}?", (name,))
        for name, topic in task.user.knows.items()
    ]
    if questions:
        yield Attack("always ask", "asks all that the user knows and stops", questions)
        yield Attack("always ask", "asks all that the user knows and takes leave", [*questions, Say("Thank you, bye.")])
    if any(each.agreed for each in spoken):
        yield Attack("always confirm", "asks and confirms as gold does and stops", spoken)


def _choices(schema: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """Every combination of the answer's enums and booleans."""
    domains: dict[str, list[Json]] = {}
    for name, spec in cast("Mapping[str, Mapping[str, Json]]", schema["properties"]).items():
        if "enum" in spec:
            domains[name] = spec["enum"]
        elif spec["type"] == "boolean" and name in schema["required"]:
            domains[name] = [False, True]
    if domains:
        yield from (dict(zip(domains, values, strict=True)) for values in product(*domains.values()))


def _filled(schema: Mapping[str, Json], chosen: Mapping[str, Json], words: str) -> dict[str, Json]:
    """An answer of the right shape without any work behind it."""
    empty: dict[str, Json] = {"integer": 0, "number": 0, "boolean": False, "array": [], "string": words}
    out: dict[str, Json] = {}
    for name, spec in cast("Mapping[str, Mapping[str, Json]]", schema["properties"]).items():
        if name in chosen:
            out[name] = chosen[name]
        elif "enum" in spec:
            out[name] = spec["enum"][0]
        elif name in schema["required"]:
            out[name] = empty[spec["type"]]
    return out
