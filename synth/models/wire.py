"""The canonical conversation as OpenAI's chat-completions wire writes it, and back.

Canonical tool calls hold their arguments as an object; the wire wants a string of JSON. Keys that are
ours alone (``train``) never leave, and ``name`` stays behind on tool messages, where the wire has none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from envs.json_text import compact
from synth.types import Message

Json = Any


def encode(value: Json) -> bytes:
    """Compact JSON as UTF-8; a lone surrogate, which UTF-8 cannot carry, is sent as its escape."""
    try:
        return compact(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def wire_message(message: Message, reasoning_key: str | None = None) -> dict[str, Json]:
    """One message for the wire.

    ``reasoning_key`` is the key under which this endpoint wants earlier reasoning back; None sends none,
    because most endpoints refuse a key that they do not know.
    """
    role = message["role"]
    if role == "tool":
        return {"role": role, "tool_call_id": message["tool_call_id"], "content": message.get("content", "")}
    out: dict[str, Json] = {"role": role, "content": message.get("content", "")}
    if message.get("name"):
        out["name"] = message["name"]
    if role != "assistant":
        return out
    if reasoning_key is not None and message.get("reasoning_content"):
        out[reasoning_key] = message["reasoning_content"]
    calls: Sequence[Mapping[str, Json]] = message.get("tool_calls") or ()
    if calls:
        out["tool_calls"] = [_wire_call(call) for call in calls]
        # Some endpoints refuse empty text beside calls; null is what OpenAI itself answers with.
        out["content"] = out["content"] or None
    return out


def encode_message(message: Message, reasoning_key: str | None = None) -> bytes:
    """One message as it is sent: the bytes of its :func:`wire_message`. A world's policy, which opens every rollout, is kept."""
    text = message.get("content")
    if message["role"] == "system" and isinstance(text, str) and not message.get("name"):
        return _encode_system(text)
    return encode(wire_message(message, reasoning_key))


@lru_cache(maxsize=64)
def _encode_system(text: str) -> bytes:
    return encode(wire_message({"role": "system", "content": text}))


def _wire_call(call: Mapping[str, Json]) -> dict[str, Json]:
    function = call["function"]
    arguments = function["arguments"]
    text = arguments if isinstance(arguments, str) else compact(arguments)
    return {"id": call["id"], "type": "function", "function": {"name": function["name"], "arguments": text}}


def canonical_message(message: Mapping[str, Json]) -> Message:
    """The other way, for who serves requests: arguments as an object, content always a string, no null keys.

    Expects a message that :func:`synth.models.chat_request.check_request` has passed.
    """
    out: Message = {key: value for key, value in message.items() if value is not None}
    content: Json = out.get("content", "")
    if isinstance(content, list):
        parts = cast("list[Mapping[str, Json]]", content)
        content = "".join(part.get("text", "") for part in parts)
    out["content"] = content
    if "tool_calls" in out:
        out["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
            for call in out["tool_calls"]
        ]
    return out


def request_head(parameters: Mapping[str, Json], tools: bytes | None) -> bytes:
    """The body up to and including ``"messages":[``; messages come last, so that only new ones are encoded.

    ``parameters`` holds at least the model; ``tools`` is the encoded list, or None where there are no tools.
    """
    fields = encode(parameters)[:-1]
    listed = b',"tools":' + tools if tools is not None else b""
    return fields + listed + b',"messages":['
