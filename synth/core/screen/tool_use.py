"""Tool calls in the transcript of a row: each call with the category of its error, if it failed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class _ToolUse:
    """One call; ``category`` is the kind of error or None, ``index`` the position of the message
    with the result (None: the call was never answered).
    """

    name: str
    category: str | None
    index: int | None


def tool_uses(
    messages: Iterable[Mapping[str, Any]], events: Iterable[Mapping[str, Any]]
) -> Iterator[_ToolUse]:
    """Yield the calls of a conversation in order.

    A failure is taken from the ``tool_result`` events if there are any, because the text that the
    model saw may be prose (``agent.error_style=plain``). Without events, a result ``{"status":
    "error", ...}`` is a failure.
    """
    categories = _categories(events)
    waiting: dict[str, str] = {}
    for index, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            waiting[call["id"]] = call["function"]["name"]
        if message["role"] != "tool":
            continue
        call_id = message.get("tool_call_id", "")
        name = waiting.pop(call_id, None)
        if name is not None:
            known = call_id in categories
            category = categories[call_id] if known else _error_category(message["content"])
            yield _ToolUse(name, category, index)
    for name in waiting.values():
        yield _ToolUse(name, None, None)


def _error_category(result: object) -> str | None:
    """Return the category of an error result, given as JSON or as text; None for anything else."""
    if isinstance(result, str):
        if '"error"' not in result:
            return None
        try:
            result = json.loads(result)
        except ValueError:
            return None
    if not isinstance(result, dict):
        return None
    fields = cast("dict[str, object]", result)
    return str(fields.get("category") or "unknown") if fields.get("status") == "error" else None


def _categories(events: Iterable[Mapping[str, Any]]) -> dict[str, str | None]:
    """Return the error category of each call id with a ``tool_result`` event; None stands for a
    success.
    """
    return {
        event["id"]: _error_category(event["result"])
        for event in events
        if event.get("event") == "tool_result"
    }
