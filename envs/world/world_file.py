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


def read_world_file(folder: Path) -> _WorldFile:
    """The ``world.yaml`` of a folder; an empty one where there is no such file.

    Raises :class:`~envs.errors.WorldError` with file and line for the first mistake.
    """
    file = folder / WORLD_FILE
    return _Reader(file).read() if file.is_file() else _WorldFile()


class _Reader:
    def __init__(self, file: Path) -> None:
        self.file = file

    def fail(self, message: str, node: yaml.Node | None = None) -> WorldError:
        return WorldError(message, self.file, 1 if node is None else node.start_mark.line + 1)

    def read(self) -> _WorldFile:
        node = self._root()
        found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if key.value not in ("database", "columns", "license", "environment"):
                known = "the keys are `database`, `columns`, `environment` and `license`"
                raise self.fail(f"unknown key {key.value!r}; {known}", key)
            if key.value in found:
                raise self.fail(f"the key `{key.value}` occurs twice", key)
            found[key.value] = key, value
        database = columns = None
        if "database" in found:
            database = self._database(*found["database"])
        for name in ("columns", "environment"):
            if database is not None and name in found:
                message = f"`{name}` belongs to the world that owns the schema, not beside"
                key = found[name][0]
                raise self.fail(f"{message} `database`: move it to {database[0]}/{WORLD_FILE}", key)
        if "columns" in found:
            columns = self._columns(*found["columns"])
        named = found.get("license")
        return _WorldFile(
            database,
            columns or {},
            None if named is None else self._license(*named),
            self._environment(*found["environment"]) if "environment" in found else None,
        )

    def _root(self) -> yaml.MappingNode:
        try:
            node, _ = parsed_yaml(self.file.read_text("utf-8"), self.file)
        except UnicodeDecodeError as error:
            raise WorldError(f"not UTF-8 at byte {error.start}", self.file) from None
        if not isinstance(node, yaml.MappingNode) or not node.value:
            raise self.fail(
                "must hold the key `database`, the folder of another world, or `columns`"
            )
        return node

    def _database(self, key: yaml.Node, value: yaml.Node) -> tuple[str, int]:
        if not isinstance(value, yaml.ScalarNode) or value.tag != "tag:yaml.org,2002:str":
            raise self.fail("`database` must be the folder of another world, as ../NAME", key)
        return value.value, key.start_mark.line + 1

    def _environment(self, key: yaml.Node, value: yaml.Node) -> tuple[str, int]:
        if not isinstance(value, yaml.ScalarNode) or not str(value.value).strip():
            raise self.fail("`environment` must name a class, as environment.Desk", key)
        return str(value.value), key.start_mark.line + 1

    def _license(self, key: yaml.Node, value: yaml.Node) -> str:
        if not isinstance(value, yaml.ScalarNode) or not str(value.value).strip():
            raise self.fail("`license` must be the name of a licence, as cc-by-4.0", key)
        return str(value.value)

    def _columns(self, key: yaml.Node, value: yaml.Node) -> dict[str, ColumnTraits]:
        if not isinstance(value, yaml.MappingNode) or not value.value:
            raise self.fail("`columns` maps table.column to its traits, as {pii: name}", key)
        columns: dict[str, ColumnTraits] = {}
        for name, traits in value.value:
            if str(name.value).count(".") != 1:
                raise self.fail(f"`columns`: {name.value!r} is not of the form table.column", name)
            columns[name.value] = ColumnTraits(
                self._pii(name.value, traits), name.start_mark.line + 1
            )
        return columns

    def _pii(self, name: str, traits: yaml.Node) -> str:
        known = (*PERSONAL_KINDS, NOT_PERSONAL)
        message = f"`columns`: {name} needs {{pii: KIND}}, of {', '.join(known)}"
        if not isinstance(traits, yaml.MappingNode) or len(traits.value) != 1:
            raise self.fail(message, traits)
        ((key, kind),) = traits.value
        if key.value != "pii" or kind.value not in known:
            raise self.fail(message, traits)
        return kind.value
