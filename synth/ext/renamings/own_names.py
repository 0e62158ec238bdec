"""The names that a world uses itself: parameters, keys of results, words of enumerations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from envs.sandboxes.base import Template
from envs.tools.tool import PORTABLE
from envs.world.loader import World

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,40}")
_ALIAS = re.compile(r"\bAS\s+([A-Za-z]\w*)", re.IGNORECASE)


def database_names(template: Template) -> set[str]:
    """Tables and columns of a database: keys of results are mostly these."""
    columns = {column.name for table in template.tables.values() for column in table.columns}
    return {name for name in (*template.tables, *columns) if _KEY.fullmatch(name)}


def source_names(world: World) -> set[str]:
    """Keys that the Python of a world's tools gives its results, as far as they stand there as
    text: keys of dicts, and aliases in SQL.
    """
    tools = {tool.name for tool in world.tools}
    return {
        name
        for file in sorted(world.path.glob("*.py"))
        if not file.name.startswith(("seed", "tasks", "rewards"))
        for name in _keys(ast.parse(file.read_text("utf-8")))
        if _KEY.fullmatch(name) and name not in PORTABLE and name not in tools
    }


def texts_of(world: World) -> str:
    """Everything that is written in a world's folder but its rows."""
    files = [
        file
        for file in sorted(world.path.iterdir())
        if file.suffix in {".py", ".yaml", ".md"} and not file.name.startswith("seed")
    ]
    return "\n".join(file.read_text("utf-8", "replace") for file in files)


def _keys(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        keys: Iterable[ast.expr | None] = ()
        if isinstance(node, ast.Dict):
            keys = node.keys
        elif isinstance(node, ast.Subscript):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "dict":
                yield from (item.arg for item in node.keywords if item.arg is not None)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _ALIAS.findall(node.value)
        for key in keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value


def schema_names(schema: Mapping[str, Any] | None) -> Iterator[str]:
    """Names of the properties of a JSON Schema, at any depth."""
    for name, inner in properties(schema):
        yield name
        yield from schema_names(inner)


def schema_words(schema: Mapping[str, Any] | None, key: str = "") -> Iterator[tuple[str, str]]:
    """The words of a schema's enumerations, each with the property that it is for."""
    schema = schema or {}
    words = [*schema.get("enum", ()), schema.get("const")]
    yield from ((key, word) for word in words if isinstance(word, str))
    if isinstance(items := schema.get("items"), Mapping):
        yield from schema_words(cast("Mapping[str, Any]", items), key)
    for name, inner in cast("Mapping[str, Any]", schema.get("properties", {})).items():
        yield from schema_words(inner, name)


def properties(schema: Mapping[str, Any] | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The properties of a schema, of the items of arrays too."""
    schema = schema or {}
    yield from cast("Mapping[str, Any]", schema.get("properties", {})).items()
    if isinstance(items := schema.get("items"), Mapping):
        yield from properties(cast("Mapping[str, Any]", items))
