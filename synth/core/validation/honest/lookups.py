"""An honest agent that finds the same ids by another lookup."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from envs.errors import EnvsError
from envs.tools.sql import BUILTIN
from envs.tools.tool import Tool
from synth.core.foundation.json_leaves import parsed
from synth.core.rewards.process_gates import ReadBefore, tool_of
from synth.core.tasks.yaml.saves import saved_values
from synth.core.types.steps import CallStep, Step
from synth.core.validation.argument_provenance import appears_in, flat
from synth.core.validation.honest.base import HonestAgent, ProvedTask
from synth.episode import Episode
from synth.model import Conversation
from synth.rewards import CallRecord

TRIED = 80
"""The most lookups that are tried for one call of gold."""


class LooksUpOtherwise(HonestAgent):
    """Finds what gold saves from a read by another tool, other arguments, or another query."""

    name = "looks_up_otherwise"

    async def start(self, proved: ProvedTask) -> Conversation | None:
        required = _required(proved)
        steps = list(proved.task.gold)
        calls = iter(proved.evidence.calls)
        changed = False
        for index, step in enumerate(steps):
            if not isinstance(step, CallStep):
                break  # after a question or in a loop, a call has no single place
            call = next(calls, None)
            if call is None or call.name != step.tool or not call.read_only or not step.save:
                continue
            if not all(isinstance(path, str) for path in step.save.values()):
                continue
            if step.tool not in required and (other := await _other(proved, step, call)):
                steps[index], changed = other, True
        return proved.expert(steps) if changed else None


def _required(proved: ProvedTask) -> set[str]:
    """The tools that a gate wants gold to call: always, or before what it calls."""
    always, before = (proved.task.gate(name) for name in ("required_calls", "read_before"))
    found = set[str]() if always is None else {str(name) for name in always.options or ()}
    if before is not None:
        demands = ReadBefore().parse_options(before.options)
        made = {call.name for call in proved.evidence.calls}
        for tool in demands.keys() & made:
            found |= {tool_of(lookup) for lookups in demands[tool] for lookup in lookups}
    return found


async def _other(proved: ProvedTask, step: CallStep, call: CallRecord) -> Step | None:
    """Another call that brings the same values; None if none is found."""
    wanted = _saved(step, call)
    with Episode(proved.task, proved.world, proved.template, proved.limits) as episode:
        for tool, arguments in islice(_candidates(proved, call), TRIED):
            try:
                outcome = await episode.call(tool, arguments)
            except EnvsError:
                continue  # a tool that breaks on this call is another check's finding
            if not outcome.result.ok:
                continue
            result = parsed(outcome.result.content())
            paths = {
                name: next(_places(value, result, "$"), None) for name, value in wanted.items()
            }
            if paths and all(path is not None for path in paths.values()):
                save = {name: path for name, path in paths.items() if path is not None}
                return replace(step, tool=tool, arguments=arguments, save=save)
    return None


def _saved(step: CallStep, call: CallRecord) -> Mapping[str, object]:
    """The values that a step saves from its result."""
    content = "null" if call.result is None else call.result.content()
    return saved_values(step.save, parsed(content), {})


def _candidates(proved: ProvedTask, call: CallRecord) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Other calls that only read, with arguments that the request holds."""
    given = dict(call.arguments or {})
    if call.name in BUILTIN and "sql" in given:
        sql = str(given["sql"]).strip().rstrip(";")
        yield call.name, {**given, "sql": f"WITH found AS (\n{sql}\n) SELECT * FROM found"}
        return
    words = [
        value
        for value in dict.fromkeys(
            value for value in proved.task.slots.values() if isinstance(value, str | int | float)
        )
        if appears_in(value, flat(proved.task.prompt))
    ]
    for tool in proved.may_call():
        for name in _only_arguments(tool):
            for value in words:
                if tool.name != call.name or given != {name: value}:
                    yield tool.name, {name: value}


def _only_arguments(tool: Tool) -> Iterable[str]:
    """The arguments with each of which alone a lookup can be called."""
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    required: Sequence[str] = tool.parameters.get("required", ())
    looks_up = tool.read_only and tool.name not in BUILTIN and len(required) <= 1
    return (required or properties) if looks_up else ()


def _places(value: object, result: object, path: str) -> Iterator[str]:
    if isinstance(result, dict):
        for key, inner in cast("dict[str, object]", result).items():
            yield from _places(value, inner, f"{path}[{json.dumps(key)}]")
    elif isinstance(result, list):
        for index, inner in enumerate(cast("list[object]", result)):
            yield from _places(value, inner, f"{path}[{index}]")
    elif type(result) is type(value) and result == value:
        yield path
