"""Validation of a chat-completions request as a strict endpoint does it.

It checks what OpenAI checks: keys, types, names, argument strings that are JSON, and that every
tool call is answered exactly once before any other message. A lenient server hides a client's
mistakes until a strict one is paid for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, cast

import jsonschema
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from synth.core.foundation.json_leaves import strict_json

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


def _arguments(text: str) -> str:
    try:
        value = strict_json(text)
    except (ValueError, RecursionError):
        raise PydanticCustomError("json", "expected a string that holds JSON") from None
    if not isinstance(value, dict):
        raise PydanticCustomError("json", "expected a JSON object")
    return text


def _parameters(schema: dict[str, Any]) -> dict[str, Any]:
    if problem := _schema_problem(json.dumps(schema, sort_keys=True)):
        raise PydanticCustomError("invalid_function_parameters", "{why}", {"why": problem})
    return schema


@lru_cache(maxsize=1024)
def _schema_problem(text: str) -> str | None:
    """Return the problem of a function's parameters; cached, because a run sends the same few
    repeatedly.
    """
    schema = cast("dict[str, object]", json.loads(text))
    if schema and schema.get("type") != "object":
        shown = json.dumps(schema.get("type"))
        return f"schema must be a JSON Schema of 'type: \"object\"', got {shown}."
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        return f"Invalid schema: {error.message}"
    return None


_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class _Strict(BaseModel):
    """An object whose values are of the declared types and no others."""

    model_config = ConfigDict(strict=True)


class _Closed(BaseModel):
    """An object that has the declared keys only."""

    model_config = ConfigDict(strict=True, extra="forbid")


class _OfferedFunction(_Closed):
    name: _Name
    description: str = ""
    parameters: Annotated[dict[str, Any], AfterValidator(_parameters)] = {}
    strict: Any = None


class _Tool(_Closed):
    type: Literal["function"]
    function: _OfferedFunction


class _CalledFunction(_Strict):
    name: _Name
    arguments: Annotated[str, AfterValidator(_arguments)]


class _Call(_Strict):
    id: Annotated[str, Field(min_length=1)]
    type: Literal["function"]
    function: _CalledFunction


class _Text(_Strict):
    type: Literal["text"]
    text: str


class _Media(_Strict):
    type: Literal["image_url", "input_audio", "file"]


class _Declined(_Strict):
    type: Literal["refusal"]


_Texts = str | Annotated[list[_Text], Field(min_length=1)]


class _Instructions(_Closed):
    role: Literal["system", "developer"]
    content: _Texts
    name: _Name = ""


class _User(_Closed):
    role: Literal["user"]
    content: str | Annotated[list[_Text | _Media], Field(min_length=1)]
    name: _Name = ""


class _Assistant(_Closed):
    role: Literal["assistant"]
    content: str | Annotated[list[_Text | _Declined], Field(min_length=1)] | None = None
    name: _Name = ""
    tool_calls: Annotated[list[_Call], Field(min_length=1)] = []
    refusal: Any = None
    audio: Any = None

    @model_validator(mode="after")
    def _says_something(self) -> _Assistant:
        if self.content is None and not self.tool_calls and not self.refusal:
            raise PydanticCustomError("content", "'content': expected a string or parts")
        ids = [call.id for call in self.tool_calls]
        if len(set(ids)) < len(ids):
            raise PydanticCustomError("id", "the id of a call must be a string of its own")
        return self


class _Answer(_Closed):
    role: Literal["tool"]
    content: _Texts
    tool_call_id: str


_Message = Annotated[_Instructions | _User | _Assistant | _Answer, Field(discriminator="role")]


class _Request(_Strict):
    """The parameters that are looked at. Those that a run may leave out may be null."""

    model: Annotated[str, Field(min_length=1)]
    messages: Annotated[list[_Message], Field(min_length=1)]
    tools: Annotated[list[_Tool], Field(min_length=1)] = []
    tool_choice: Literal["none", "auto", "required"] | dict[str, Any] = "auto"
    parallel_tool_calls: bool = True
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    n: Annotated[int, Field(ge=1, le=1)] = 1
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None


_KEYS = frozenset(
    key
    for model in (
        _Request,
        _Tool,
        _OfferedFunction,
        _Assistant,
        _Answer,
        _Call,
        _CalledFunction,
        _Text,
    )
    for key in model.model_fields
)
"""What the path of a value consists of, beside places in lists."""


def check_request(request: object, extensions: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the request, or raise BadRequestError. ``extensions`` are further accepted top-level
    keys.
    """
    if not isinstance(request, dict):
        raise BadRequestError(
            "We could not parse the JSON body of your request: an object is expected."
        )
    body = cast("dict[str, Any]", request)
    looked_at = {key: body[key] for key in _Request.model_fields if key in body}
    for key in sorted(body.keys() - looked_at.keys() - _PASSED_ON - extensions):
        raise BadRequestError(
            f"Unrecognized request argument supplied: {key}", key, "unknown_parameter"
        )
    try:
        read = _Request.model_validate(looked_at)
    except ValidationError as error:
        # Of a value that may be of several kinds, the kind that fits best says what is wrong.
        raise _refusal(max(error.errors(), key=lambda one: len(one["loc"]))) from None
    _check_tools(body, [tool.function.name for tool in read.tools])
    _check_answers(read.messages)
    return body


def _refusal(error: ErrorDetails) -> BadRequestError:
    kind, place = error["type"], error["loc"]
    unknown = kind == "extra_forbidden"
    path = ""
    for part in place[:-1] if unknown else place:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part in _KEYS:
            path += f".{part}" if path else part
    if unknown:
        words = f"Additional properties are not allowed ({place[-1]!r} was unexpected) - '{path}'"
        return BadRequestError(words, path, "unknown_parameter")
    if kind.endswith(("_type", "missing")):
        kind = "invalid_type"
    elif kind != "invalid_function_parameters":
        kind = "invalid_value"
    return BadRequestError(f"Invalid value for '{path}': {error['msg']}", path, kind)


def _check_tools(body: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse a tool that is there twice, and a choice among tools that are not."""
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadRequestError(f"Tool names must be unique: '{twice[0]}' is there twice.", "tools")
    for key in ("tool_choice", "parallel_tool_calls"):
        if key in body and not names:
            raise BadRequestError(f"'{key}' is only allowed when 'tools' are specified.", key)
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        function: Any = cast("dict[str, Any]", choice).get("function")
        name = cast("dict[str, Any]", function).get("name") if isinstance(function, dict) else None
        if name not in names:
            raise BadRequestError(
                f"Tool choice {name!r} not found in 'tools' parameter.", "tool_choice"
            )


def _check_answers(messages: Sequence[BaseModel]) -> None:
    """Refuse calls that are not answered once each, before any other message."""
    pending: list[str] = []
    for index, message in enumerate([*messages, None]):
        if isinstance(message, _Answer):
            if message.tool_call_id not in pending:
                raise BadRequestError(
                    "messages with role 'tool' must be a response to a preceding message with"
                    f" 'tool_calls', once per call: {message.tool_call_id!r} is not waiting for"
                    " one.",
                    f"messages[{index}].tool_call_id",
                )
            pending.remove(message.tool_call_id)
        elif pending:
            raise BadRequestError(
                "An assistant message with 'tool_calls' must be followed by tool messages"
                " responding to each 'tool_call_id'. The following tool_call_ids did not have"
                f" response messages: {', '.join(pending)}",
                "messages",
            )
        elif isinstance(message, _Assistant):
            pending = [call.id for call in message.tool_calls]
