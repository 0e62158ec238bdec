"""Conversion of the canonical conversation to OpenAI's chat-completions wire format and back.

Canonical tool calls hold their arguments as an object; the wire has a string of JSON. Internal keys
(``train``) are never sent, and ``name`` is dropped from tool messages, for which the wire has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from envs.json_text import compact
from synth.core.models.openai.reply import split_content
from synth.core.types.events import AssistantMessage
from synth.task import Message

_NO_REASONING = " "
"""Sent where a message had no reasoning: who wants the key refuses the empty text."""

_NAME = re.compile(r"\w+")


def encode(value: object) -> bytes:
    """Encode a value as compact JSON in UTF-8; a lone surrogate, which UTF-8 cannot carry, is sent
    as its escape.
    """
    try:
        return compact(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def wire_message(
    message: Message, reasoning_key: str | None = None, origin: str = ""
) -> dict[str, object]:
    """Return one message in wire form.

    ``reasoning_key`` is the key under which this endpoint expects reasoning with every message of
    the assistant; None sends none, because most endpoints refuse an unknown key. Fields that came
    from ``origin`` go back to it.
    """
    role = message["role"]
    if role == "tool":
        return {
            "role": role,
            "tool_call_id": message["tool_call_id"],
            "content": message.get("content", ""),
        }
    out: dict[str, object] = {"role": role, "content": message.get("content", "")}
    if message.get("name"):
        out["name"] = message["name"]
    if role != "assistant":
        return out
    if reasoning_key is not None:
        out[reasoning_key] = message.get("reasoning_content") or _NO_REASONING
    echo: Mapping[str, Any] = message.echo if isinstance(message, AssistantMessage) else {}
    if echo.get("origin") != origin:
        echo = {}
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    if calls:
        beside: Mapping[str, Mapping[str, object]] = echo.get("calls", {})
        out["tool_calls"] = [_wire_call(call, beside.get(call["id"], {})) for call in calls]
        # Some endpoints refuse empty text beside calls; null is what OpenAI itself answers with.
        out["content"] = out["content"] or None
    return out | _beside(echo, message.get("content", ""))


def _beside(echo: Mapping[str, Any], content: str) -> dict[str, object]:
    """Return the endpoint's own fields; content in parts only if it says what the message says."""
    fields = dict(echo.get("message", {}))
    if "content" in fields and split_content(fields["content"])[0] != content:
        del fields["content"]
    return fields


def names_echoed(words: str, messages: Sequence[Message]) -> bool:
    """True if an endpoint's words name a field that goes back to it because it came from it."""
    names: set[str] = set()
    for message in messages:
        echo: Mapping[str, Any] = message.echo if isinstance(message, AssistantMessage) else {}
        names.update(echo.get("message", {}))
        calls: Mapping[str, Mapping[str, Any]] = echo.get("calls", {})
        for call in calls.values():
            names.update(call, call.get("function", {}))
    return not (names - {"content", "function"}).isdisjoint(_NAME.findall(words))


def encode_message(message: Message, reasoning_key: str | None = None, origin: str = "") -> bytes:
    """Return the bytes of a message's :func:`wire_message`. Those of system messages are cached: a
    world's policy opens every rollout.
    """
    text = message.get("content")
    if message["role"] == "system" and isinstance(text, str) and not message.get("name"):
        return _encode_system(text)
    return encode(wire_message(message, reasoning_key, origin))


@lru_cache(maxsize=64)
def _encode_system(text: str) -> bytes:
    return encode(wire_message({"role": "system", "content": text}))


def _wire_call(call: Mapping[str, Any], beside: Mapping[str, Any]) -> dict[str, object]:
    function = call["function"]
    arguments = function["arguments"]
    text = arguments if isinstance(arguments, str) else compact(arguments)
    own = {"name": function["name"], "arguments": text}
    return {
        **beside,
        "id": call["id"],
        "type": "function",
        "function": {**beside.get("function", {}), **own},
    }


def canonical_message(message: Mapping[str, object]) -> Message:
    """Convert a wire message to canonical form, for servers: arguments as an object, content always
    a string, no null keys.

    Expects a message that :func:`synth.ext.serving.chat_request.check_request` has accepted.
    """
    out: Message = {key: value for key, value in message.items() if value is not None}
    content = out.get("content", "")
    if isinstance(content, list):
        parts = cast("list[Mapping[str, str]]", content)
        content = "".join(part.get("text", "") for part in parts)
    out["content"] = content
    if "tool_calls" in out:
        out["tool_calls"] = [
            {
                **call,
                "function": {
                    **call["function"],
                    "arguments": json.loads(call["function"]["arguments"]),
                },
            }
            for call in out["tool_calls"]
        ]
    return out


def request_head(parameters: Mapping[str, object], tools: bytes | None) -> bytes:
    """Return the body up to and including ``"messages":[``; messages come last, so that only new
    ones are encoded.

    ``parameters`` holds at least the model; ``tools`` is the encoded list, or None without tools.
    """
    fields = encode(parameters)[:-1]
    listed = b',"tools":' + tools if tools is not None else b""
    return fields + listed + b',"messages":['
