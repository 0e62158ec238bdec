"""Completions of Hydra overrides: keys of the config, choices of its groups, values of its keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from synth.config import KEYS, RunConfig
from synth.core.config.rules import EXTENSIONS
from synth.core.foundation.shipped import config_groups, world_names

_LAST_VALUE = re.compile(r"(.*[,\[])?")
"""What stands before the value that is being typed: ``model=openai,`` or ``[logging,``."""


def completions(prefix: str, folders: Sequence[Path]) -> list[str]:
    """The overrides that ``prefix`` may become.

    ``folders`` hold config groups, a folder of YAML files each. An empty prefix is completed to
    groups and to keys of no section only, as there are some 200 keys.
    """
    groups = config_groups(folders)
    key, equals, value = prefix.partition("=")
    if not equals:
        keys = KEYS if prefix else [name for name in KEYS if "." not in name]
        return [f"{name}=" for name in sorted({*groups, *keys})]
    before = _LAST_VALUE.match(value)
    head = f"{key}={before[0] if before is not None else ''}"
    return [f"{head}{choice}" for choice in (groups.get(key) or sorted(set(_values(key))))]


def _values(key: str) -> Iterator[str]:
    """The values that a key takes, where they can be listed."""
    if key not in KEYS:
        return
    if key == "env.name":
        yield from world_names()
    if key in EXTENSIONS:
        yield from (extension.name for extension in EXTENSIONS[key].all())
    kind: Any = RunConfig
    for name in key.split("."):
        kind = get_type_hints(kind)[name]
    yield from _choices(kind)


def _choices(kind: Any) -> Iterator[str]:
    """The texts of the booleans and literals in a type."""
    if kind is bool:
        yield from ("false", "true")
    elif kind is NoneType:
        yield "null"
    elif get_origin(kind) is Literal:
        yield from map(str, get_args(kind))
    else:
        for inner in get_args(kind):
            yield from _choices(inner)
