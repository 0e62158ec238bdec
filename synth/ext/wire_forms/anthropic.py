"""Anthropic's Messages, streamed or not, with tools, thoughts and usage (``model=anthropic``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from synth.core.foundation.json_leaves import parsed
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.core.models.openai.reply import NotACompletionError
from synth.core.models.openai.stream import StreamedAnswer
from synth.core.models.openai.wire import encode
from synth.ext.wire_forms.whole import Object, objects, whole
from synth.model import Model, OnDelta, Sampling
from synth.plugins import extension

ADDRESS = "https://api.anthropic.com/v1"
VERSION = "2023-06-01"
MAX_TOKENS = 8_192
"""Of an answer, which the endpoint wants to be named, where ``model.max_tokens`` says nothing."""

BLOCKS = "anthropic_blocks"
"""The field of an assistant's message that holds its content as the endpoint sent it."""

_OURS = frozenset({"messages", "tools", "stream", "seed", "parallel_tool_calls"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_NO_WORDS = "(no words)"
"""Stands for an empty text, which the endpoint refuses."""


class _AnthropicModel(OpenAIModel):
    """A model behind Anthropic's Messages."""

    path = "/messages"

    def __init__(
        self, endpoint: Endpoint, sampling: Sampling | None = None, api_key: str | None = None
    ) -> None:
        key = (api_key or "").strip()
        own = {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})
        address = endpoint.base_url or ADDRESS
        headers = own | dict(endpoint.headers)
        given = replace(endpoint, base_url=address, headers=headers, max_tokens_key="max_tokens")
        super().__init__(given, sampling)

    def request(self, opening: bytes, *, streams: bool) -> bytes:
        return encode(request_of(json.loads(opening + b"]}"), streams=streams))

    def streamed(self, on_delta: OnDelta | None) -> StreamedAnswer:
        return _MessageStream(on_delta)

    def completed(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return answer_of(body)


@extension(Endpoint, asks_endpoint=True)
def make(options: Endpoint, sampling: Sampling, api_key: str | None) -> Model:
    """Build the model. Raises :class:`~synth.errors.OperatorError` for options that cannot work."""
    return _AnthropicModel(options, sampling, api_key)


def request_of(chat: Mapping[str, Any], *, streams: bool = False) -> Object:
    """Return the request that says what one of chat completions says."""
    out = {key: value for key, value in chat.items() if key not in _OURS}
    out.setdefault("max_tokens", MAX_TOKENS)
    system = [
        one["content"]
        for one in objects(chat["messages"])
        if one["role"] in {"system", "developer"}
    ]
    if system:
        out["system"] = "\n\n".join(system)
    messages: list[Object] = []
    for message in objects(chat["messages"]):
        if message["role"] in {"system", "developer"}:
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _blocks(message)
        if messages and messages[-1]["role"] == role:  # results of one turn stand in one message
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})
    out["messages"] = messages
    if chat.get("tools"):
        out["tools"] = [_tool(tool["function"]) for tool in objects(chat["tools"])]
        if chat.get("parallel_tool_calls") is False:
            out.setdefault("tool_choice", {"type": "auto", "disable_parallel_tool_use": True})
    return out | ({"stream": True} if streams else {})


def _blocks(message: Mapping[str, Any]) -> list[Object]:
    """The content of a message, as blocks."""
    if message["role"] == "tool":
        result = {"tool_use_id": message["tool_call_id"], "content": message["content"]}
        return [{"type": "tool_result", **result}]
    if given := message.get(BLOCKS):
        return objects(given)
    text = message.get("content") or ""
    calls = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": _object(call["function"]["arguments"]),
        }
        for call in objects(message.get("tool_calls"))
    ]
    if text.strip() or not calls:
        return [{"type": "text", "text": text if text.strip() else _NO_WORDS}, *calls]
    return calls


def _object(arguments: str) -> Object:
    """Arguments as the object that the endpoint wants; those that are none, under ``arguments``."""
    value = parsed(arguments)
    return cast("Object", value) if isinstance(value, dict) else {"arguments": value}


def _tool(function: Mapping[str, Any]) -> Object:
    shown = {"name": function["name"], "description": function["description"]}
    return {**shown, "input_schema": function["parameters"]}


@whole
def answer_of(body: Mapping[str, Any]) -> Object:
    """Return an answer as one of chat completions. Raises NotACompletionError."""
    if not isinstance(body.get("content"), list):
        raise NotACompletionError("JSON without content")
    blocks = objects(body["content"])
    calls = [
        {
            "id": one.get("id"),
            "type": "function",
            "function": {"name": one.get("name"), "arguments": json.dumps(one.get("input"))},
        }
        for one in blocks
        if one.get("type") == "tool_use"
    ]
    message: Object = {
        "role": body.get("role"),
        "content": "".join(one["text"] for one in blocks if one.get("type") == "text"),
        "reasoning_content": "".join(one.get("thinking") or "" for one in blocks),
        **({"tool_calls": calls} if calls else {}),
        **({BLOCKS: blocks} if _thinks(blocks) else {}),
    }
    choice = {"index": 0, "message": message, "finish_reason": _finish(body.get("stop_reason"))}
    kept = {key: body[key] for key in ("id", "model", "usage") if key in body}
    return {**kept, "choices": [choice]}


def _thinks(blocks: Sequence[Mapping[str, Any]]) -> bool:
    return any(one.get("type") in _THOUGHTS for one in blocks)


def _finish(reason: Any) -> Any:
    """OpenAI's word where the endpoint's is not known elsewhere."""
    own: Object = {"refusal": "content_filter", "model_context_window_exceeded": "length"}
    return own.get(reason, reason)


class _MessageStream(StreamedAnswer):
    """An answer in pieces: each event becomes a chunk of chat completions."""

    def __init__(self, on_delta: OnDelta | None = None) -> None:
        super().__init__(on_delta)
        self._usage: Object = {}
        self._blocks: list[Object] = []
        self._arguments: dict[int, str] = {}

    @whole
    def read(self, value: Any) -> None:
        event = cast("Object", value) if isinstance(value, dict) else Object()
        match event.get("type"):
            case "message_start":
                start = event["message"]
                self._usage |= start.get("usage") or {}
                super().read({key: start.get(key) for key in ("id", "model")})
            case "content_block_start":
                self._start(event["index"], dict(event["content_block"]))
            case "content_block_delta":
                self._grow(event["index"], event["delta"])
            case "message_delta":
                self._usage |= event.get("usage") or {}
                self._end(event["delta"].get("stop_reason"))
            case "error":
                super().read({"error": event["error"]})
            case None:
                super().read(value)
            case _:
                return

    def body(self) -> Object:
        body = super().body()
        if "content" in body:
            return answer_of(body)
        if "choices" in body and _thinks(self._blocks):
            body["choices"][0]["message"][BLOCKS] = self._blocks
        return body

    def _start(self, index: int, block: Object) -> None:
        self._blocks.append(block)
        if block["type"] == "tool_use":
            function = {"name": block["name"], "arguments": ""}
            call = {"index": index, "id": block["id"], "type": "function", "function": function}
            self._delta({"tool_calls": [call]})

    def _grow(self, index: int, delta: Mapping[str, Any]) -> None:
        block = self._blocks[index]
        match delta["type"]:
            case "text_delta":
                block["text"] += delta["text"]
                self._delta({"content": delta["text"]})
            case "thinking_delta":
                block["thinking"] += delta["thinking"]
                self._delta({"reasoning_content": delta["thinking"]})
            case "signature_delta":
                block["signature"] = block.get("signature", "") + delta["signature"]
            case "input_json_delta":
                text = delta["partial_json"]
                self._arguments[index] = self._arguments.get(index, "") + text
                self._delta({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
            case _:
                return

    def _end(self, reason: Any) -> None:
        for index, block in enumerate(self._blocks):
            if block["type"] == "tool_use":
                block["input"] = _object(self._arguments.get(index) or "{}")
        choice = {"index": 0, "finish_reason": _finish(reason)}
        super().read({"usage": self._usage, "choices": [choice]})

    def _delta(self, delta: Mapping[str, Any]) -> None:
        super().read({"choices": [{"index": 0, "delta": delta}]})
