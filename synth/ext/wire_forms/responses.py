"""OpenAI's Responses, streamed or not, with tools, reasoning and usage (``model=responses``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.core.models.openai.reply import NotACompletionError
from synth.core.models.openai.stream import StreamedAnswer
from synth.core.models.openai.wire import encode
from synth.ext.wire_forms.whole import Object, objects, whole
from synth.model import Model, OnDelta, Sampling
from synth.plugins import extension

ITEMS = "response_items"
"""The field of an assistant's message with the items of its turn as the endpoint sent them."""

_OURS = frozenset({"messages", "tools", "stream", "stream_options", "seed", "max_tokens"})
_TEXTS = {
    "response.output_text.delta": "content",
    "response.reasoning_summary_text.delta": "reasoning_content",
    "response.reasoning_text.delta": "reasoning_content",
}
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class _ResponsesModel(OpenAIModel):
    """A model behind OpenAI's Responses. Nothing is stored at the endpoint: reasoning goes back
    encrypted.
    """

    path = "/responses"

    def __init__(
        self, endpoint: Endpoint, sampling: Sampling | None = None, api_key: str | None = None
    ) -> None:
        super().__init__(replace(endpoint, max_tokens_key="max_tokens"), sampling, api_key)

    def request(self, opening: bytes, *, streams: bool) -> bytes:
        return encode(request_of(json.loads(opening + b"]}"), streams=streams))

    def streamed(self, on_delta: OnDelta | None) -> StreamedAnswer:
        return _ResponseStream(on_delta)

    def completed(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return answer_of(body)


@extension(Endpoint, asks_endpoint=True)
def make(options: Endpoint, sampling: Sampling, api_key: str | None) -> Model:
    """Build the model. Raises :class:`~synth.errors.OperatorError` for options that cannot work."""
    return _ResponsesModel(options, sampling, api_key)


def request_of(chat: Mapping[str, Any], *, streams: bool = False) -> Object:
    """Return the request that says what one of chat completions says."""
    out = {key: value for key, value in chat.items() if key not in _OURS}
    out.setdefault("store", False)
    out.setdefault("include", ["reasoning.encrypted_content"])
    if "max_tokens" in chat:
        out["max_output_tokens"] = chat["max_tokens"]
    if chat.get("tools"):
        out["tools"] = [
            {"type": "function", "strict": False, **tool["function"]}
            for tool in objects(chat["tools"])
        ]
    out["input"] = [item for message in objects(chat["messages"]) for item in _items(message)]
    return out | ({"stream": True} if streams else {})


def _items(message: Mapping[str, Any]) -> list[Object]:
    """The input items of a message."""
    if message["role"] == "tool":
        result = {"call_id": message["tool_call_id"], "output": message["content"]}
        return [{"type": "function_call_output", **result}]
    if given := message.get(ITEMS):
        return objects(given)
    calls = [
        {"type": "function_call", "call_id": call["id"], **call["function"]}
        for call in objects(message.get("tool_calls"))
    ]
    text = message.get("content") or ""
    if text or not calls:
        return [{"role": message["role"], "content": text}, *calls]
    return calls


@whole
def answer_of(body: Mapping[str, Any]) -> Object:
    """Return an answer as one of chat completions. Raises NotACompletionError."""
    if not isinstance(body.get("output"), list):
        raise NotACompletionError("JSON without output")
    items = objects(body["output"])
    words = [item["content"] for item in items if item.get("type") == "message"]
    said = [part for parts in words for part in objects(parts)]
    thoughts = [item for item in items if item.get("type") == "reasoning"]
    calls = [
        {
            "id": item.get("call_id"),
            "type": "function",
            "function": {"name": item.get("name"), "arguments": item.get("arguments")},
        }
        for item in items
        if item.get("type") == "function_call"
    ]
    message: Object = {
        "role": "assistant",
        "content": "".join(part.get("text") or "" for part in said),
        "refusal": "".join(part.get("refusal") or "" for part in said),
        "reasoning_content": "".join(_thought(item) for item in thoughts),
        **({"tool_calls": calls} if calls else {}),
        **({ITEMS: items} if thoughts else {}),
    }
    choice = {"index": 0, "message": message, "finish_reason": _finish(body, calls=bool(calls))}
    kept = {key: body[key] for key in ("id", "model", "usage") if key in body}
    return {**kept, "choices": [choice]}


def _thought(item: Mapping[str, Any]) -> str:
    parts = objects(item.get("summary")) + objects(item.get("content"))
    return "".join(part.get("text") or "" for part in parts)


def _finish(body: Mapping[str, Any], *, calls: bool) -> str:
    """OpenAI's word for the end of an answer in chat completions."""
    details: Object = body.get("incomplete_details") or {}
    reason = details.get("reason")
    if reason is not None:
        return "length" if reason == "max_output_tokens" else str(reason)
    return "tool_calls" if calls else "stop"


class _ResponseStream(StreamedAnswer):
    """An answer in pieces: the texts are told as they come, the last event holds the answer."""

    def __init__(self, on_delta: OnDelta | None = None) -> None:
        super().__init__(on_delta)
        self._answer: Object | None = None

    @whole
    def read(self, value: Any) -> None:
        event = cast("Object", value) if isinstance(value, dict) else Object()
        kind = event.get("type")
        if kind in _TEXTS:
            self._delta({_TEXTS[kind]: event["delta"]})
        elif kind == "response.output_item.added" and event["item"]["type"] == "function_call":
            item = event["item"]
            function = {"name": item["name"], "arguments": ""}
            call = {"index": event["output_index"], "id": item["call_id"], "function": function}
            self._delta({"tool_calls": [call]})
        elif kind == "response.function_call_arguments.delta":
            function = {"arguments": event["delta"]}
            self._delta({"tool_calls": [{"index": event["output_index"], "function": function}]})
        elif kind in _ENDS:
            response = event["response"]
            if response.get("error"):
                super().read({"error": response["error"]})
            else:
                self._answer = answer_of(response)
                super().read({"choices": [{"index": 0, "finish_reason": "stop"}]})
        elif kind == "error":
            super().read({"error": event.get("error") or event})
        elif kind is None:
            super().read(value)

    def body(self) -> Object:
        body = super().body() if self._answer is None else self._answer
        return answer_of(body) if "output" in body else body

    def _delta(self, delta: Mapping[str, Any]) -> None:
        super().read({"choices": [{"index": 0, "delta": delta}]})
