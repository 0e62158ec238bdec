"""Sets of tools that a world switches on by name: ``builtin: NAME`` in tools.yaml.

A set of tools is a function with typed keyword options that returns the tools::

    def weather_tools(*, unit: Literal["C", "F"] = "C", days: PositiveInt = 7) -> list[Tool]: ...

and a world's tools.yaml passes the options::

    - builtin: acme.weather:weather_tools
      unit: F

As under :func:`envs.tool`, the signature is the schema: an option has the type of its annotation,
is required unless it has a default, and ``null`` stands for a default of None. The name is a
built-in, an entry point of the group ``envs.tools``, or ``package.module:attribute``
(:mod:`envs.plugins`). The contract test is :class:`envs.testing.ToolConformance`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast, get_type_hints

from jsonschema import Draft202012Validator

from envs.errors import WorldError
from envs.plugins import TOOLS, Extension, PluginError
from envs.sql_errors import nearest
from envs.tools.tool import ANNOTATED_ADVICE, UNHASHABLE, Tool, schema_of

ToolSet = Callable[..., Iterable[Tool]]
"""The contract: keyword options in, tools out."""


class OptionError(ValueError):
    """A wrong option of a set of tools; ``key`` names it."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message, key)
        self.message = message
        self.key = key

    def __str__(self) -> str:
        return self.message


def find_tool_set(name: str) -> Extension:
    """The set of tools of that name, not imported. Raises :class:`~envs.plugins.PluginError`."""
    return TOOLS.find(name)


def make_tools(extension: Extension, options: Mapping[str, object]) -> list[Tool]:
    """The tools of a set with these options.

    Raises :class:`OptionError` for an option that is unknown, missing or of another type,
    :class:`~envs.plugins.PluginError` for a set that cannot be imported or breaks the contract, and
    :class:`~envs.errors.WorldError` for a tool that no endpoint would accept.
    """
    make = extension.load()
    if not callable(make):
        raise PluginError(f"{extension.target} is not a function that returns tools")
    checked = _check_options(options_schema(cast("ToolSet", make), extension.target), options)
    try:
        tools = list(cast("ToolSet", make)(**checked))
    except (OptionError, WorldError):
        raise
    except Exception as error:
        # Somebody else's code runs here: whatever it raises is for the author of the world.
        raise PluginError(f"{extension.target} failed: {type(error).__name__}: {error}") from error
    if wrong := next((item for item in tools if not isinstance(cast("object", item), Tool)), None):
        raise PluginError(f"{extension.target} returned {wrong!r}, which is not a tool")
    return tools


def options_schema(make: ToolSet, target: str) -> dict[str, Any]:
    """JSON Schema of the options that the function takes.

    Raises :class:`~envs.plugins.PluginError` for an option without annotation, or with one that has
    no JSON Schema.
    """
    properties: dict[str, object] = {}
    required: list[str] = []
    try:
        hints = get_type_hints(make, include_extras=True)
    except TypeError as error:
        advice = f"; {ANNOTATED_ADVICE}" if UNHASHABLE in str(error) else ""
        raise PluginError(f"{target}: {error}{advice}") from None
    for name, parameter in inspect.signature(make).parameters.items():
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY}:
            raise PluginError(f"{target}: the option {name!r} cannot be passed by name")
        if parameter.kind is parameter.VAR_KEYWORD or name not in hints:
            raise PluginError(f"{target}: the option {name!r} needs a type annotation of its own")
        try:
            properties[name] = schema_of(hints[name])
        except TypeError as error:
            raise PluginError(f"{target}: the option {name!r}: {error}") from None
        if parameter.default is parameter.empty:
            required.append(name)
    return {"properties": properties, "required": required}


def _check_options(schema: Mapping[str, Any], options: Mapping[str, object]) -> dict[str, object]:
    """The options that are not null, checked against the ``schema`` of :func:`options_schema`.

    Raises :class:`OptionError` for the first wrong one.
    """
    known: Mapping[str, Mapping[str, Any]] = schema["properties"]
    for key in options:
        if key not in known:
            raise OptionError(f"unknown key {key!r} beside `builtin`; {_near(key, known)}", key)
    given = {key: value for key, value in options.items() if value is not None}
    for key, value in given.items():
        problem = option_problem(key, value, known[key])
        if problem:
            raise OptionError(problem, key)
    if missing := [key for key in schema["required"] if key not in given]:
        raise OptionError(f"needs `{missing[0]}`, {_expectation(known[missing[0]])}", "builtin")
    return given


def option_problem(key: str, value: object, schema: Mapping[str, Any]) -> str:
    """Say how a value breaks the schema of its key; empty where it does not."""
    validator: Any = Draft202012Validator(dict(schema))
    fraction = isinstance(value, float) and schema.get("type") == "integer"  # 5.0 is valid JSON
    if validator.is_valid(value) and not fraction:
        return ""
    return f"`{key}` must be {_expectation(schema)}, not {value!r}"


def _expectation(schema: Mapping[str, Any]) -> str:
    """The values that a schema allows, in words: ``a whole number above 0``."""
    if "description" in schema:
        return str(schema["description"])
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if schema.get("type") == "array":
        return f"a list, each item {_expectation(schema['items'])}"
    words = {
        "boolean": "true or false",
        "integer": "a whole number",
        "number": "a number",
        "string": "a text",
        "object": "a mapping",
    }[str(schema.get("type", "object"))]
    if schema.get("minimum") == 1 and schema.get("type") == "integer":
        return f"{words} above 0"
    bounds = [
        f"{word} {schema[key]}"
        for key, word in (("minimum", "at least"), ("maximum", "at most"))
        if key in schema
    ]
    return f"{words} of {' and '.join(bounds)}" if bounds else words


def _near(word: str, known: Iterable[str]) -> str:
    names = list(known)
    near = nearest(word, names)
    return f"did you mean {', '.join(near)}?" if near else f"known are {', '.join(names) or 'none'}"
