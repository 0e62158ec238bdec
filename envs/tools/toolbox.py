"""Tools by name: parse what the model emitted, validate it, and find the tool.

Validators are compiled once, with the toolbox. Anything wrong with a call becomes a typed error
result that lets the model correct itself; nothing is repaired silently.
"""

from __future__ import annotations

import difflib
import json
import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Protocol, cast

import jsonschema
from jsonschema import Draft202012Validator

from envs.errors import WorldError, last_place
from envs.json_text import compact
from envs.tools.schema_validator import acceptance
from envs.tools.tool import Tool, lint
from envs.types import ErrorCategory, Json, ToolCall, ToolResult

MAX_ARGUMENTS = 1_000_000
"""Characters of arguments that a call may have."""

MAX_NESTING = 64
"""Levels of nesting that arguments may have; readers of JSON stop between 128 and 1,024."""


MOST_TOOLS = 128
"""The most tools of a request that OpenAI takes; other endpoints and clients take 40 or 60."""


class _Validator(Protocol):
    """Interface of a jsonschema validator as used here; its stubs leave the errors' type open."""

    def iter_errors(self, instance: Json) -> Iterator[jsonschema.ValidationError]: ...


class Toolbox:
    """An immutable set of tools with compiled validators; shared by a worker's rollouts."""

    def __init__(self, tools: Iterable[Tool], file: str | None = None) -> None:
        self.tools: Sequence[Tool] = tuple(tools)
        self._folder = file
        problems = [line for tool in self.tools for line in lint(tool)]
        counts = sorted(Counter(tool.name for tool in self.tools).items())
        problems += [f"two tools are named {name!r}" for name, count in counts if count > 1]
        if problems:
            raise WorldError("; ".join(problems), file)
        self._by_name = {tool.name: tool for tool in self.tools}
        self._arguments: Mapping[str, _Validator] = {
            tool.name: Draft202012Validator(dict(tool.parameters)) for tool in self.tools
        }
        self._accepts = {tool.name: acceptance(tool.parameters) for tool in self.tools}
        self._outputs_accepted = {tool.name: acceptance(tool.output_schema) for tool in self.tools}
        self._whole = {
            tool.name for tool in self.tools if '"integer"' in json.dumps(dict(tool.parameters))
        }
        self._outputs: Mapping[str, _Validator] = {
            tool.name: Draft202012Validator(dict(tool.output_schema))
            for tool in self.tools
            if tool.output_schema is not None
        }

    def only(self, names: Collection[str]) -> Toolbox:
        """The box with the tools of these names, in its own order."""
        box = copy(self)
        vars(box)["tools"] = tuple(tool for tool in self.tools if tool.name in names)
        vars(box)["_by_name"] = {tool.name: tool for tool in box.tools}
        return box

    def scene(self, error: BaseException) -> tuple[str, int] | tuple[None, None]:
        """The file and line of the world's own code that an error came through last; two Nones
        where it came through none.
        """
        within = None if self._folder is None else f"{self._folder}{os.sep}"
        return (within and last_place(error, within)) or (None, None)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Tool:
        return self._by_name[name]

    def parse(self, call: ToolCall) -> tuple[Tool, dict[str, Json]] | ToolResult:
        """The tool and its arguments, or the error result that the model is to read."""
        found = self._by_name.get(call.name)
        if found is None:
            near = difflib.get_close_matches(call.name[:80], self._by_name, n=3)
            return ToolResult.failure(
                f"Unknown tool {call.name[:80]!r}.",
                category=ErrorCategory.UNKNOWN_TOOL,
                error="UnknownTool",
                advice=f"Did you mean {', '.join(near)}?"
                if near
                else f"Tools: {', '.join(self._by_name)}.",
            )
        arguments = parse_arguments(call.arguments)
        if isinstance(arguments, ToolResult):
            return arguments
        if errors := self._argument_errors(call.name, arguments):
            return ToolResult.failure(
                "; ".join(_explain(error) for error in errors[:5]) + ".",
                category=ErrorCategory.INVALID_ARGUMENTS,
                error="InvalidArguments",
            )
        if call.name in self._whole:
            arguments = _with_whole_numbers(arguments, found.parameters)
        return found, arguments

    def _argument_errors(self, name: str, arguments: Json) -> list[jsonschema.ValidationError]:
        if self._accepts[name](arguments):
            return []
        return sorted(
            self._arguments[name].iter_errors(arguments), key=lambda each: list(map(str, each.path))
        )

    def output_problem(self, name: str, output: Json) -> str | None:
        """Say how an output breaks the tool's own output schema, or None."""
        validator = self._outputs.get(name)
        if validator is None or self._outputs_accepted[name](output):
            return None
        error = next(iter(validator.iter_errors(output)), None)
        return None if error is None else _explain(error)


def parse_arguments(text: str) -> dict[str, Json] | ToolResult:
    """The object in a call's arguments, or an error result: no duplicate keys, no NaN."""
    if len(text) > MAX_ARGUMENTS:
        return _bad(
            f"The arguments are {len(text)} characters long; at most {MAX_ARGUMENTS} are accepted."
        )
    try:
        value: Any = _strict.decode(text)
    except json.JSONDecodeError as error:
        if not text.strip():
            return {}  # endpoints send an empty string for a tool without parameters
        return _bad(f"The arguments are not valid JSON: {error.msg} at character {error.pos}.")
    except _NotJsonError as error:
        return _bad(str(error))
    except ValueError:  # Python's own bound on the digits of an integer, whose words are not ours
        return _bad("The arguments hold a number of too many digits.")
    except RecursionError:
        return _bad(_TOO_DEEP)
    if not isinstance(value, dict):
        return _bad(f"The arguments must be a JSON object, not {_kind(value)}.")
    if (not text.isascii() or "\\u" in text) and _half_a_pair(value):
        return _bad("The arguments must not hold a lone surrogate.")
    arguments = cast("dict[str, Json]", value)
    if text.count("{") + text.count("[") > MAX_NESTING and _nesting(arguments) > MAX_NESTING:
        return _bad(_TOO_DEEP)
    return arguments


_TOO_DEEP = f"The arguments are nested too deeply; at most {MAX_NESTING} levels are accepted."


class _NotJsonError(ValueError):
    """A text that Python's parser accepts although it is not JSON, in words for a model."""


def _bad(message: str) -> ToolResult:
    return ToolResult.failure(message, category=ErrorCategory.MALFORMED_CALL, error="MalformedCall")


def _each_once(items: list[tuple[str, Json]]) -> dict[str, Json]:
    out = dict(items)
    if len(out) != len(items):
        counts = Counter(key for key, _ in items)
        twice = next(key for key in out if counts[key] > 1)
        raise _NotJsonError(f"The arguments name {twice[:80]!r} more than once.")
    return out


def _no_constant(name: str) -> Json:
    raise _NotJsonError(f"The arguments are not valid JSON: {name} is not a JSON value.")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        words = f"{literal[:80]} is out of range"
        raise _NotJsonError(f"The arguments are not valid JSON: {words}.")
    return number


_strict = json.JSONDecoder(
    object_pairs_hook=_each_once, parse_constant=_no_constant, parse_float=_finite
)


def _half_a_pair(value: Json) -> bool:
    try:
        compact(value).encode()
    except UnicodeEncodeError:
        return True
    except (RecursionError, ValueError):  # nesting is looked at next
        return False
    return False


def _with_whole_numbers(value: Json, schema: Mapping[str, Json]) -> Json:
    """The value with 5.0 as 5 where the schema says integer: in JSON one number, not in Python."""
    if isinstance(value, float) and schema.get("type") == "integer":
        return int(value)
    if isinstance(value, dict):
        known: Mapping[str, Mapping[str, Json]] = schema.get("properties", {})
        pairs = cast("dict[str, Json]", value).items()
        return {name: _with_whole_numbers(inner, known.get(name, {})) for name, inner in pairs}
    if isinstance(value, list):
        items: Mapping[str, Json] = schema.get("items", {})
        return [_with_whole_numbers(item, items) for item in cast("list[Json]", value)]
    return value


def _nesting(value: Json) -> int:
    """Levels of objects and arrays in a value, counted without recursion."""
    depth, level = 0, _inside([value])
    while level is not None:
        depth, level = depth + 1, _inside(level)
    return depth


def _inside(level: list[Json]) -> list[Json] | None:
    """Values one level deeper, or None if this level has no object and no array."""
    objects = [cast("dict[str, Json]", item) for item in level if isinstance(item, dict)]
    arrays = [cast("list[Json]", item) for item in level if isinstance(item, list)]
    if not objects and not arrays:
        return None
    return [
        *(inner for item in objects for inner in item.values()),
        *(inner for array in arrays for inner in array),
    ]


def _kind(value: Json) -> str:
    kinds: dict[type[object], str] = {str: "a string", list: "an array", bool: "a boolean"}
    return "null" if value is None else kinds.get(cast("type[object]", type(value)), "a number")


def _explain(error: jsonschema.ValidationError) -> str:
    """One clause about one violation, with the place, and short whatever the value was."""
    path = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.path
    ).lstrip(".")
    message = error.message if len(error.message) <= 300 else error.message[:297] + "..."
    if error.validator == "additionalProperties":
        known: Mapping[str, Json] = cast("Mapping[str, Json]", error.schema).get("properties", {})
        extra = [key for key in cast("Mapping[str, Json]", error.instance) if key not in known]
        message = (
            f"unknown argument {', '.join(repr(key[:80]) for key in extra[:5])}; known are"
            f" {', '.join(known)}"
        )
    elif error.validator == "required":
        message = error.message.replace(" is a required property", " is required")
    return f"{path}: {message}" if path else message


def tool_count(count: int) -> str:
    """The number of tools in words, with the way out where endpoints refuse so many.

    >>> tool_count(3)
    '3 tools'
    """
    if count <= MOST_TOOLS:
        return f"{count} tools"
    return (
        f"{count} tools, and some endpoints take {MOST_TOOLS} at most: offer what a task needs"
        " (tasks.tools=needed+5), or make a world of fewer tables (synth new --tables A,B)"
    )
