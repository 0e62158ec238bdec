"""A chat-completions body read into a :class:`~synth.types.Completion`, with the quirks of many endpoints.

What the model emitted stays as it is: argument strings untouched, empty content empty. What the endpoint
left out is None, or where something has to stand (a call's id), made up in a way that repeats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from envs.types import ToolCall
from synth.models.wire import dumps
from synth.types import Completion, Usage

Json = Any

_KEPT = ("id", "model", "system_fingerprint", "service_tier", "provider")
"""What else an endpoint says about itself that is worth a place in the record."""


class NotACompletionError(ValueError):
    """The body is not what a chat-completions endpoint answers; the message says in which way."""


def load_body(body: bytes) -> dict[str, Json]:
    """The JSON object in a body. Raises NotACompletionError for everything else, empty and truncated included."""
    if not body.strip():
        raise NotACompletionError("an empty body")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotACompletionError(f"a body that is not UTF-8 (byte {error.start})") from error
    if text.lstrip()[:1] == "<":
        raise NotACompletionError("HTML or XML instead of JSON")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotACompletionError("a body that is no complete JSON") from error
    if not isinstance(value, dict):
        raise NotACompletionError(f"JSON that is no object but {type(value).__name__}")
    return cast("dict[str, Json]", value)


def read_completion(body: Mapping[str, Json], first_call: int = 0) -> Completion:
    """Read the first choice. ``first_call`` numbers calls without an id: ``call_<n>``.

    Raises NotACompletionError where ``choices`` is missing, null or empty, or a part has the wrong type.
    """
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise NotACompletionError("no choices" if "choices" in body else "JSON without choices")
    choice = _object(cast("list[Json]", choices)[0], "choices[0]")
    if choice.get("error"):
        raise NotACompletionError(f"an error inside the choice: {dumps(choice['error'])}")
    message = _object(choice.get("message"), "choices[0].message")
    content, thoughts, declined = _texts(message.get("content"))
    calls = _tool_calls(message, first_call)
    finish = choice.get("finish_reason")
    return Completion(
        content=content,
        tool_calls=calls,
        reasoning_content=_text(message, "reasoning_content") or _text(message, "reasoning") or thoughts,
        finish_reason=finish if isinstance(finish, str) and finish else "tool_calls" if calls else "stop",
        refusal=_text(message, "refusal") or declined,
        usage=read_usage(body.get("usage")),
        token_ids=_numbers(choice.get("token_ids")),
        logprobs=_logprobs(choice.get("logprobs")),
        provider={key: body[key] for key in _KEPT if isinstance(body.get(key), str)},
    )


def read_usage(raw: Json) -> Usage:
    """Tokens as the endpoint counted them; whatever is no count becomes None."""
    if not isinstance(raw, dict):
        return Usage()
    usage = cast("dict[str, Json]", raw)
    return Usage(
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        cached_tokens=_count(usage.get("prompt_tokens_details"), "cached_tokens"),
        reasoning_tokens=_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _object(value: Json, where: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise NotACompletionError(f"{where} is {type(value).__name__}, not an object")
    return cast("dict[str, Json]", value)


def _text(message: Mapping[str, Json], key: str) -> str | None:
    value = message.get(key)
    return value if isinstance(value, str) and value else None


def _texts(content: Json) -> tuple[str, str | None, str | None]:
    """Content as (text, reasoning, refusal): a string, null, or a list of typed parts."""
    if content is None:
        return "", None, None
    if isinstance(content, str):
        return content, None, None
    if not isinstance(content, list):
        raise NotACompletionError(f"message.content is {type(content).__name__}")
    text, thoughts, declined = "", "", ""
    for item in cast("list[Json]", content):
        if isinstance(item, str):
            text += item
            continue
        part = _object(item, "a part of message.content")
        if isinstance(part.get("text"), str):
            text += part["text"]
        elif part.get("type") == "thinking":
            inner = part.get("thinking")
            thoughts += _texts(inner)[0]
        elif isinstance(part.get("refusal"), str):
            declined += part["refusal"]
    return text, thoughts or None, declined or None


def _tool_calls(message: Mapping[str, Json], first_call: int) -> tuple[ToolCall, ...]:
    raw = message.get("tool_calls")
    if not raw and isinstance(message.get("function_call"), dict):
        raw = [{"function": message["function_call"]}]  # the form before tools; one call at most
    if not raw:
        return ()
    if not isinstance(raw, list):
        raise NotACompletionError(f"message.tool_calls is {type(raw).__name__}")
    entries = [_object(entry, "a tool call") for entry in cast("list[Json]", raw)]
    taken = {entry.get("id") for entry in entries if isinstance(entry.get("id"), str)}
    given: set[str] = set()
    number = first_call
    calls: list[ToolCall] = []
    for entry in entries:
        function = _object(entry.get("function"), "a tool call's function")
        name = function.get("name")
        if not isinstance(name, str):
            raise NotACompletionError("a tool call without a name")
        call_id = entry.get("id")
        if not isinstance(call_id, str) or not call_id or call_id in given:
            while f"call_{number}" in taken:
                number += 1
            call_id = f"call_{number}"
            taken.add(call_id)
        given.add(call_id)
        calls.append(ToolCall(call_id, name, _arguments(function.get("arguments"))))
        number += 1
    return tuple(calls)


def _arguments(raw: Json) -> str:
    if isinstance(raw, str):
        return raw
    if raw is None:
        return "{}"
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":"))


def _count(raw: Json, key: str) -> int | None:
    if not isinstance(raw, dict):
        return None
    value = cast("dict[str, Json]", raw).get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _numbers(raw: Json) -> tuple[int, ...] | None:
    if not isinstance(raw, list):
        return None
    values = cast("list[Json]", raw)
    return tuple(values) if all(type(value) is int for value in values) else None


def _logprobs(raw: Json) -> tuple[float, ...] | None:
    """One log probability per token, from ``logprobs.content``; None unless every entry has one."""
    if not isinstance(raw, dict):
        return None
    entries = cast("dict[str, Json]", raw).get("content")
    if not isinstance(entries, list):
        return None
    found: Sequence[Json] = [
        cast("dict[str, Json]", entry).get("logprob") if isinstance(entry, dict) else None
        for entry in cast("list[Json]", entries)
    ]
    return tuple(float(value) for value in found) if all(isinstance(value, int | float) for value in found) else None
