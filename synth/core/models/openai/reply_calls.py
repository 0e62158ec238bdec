"""The tool calls of an answer, in any form; malformed ones are kept for the agent to refuse.

A call without a name, or an entry that is not a call, becomes a call of a tool that does not exist,
with the entry as its arguments: a model that is asked again often answers the same again. Only
before the first usable completion an answer of nothing but such calls is a fault of the endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from envs.json_text import lenient
from envs.types import ToolCall

Json = Any


def calls_in(message: Mapping[str, Json], first_call: int) -> tuple[ToolCall, ...]:
    """Return the calls in their order. A call whose id is not text, or a repetition, is numbered
    from ``first_call``: ``call_<n>``.
    """
    raw = message.get("tool_calls")
    if not raw and isinstance(message.get("function_call"), dict):
        raw = {"function": message["function_call"]}  # the form before tools; one call at most
    if not raw:
        return ()
    entries = cast("list[Json]", raw) if isinstance(raw, list) else [raw]
    ids = [_id(entry) for entry in entries]
    taken = {identifier for identifier in ids if identifier}
    given: set[str] = set()
    number = first_call
    calls: list[ToolCall] = []
    for entry, emitted in zip(entries, ids, strict=True):
        call_id = emitted
        if not call_id or call_id in given:
            while f"call_{number}" in taken:
                number += 1
            call_id = f"call_{number}"
            taken.add(call_id)
        given.add(call_id)
        calls.append(ToolCall(call_id, *_named(entry)))
        number += 1
    return tuple(calls)


def _id(entry: Json) -> str:
    """Return a call's id, under the name of chat completions or of responses."""
    it = cast("dict[str, Json]", entry) if isinstance(entry, dict) else {}
    found = it.get("id") or it.get("call_id")
    return found if isinstance(found, str) else ""


def _named(entry: Json) -> tuple[str, str]:
    """Return name and arguments of a function, of a custom tool, or of an entry that holds both
    itself.
    """
    if not isinstance(entry, dict):
        return "", lenient(entry)
    it = cast("dict[str, Json]", entry)
    inner = next((it[key] for key in ("function", "custom") if isinstance(it.get(key), dict)), it)
    if "name" not in inner and "arguments" not in inner:
        return "", lenient(it)
    name = inner.get("name")
    arguments = inner.get("arguments", inner.get("input"))
    return (
        name if isinstance(name, str) else "" if name is None else lenient(name),
        arguments
        if isinstance(arguments, str)
        else "{}"
        if arguments is None
        else lenient(arguments),
    )
