"""Parsing of an assistant message in OpenAI's form, as an environment of an RL trainer receives
it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from envs.types import ToolCall
from synth.errors import OperatorError


def parse_assistant_message(message: object, first_index: int) -> tuple[list[ToolCall], str]:
    """The calls and the text of an assistant message; ``first_index`` numbers calls without an id.

    The arguments of a call are not checked: that is the tools' task. Raises :class:`OperatorError`
    for anything that is not an assistant message in OpenAI's form.
    """
    fields = _mapping(message)
    if fields is None or fields.get("role") != "assistant":
        given = type(message).__name__ if fields is None else repr(fields.get("role"))
        raise OperatorError(f"a step takes a message of the role assistant, not {given}")
    calls = fields.get("tool_calls") or ()
    if fields.get("function_call") and not calls:
        raise OperatorError("a call is an entry of tool_calls: function_call is not read")
    if (entries := _sequence(calls)) is None:
        raise OperatorError(
            f"tool_calls of an assistant message is a list or null, not {type(calls).__name__}"
        )
    text = _text_of(fields.get("content") or "")
    return [_call_of(entry, index) for index, entry in enumerate(entries, first_index)], text


def _text_of(content: object) -> str:
    parts = _sequence(content)
    texts = [
        (_mapping(part) or {}).get("text")
        for part in ([{"text": content}] if parts is None else parts)
    ]
    if not all(isinstance(text, str) for text in texts):
        raise OperatorError(
            "content of an assistant message is a string, a list of text parts, or null"
        )
    return "".join(cast("list[str]", texts))


def _call_of(entry: object, index: int) -> ToolCall:
    """A call of an assistant message; its arguments are JSON text, as a model emits them, or an
    object.
    """
    fields = _mapping(entry) or {}
    function = _mapping(fields.get("function")) or {}
    name = function.get("name")
    if not isinstance(name, str):
        raise OperatorError(
            'an entry of tool_calls is {"id": ..., "function": {"name": ..., "arguments": ...}}'
        )
    arguments = function.get("arguments", "")
    try:
        text = (
            arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        )
    except (TypeError, ValueError) as error:
        raise OperatorError(
            f"the arguments of {name} are JSON text or an object of JSON values"
        ) from error
    return ToolCall(str(fields.get("id") or f"call_{index}"), name, text)


def _mapping(value: object) -> Mapping[str, object] | None:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None


def _sequence(value: object) -> Sequence[object] | None:
    return cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else None
