"""ShareGPT as LLaMA-Factory reads it: one JSON object per line with ``conversations``, ``system``
and ``tools``.

``conversations`` strictly alternates between ``human`` or ``observation`` and ``gpt`` or
``function_call``; LLaMA-Factory skips everything else without a word. A call is a JSON text of its
name and arguments, one call in a turn. Words beside a call stand before it, and the call between
``<tool_call>`` tags (``words=keep``), which LLaMA-Factory reads from 0.9.4 on.

The target trains on every turn, so rows with a turn that must not be trained on are left out. With
``--unit turn`` they are kept: train that file with ``mask_history: true``, under which
LLaMA-Factory trains on the last turn only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from synth.core.dataset.store.wire import json_text
from synth.ext.exporters.base import ConversationExporter, Example, Message, Row
from synth.ext.exporters.row_policy import Calls

CALL_TAGS = ("<tool_call>", "</tool_call>")


@dataclass(frozen=True)
class _ShareGPTOptions:
    """``words`` are those beside a call: ``refuse`` leaves the row out, ``drop`` only them, and
    ``keep`` writes them before the call.
    """

    words: Literal["refuse", "drop", "keep"] = "refuse"


@dataclass(frozen=True)
class _LlamaFactoryOptions(_ShareGPTOptions):
    """Keeps words beside a call unless told otherwise."""

    words: Literal["refuse", "drop", "keep"] = "keep"


class ShareGPT(ConversationExporter):
    """Conversations in the format that ShareGPT introduced."""

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
