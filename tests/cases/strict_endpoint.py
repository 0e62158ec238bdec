"""An OpenAI-compatible endpoint on loopback that refuses what some services refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.loopback import Handler, loopback

Wish = str
"""``signature``: calls come back with their signature. ``reasoning``: every message of the assistant
has reasoning. ``text``: every tool message has text. ``closed``: no message has a field that it does
not know, though its own have. ``few``: 128 tools at most. ``newer``: no ``max_tokens``. ``filter``:
no prompt passes.
"""

SIGNED = {"google": {"thought_signature": "b3BhcXVl"}}


@dataclass
class StrictEndpoint:
    """Answers ``turns`` times with one call of ``tool``, then with words; ``arguments`` are those of
    the calls, in turn. ``refused`` holds the messages of its refusals, ``results`` what the tool
    messages of the longest request say.
    """

    wish: Wish
    tool: str
    arguments: Sequence[Mapping[str, Any]]
    turns: int = 2
    url: str = ""
    refused: list[str] = field(default_factory=list[str])
    results: list[Any] = field(default_factory=list[Any])

    def answer(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        """The status and the body of the answer to a request."""
        if problem := self._problem(body):
            self.refused.append(problem)
            return 400, {"error": {"message": problem, "type": "invalid_request_error"}}
        results = [one["content"] for one in body["messages"] if one["role"] == "tool"]
        self.results = max(self.results, results, key=len)
        turn = sum(one["role"] == "assistant" for one in body["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if self.wish == "reasoning" and turn % 2 == 0:
            message["reasoning_content"] = f"Turn {turn} needs some thought."
        if self.wish == "closed":
            message["citations"] = ["a"]
        offered = {tool["function"]["name"] for tool in body.get("tools", ())}
        calls = turn < self.turns and self.tool in offered
        if calls:
            function = {
                "name": self.tool,
                "arguments": json.dumps(self.arguments[turn % len(self.arguments)]),
            }
            call = {"id": f"call_{turn}", "type": "function", "function": function}
            message["tool_calls"] = [call]
            if self.wish == "signature":
                call["extra_content"] = SIGNED
        else:
            message["content"] = "That is all."
        reason = "tool_calls" if calls else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason, "trace": "x" * 9_000}
        return 200, {"object": "chat.completion", "model": "m", "choices": [choice]}

    def _problem(self, body: Mapping[str, Any]) -> str | None:
        if self.wish == "filter":
            return "The prompt triggered Azure OpenAI's content management policy."
        if self.wish == "newer" and "max_tokens" in body:
            return "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        if self.wish == "few" and (tools := len(body.get("tools", ()))) > 128:
            return f"Invalid 'tools': array too long, at most 128 and not {tools}"
        for message in body["messages"]:
            unsigned = any(
                call.get("extra_content") != SIGNED for call in message.get("tool_calls") or ()
            )
            if self.wish == "signature" and unsigned:
                return "a function call lacks its thought_signature"
            assistant = message["role"] == "assistant"
            if self.wish == "reasoning" and assistant and not message.get("reasoning_content"):
                return "reasoning_content must be passed back with every message"
            if self.wish == "closed" and "citations" in message:
                return "property 'citations' is unsupported"
            text = message.get("content")
            blank = not isinstance(text, str) or not text.strip()
            if self.wish == "text" and message["role"] == "tool" and blank:
                return "the content of a tool message is empty"
        return None

    @property
    def overrides(self) -> tuple[str, ...]:
        """The overrides of a run that asks this endpoint."""
        named = (f"model.base_url={self.url}", "model.name=strict", "model.api_key_env=null")
        return ("model=openai", *named, "runtime=inline")


@contextmanager
def strict_endpoint(
    wish: Wish, tool: str, *arguments: Mapping[str, Any], turns: int = 2
) -> Iterator[StrictEndpoint]:
    """Serve the endpoint; its ``url`` is set."""
    endpoint = StrictEndpoint(wish, tool, arguments, turns)

    class Strict(Handler):
        def do_GET(self) -> None:
            self.send_json(200, {"object": "list", "data": [{"id": "strict"}]})

        def do_POST(self) -> None:
            self.send_json(*endpoint.answer(json.loads(self.body())))

    with loopback(Strict) as url:
        endpoint.url = f"{url}/v1"
        yield endpoint
