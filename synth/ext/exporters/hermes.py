"""Text in the format of Hermes function calling: one JSON object per line with ``conversations``
and ``text``.

The system turn lists the tools between ``<tools>`` tags; a call is a JSON object between
``<tool_call>`` tags, after the words beside it; results stand between ``<tool_response>`` tags,
all of one turn in one turn. ``text`` is the same as ChatML. With ``--unit turn`` an example holds
``prompt`` and ``completion`` instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synth.core.dataset.store.wire import json_text
from synth.ext.exporters.base import ConversationExporter, Example, Message, Row

_TOOLS = """\
You may call the functions whose signatures stand between the <tools> tags:
<tools>
{tools}
</tools>
For each call, write a JSON object with the keys "name" and "arguments" between <tool_call> tags:
<tool_call>
{{"name": "function", "arguments": {{"key": "value"}}}}
</tool_call>"""

_CHATML = {"system": "system", "human": "user", "gpt": "assistant", "tool": "tool"}


class Hermes(ConversationExporter):
    """Conversations as text, with calls between tags."""

    name = "hermes"
    description = "Hermes function calling: JSONL with conversations and ChatML text"
    suffix = ".jsonl"
    has_masks = False
    keeps_reasoning = False
    marks = ("<|im_start|>", "<|im_end|>", "<tool_call>", "<tool_response>")

    def example(self, row: Row, messages: Sequence[Message]) -> Example:
        turns = conversation(messages, row["tools"])
        if self.unit == "turn":
            prompt = _chatml(turns[:-1]) + "<|im_start|>assistant\n"
            return {"prompt": prompt, "completion": f"{turns[-1]['value']}<|im_end|>\n"}
        return {"conversations": turns, "text": _chatml(turns)}


def conversation(messages: Sequence[Message], tools: Sequence[Any]) -> list[Example]:
    """Return the turns of a conversation, the tools in its system turn."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    if tools:
        system.append(_TOOLS.format(tools="\n".join(json_text(tool) for tool in tools)))
    turns: list[Example] = []
    if system:
        turns.append({"from": "system", "value": "\n\n".join(system)})
    for message in messages:
        if message["role"] == "system":
            continue
        turn = _turn(message)
        if turn["from"] == "tool" and turns and turns[-1]["from"] == "tool":
            turns[-1]["value"] += f"\n{turn['value']}"
        else:
            turns.append(turn)
    return turns


def _chatml(turns: Sequence[Example]) -> str:
    """Return turns as ChatML."""
    return "".join(
        f"<|im_start|>{_CHATML[turn['from']]}\n{turn['value']}<|im_end|>\n" for turn in turns
    )


def _turn(message: Message) -> Example:
    if message["role"] == "user":
        return {"from": "human", "value": message["content"]}
    if message["role"] == "tool":
        return {"from": "tool", "value": f"<tool_response>\n{message['content']}\n</tool_response>"}
    parts = [message["content"]] if message["content"] else []
    for call in message.get("tool_calls") or ():
        request = {key: call["function"][key] for key in ("name", "arguments")}
        parts.append(f"<tool_call>\n{json_text(request)}\n</tool_call>")
    return {"from": "gpt", "value": "\n".join(parts)}
