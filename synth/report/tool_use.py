"""Tool calls as a reader of a dataset meets them: each call beside its result, and whether that was an error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

Json = Any


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call; ``category`` is the kind of error or None, ``at`` the index of the message that holds the result
    (None: it was never answered).
    """

    name: str
    category: str | None
    at: int | None


def tool_uses(messages: Iterable[Mapping[str, Json]], events: Iterable[Mapping[str, Json]]) -> Iterator[ToolUse]:
    """The calls of a conversation in order.

    Whether a call failed is taken from the ``tool_result`` events where there are any: the text that the model was
    shown may be prose (``agent.error_style=plain``). Without them, an error is ``{"status": "error", ...}``.
    """
    said = _categories(events)
    waiting: dict[str, str] = {}
    for at, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            waiting[call["id"]] = call["function"]["name"]
        if message["role"] == "tool" and (name := waiting.pop(message.get("tool_call_id", ""), None)) is not None:
            call_id = message["tool_call_id"]
            yield ToolUse(name, said[call_id] if call_id in said else error_category(message["content"]), at)
    for name in waiting.values():
        yield ToolUse(name, None, None)


def error_category(result: Json) -> str | None:
    """The category of an error result, given as JSON or as the text that the model saw; None for anything else."""
    if isinstance(result, str):
        if '"error"' not in result:
            return None
        try:
            result = json.loads(result)
        except ValueError:
            return None
    if not isinstance(result, dict):
        return None
    fields = cast("dict[str, Json]", result)
    return str(fields.get("category") or "unknown") if fields.get("status") == "error" else None


def _categories(events: Iterable[Mapping[str, Json]]) -> dict[str, str | None]:
    """Call id -> category of its error, None for a success; only for calls that an event tells of."""
    return {event["id"]: error_category(event["result"]) for event in events if event.get("event") == "tool_result"}
