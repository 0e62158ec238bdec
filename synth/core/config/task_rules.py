"""Rules between the keys of the config's section ``tasks``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol, TypeVar, cast

from pydantic import TypeAdapter

from synth.core.config.options import parse_options
from synth.core.config.section import section_kinds
from synth.core.config.types import Finding, Plain
from synth.core.foundation.suggestions import hint, nearest
from synth.plugins import TASK_SOURCES, PluginError


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


Item = TypeVar("Item", str, int)

_SPLIT = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
"""The names that `datasets` takes; it keeps `all` for itself."""


_LISTS = (
    *("model.mistakes", "agent.middleware", "telemetry.callbacks"),
    *("tasks.families", "tasks.universes", "tasks.held_out", "tasks.transforms"),
)


def _twice(config: Plain) -> Iterator[Finding]:
    for key in _LISTS:
        section, _, name = key.partition(".")
        items: object = config[section][name]
        for item in twice(cast("list[str]", items)) if isinstance(items, list) else ():
            yield (key,), f"{key}: {item!r} is listed twice"


def _splits(config: Plain) -> Iterator[Finding]:
    """A universe is listed once and belongs to one split; a split has a name and a universe."""
    tasks = config["tasks"]
    universes: int | list[int] = tasks["universes"]
    splits: dict[str, list[int]] | None = tasks["splits"]
    if splits is None:
        return
    if not splits:
        yield (
            ("tasks.splits",),
            "tasks.splits: names no split; null makes all of it the split train",
        )
    for name, own in splits.items():
        if not _SPLIT.fullmatch(name) or name == "all":
            why = (
                "means all of them"
                if name == "all"
                else "must be a letter, then up to 63 letters, digits or _"
            )
            yield ("tasks.splits",), f"tasks.splits.{name}: the name of a split {why}"
        if not own:
            yield (
                ("tasks.splits",),
                f"tasks.splits.{name}: has no universe; give it some or leave it out",
            )
    yield from _split_universes(splits, universes)


def _split_universes(
    splits: Mapping[str, list[int]], universes: int | list[int]
) -> Iterator[Finding]:
    given = [universe for own in splits.values() for universe in own]
    for universe in twice(given):
        places = [name for name, own in splits.items() for _ in range(own.count(universe))]
        yield (
            ("tasks.splits",),
            f"tasks.splits: universe {universe} is given twice, to {' and '.join(places)}",
        )
    both = ("tasks.splits", "tasks.universes")
    if isinstance(universes, int):
        shown, known = str(universes), set(range(universes))
        there = f"with tasks.universes={shown} they are numbered from 0 to {universes - 1}"
    else:
        shown, known = f"[{','.join(map(str, universes))}]", set(universes)
        there = f"tasks.universes={shown} lists the known ones"
    for universe in sorted(set(given) - known):
        yield both, f"tasks.splits: unknown universe {universe}; {there}"
    if splits and (missing := sorted(known - set(given))):
        first = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        word = "universe" if len(missing) == 1 else "universes"
        yield both, f"tasks.splits: {word} {first} of tasks.universes={shown} belong to no split"


def _held_out(config: Plain) -> Iterator[Finding]:
    tasks = config["tasks"]
    held: list[str] = tasks["held_out"] or []
    yield from held_out(config, "held_out")
    families: list[str] | None = tasks["families"]
    for name in dict.fromkeys(held) if families else ():
        if name not in (families or ()):
            near = hint(nearest(name, families or ()))
            yield (
                ("tasks.held_out", "tasks.families"),
                f"tasks.held_out: {name!r} is not in tasks.families{near}",
            )


def held_out(config: Plain, key: str) -> Iterator[Finding]:
    """What is held out of the first split takes a second one."""
    tasks = config["tasks"]
    if tasks[key] and len(tasks["splits"] or ()) < 2:
        message = (
            f"tasks.{key}: held out from the first split, for which there must be a second:"
            " 'tasks.splits={train:[0,1,2],test:[3]}' with tasks.universes=4"
        )
        yield (f"tasks.{key}", "tasks.splits"), message


def _task_source(config: Plain) -> Iterator[Finding]:
    tasks = config["tasks"]
    kind, path = tasks["kind"], tasks["path"]
    try:
        source = load_task_source(kind)
    except PluginError as error:
        yield ("tasks.kind",), f"tasks.kind: {error}"
        return
    keys = ("tasks.kind", "tasks.path")
    if source.path_is and path is None:
        yield keys, f"tasks.path: tasks={kind} needs {source.path_is}"
        return
    if not source.path_is and path is not None:
        yield keys, f"tasks.path: tasks={kind} reads no path; leave it null"
    if source.makes_universes and (tasks["universes"] != 1 or tasks["splits"]):
        yield (
            ("tasks.kind", "tasks.universes", "tasks.splits"),
            f"tasks.universes, tasks.splits: not with tasks={kind}, which makes its own universes",
        )


def _transforms(config: Plain) -> Iterator[Finding]:
    key, names = "tasks.transforms", config["tasks"]["transforms"]
    for name in config["tasks"]["transform_options"]:
        if name not in names:
            options = "tasks.transform_options"
            yield (options, key), f"{options}.{name}: {key} does not list it"


def twice(items: Sequence[Item]) -> list[Item]:
    """The items that are listed more than once, sorted."""
    return sorted(item for item, count in Counter(items).items() if count > 1)


TASK_RULES: tuple[Callable[[Plain], Iterator[Finding]], ...] = (
    _twice,
    _splits,
    _held_out,
    _task_source,
    _transforms,
)
