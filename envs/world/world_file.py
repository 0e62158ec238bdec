"""The file ``world.yaml`` of a world's folder, which not every world has::

database: ../shop              # the schema, the seed and the columns of a world beside this one
license: cc-by-4.0             # of the world's data, as the Hugging Face Hub names it
environment: environment.Desk  # where the state is if not in the database: a class of the folder's
                               # environment.py, package.module:Class or an entry point
columns:                       # traits of columns, in the world that owns the schema
customers.name: {pii: name}  # personal data of a kind; `none` for a column that only looks so
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from envs.errors import WorldError
from envs.tools.tools_yaml import parsed_yaml

WORLD_FILE = "world.yaml"

PERSONAL_KINDS = ("name", "email", "phone", "address", "birth_date", "identifier", "other")
"""Kinds of personal data that a column may hold."""

NOT_PERSONAL = "none"


@dataclass(frozen=True, slots=True)
class ColumnTraits:
    """One column's traits. ``pii``: a kind of personal data, or ``none``; ``line``: its place."""

    pii: str
    line: int


@dataclass(frozen=True, slots=True)
class _WorldFile:
    """A read ``world.yaml``. ``database`` is the folder of another world and its line; ``columns``
    maps ``table.column`` to its traits. ``license`` covers the world's data. ``environment`` is the
    name of a class and its line.
    """

    database: tuple[str, int] | None = None
    columns: Mapping[str, ColumnTraits] = field(default_factory=dict[str, ColumnTraits])
    license: str | None = None
    environment: tuple[str, int] | None = None


_KEYS: Mapping[str, str] = {
    "database": "`database` must be the folder of another world, as ../NAME",
    "columns": "`columns` maps table.column to its traits, as {pii: name}",
    "environment": "`environment` must name a class, as environment.Desk",
    "license": "`license` must be the name of a licence, as cc-by-4.0",
}
"""The keys, and what is said of a value of another kind."""

_Entries = Mapping[str, tuple[yaml.Node, yaml.Node]]
"""The nodes of key and value by key."""


def read_world_file(folder: Path) -> _WorldFile:
    """The ``world.yaml`` of a folder; an empty one where there is no such file.

    Raises :class:`~envs.errors.WorldError` with file and line for the first mistake.
    """
    file = folder / WORLD_FILE
    if not file.is_file():
        return _WorldFile()
    found = _entries(file)
    database = _text(file, found, "database")
    for name in ("columns", "environment"):
        if database is not None and name in found:
            message = f"`{name}` belongs to the world that owns the schema, not beside `database`:"
            raise _error(file, f"{message} move it to {database[0]}/{WORLD_FILE}", found[name][0])
    columns = _columns(file, *found["columns"]) if "columns" in found else {}
    named = _text(file, found, "license")
    return _WorldFile(database, columns, named and named[0], _text(file, found, "environment"))


def _error(file: Path, message: str, node: yaml.Node) -> WorldError:
    return WorldError(message, file, node.start_mark.line + 1)


def _entries(file: Path) -> _Entries:
    try:
        root, _ = parsed_yaml(file.read_text("utf-8"), file)
    except UnicodeDecodeError as error:
        raise WorldError(f"not UTF-8 at byte {error.start}", file) from None
    if not isinstance(root, yaml.MappingNode) or not root.value:
        message = "must hold the key `database`, the folder of another world, or `columns`"
        raise WorldError(message, file, 1 if root is None else root.start_mark.line + 1)
    found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    for key, value in root.value:
        if key.value not in _KEYS:
            known = "the keys are `database`, `columns`, `environment` and `license`"
            raise _error(file, f"unknown key {key.value!r}; {known}", key)
        if key.value in found:
            raise _error(file, f"the key `{key.value}` occurs twice", key)
        found[key.value] = key, value
    return found


def _text(file: Path, found: _Entries, name: str) -> tuple[str, int] | None:
    """The text under a key and its line; None without the key."""
    if name not in found:
        return None
    key, value = found[name]
    if value.tag != "tag:yaml.org,2002:str" or not value.value.strip():
        raise _error(file, _KEYS[name], key)
    return value.value, key.start_mark.line + 1


def _columns(file: Path, key: yaml.Node, value: yaml.Node) -> dict[str, ColumnTraits]:
    if not isinstance(value, yaml.MappingNode) or not value.value:
        raise _error(file, _KEYS["columns"], key)
    known = (*PERSONAL_KINDS, NOT_PERSONAL)
    columns: dict[str, ColumnTraits] = {}
    for name, traits in value.value:
        if str(name.value).count(".") != 1:
            message = f"`columns`: {name.value!r} is not of the form table.column"
            raise _error(file, message, name)
        pairs = traits.value if isinstance(traits, yaml.MappingNode) else ()
        kinds = [kind.value if trait.value == "pii" else None for trait, kind in pairs]
        if len(kinds) != 1 or kinds[0] not in known:
            message = f"`columns`: {name.value} needs {{pii: KIND}}, of {', '.join(known)}"
            raise _error(file, message, traits)
        columns[name.value] = ColumnTraits(kinds[0], name.start_mark.line + 1)
    return columns
