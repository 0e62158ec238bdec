"""Conversations as JSON lines: OpenAI's fine-tuning, Axolotl, and ShareGPT, which LLaMA-Factory
reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

from synth.core.dataset.store.wire import json_text
from synth.ext.exporters.base import ConversationExporter, Example, Message, Row
from synth.ext.exporters.row_policy import Calls

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
    """Fine-tuning files of the OpenAI API: ``messages``, ``tools`` and ``parallel_tool_calls``.

    Differences from the dataset: arguments are a JSON *string*; keys that the service does not
    accept (reasoning, the name of a tool result) are dropped; an empty ``content`` beside tool
    calls is absent; a turn that must not be trained on has ``weight: 0``. An example must end with
    an assistant turn, so everything after the last turn to train on is removed.
    """

    name = "openai-jsonl"
    description = "OpenAI fine-tuning: chat JSONL with tools"
    suffix = ".jsonl"
    columns = ("messages", "segments", "tools", "sampling")
    keeps_reasoning = False

    def example(self, row: Row, messages: Sequence[Message]) -> Example:
        example: Example = {"messages": [_openai_message(message) for message in messages]}
        # The service refuses an empty list, and parallel_tool_calls without tools.
        if row["tools"]:
            example["tools"] = [_openai_tool(tool) for tool in row["tools"]]
            example["parallel_tool_calls"] = _parallel(row, messages)
        return example


def _openai_message(message: Message) -> Example:
    out = {key: message[key] for key in _KEYS[message["role"]] if message.get(key) is not None}
    calls = message.get("tool_calls")
    if calls:
        if not out.get("content"):
            out.pop("content", None)
        out["tool_calls"] = [_call_with_text(call) for call in calls]
    if message.get("train") is False:
        out["weight"] = 0
    return out


def _openai_tool(tool: Mapping[str, Any]) -> Example:
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


class Axolotl(ConversationExporter):
    """Files for supervised fine-tuning with Axolotl: ``messages`` and ``tools``, for
    ``type: chat_template``.

    Every turn of the assistant says in ``train`` if it is trained on
    (``message_field_training: train``). Arguments of calls and parameters of tools are JSON texts,
    which Axolotl parses: as objects they would be merged into one struct for all rows, with null
    for every key that a call does not have.
    """

    name = "axolotl"
    description = "Axolotl, type chat_template: JSONL with a training mark in every turn"
    suffix = ".jsonl"
    length_limit = ("Axolotl", "sequence_len: 512")

    def example(self, row: Row, messages: Sequence[Message]) -> Example:
        return {
            "messages": [_axolotl_message(message) for message in messages],
            "tools": [_axolotl_tool(tool) for tool in row["tools"]],
        }


def _axolotl_message(message: Message) -> Example:
    out = dict(message)
    out["train"] = message["role"] == "assistant" and message.get("train") is not False
    if message.get("tool_calls"):
        out["tool_calls"] = [_call_with_text(call) for call in message["tool_calls"]]
    return out


def _call_with_text(call: Mapping[str, Any]) -> Example:
    """Return a call whose arguments are a JSON text."""
    function = call["function"]
    return {**call, "function": {**function, "arguments": json_text(function["arguments"])}}


def _axolotl_tool(tool: Mapping[str, Any]) -> Example:
    function = dict(tool["function"])
    if "parameters" in function:
        function["parameters"] = json_text(function["parameters"])
    return {**tool, "function": function}


CALL_TAGS = ("<tool_call>", "</tool_call>")


@dataclass(frozen=True)
class _ShareGPTOptions:
    """``words`` are those beside a call: ``refuse`` leaves the row out, ``drop`` only them, and
    ``keep`` writes them before the call.
    """

    words: Literal["refuse", "drop", "keep"] = "refuse"


@dataclass(frozen=True)
class _LlamaFactoryOptions(_ShareGPTOptions):
    """Keeps words beside a call unless it is asked for otherwise."""

    words: Literal["refuse", "drop", "keep"] = "keep"


class ShareGPT(ConversationExporter):
    """Conversations in the format that ShareGPT introduced, as LLaMA-Factory reads it:
    ``conversations``, ``system`` and ``tools``.

    ``conversations`` strictly alternates between ``human`` or ``observation`` and ``gpt`` or
    ``function_call``; LLaMA-Factory skips everything else without a word. A call is a JSON text of
    its name and arguments, one call in a turn. Words beside a call stand before it, and the call
    between ``<tool_call>`` tags (``words=keep``), which LLaMA-Factory reads from 0.9.4 on.

    The target trains on every turn, so rows with a turn that must not be trained on are left out.
    With ``--unit turn`` they are kept: train that file with ``mask_history: true``, under which
    LLaMA-Factory trains on the last turn only.
    """

    name = "sharegpt"
    description = "ShareGPT conversations with function_call and observation: JSONL"
    suffix = ".jsonl"
    has_masks = False
    keeps_reasoning = False
    marks = (*CALL_TAGS, "<think>", "</think>")
    calls: ClassVar[Calls] = "one"
    Options = _ShareGPTOptions

    def example(self, row: Row, messages: Sequence[Message]) -> Example | str:
        system = [message["content"] for message in messages if message["role"] == "system"]
        turns: list[Example] = []
        for message in messages:
            if message["role"] == "system":
                continue
            if reason := self._unfit(message):
                return reason
            turns += _turns(message, keep=self.options.words == "keep")
        odd, even = {"human", "observation"}, {"gpt", "function_call"}
        if len(turns) % 2 or any(
            turn["from"] not in (even if index % 2 else odd) for index, turn in enumerate(turns)
        ):
            return "turns that do not alternate"
        functions = [tool["function"] for tool in row["tools"]]
        return {
            "conversations": turns,
            "system": "\n\n".join(system),
            "tools": json_text(functions) if functions else "",
        }

    def _unfit(self, message: Message) -> str | None:
        """Return the reason why the words beside a call have no place; None if they have."""
        words: str = message["content"].strip() if message.get("tool_calls") else ""
        if words and self.options.words == "refuse":
            return "words beside a call (--option words=keep or words=drop exports the row)"
        return None


class LlamaFactory(ShareGPT):
    """The same file under the trainer's name, with words beside calls."""

    name = "llamafactory"
    length_limit = ("LLaMA-Factory", "cutoff_len: 2048")
    description = "LLaMA-Factory, formatting sharegpt: JSONL with conversations, system and tools"
    Options = _LlamaFactoryOptions


def _turns(message: Message, *, keep: bool) -> list[Example]:
    """The turns that a message becomes; ``keep`` writes its words before its first call."""
    if message["role"] == "user":
        return [{"from": "human", "value": message["content"]}]
    if message["role"] == "tool":
        return [{"from": "observation", "value": message["content"]}]
    calls = message.get("tool_calls")
    if not calls:
        return [{"from": "gpt", "value": message["content"]}]
    values = [_call(call["function"]) for call in calls]
    words = message["content"].strip()
    if keep and words:
        opening, closing = CALL_TAGS
        values[0] = f"{words}\n{opening}{values[0]}{closing}"
    return [{"from": "function_call", "value": value} for value in values]


def _call(function: Message) -> str:
    return json_text({key: function[key] for key in ("name", "arguments")})
