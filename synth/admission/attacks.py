"""What must not earn a full reward: lazy agents that know the task's notation, and mutants of gold.

Both are plain sequences of concrete calls, played on a fresh sandbox each.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from envs.tool import Tool
from synth.episode import SUBMIT
from synth.types import Task

Json = Any

NO_SCHEMA: Mapping[str, Json] = {}

_DAY = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])")
"""A day that every month has."""


@dataclass(frozen=True, slots=True)
class Act:
    """One concrete call; ``writes`` says whether it changed rows when gold made it."""

    name: str
    arguments: Mapping[str, Json]
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Attack:
    """``kind`` groups attacks in the report; ``label`` says what exactly was done."""

    kind: str
    label: str
    acts: Sequence[Act]


def lazy_agents(task: Task, gold: Sequence[Act], tools: Sequence[Tool]) -> Iterator[Attack]:
    """Agents that do less than the work."""
    submits = [act for act in gold if act.name == SUBMIT]
    work = [act for act in gold if act.name != SUBMIT]
    reads = [act for act in work if not act.writes]
    open_reads = [Act(tool.name, {}) for tool in tools if tool.read_only and not tool.parameters.get("required")]
    yield Attack("silence", "says nothing", ())
    yield Attack("dump reads", "reads what there is and stops", [*open_reads, *reads])
    if task.answer is not None:
        for value in _first_enum(task.answer):
            yield Attack("constant answer", f"always answers {value!r}", [Act(SUBMIT, _filled(task.answer, value, ""))])
        yield Attack(
            "echo", "hands the request back as its answer", [Act(SUBMIT, _filled(task.answer, None, task.prompt))]
        )
    if submits and any(act.writes for act in work):
        yield Attack("answer only", "answers without acting", submits)
    if submits:
        yield Attack("act only", "acts without answering", work)


def _first_enum(schema: Mapping[str, Json]) -> list[Json]:
    properties = cast("Mapping[str, Mapping[str, Json]]", schema["properties"])
    enums = [cast("list[Json]", each["enum"]) for each in properties.values() if "enum" in each]
    return enums[0] if enums else []


def _filled(schema: Mapping[str, Json], choice: Json, words: str) -> dict[str, Json]:
    """An answer of the right shape without any work behind it."""
    out: dict[str, Json] = {}
    for name, spec in cast("Mapping[str, Mapping[str, Json]]", schema["properties"]).items():
        if "enum" in spec:
            values = cast("list[Json]", spec["enum"])
            out[name] = choice if choice in values else values[0]
        elif name in schema["required"]:
            empty: dict[str, Json] = {"integer": 0, "number": 0, "boolean": False, "array": [], "string": words}
            out[name] = empty[spec["type"]]
    return out


def mutants(gold: Sequence[Act], strays: Sequence[Act], schemas: Mapping[str, Mapping[str, Json]]) -> Iterator[Attack]:
    """Gold with one thing wrong: a write dropped, repeated or made with another argument, a stray write, another answer.

    ``schemas`` are the tools' parameters: another argument is one that the tool would take.
    """
    for at, act in enumerate(gold):
        before, after = list(gold[:at]), list(gold[at + 1 :])
        if act.name == SUBMIT:
            for field, value in act.arguments.items():
                for other in _others(value):
                    changed = Act(SUBMIT, {**act.arguments, field: other})
                    yield Attack("change answer", f"{field}={other!r} instead of {value!r}", [*before, changed, *after])
            continue
        if not act.writes:
            continue
        yield Attack("drop write", f"without {act.name}", [*before, *after])
        yield Attack("repeat write", f"{act.name} twice", [*before, act, act, *after])
        known: Mapping[str, Mapping[str, Json]] = schemas.get(act.name, {}).get("properties", {})
        for name, value in act.arguments.items():
            for other in _others(value, known.get(name, {})):
                changed = Act(act.name, {**act.arguments, name: other}, writes=True)
                yield Attack(
                    "change argument", f"{act.name} {name}={other!r} instead of {value!r}", [*before, changed, *after]
                )
    at = next((at for at, act in enumerate(gold) if act.name == SUBMIT), len(gold))
    for stray in strays:
        acts = [*gold[:at], stray, *gold[at:]]
        yield Attack("stray write", f"{stray.name} {dict(stray.arguments)!r} besides", acts)


def _others(value: Json, schema: Mapping[str, Json] = NO_SCHEMA) -> list[Json]:
    """A value or two of the same type that are not this one: a mistake that the tool's schema does not catch."""
    if "enum" in schema:
        return [each for each in cast("list[Json]", schema["enum"]) if each != value][:2]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value + 1, value - 1]
    if isinstance(value, str) and _DAY.fullmatch(value):
        day = dt.date.fromisoformat(value)
        return [(day + dt.timedelta(days=1 if day < dt.date.max else -1)).isoformat()]
    if isinstance(value, str):
        return [f"{value} x"] if value else ["x"]
    if isinstance(value, list):
        items = cast("list[Json]", value)
        grown = [*items, _others(items[0])[0] if items and _others(items[0]) else "x"]
        return [grown, items[:-1]] if items else [grown]
    return []
