"""Readers of calls in rendered text, one for each form in which templates write them.

A reader gets the text from the first turn of the assistant on, and yields the name and arguments of
each call in it. A place that only looks like a call is passed over: the calls that were read are
compared with the conversation's, so that a call which cannot be read is missed there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

Call = tuple[str, Any]
"""Name and arguments; arguments are text if the template encodes them twice."""
Types = Mapping[tuple[str, str], Any]
"""JSON type of each parameter, by tool and name."""

_DECODER = json.JSONDecoder()
_GLM_CALL = re.compile(r"<tool_call>([^\n<{]+)\n(.*?)</tool_call>", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\n]+)>\n(.*?)</function>", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\n]+)>\n(.*?)\n</parameter>\n", re.DOTALL)
_GLM_PAIR = re.compile(
    r"<arg_key>(.*?)</arg_key>\n<arg_value>(.*?)</arg_value>(?=\s*(?:<arg_key>|\Z))", re.DOTALL
)


def tagged(text: str, types: Types) -> Iterator[Call]:
    """Read ``<tool_call>{"name": ..., "arguments": ...}</tool_call>`` (Qwen, Hermes)."""
    yield from _objects(text, r"<tool_call>\s*")


def bare(text: str, types: Types) -> Iterator[Call]:
    """Read ``{"name": ..., "parameters": ...}`` as a whole turn (Llama 3)."""
    yield from _objects(text, r"<\|start_header_id\|>assistant<\|end_header_id\|>\n\n")


def listed(text: str, types: Types) -> Iterator[Call]:
    """Read ``[TOOL_CALLS] [{"name": ..., "arguments": ...}]`` (Mistral)."""
    for match in re.finditer(r"\[TOOL_CALLS\]\s*", text):
        found = _decoded(text, match.end())
        if isinstance(found, list):
            for item in cast("list[Any]", found):
                yield from _call(item)


def channelled(text: str, types: Types) -> Iterator[Call]:
    """Read ``to=functions.NAME<|channel|>commentary json<|message|>{...}`` (gpt-oss)."""
    start = r" to=functions\.([\w.-]+)<\|channel\|>commentary json<\|message\|>"
    for match in re.finditer(start, text):
        found = _decoded(text, match.end())
        if isinstance(found, dict | str):
            yield match[1], found


def keyed(text: str, types: Types) -> Iterator[Call]:
    """Read ``<tool_call>NAME`` with pairs of ``<arg_key>`` and ``<arg_value>`` (GLM), in which text
    stands as it is and other values are JSON.
    """
    for match in _GLM_CALL.finditer(text):
        name = match[1].strip()
        pairs = _GLM_PAIR.findall(match[2].rstrip())
        yield name, {key: _typed(value, types.get((name, key))) for key, value in pairs}


def parametered(text: str, types: Types) -> Iterator[Call]:
    """Read ``<function=NAME>`` with one ``<parameter=KEY>`` for each argument (Qwen 3.5, Nemotron),
    in which text stands as it is and other values are JSON.
    """
    for match in _FUNCTION.finditer(text):
        name = match[1]
        arguments = {
            key: _typed(value, types.get((name, key)))
            for key, value in _PARAMETER.findall(match[2])
        }
        yield name, arguments


READERS: tuple[Callable[[str, Types], Iterator[Call]], ...] = (
    *(tagged, bare, listed),
    *(channelled, keyed, parametered),
)


def _objects(text: str, start: str) -> Iterator[Call]:
    for match in re.finditer(start, text):
        yield from _call(_decoded(text, match.end()))


def _call(found: Any) -> Iterator[Call]:
    if not isinstance(found, dict):
        return
    call = cast("dict[str, Any]", found)
    arguments = call.get("arguments", call.get("parameters"))
    if isinstance(call.get("name"), str) and arguments is not None:
        yield call["name"], arguments


def _typed(value: str, kind: Any) -> Any:
    """Return a value that a template writes without quotes, by the type that the tool declares."""
    try:
        return value if kind == "string" else json.loads(value)
    except ValueError:
        return value


def _decoded(text: str, start: int) -> Any:
    """Return the JSON value at a place; None if there is none."""
    try:
        return _DECODER.raw_decode(text, start)[0]
    except ValueError:
        return None
