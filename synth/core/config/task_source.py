"""The task source that `tasks` names, and its options as the typed model that it declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Protocol

from pydantic import TypeAdapter

from synth.core.config.options import parse_options
from synth.core.config.section import section_kinds
from synth.plugins import TASK_SOURCES


def standard_keys() -> list[str]:
    """Keys of `tasks` that are options of the sources that declare them."""
    joined = (
        entry.name for kind in section_kinds() if kind.place == "tasks" for entry in fields(kind)
    )
    return ["path", *joined]


class _TaskSourceClass(Protocol):
    """The class attributes of :class:`synth.source.TaskSource` that a config is checked by."""

    Options: type[Any]
    path_is: str
    writes_world: bool
    makes_universes: bool
    asks_attached: bool


def load_task_source(kind: str) -> _TaskSourceClass:
    """The class of the source. Raises :class:`~synth.plugins.PluginError` for an unknown name."""
    return TASK_SOURCES.load(kind)


def task_source_options(source: _TaskSourceClass, tasks: Mapping[str, Any]) -> Any:
    """The source's options, from the section `tasks` of a config.

    Raises :class:`~synth.errors.ConfigProblems` with a line for each problem.
    """
    declared = TypeAdapter(source.Options).json_schema().get("properties", {})
    standard = {
        key: tasks[key] for key in standard_keys() if key in declared and tasks[key] is not None
    }
    return parse_options(source.Options, {**standard, **tasks["options"]}, "tasks.options")
