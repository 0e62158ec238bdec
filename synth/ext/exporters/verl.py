"""verl: Parquet of plain columns, which verl reads with pandas.

``verl`` holds prompts for reinforcement learning, one of each task: ``data_source``,
``agent_name``, ``prompt``, ``ability``, ``reward_model`` and ``extra_info`` with the columns by
which a task is found again. The environment scores a rollout, so that ``ground_truth`` is the
task's id.

``verl-sft`` holds ``messages`` for its multi-turn SFT dataset. That one passes messages to the chat
template as pandas gives them, and parses neither arguments nor tools. Calls, results and tools are
therefore text in the format of Hermes (:class:`Hermes`), which is the text
that Qwen's templates make of them; a message has ``role`` and ``content`` and no null-filled keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from synth.core.dataset.store.wire import json_text
from synth.ext.exporters.base import ConversationExporter, Example, Message, Row
from synth.ext.exporters.files import Columns
from synth.ext.exporters.prompts import (
    PromptExporter,
    PromptOptions,
    prompt_of,
    task_identity,
    tools_of,
)
from synth.ext.exporters.row_policy import Unit

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
    """Conversations as text, with calls between tags.

    The system turn lists the tools between ``<tools>`` tags; a call is a JSON object between
    ``<tool_call>`` tags, after the words beside it; results stand between ``<tool_response>`` tags,
    all of one turn in one turn. ``text`` is the same as ChatML. With ``--unit turn`` an example
    holds ``prompt`` and ``completion`` instead.
    """

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


_TEXT, _INT = pa.string(), pa.int64()
_MESSAGES = pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT)]))
_EXTRA = pa.struct(
    [
        ("index", _INT),
        ("need_tools_kwargs", pa.bool_()),
        *((name, _TEXT) for name in ("tools", "task_id", "env", "env_digest", "family", "case")),
        ("split", _TEXT),
        ("universe", _INT),
        ("samples", _INT),
        ("pass_rate", pa.float64()),
    ]
)
_ROLES = {"system": "system", "human": "user", "gpt": "assistant", "tool": "user"}
"""Roles of the turns: results are in a turn of the user, as Qwen's templates have them."""


@dataclass(frozen=True)
class _VerlOptions(PromptOptions):
    """``agent`` is the name of verl's agent loop."""

    agent: str = "tool_agent"


class Verl(PromptExporter):
    """Prompts for reinforcement learning with verl."""

    name = "verl"
    description = "verl, reinforcement learning: Parquet with a prompt of each task"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {
        "data_source": _TEXT,
        "agent_name": _TEXT,
        "prompt": _MESSAGES,
        "ability": _TEXT,
        "reward_model": pa.struct([("style", _TEXT), ("ground_truth", _TEXT)]),
        "extra_info": _EXTRA,
    }
    Options = _VerlOptions

    def example(self, group: Sequence[Row], number: int) -> Example:
        identity = task_identity(group)
        return {
            "data_source": identity["env"],
            "agent_name": self.options.agent,
            "prompt": [
                {key: message[key] for key in ("role", "content")} for message in prompt_of(group)
            ],
            "ability": identity["family"],
            "reward_model": {"style": "rule", "ground_truth": identity["task_id"]},
            "extra_info": {
                "index": number,
                "need_tools_kwargs": False,
                "tools": json_text(tools_of(group)),
                **identity,
            },
        }


class VerlSft(ConversationExporter):
    """Conversations as text for verl's multi-turn SFT dataset."""

    name = "verl-sft"
    description = "verl, multi-turn SFT: Parquet with messages, calls and tools as text"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {"messages": _MESSAGES}
    has_masks = False
    keeps_reasoning = False
    units: ClassVar[tuple[Unit, ...]] = ("rollout",)

    def example(self, row: Row, messages: Sequence[Message]) -> Example:
        turns = conversation(messages, row["tools"])
        said = [{"role": _ROLES[turn["from"]], "content": turn["value"]} for turn in turns]
        return {"messages": said}
