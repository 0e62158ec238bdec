"""Conversion of a chat-completions body into a :class:`~synth.model.Completion`, for many
endpoints' variants.

The emission stays as it is: argument strings untouched, empty content empty. Missing values are
None, or generated reproducibly if one is needed (a call's id).
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from typing import Any, cast

from envs.json_text import lenient
from envs.types import ToolCall
from synth.core.models.openai.other_fields import REASONING_KEYS, echo_in, kept_fields
from synth.core.types.events import Usage
from synth.model import MALFORMED, Completion


def _calls_in(message: Mapping[str, Json], first_call: int) -> tuple[ToolCall, ...]:
    """Return the calls in their order. A call whose id is not text, or a repetition, is numbered
    from ``first_call``: ``call_<n>``.

    A call without a name, or an entry that is not a call, becomes a call of a tool that does not
    exist, with the entry as its arguments: a model that is asked again often answers the same
    again. Only before the first usable completion an answer of nothing but such calls is a fault of
    the endpoint.
    """
    raw = message.get("tool_calls")
    if not raw and isinstance(message.get("function_call"), dict):
        raw = {"function": message["function_call"]}  # the form before tools; one call at most
    if not raw:
        return ()
    entries = cast("list[Json]", raw) if isinstance(raw, list) else [raw]
    ids = [_id(entry) for entry in entries]
    taken = {identifier for identifier in ids if identifier}
    given: set[str] = set()
    number = first_call
    calls: list[ToolCall] = []
    for entry, emitted in zip(entries, ids, strict=True):
        call_id = emitted
        if not call_id or call_id in given:
            while f"call_{number}" in taken:
                number += 1
            call_id = f"call_{number}"
            taken.add(call_id)
        given.add(call_id)
        calls.append(ToolCall(call_id, *_named(entry)))
        number += 1
    return tuple(calls)


def _id(entry: Json) -> str:
    """Return a call's id, under the name of chat completions or of responses."""
    it = cast("dict[str, Json]", entry) if isinstance(entry, dict) else {}
    found = it.get("id") or it.get("call_id")
    return found if isinstance(found, str) else ""


def _named(entry: Json) -> tuple[str, str]:
    """Return name and arguments of a function, of a custom tool, or of an entry that holds both
    itself.
    """
    if not isinstance(entry, dict):
        return "", lenient(entry)
    it = cast("dict[str, Json]", entry)
    inner = next((it[key] for key in ("function", "custom") if isinstance(it.get(key), dict)), it)
    if "name" not in inner and "arguments" not in inner:
        return "", lenient(it)
    name = inner.get("name")
    arguments = inner.get("arguments", inner.get("input"))
    return (
        name if isinstance(name, str) else "" if name is None else lenient(name),
        arguments
        if isinstance(arguments, str)
        else "{}"
        if arguments is None
        else lenient(arguments),
    )


Json = Any

_BLOCKS = ("reasoning_details", "thinking_blocks")

_FINISHES: Mapping[str, frozenset[str]] = {
    "stop": frozenset({"eos", "eos_token", "stop_sequence", "end_turn", "complete"}),
    "length": frozenset({"max_tokens", "max_length", "model_length", "max_output_tokens"}),
    "tool_calls": frozenset({"tool_use", "tool_call", "function_call"}),
    "content_filter": frozenset(
        {"safety", "content_filtered", "sensitive", "recitation", "prohibited_content"}
    ),
    MALFORMED: frozenset(
        {
            "malformed_function_call",
            "malformed_tool_call",
            "malformed_response",
            "unexpected_tool_call",
            "other",  # Gemini's end for an unknown reason
        }
    ),
}
_FINISH = {word: ours for ours, words in _FINISHES.items() for word in words}
"""Other servers' words for OpenAI's: TGI, Anthropic, Cohere, Mistral, Gemini, Zhipu."""

_BROKEN_OFF = frozenset(
    {
        "abort",
        "aborted",
        "cancel",
        "canceled",
        "cancelled",
        "error",
        "failed",
        "insufficient_system_resource",
        "internal_error",
        "interrupted",
        "network_error",
        "timed_out",
        "timeout",
    }
)
"""Finish reasons of an answer that the endpoint, not the model, broke off: vLLM, SGLang,
OpenRouter, DeepSeek, Zhipu, TGI, gateways.
"""

_NOT_AN_ASSISTANT = frozenset({"tool", "function", "user", "system", "developer"})
"""Roles of a message that is somebody else's, and so no answer."""

_MOST_TOKENS = 2**40
_INT32 = 2**31
_TOKEN_ID = re.compile(r"token_id:[0-9]{1,10}")


class NotACompletionError(ValueError):
    """The body is not a chat completion; the message gives the reason."""


def load_body(body: bytes) -> dict[str, Json]:
    """Return the JSON object in a body. Raises NotACompletionError for everything else, empty and
    truncated included.
    """
    if not body.strip():
        raise NotACompletionError("an empty body")
    try:
        text = body.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise NotACompletionError(f"a body that is not UTF-8 (byte {error.start})") from error
    if text.lstrip()[:1] == "<":
        raise NotACompletionError("HTML or XML instead of JSON")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotACompletionError("a body that is not complete JSON") from error
    if not isinstance(value, dict):
        raise NotACompletionError(f"JSON that is not an object but {type(value).__name__}")
    return cast("dict[str, Json]", value)


def read_completion(body: Mapping[str, Json], first_call: int = 0, origin: str = "") -> Completion:
    """Read the first choice. ``first_call`` numbers calls without an id: ``call_<n>``. ``origin``
    says where fields that nobody here reads go back to.

    Raises NotACompletionError if ``choices`` is missing, null or empty, a part has the wrong type,
    or the endpoint broke off.
    """
    choice = _first_choice(body)
    reason = choice.get("finish_reason")
    finish = _finish_reason(reason)
    if finish in _BROKEN_OFF:
        raise NotACompletionError(f"an answer that it broke off (finish_reason {finish})")
    given = choice.get("message")
    # Who filters an answer may send none at all.
    message = (
        {} if given is None and finish == "content_filter" else _object(given, "choices[0].message")
    )
    content, thoughts, declined = split_content(message.get("content"))
    calls = _calls_in(message, first_call)
    provider = kept_fields(body, choice) | echo_in(message, calls, origin)
    role = _text(message, "role") or ""
    if role.lower() in _NOT_AN_ASSISTANT:
        finish, provider["role"] = MALFORMED, role
    elif finish == "tool_calls" and not calls:
        finish = MALFORMED
    if isinstance(reason, str) and reason and reason != finish:
        provider["finish_reason"] = reason
    token_ids, logprobs = _tokens(choice)
    return Completion(
        content=content,
        tool_calls=calls,
        reasoning_content=_reasoning(message) or thoughts,
        finish_reason=finish or ("tool_calls" if calls else "stop"),
        refusal=_text(message, "refusal") or declined,
        usage=_read_usage(body.get("usage")),
        token_ids=token_ids,
        logprobs=logprobs,
        provider=provider,
    )


def _first_choice(body: Mapping[str, Json]) -> dict[str, Json]:
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise NotACompletionError("no choices" if "choices" in body else "JSON without choices")
    choice = _object(cast("list[Json]", choices)[0], "choices[0]")
    if choice.get("error"):
        raise NotACompletionError(
            f"an error inside the choice: {json.dumps(choice['error'], ensure_ascii=False)}"
        )
    return choice


def _read_usage(raw: Json) -> Usage:
    """Return the endpoint's token counts, under the names of OpenAI's chat completions and
    responses, DeepSeek, Moonshot, SGLang and Anthropic.

    Values that are not counts become None.
    """
    if not isinstance(raw, dict):
        return Usage()
    usage = cast("dict[str, Json]", raw)
    prompt, apart = _among(usage, "prompt_tokens"), _among(usage, "cache_read_input_tokens")
    cached = _among(
        usage,
        *("prompt_tokens_details.cached_tokens", "cached_tokens", "prompt_cache_hit_tokens"),
        "input_tokens_details.cached_tokens",
    )
    if prompt is None and (prompt := _among(usage, "input_tokens")) is not None and cached is None:
        # Anthropic counts what it read from its cache, and what it wrote there, apart from
        # input_tokens.
        prompt += (apart or 0) + (_among(usage, "cache_creation_input_tokens") or 0)
    return Usage(
        prompt,
        _among(usage, "completion_tokens", "output_tokens"),
        apart if cached is None else cached,
        _among(
            usage,
            "completion_tokens_details.reasoning_tokens",
            "output_tokens_details.reasoning_tokens",
            "reasoning_tokens",
        ),
    )


def _finish_reason(reason: Json) -> str | None:
    """Return OpenAI's word for a finish reason; an unknown word is kept, a value that is not text
    becomes None.
    """
    if not isinstance(reason, str) or not reason:
        return None
    if reason in _FINISHES:
        return reason
    word = reason.lower()
    return _FINISH.get(word, word if word in _FINISHES or word in _BROKEN_OFF else reason)


def _object(value: Json, where: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise NotACompletionError(f"{where} is {type(value).__name__}, not an object")
    return cast("dict[str, Json]", value)


def _text(message: Mapping[str, Json], key: str) -> str | None:
    value = message.get(key)
    return value if isinstance(value, str) and value else None


def _reasoning(message: Mapping[str, Json]) -> str | None:
    """Return reasoning that is sent beside the content: text under one of its names, or the texts
    of OpenRouter's or LiteLLM's blocks.
    """
    for key in REASONING_KEYS:
        if found := _text(message, key):
            return found
    for key in _BLOCKS:
        if isinstance(blocks := message.get(key), list):
            texts = (
                _thought(cast("dict[str, Json]", block))
                for block in cast("list[Json]", blocks)
                if isinstance(block, dict)
            )
            if found := "".join(texts):
                return found
    return None


def _thought(part: Mapping[str, Json]) -> str:
    """Return the text of a reasoning part, whose text may consist of parts again."""
    for key in ("thinking", "text", "summary", "content", "reasoning"):
        inner = part.get(key)
        if isinstance(inner, str):
            return inner
        if isinstance(inner, list):
            parts = cast("list[Json]", inner)
            return "".join(
                _thought(cast("dict[str, Json]", part)) for part in parts if isinstance(part, dict)
            )
    return ""


def split_content(content: Json) -> tuple[str, str | None, str | None]:
    """Split content into (text, reasoning, refusal); it is a string, null, or a list of typed
    parts.
    """
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
        if part.get("type") in ("thinking", "reasoning"):
            thoughts += _thought(part)
        elif isinstance(part.get("text"), str):
            text += part["text"]
        elif isinstance(part.get("refusal"), str):
            declined += part["refusal"]
    return text, thoughts or None, declined or None


def _count(value: Json) -> int | None:
    """Return a count of tokens; None for any other value."""
    if type(value) is float and value.is_integer():
        value = int(value)  # as some gateways written in JavaScript or Lua send it
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else None


def _among(usage: Mapping[str, Json], *keys: str) -> int | None:
    """Return the first of these entries that is a count; a dot leads into an object."""
    for key in keys:
        outer, _, name = key.rpartition(".")
        entries = usage.get(outer) if outer else usage
        if isinstance(entries, Mapping):
            count = _count(cast("Mapping[str, Json]", entries).get(name))
            if count is not None:
                return count
    return None


def _tokens(choice: Mapping[str, Json]) -> tuple[tuple[int, ...] | None, tuple[float, ...] | None]:
    """Return ids and log probabilities of the answer's tokens, each None unless every token has
    one.

    Ids are beside the message (vLLM's ``return_token_ids``), among the log probabilities
    (llama.cpp; vLLM's ``return_tokens_as_token_ids``), or in separate lists (Together, TGI), as are
    the log probabilities there.
    """
    raw = choice.get("logprobs")
    if raw is None and choice.get("token_ids") is None:
        return None, None
    logprobs = cast("dict[str, Json]", raw) if isinstance(raw, dict) else {}
    entries = logprobs.get("content")
    parts = [
        cast("dict[str, Json]", entry) if isinstance(entry, dict) else {}
        for entry in cast("list[Json]", entries if isinstance(entries, list) else [])
    ]
    ids = _ids(choice.get("token_ids")) or _ids(logprobs.get("token_ids"))
    if ids is None and parts:
        ids = _ids([_token_id(part) for part in parts])
    return ids, _numbers(
        [part.get("logprob") for part in parts] if parts else logprobs.get("token_logprobs")
    )


def _token_id(entry: Mapping[str, Json]) -> Json:
    token = entry.get("token")
    if isinstance(token, str) and _TOKEN_ID.fullmatch(token):
        return int(token.partition(":")[2])
    return entry.get("id")


def _ids(raw: Json) -> tuple[int, ...] | None:
    values = cast("list[Json]", raw) if isinstance(raw, list) else []
    return (
        tuple(values)
        if values and all(type(token) is int and 0 <= token < _INT32 for token in values)
        else None
    )


def _numbers(raw: Json) -> tuple[float, ...] | None:
    values = cast("list[Json]", raw) if isinstance(raw, list) else []
    whole = all(
        type(token) in (int, float) and abs(token) < _MOST_TOKENS for token in values
    )  # nor NaN, nor infinite
    return tuple(float(token) for token in values) if values and whole else None
