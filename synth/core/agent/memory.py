"""The transcript, exactly as the model is shown it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from envs.tools.tool import NAME
from envs.tools.toolbox import MAX_ARGUMENTS, parse_arguments
from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.core.dataset.sanitize import sanitize
from synth.core.types.events import AssistantMessage
from synth.model import Completion
from synth.task import Message

RAW_KEY = "__malformed__"
"""Key under which the raw text of a malformed call is echoed: endpoints refuse a history with
broken arguments.

A call that uses this key itself is echoed in the same way, so that no echo has two meanings.
"""

KEPT = 2_000
"""Number of characters that are echoed of arguments too long to be accepted; the events hold all of
them.
"""

ID = re.compile(r"[!-~]{1,64}")
"""Accepted form of a call's id: printable ASCII, as every known endpoint produces it."""

UNNAMED = "invalid_tool_name"

CHARACTERS_PER_TOKEN = 4
"""Average for English prose and JSON, from OpenAI's documentation of its tokenizers; other scripts
have fewer.
"""

MESSAGE_TOKENS = 4
"""Approximate number of tokens that a chat template adds around each message."""


@dataclass(frozen=True, slots=True)
class Span:
    """A context that was sent instead of the whole conversation, from the ``turn``-th completion
    (from 0) on.

    ``messages`` is the live list: it grows with the conversation until the next span begins.
    """

    turn: int
    messages: list[Message]


class ConversationMemory:
    """Messages in canonical form: ``arguments`` are objects, unused keys are absent, content is
    text.

    An emission is echoed as a valid request. A turn whose echo differs from the emission, or that
    its model marked as wrong on purpose, carries ``"train": false``. ``messages`` is the whole
    conversation and only ever grows. ``context`` is
    the list that is sent: the same list, or one that a middleware has set, which then grows
    alongside. ``spans`` keeps each list that was set.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages: list[Message] = [dict(message) for message in messages]
        self.spans: list[Span] = []
        self._context = self.messages
        self._ids: set[str] = set()
        self._turns = 0
        self._measured: int | None = None
        self._measured_to = 0

    @property
    def context(self) -> list[Message]:
        """The messages that are sent. After a new list is set, the model reads it from its
        start.
        """
        return self._context

    @context.setter
    def context(self, messages: Sequence[Message]) -> None:
        self._context = list(messages)
        self.spans.append(Span(self._turns, self._context))
        self._measured, self._measured_to = None, 0

    @property
    def prompt_tokens(self) -> int:
        """Number of tokens that sending the context would take.

        It is the endpoint's count up to its last answer plus an estimate for later messages, or an
        estimate of all of them if the endpoint does not count (see :attr:`measured`). An estimate
        leaves out the tools, which the endpoint's count includes.
        """
        return (self._measured or 0) + estimated_tokens(self._context[self._measured_to :])

    @property
    def measured(self) -> bool:
        """True if :attr:`prompt_tokens` rests on the endpoint's own count."""
        return self._measured is not None

    def add_completion(
        self, completion: Completion, *, exact: bool = True, raw: bool = False
    ) -> list[ToolCall]:
        """Append the assistant's turn. Returns its calls under the ids of the echo, in order.

        ``exact`` False marks a completion that differs from the emission; ``raw`` echoes all calls
        as malformed ones.
        """
        message: Message = {"role": "assistant", "content": completion.content}
        if completion.reasoning_content is not None:
            message["reasoning_content"] = completion.reasoning_content
        message, changed = sanitize(message)
        given: Mapping[str, Any] = completion.provider.get("echo") or {}
        calls: list[ToolCall] = []
        echoes: list[object] = []
        beside: dict[str, object] = {}
        faithful = (
            exact and completion.train and not changed and completion.finish_reason != "length"
        )
        for call in completion.tool_calls:
            echo, same = echo_of(call, raw=raw)
            faithful = faithful and same
            own = ToolCall(self._fresh(call.id), call.name, call.arguments)
            calls.append(own)
            echoes.append({"id": own.id, "type": "function", "function": echo})
            if call.id in given.get("calls", ()):
                beside[own.id] = given["calls"][call.id]
        if echoes:
            message["tool_calls"] = echoes
        if not faithful:
            message["train"] = False
        self._add(AssistantMessage(message, {**given, "calls": beside}) if given else message)
        self._turns += 1
        self._measure(completion)
        return calls

    def add_result(self, outcome: ToolOutcome, content: str) -> None:
        """Append the answer to one call."""
        name = outcome.call.name if NAME.fullmatch(outcome.call.name) else UNNAMED
        text = sanitize(content)[0]
        self._add({"role": "tool", "tool_call_id": outcome.call.id, "name": name, "content": text})

    def add_reply(self, text: str) -> None:
        """Append the user's answer."""
        self._add({"role": "user", "content": sanitize(text)[0]})

    def _add(self, message: Message) -> None:
        self.messages.append(message)
        if self._context is not self.messages:
            self._context.append(message)

    def _measure(self, completion: Completion) -> None:
        usage = completion.usage
        if usage.input_tokens is not None:
            # Reasoning is not sent back, by default at least.
            visible = (usage.output_tokens or 0) - (usage.reasoning_tokens or 0)
            self._measured = usage.input_tokens + max(visible, 0)
            self._measured_to = len(self._context)

    def _fresh(self, emitted: str) -> str:
        """Return the emitted id, or a new one if it is empty, was used before, or has a form that
        endpoints refuse.
        """
        number, taken = len(self._ids), emitted if ID.fullmatch(emitted) else ""
        while not taken or taken in self._ids:
            taken, number = f"call_{number}", number + 1
        self._ids.add(taken)
        return taken


def estimated_tokens(messages: Sequence[Message]) -> int:
    """Estimate the number of tokens of messages from their characters
    (:data:`CHARACTERS_PER_TOKEN`).
    """
    return sum(map(_estimate, messages))


def _estimate(message: Message) -> int:
    characters = len(message["content"])
    for call in message.get("tool_calls", ()):
        characters += len(call["function"]["name"]) + len(
            json.dumps(call["function"]["arguments"], ensure_ascii=False)
        )
    return MESSAGE_TOKENS + -(-characters // CHARACTERS_PER_TOKEN)


def echo_of(call: ToolCall, *, raw: bool = False) -> tuple[dict[str, object], bool]:
    """Return a call as a valid request, and True if it says the same as the emission."""
    parsed = parse_arguments(call.arguments)
    name = call.name if NAME.fullmatch(call.name) else UNNAMED
    if raw or isinstance(parsed, ToolResult) or set(parsed) == {RAW_KEY}:
        text: str = sanitize(call.arguments)[0]
        if len(text) > MAX_ARGUMENTS:
            text = f"{text[:KEPT]}... ({len(text) - KEPT} more characters)"
        return {"name": name, "arguments": {RAW_KEY: text}}, False
    return {"name": name, "arguments": parsed}, name == call.name


def segments(memory: ConversationMemory) -> list[object]:
    """Return each context with the turns made in it; empty if the whole conversation was always
    sent.

    ``{"first_turn": 4, "last_turn": 6, "messages": [...]}``: turns are numbered from 0, each is in
    one segment, and the assistant's messages of other turns in it have ``"train": false``.
    """
    turns = [
        index for index, message in enumerate(memory.messages) if message["role"] == "assistant"
    ]
    if not memory.spans or memory.spans[0].turn >= len(turns):
        return []
    whole = memory.messages[: turns[memory.spans[0].turn]]
    sent: list[list[Message]] = [whole, *(span.messages for span in memory.spans)]
    bounds = pairwise([0, *(span.turn for span in memory.spans), len(turns)])
    return [
        {"first_turn": start, "last_turn": end - 1, "messages": _trained(messages, end - start)}
        for messages, (start, end) in zip(sent, bounds, strict=True)
        if end > start
    ]


def _trained(messages: Sequence[Message], last: int) -> list[Message]:
    """Return the messages with only the last so many turns to train on."""
    turns = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    older = set(turns[: len(turns) - last])
    return [
        {**message, "train": False} if index in older else message
        for index, message in enumerate(messages)
    ]
