"""Validation of a chat-completions request as a strict endpoint does it.

It checks what OpenAI checks: keys, types, names, argument strings that are JSON, and that every
tool call is answered exactly once before any other message. A lenient server hides a client's
mistakes until a strict one is paid for.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import jsonschema

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SEED_BOUND = 2**63
_KEYS: Mapping[str, frozenset[str]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"role", "content", "name", "tool_calls", "refusal", "audio"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}
_PARTS: Mapping[str, frozenset[str]] = {
    "system": frozenset({"text"}),
    "developer": frozenset({"text"}),
    "user": frozenset({"text", "image_url", "input_audio", "file"}),
    "assistant": frozenset({"text", "refusal"}),
    "tool": frozenset({"text"}),
}
_PASSED_ON = frozenset(
    {
        "logprobs",
        "top_logprobs",
        "logit_bias",
        "metadata",
        "modalities",
        "prediction",
        "presence_penalty",
        "frequency_penalty",
        "prompt_cache_key",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "service_tier",
        "stop",
        "store",
        "user",
        "verbosity",
    }
)
"""Known parameters whose values the handler interprets."""


class BadRequestError(Exception):
    """A request that is refused with HTTP 400; ``param`` is the path of the wrong value."""

    def __init__(self, message: str, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message, param, code)
        self.message = message
        self.param = param
        self.code = code

    def __str__(self) -> str:
        return self.message


def check_request(request: object, extensions: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the request, or raise BadRequestError. ``extensions`` are further accepted top-level
    keys.
    """
    if not isinstance(request, dict):
        raise BadRequestError(
            "We could not parse the JSON body of your request: an object is expected."
        )
    body = cast("dict[str, Any]", request)
    for key, value in body.items():
        check = _TOP_LEVEL.get(key)
        if check is not None:
            if not check(value):
                raise BadRequestError(
                    f"Invalid value for '{key}': {_shown(value)}.", key, "invalid_value"
                )
        elif key not in _PASSED_ON and key not in extensions:
            raise BadRequestError(
                f"Unrecognized request argument supplied: {key}", key, "unknown_parameter"
            )
    if "model" not in body:
        raise BadRequestError("you must provide a model parameter", "model")
    names = _check_tools(body["tools"]) if "tools" in body else frozenset[str]()
    _check_tool_choice(body, names)
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise BadRequestError(
            "'messages' must be a list of at least one message.", "messages", "invalid_type"
        )
    _check_messages(cast("list[object]", body["messages"]))
    return body


def strict_json(text: str | bytes) -> object:
    """Parse JSON without Python's extras: NaN and infinities raise ValueError."""

    def refuse(constant: str) -> object:
        raise ValueError(f"{constant} is not a JSON value")

    return json.loads(text, parse_constant=refuse)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"


def _number(low: float, high: float) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        return value is None or (
            isinstance(value, int | float) and not _flag(value) and low <= value <= high
        )

    return check


def _integer(low: int, high: float = math.inf) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        return value is None or (
            isinstance(value, int) and not _flag(value) and low <= value <= high
        )

    return check


def _flag(value: object) -> bool:
    return isinstance(value, bool)


_TOP_LEVEL: Mapping[str, Callable[[object], bool]] = {
    "model": lambda value: isinstance(value, str) and bool(value),
    "messages": lambda value: isinstance(value, list),
    "tools": lambda value: isinstance(value, list) and bool(cast("list[object]", value)),
    "tool_choice": lambda value: isinstance(value, dict) or value in ("none", "auto", "required"),
    "parallel_tool_calls": _flag,
    "temperature": _number(0, 2),
    "top_p": _number(0, 1),
    "max_tokens": _integer(1),
    "max_completion_tokens": _integer(1),
    "seed": _integer(-_SEED_BOUND, _SEED_BOUND - 1),
    "n": lambda value: value == 1 and not _flag(value),
    "stream": lambda value: value is None or _flag(value),
    "stream_options": lambda value: value is None or isinstance(value, dict),
}


def _check_tools(tools: Sequence[object]) -> frozenset[str]:
    names: set[str] = set()
    for index, raw in enumerate(tools):
        path = f"tools[{index}]"
        tool = _object(raw, path)
        if tool.get("type") != "function":
            raise BadRequestError(
                f"Invalid value for '{path}.type': 'function' is expected.", f"{path}.type"
            )
        function = _object(tool.get("function"), f"{path}.function")
        unknown = sorted((tool.keys() - {"type", "function"}) | (function.keys() - _FUNCTION_KEYS))
        if unknown:
            raise BadRequestError(
                f"Unknown parameter: '{path}.{unknown[0]}'.", path, "unknown_parameter"
            )
        name = _name(function.get("name"), f"{path}.function.name")
        if name in names:
            raise BadRequestError(
                f"Tool names must be unique: '{name}' is there twice.", f"{path}.function.name"
            )
        names.add(name)
        if not isinstance(function.get("description", ""), str):
            raise BadRequestError(
                f"'{path}.function.description' must be a string.", f"{path}.function.description"
            )
        parameters = _object(function.get("parameters", {}), f"{path}.function.parameters")
        if problem := _schema_problem(json.dumps(parameters, sort_keys=True)):
            raise BadRequestError(
                f"Invalid schema for function '{name}': {problem}",
                f"{path}.function.parameters",
                "invalid_function_parameters",
            )
    return frozenset(names)


_FUNCTION_KEYS = frozenset({"name", "description", "parameters", "strict"})


@lru_cache(maxsize=1024)
def _schema_problem(text: str) -> str | None:
    """Return the problem of a function's parameters; cached, because a run sends the same few
    repeatedly.
    """
    schema = cast("dict[str, object]", json.loads(text))
    if schema and schema.get("type") != "object":
        return (
            f"schema must be a JSON Schema of 'type: \"object\"', got {_shown(schema.get('type'))}."
        )
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        return error.message
    return None


def _check_tool_choice(body: Mapping[str, object], names: frozenset[str]) -> None:
    for key in ("tool_choice", "parallel_tool_calls"):
        if key in body and "tools" not in body:
            raise BadRequestError(f"'{key}' is only allowed when 'tools' are specified.", key)
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        function = _object(
            cast("dict[str, object]", choice).get("function"), "tool_choice.function"
        )
        if function.get("name") not in names:
            raise BadRequestError(
                f"Tool choice {_shown(function.get('name'))} not found in 'tools' parameter.",
                "tool_choice",
            )


def _check_messages(messages: Sequence[object]) -> None:
    pending: list[str] = []
    for index, raw in enumerate(messages):
        path = f"messages[{index}]"
        message = _object(raw, path)
        role = message.get("role")
        if not isinstance(role, str) or role not in _KEYS:
            raise BadRequestError(
                f"Invalid value: {_shown(role)}. Supported values are:"
                f" {', '.join(map(repr, _KEYS))}.",
                f"{path}.role",
                "invalid_value",
            )
        if unknown := sorted(message.keys() - _KEYS[role]):
            raise BadRequestError(
                f"Additional properties are not allowed ('{unknown[0]}' was unexpected) - '{path}'",
                path,
                "unknown_parameter",
            )
        if "name" in message:
            _name(message["name"], f"{path}.name")
        if role == "tool":
            _check_answer(message, pending, path)
            continue
        _check_none_pending(pending)
        calls = _check_calls(message["tool_calls"], path) if "tool_calls" in message else []
        if not (calls and message.get("content") is None) and not (
            role == "assistant" and message.get("refusal")
        ):
            _check_content(message.get("content"), role, path)
        pending = calls
    _check_none_pending(pending)


def _check_answer(message: Mapping[str, Any], pending: list[str], path: str) -> None:
    call_id = message.get("tool_call_id")
    if call_id not in pending:
        raise BadRequestError(
            "messages with role 'tool' must be a response to a preceding message with"
            " 'tool_calls', once per call:"
            f" {_shown(call_id)} is not waiting for one.",
            f"{path}.tool_call_id",
        )
    pending.remove(call_id)
    _check_content(message.get("content"), "tool", path)


def _check_none_pending(pending: Sequence[str]) -> None:
    if pending:
        raise BadRequestError(
            "An assistant message with 'tool_calls' must be followed by tool messages responding"
            " to each"
            " 'tool_call_id'. The following tool_call_ids did not have response messages:"
            f" {', '.join(pending)}",
            "messages",
        )


def _check_calls(raw: object, path: str) -> list[str]:
    if not isinstance(raw, list) or not raw:
        raise BadRequestError(
            f"'{path}.tool_calls' must be a list of at least one call.", f"{path}.tool_calls"
        )
    ids: list[str] = []
    for index, item in enumerate(cast("list[object]", raw)):
        where = f"{path}.tool_calls[{index}]"
        call = _object(item, where)
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id or call_id in ids:
            raise BadRequestError(
                f"'{where}.id' must be a string of its own.", f"{where}.id", "invalid_type"
            )
        ids.append(call_id)
        if call.get("type") != "function":
            raise BadRequestError(
                f"Invalid value for '{where}.type': 'function' is expected.", f"{where}.type"
            )
        function = _object(call.get("function"), f"{where}.function")
        _name(function.get("name"), f"{where}.function.name")
        _check_arguments(function.get("arguments"), f"{where}.function.arguments")
    return ids


def _check_arguments(arguments: object, path: str) -> None:
    if not isinstance(arguments, str):
        raise BadRequestError(
            f"Invalid type for '{path}': expected a string, got {type(arguments).__name__}.",
            path,
            "invalid_type",
        )
    try:
        value = strict_json(arguments)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(
            f"Invalid '{path}': expected a string that holds JSON.", path, "invalid_value"
        ) from error
    if not isinstance(value, dict):
        raise BadRequestError(f"Invalid '{path}': expected a JSON object.", path, "invalid_value")


def _check_content(content: object, role: str, path: str) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        shown = _shown(cast("object", content))
        raise BadRequestError(
            f"Invalid value for 'content': expected a string or parts, got {shown}.",
            f"{path}.content",
            "invalid_type",
        )
    for index, item in enumerate(cast("list[object]", content)):
        part = _object(item, f"{path}.content[{index}]")
        kind = part.get("type")
        if kind not in _PARTS[role] or (kind == "text" and not isinstance(part.get("text"), str)):
            raise BadRequestError(
                f"Invalid part of type {_shown(kind)} for role '{role}'.",
                f"{path}.content[{index}]",
                "invalid_value",
            )


def _object(value: object, path: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise BadRequestError(
            f"Invalid type for '{path}': expected an object, got {type(value).__name__}.",
            path,
            "invalid_type",
        )
    return cast("dict[str, object]", value)


def _name(value: object, path: str) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise BadRequestError(
            f"Invalid '{path}': string does not match pattern '^[a-zA-Z0-9_-]{{1,64}}$'.",
            path,
            "invalid_value",
        )
    return value
