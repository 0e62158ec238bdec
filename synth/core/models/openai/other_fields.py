"""Fields of an answer that no part of a completion holds: they are kept, sent back, or named.

Some endpoints want their own fields back with the history: Gemini a signature beside each call,
OpenRouter the parts of its reasoning. No list of them is needed: whatever stands beside a message's
and its calls' known fields is kept as it is, and goes back to the endpoint and model it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from envs.json_text import lenient
from envs.types import ToolCall
from synth.core.dataset.sanitize import sanitize

ECHO = "echo"
"""The key of the provider fields that holds what goes back."""

LEFT_OUT = "left_out"
"""The key of the provider fields that names fields which are too large to keep."""

REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
"""DeepSeek, vLLM, SGLang, llama.cpp; OpenRouter, Groq, newer vLLM, Ollama; some gateways."""

_MOST_CHARACTERS = 4_000
_BODY = frozenset({"choices", "usage", "created", "object"})
_CHOICE = frozenset({"message", "index", "finish_reason", "logprobs", "token_ids"})
_MESSAGE = frozenset({"role", "content", "refusal", "tool_calls", "function_call", *REASONING_KEYS})
_CALL = frozenset({"id", "call_id", "type", "index", "function", "custom", "name", "arguments"})
_FUNCTION = frozenset({"name", "arguments"})
_PART = frozenset({"type", "text", "refusal", "thinking", "summary", "content", "reasoning"})


def kept_fields(body: Mapping[str, Any], choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands beside the message; fields that are too large are only named."""
    found = _beside(choice, _CHOICE) | _beside(body, _BODY)
    if len(choices := cast("list[Any]", body["choices"])) > 1:
        found["choices"] = choices[1:]
    large = [key for key, value in found.items() if len(lenient(value)) > _MOST_CHARACTERS]
    kept = {key: value for key, value in found.items() if key not in large}
    return kept | ({LEFT_OUT: sorted(large)} if large else {})


def echo_in(message: Mapping[str, Any], calls: Sequence[ToolCall], origin: str) -> dict[str, Any]:
    """Return what goes back to ``origin`` with the message, and beside each call by its id."""
    beside = _beside(message, _MESSAGE)
    content = message.get("content")
    if isinstance(content, list) and any(
        isinstance(part, dict) and _beside(cast("dict[str, Any]", part), _PART)
        for part in cast("list[Any]", content)
    ):
        beside["content"] = content
    given: Any = message.get("tool_calls")
    entries = cast("list[Any]", given) if isinstance(given, list) else [given]
    extra = {
        call.id: found
        for call, entry in zip(calls, entries, strict=False)
        if (found := _beside_call(entry))
    }
    if not beside and not extra:
        return {}
    return sanitize({ECHO: {"origin": origin, "message": beside, "calls": extra}})[0]


def _beside_call(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        return {}
    call = cast("dict[str, Any]", entry)
    inner = call.get("function")
    found = _beside(call, _CALL)
    if isinstance(inner, dict) and (own := _beside(cast("dict[str, Any]", inner), _FUNCTION)):
        found["function"] = own
    return found


def _beside(fields: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """Return the fields that are not known and hold something."""
    return {key: value for key, value in fields.items() if value and key not in known}
