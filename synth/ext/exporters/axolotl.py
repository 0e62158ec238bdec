"""Axolotl: one JSON object per line with ``messages`` and ``tools``, for ``type: chat_template``.

Every turn of the assistant says in ``train`` if it is trained on
(``message_field_training: train``). Arguments of calls and parameters of tools are JSON texts,
which Axolotl parses: as objects they would be merged into one struct for all rows, with null for
every key that a call does not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synth.core.dataset.store.wire import json_text
from synth.ext.exporters.base import ConversationExporter, Example, Message, Row


class Axolotl(ConversationExporter):
    """Files for supervised fine-tuning with Axolotl."""

    name = "axolotl"
    description = "Axolotl, type chat_template: JSONL with a training mark in every turn"
    suffix = ".jsonl"
    length_limit = ("Axolotl", "sequence_len: 512")

    def example(self, row: Row, messages: Sequence[Message]) -> Example:
        return {
            "messages": [_message(message) for message in messages],
            "tools": [_tool(tool) for tool in row["tools"]],
        }


def _message(message: Message) -> Example:
    out = dict(message)
    out["train"] = message["role"] == "assistant" and message.get("train") is not False
    if message.get("tool_calls"):
        out["tool_calls"] = [_call_with_text(call) for call in message["tool_calls"]]
    return out


def _call_with_text(call: Mapping[str, Any]) -> Example:
    """Return a call whose arguments are a JSON text."""
    function = call["function"]
    return {**call, "function": {**function, "arguments": json_text(function["arguments"])}}


def _tool(tool: Mapping[str, Any]) -> Example:
    function = dict(tool["function"])
    if "parameters" in function:
        function["parameters"] = json_text(function["parameters"])
    return {**tool, "function": function}
