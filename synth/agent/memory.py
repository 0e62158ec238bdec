"""The transcript, exactly as the model is shown it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envs.tool import NAME
from envs.toolbox import parse_arguments
from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.types import Completion, Message

Json = Any

RAW_KEY = "__malformed__"
"""Under this key a malformed call's raw text is echoed: endpoints refuse a history with broken arguments.

A model that sends this very key is echoed so too, whatever it is: then no echo has two meanings.
"""

UNNAMED = "invalid_tool_name"


class ConversationMemory:
    """Messages in canonical form: ``arguments`` are objects, unused keys are absent, content is text.

    What a model emitted is echoed as a valid request. Where that differs from the emission, the turn carries
    ``"train": false``.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages: list[Message] = [dict(each) for each in messages]
        self._ids: set[str] = set()

    def add_completion(self, completion: Completion) -> list[ToolCall]:
        """Append the assistant's turn; returns its calls under the ids of the echo, in order."""
        message: Message = {"role": "assistant", "content": completion.content}
        if completion.reasoning_content is not None:
            message["reasoning_content"] = completion.reasoning_content
        calls: list[ToolCall] = []
        echoes: list[Json] = []
        faithful = completion.finish_reason != "length"
        for call in completion.tool_calls:
            echo, exact = echo_of(call)
            faithful = faithful and exact
            own = ToolCall(self._fresh(call.id), call.name, call.arguments)
            calls.append(own)
            echoes.append({"id": own.id, "type": "function", "function": echo})
        if echoes:
            message["tool_calls"] = echoes
        if not faithful:
            message["train"] = False
        self.messages.append(message)
        return calls

    def add_result(self, outcome: ToolOutcome, content: str) -> None:
        """Append the answer to one call."""
        name = outcome.call.name if NAME.fullmatch(outcome.call.name) else UNNAMED
        self.messages.append({"role": "tool", "tool_call_id": outcome.call.id, "name": name, "content": content})

    def add_reply(self, text: str) -> None:
        """Append what the user said."""
        self.messages.append({"role": "user", "content": text})

    def _fresh(self, emitted: str) -> str:
        """The emitted id, or one of our own where it is empty or stood before."""
        at, taken = len(self._ids), emitted
        while not taken or taken in self._ids:
            taken, at = f"call_{at}", at + 1
        self._ids.add(taken)
        return taken


def echo_of(call: ToolCall) -> tuple[dict[str, Json], bool]:
    """A call as a valid request, and whether it says the same as the emission."""
    parsed = parse_arguments(call.arguments)
    name = call.name if NAME.fullmatch(call.name) else UNNAMED
    if isinstance(parsed, ToolResult) or set(parsed) == {RAW_KEY}:
        return {"name": name, "arguments": {RAW_KEY: call.arguments}}, False
    return {"name": name, "arguments": parsed}, name == call.name
