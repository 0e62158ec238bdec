"""Read tools.yaml: tools as data, and sets of tools that are switched on by ``builtin:``.

Every entry keeps the file and the line of each of its keys, so that an error names the place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from envs.errors import WorldError
from envs.plugins import Extension, PluginError
from envs.sql_errors import nearest
from envs.tools.sql import BUILTIN
from envs.tools.tool import Executor, Tool, lint
from envs.tools.tool_sets import OptionError, find_tool_set, make_tools, option_problem
from envs.types import Json, Limits

ResolveExecutor = Callable[[str], Executor]
"""Import the function that a dotted path names. Raises WorldError without a file."""

_FLAG = {"type": "boolean"}
_POSITIVE = {"type": "integer", "minimum": 1}

_SCHEMA = {"type": "object", "description": "a JSON Schema, a mapping"}

_NEEDED = ("name", "description", "executor")

_OPTIONAL: Mapping[str, Mapping[str, Any]] = {
    "parameters": _SCHEMA,
    "output_schema": _SCHEMA,
    "secret": {
        "type": ["string", "array"],
        "items": {"type": "string"},
        "description": "the name of a parameter or a list of them",
    },
    "risk": {},  # lint refuses another word, here and below
    "read_only": _FLAG,
    "free_sql": _FLAG,
    "pure": _FLAG,
    "offered_to": {},
    "statement_timeout_ms": _POSITIVE,
    "max_rows": _POSITIVE,
    "max_result_bytes": _POSITIVE,
}
"""Optional keys of an entry with the schema of their values."""

TOOL_KEYS = frozenset({*_NEEDED, *_OPTIONAL})


@dataclass(frozen=True, slots=True)
class _EntrySource:
    """Position of an entry of tools.yaml: the file, the entry's first line, the line of each key.

    ``tool`` is the name of the tool that the entry declares, empty where it has none.
    """

    file: Path
    line: int
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    tool: str = ""

    def error(self, message: str, key: str = "name") -> WorldError:
        """An error at the line of a key, or at the entry's first line if it lacks the key."""
        who = f"tool {self.tool}: " if self.tool else ""
        return WorldError(f"{who}{message}", self.file, self.lines.get(key, self.line))


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """One tool as tools.yaml declares it; ``executor`` is a path that is not imported yet,
    ``fields`` are the others of the :class:`Tool`.
    """

    name: str
    executor: str
    fields: Mapping[str, Any]
    source: _EntrySource

    def tools(self, resolve_executor: ResolveExecutor) -> list[Tool]:
        """The tool, with its executor imported. Raises :class:`~envs.errors.WorldError`."""
        try:
            executor = resolve_executor(self.executor)
        except WorldError as error:
            if error.file is not None:  # the executor's own module is wrong
                raise
            raise self.source.error(error.message, "executor") from None
        tool = Tool(self.name, executor=executor, **self.fields)
        if problems := lint(tool):
            messages = [line.removeprefix(f"tool {self.name}: ") for line in problems]
            keys = (
                key for key in ("parameters", "secret", "offered_to") if messages[0].startswith(key)
            )
            raise self.source.error("; ".join(messages), next(keys, "name"))
        return [tool]


@dataclass(frozen=True, slots=True)
class DeclaredToolSet:
    """A set of tools that an entry switches on, and the options that the entry gives it."""

    extension: Extension
    options: Mapping[str, object]
    source: _EntrySource

    def tools(self, resolve_executor: ResolveExecutor) -> list[Tool]:
        """The set's tools. Raises :class:`~envs.errors.WorldError` with the line of the key."""
        try:
            return make_tools(self.extension, self.options)
        except OptionError as error:
            key = error.key if error.key in self.source.lines else "builtin"
            raise self.source.error(error.message, key) from None
        except PluginError as error:
            raise self.source.error(str(error), "builtin") from error


def parsed_yaml(text: str, file: Path) -> tuple[Any, object]:
    """The node and the value of a YAML document. Raises WorldError at the line of its mistake."""
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise WorldError(f"not valid YAML: {error.problem}", file, line) from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that does not exist
        raise WorldError(f"not valid YAML: {' '.join(str(error).split())}", file) from None


def read_tools_yaml(file: Path, text: str) -> list[DeclaredTool | DeclaredToolSet]:
    """The entries of a tools.yaml, or WorldError with the line of the first mistake."""
    node, raw = parsed_yaml(text, file)
    entries = cast("dict[object, object]", raw).get("tools") if isinstance(raw, dict) else raw
    if not isinstance(entries, list):
        raise WorldError("must hold a list of tools, or `tools:` with one", file)
    if isinstance(node, yaml.MappingNode):
        node = next(value for key, value in node.value if key.value == "tools")
    listed = zip(cast("list[object]", entries), node.value, strict=True)
    return [_entry(entry, entry_node, file) for entry, entry_node in listed]


def _entry(entry: object, node: yaml.Node, file: Path) -> DeclaredTool | DeclaredToolSet:
    item = cast("Mapping[object, object]", entry if isinstance(entry, dict) else {})
    keys = [key for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    lines: dict[str, int] = {str(key.value): key.start_mark.line + 1 for key in keys}
    name = item.get("name")
    source = _EntrySource(
        file, node.start_mark.line + 1, lines, name if isinstance(name, str) else ""
    )
    names = [str(key.value) for key in keys]
    if repeated := [key for key in lines if names.count(key) > 1]:
        raise source.error(f"the key `{repeated[0]}` occurs twice", repeated[0])
    if "builtin" in item:
        return _declared_set(item, source)
    return _declared_tool(item, source)


def _declared_set(item: Mapping[object, object], source: _EntrySource) -> DeclaredToolSet:
    """An entry with ``builtin:``: the name of a set, or names of the SQL tools themselves."""
    options = {str(key): value for key, value in item.items() if key != "builtin"}
    named = item["builtin"]
    if isinstance(named, str) and named not in BUILTIN:
        try:
            return DeclaredToolSet(find_tool_set(named), options, source)
        except PluginError as error:
            near = nearest(named, BUILTIN)
            meant = f"; did you mean the tool {near[0]}?" if near else ""
            raise source.error(f"`builtin`: {error}{meant}", "builtin") from None
    listed = cast("Sequence[object]", named if isinstance(named, list) else [named])
    for name in listed or [None]:
        if not isinstance(name, str) or name not in BUILTIN:
            near = nearest(str(name), BUILTIN)
            known = f"did you mean {near[0]}?" if near else f"known are {', '.join(BUILTIN)}"
            raise source.error(
                f"`builtin` must be a set of tools or a list of SQL tools, and {name!r} is not an"
                f" SQL tool; {known}",
                "builtin",
            )
    if twice := [name for name in listed if listed.count(name) > 1]:
        raise source.error(f"`builtin` lists {twice[0]} twice", "builtin")
    if "tools" in options:
        raise source.error("`tools` and a list under `builtin` say the same; keep one", "tools")
    return DeclaredToolSet(find_tool_set("sql"), options | {"tools": list(listed)}, source)


def _declared_tool(item: Mapping[object, object], source: _EntrySource) -> DeclaredTool:
    fields = cast("Mapping[str, Any]", item)
    for key in _NEEDED:
        if not isinstance(fields.get(key), str):
            raise source.error(f"needs `{key}`, a text", key)
    if unknown := sorted(map(str, item.keys() - TOOL_KEYS)):
        known = ", ".join(sorted(TOOL_KEYS))
        raise source.error(f"unknown key {unknown[0]!r}; known are {known}", unknown[0])
    for key, schema in _OPTIONAL.items():
        given = key in fields and (schema is _FLAG or fields[key] is not None)
        if given and (problem := option_problem(key, fields[key], schema)):
            raise source.error(problem, key)
    secret: str | list[str] = fields.get("secret") or []
    caps = {key: fields.get(key) for key, schema in _OPTIONAL.items() if schema is _POSITIVE}
    limits = Limits(read_only=fields.get("read_only", False), **caps)
    nothing: Json = {"type": "object", "properties": {}, "additionalProperties": False}
    return DeclaredTool(
        fields["name"],
        fields["executor"],
        {
            "description": fields["description"],
            "parameters": fields.get("parameters") or nothing,
            "output_schema": fields.get("output_schema"),
            "risk": fields.get("risk"),
            "limits": limits,
            "read_only": limits.read_only,
            "free_sql": fields.get("free_sql", False),
            "pure": fields.get("pure", False),
            "secret": frozenset([secret] if isinstance(secret, str) else secret),
        },
        source,
    )
