"""Messages in the form of the semantic conventions: a list of parts for each message."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from synth.model import Completion
from synth.task import Message

LONGEST = 4_000
"""Characters of one text in a span; a longer one is cut."""

Hide = Callable[[str], str]


def input_messages(messages: Sequence[Message], hide: Hide) -> str:
    """The JSON of the messages that were sent."""
    return _json(
        [{"role": message["role"], "parts": _parts(message, hide)} for message in messages]
    )


def output_messages(completion: Completion, hide: Hide) -> str:
    """The JSON of one answer."""
    parts = _texts(completion.content, hide)
    parts += [_call(call.id, call.name, call.arguments, hide) for call in completion.tool_calls]
    answer = {"role": "assistant", "parts": parts, "finish_reason": completion.finish_reason}
    return _json([answer])


def clipped(text: str, hide: Hide) -> str:
    """A text without secrets, cut at :data:`LONGEST` characters."""
    shown = hide(text)  # first: half a secret would not be found
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."


def _parts(message: Message, hide: Hide) -> list[dict[str, Any]]:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else _json(content)
    if message["role"] == "tool":
        response = {"id": message.get("tool_call_id"), "response": clipped(text, hide)}
        return [{"type": "tool_call_response", **response}]
    parts = _texts(text, hide)
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = function["arguments"]
        written = arguments if isinstance(arguments, str) else _json(arguments)
        parts.append(_call(call["id"], function["name"], written, hide))
    return parts


def _texts(text: str, hide: Hide) -> list[dict[str, Any]]:
    return [{"type": "text", "content": clipped(text, hide)}] if text else []


def _call(call_id: str, name: str, arguments: str, hide: Hide) -> dict[str, Any]:
    shown = {"id": clipped(call_id, hide), "name": clipped(name, hide)}
    return {"type": "tool_call", **shown, "arguments": clipped(arguments, hide)}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
