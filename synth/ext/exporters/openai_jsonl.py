"""OpenAI's format for fine-tuning chat models: one JSON object per line with the keys ``messages``,
``tools`` and ``parallel_tool_calls``.

Differences from the dataset: arguments are a JSON *string*; keys that the service does not accept
(reasoning, the name of a tool result) are dropped; an empty ``content`` beside tool calls is
absent; a turn that must not be trained on has ``weight: 0``. An example must end with an assistant
turn, so everything after the last turn to train on is removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from synth.core.dataset.store.wire import json_text
from synth.ext.exporters.base import ConversationExporter, Example, Message, Row

_KEYS = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "tool": ("role", "tool_call_id", "content"),
    "assistant": ("role", "content", "refusal", "name"),
}
"""Keys that the service accepts, by role."""
_FUNCTION_KEYS = ("name", "description", "parameters", "strict")


class OpenAIJsonl(ConversationExporter):
    """Fine-tuning files of the OpenAI API."""

    name = "openai-jsonl"
    description = "OpenAI fine-tuning: chat JSONL with tools"
    suffix = ".jsonl"
    columns = ("messages", "segments", "tools", "sampling")
    keeps_reasoning = False

    def example(self, row: Row, messages: Sequence[Message]) -> Example:
        example: Example = {"messages": [_message(message) for message in messages]}
        # The service refuses an empty list, and parallel_tool_calls without tools.
        if row["tools"]:
            example["tools"] = [_tool(tool) for tool in row["tools"]]
            example["parallel_tool_calls"] = _parallel(row, messages)
        return example


def _message(message: Message) -> Example:
    out = {key: message[key] for key in _KEYS[message["role"]] if message.get(key) is not None}
    calls = message.get("tool_calls")
    if calls:
        if not out.get("content"):
            out.pop("content", None)
        out["tool_calls"] = [_call(call) for call in calls]
    if message.get("train") is False:
        out["weight"] = 0
    return out


def _call(call: Mapping[str, Any]) -> Example:
    function = call["function"]
    return {
        "id": call["id"],
        "type": "function",
        "function": {"name": function["name"], "arguments": json_text(function["arguments"])},
    }


def _tool(tool: Mapping[str, Any]) -> Example:
    function = tool["function"]
    return {
        "type": "function",
        "function": {key: function[key] for key in _FUNCTION_KEYS if key in function},
    }


def _parallel(row: Row, messages: Sequence[Message]) -> bool:
    """Value of ``parallel_tool_calls`` in the recorded sampling (default: true); always true if a
    turn has two calls.
    """
    if any(len(message.get("tool_calls") or ()) > 1 for message in messages):
        return True
    sampling = cast("Mapping[str, Any]", row["sampling"])
    extra = cast("Mapping[str, Any]", sampling.get("extra_body") or {})
    return extra.get("parallel_tool_calls") is not False
