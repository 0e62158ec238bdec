"""Reading what stands on the command line: each override is parsed and checked before Hydra sees
any of them.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import (
    Glob,
    Override,
    OverrideType,
    Quote,
    QuotedString,
    Transformer,
)
from hydra.errors import HydraException

from synth.config import FREE, KEYS, SECTIONS
from synth.core.config.quoting import quoted_value
from synth.core.foundation.credentials import ADVICE, is_secret_key, looks_secret, redact
from synth.core.foundation.suggestions import hint, nearest, nearest_key
from synth.errors import ConfigProblems
from synth.plugins import (
    ENGINES,
    MODELS,
    RUNTIMES,
    TASK_SOURCES,
    USERS,
    WORLDS,
    PluginError,
)

SEARCH_PATH = "hydra.searchpath"

SWEEPS = (
    "; -m runs the points of a sweep one after the other, into output.dir or output.root; for"
    " another launcher or sweeper, call synth.run in a Hydra application of your own, as"
    " examples/hydra_app does"
)

_OF_SWEEPS = re.compile(r"hydra[./](?:launcher|sweeper|sweep)\b")

_NAMES = re.compile(r"([\w.-]+)['\"]?\s*[:=]")
"""Keys anywhere in an override, also in an inline mapping: ``model={api_key: ...}``."""

_ONE_WORD = re.compile(r"[^,\[\]{}'\"$\\]+")
"""A value that is not a list, mapping, sweep, quoted text or interpolation, whatever else Hydra's
grammar says to it.
"""


@dataclass(frozen=True, slots=True)
class Groups:
    """The config groups that can be found, each with its choices; ``default()`` names those that
    run.yaml composes.
    """

    choices: Mapping[str, tuple[str, ...]]
    default: Callable[[], frozenset[str]]  # Hydra reads all files for it


@dataclass(frozen=True, slots=True)
class ParsedOverrides:
    """The sound overrides, in order and in the form that Hydra takes, and a line for each of the
    others.

    ``search_path`` holds at most one override, which every composition has to start with.
    """

    overrides: tuple[Override, ...]
    problems: tuple[str, ...]
    search_path: tuple[str, ...]
    groups: Groups


class _Refused(Exception):
    """An override that cannot be used, and why."""


def read_overrides(
    lines: Sequence[str],
    groups_in: Callable[[Sequence[str]], Groups],
    *,
    multirun: bool,
    config_dir: Path | None = None,
) -> ParsedOverrides:
    """Parse and check every override; ``groups_in`` finds the config groups once the search path is
    known.
    """
    problems: list[str] = []
    parsed: list[Override] = []
    folders: list[str] = []
    for line in lines:
        try:
            override = _parse(line)
            if override.key_or_group == SEARCH_PATH:
                folders += _folders(override)
            else:
                parsed.append(override)
        except _Refused as refused:
            problems.append(str(refused))
    if config_dir is not None:
        if config_dir.expanduser().is_dir():
            folders.append(f"file://{config_dir.expanduser().resolve()}")
        else:
            problems.append(f"--config-dir: folder not found: {config_dir}")
    quoted = ",".join(QuotedString(folder, Quote.single).with_quotes() for folder in folders)
    search_path = (f"{SEARCH_PATH}=[{quoted}]",) if folders else ()
    groups = groups_in(search_path)
    sound: list[Override] = []
    for override in parsed:
        try:
            sound.append(_checked(override, groups, multirun=multirun))
        except _Refused as refused:
            problems.append(str(refused))
    return ParsedOverrides(tuple(sound), tuple(problems), search_path, groups)


def _parse(line: str) -> Override:
    key = line.partition("=")[0].strip().lstrip("+~")
    if looks_secret(line) or any(is_secret_key(name) for name in (key, *_NAMES.findall(line))):
        raise _Refused(f"{redact(key)}: no secret belongs on the command line: {ADVICE}")
    shown = f"{key}=..." if key.endswith("model.api_key_env") else redact(line)
    parser = OverridesParser.create()
    try:
        try:
            return parser.parse_override(line)
        except HydraException:
            name, _, value = line.partition("=")
            rescued = _in_hydras_grammar(value)
            if rescued is None:
                raise
            return parser.parse_override(f"{name}={rescued}")
    except HydraException as error:
        if "=" not in line:
            near = hint(nearest_key(key, (*KEYS, *SECTIONS)))
            raise _Refused(f"{shown}: an override is key=value{near}") from error
        reason = "" if shown != line else f" ({' '.join(str(error).split())})"
        raise _Refused(
            f"{shown}: cannot be read{reason}; a value with special characters is quoted twice, as"
            f" in '{key}=\"...\"'"
        ) from error


def override_lines(values: Mapping[str, object]) -> list[str]:
    """Write config values as overrides: ``{"env": "shop", "tasks": {"count": 8}}`` becomes
    ``env=shop`` and ``tasks.count=8``.

    Keys may be dotted. A text for a section chooses a config of its group.
    """
    return [
        f"{key}={quoted_value(value)}"
        if isinstance(value, str)
        else f"{key}={Transformer.str(_quoted(_plain(value)))}"
        for key, value in flat_values(values).items()
    ]


_MODELS = re.compile(r"models(\.[^.]+)?")
"""The map of models, and one of them: each key of theirs is set by itself."""


def flat_values(values: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Config values by dotted key: ``{"tasks": {"count": 8}}`` becomes ``{"tasks.count": 8}``."""
    found: dict[str, object] = {}
    for name, value in values.items():
        key = f"{prefix}{name}"
        section = (key in SECTIONS and key not in FREE) or _MODELS.fullmatch(key)
        if isinstance(value, Mapping) and section:
            found |= flat_values(cast("Mapping[str, object]", value), f"{key}.")
        else:
            found[key] = str(value) if isinstance(value, Path) else value
    return found


_KINDS = {"runtime": "runtime.kind", "model": "model.kind", "env": "env.name"}
"""What a group's name stands for where no config is composed."""


def plain_changes(lines: Sequence[str]) -> dict[str, object]:
    """Read ``key=value`` texts as changes of a config that is there; values are YAML.

    Raises :class:`ConfigProblems` for a text of another form.
    """
    found: dict[str, object] = {}
    for line in lines:
        key, equals, value = line.partition("=")
        if not equals:
            raise ConfigProblems([f"{line!r} is not of the form key=value"])
        found[_KINDS.get(key, key)] = yaml.safe_load(value)
    return found


def _plain(value: Any) -> Any:
    """A Python value as JSON has it: tuples and sets of names become lists, paths become text."""
    if isinstance(value, Mapping):
        return {
            str(key): _plain(inner) for key, inner in cast("Mapping[object, Any]", value).items()
        }
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in cast("list[Any]", value)]
    return str(value) if isinstance(value, Path) else value


def _in_hydras_grammar(value: str) -> str | None:
    """A value that Hydra refuses and that can mean one thing only, as Hydra would have it; None for
    any other.

    That is JSON (``{"a": true}``) and a single word that wants quotes:
    ``http://host/v1?api-version=1``.
    """
    if _ONE_WORD.fullmatch(value):
        return QuotedString(value, Quote.double).with_quotes()
    if value.lstrip().startswith(("{", "[")):
        try:
            return str(Transformer.str(_quoted(json.loads(value))))
        except (ValueError, RecursionError):
            return None
    return None


def _quoted(value: Any) -> Any:
    """A JSON value whose strings stay strings: ``"true"`` is not true."""
    if isinstance(value, dict):
        return {key: _quoted(inner) for key, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_quoted(inner) for inner in cast("list[Any]", value)]
    return QuotedString(value, Quote.double) if isinstance(value, str) else value


def _folders(override: Override) -> list[str]:
    value: Any = override.value()
    given = cast("list[Any]", value if isinstance(value, list) else [value])
    found: list[str] = []
    for item in given:
        if not isinstance(item, str):
            raise _Refused(
                f"{SEARCH_PATH}: takes a list of folders, as in"
                f" '{SEARCH_PATH}=[file:///my/configs]'"
            )
        scheme, separator, rest = item.rpartition("://")
        if separator and scheme != "file":
            found.append(item)
            continue
        folder = Path(rest).expanduser().resolve()
        if not folder.is_dir():
            raise _Refused(f"{SEARCH_PATH}: folder not found: {folder}")
        found.append(f"file://{folder}")
    return found


def _checked(override: Override, groups: Groups, *, multirun: bool) -> Override:
    """The override in the form that works whether or not the key stands in a YAML file already."""
    key, line = override.key_or_group, override.input_line
    if override.is_hydra_override() or key == "hydra":
        raise _Refused(_hydras_own(key))
    if override.package is not None:
        raise _Refused(f"{line}: packages (@) are not used here; the group is {key}")
    if override.is_sweep_override():
        _check_sweep(override, groups, multirun=multirun)
    if key in groups.choices:
        for choice in _choices(override, groups.choices[key]):
            _check_choice(key, choice, groups.choices[key])
        if override.is_delete():
            return override
        # A group that run.yaml composes is changed, any other is added; which of the two need not
        # be known by heart.
        return replace(
            override, type=OverrideType.CHANGE if key in groups.default() else OverrideType.ADD
        )
    free = key.startswith(tuple(f"{item}." for item in FREE))
    if key not in KEYS and key not in SECTIONS and not free:
        near = hint(nearest_key(key, (*KEYS, *SECTIONS, *groups.choices)))
        raise _Refused(f"{key}: unknown key{near}")
    if override.is_delete():
        if not free:
            raise _Refused(
                f"~{key}: a key cannot be taken away; set it, to null where it may be absent"
            )
        return override
    return replace(override, type=OverrideType.FORCE_ADD)


def _hydras_own(key: str) -> str:
    instead = SWEEPS if _OF_SWEEPS.match(key) else ""
    return f"{key}: of Hydra's own settings only {SEARCH_PATH} is used here{instead}"


def _check_sweep(override: Override, groups: Groups, *, multirun: bool) -> None:
    key, line = override.key_or_group, override.input_line
    if not multirun:
        text = override.get_value_string()
        raise _Refused(
            f"{line}: several values; to sweep over them add -m, for a list write '{key}=[{text}]'"
        )
    if not override.is_discrete_sweep():
        raise _Refused(
            f"{line}: an interval has no single values to run; use range(...) or choice(...)"
        )
    if isinstance(override.value(), Glob) and key not in groups.choices:
        raise _Refused(f"{line}: glob chooses among the files of a config group, and {key} is none")


def _choices(override: Override, known: Sequence[str]) -> list[str]:
    value: Any = override.value()
    if isinstance(value, Glob):
        if not value.filter(list(known)):
            raise _Refused(
                f"{override.input_line}: no choice matches; there are: {', '.join(known)}"
            )
        return []
    if override.is_choice_sweep():
        return [str(item).strip("'\"") for item in override.sweep_string_iterator()]
    if override.is_sweep_override() or isinstance(value, dict):
        raise _Refused(
            f"{override.input_line}: takes one of: {', '.join(known)}; a key of it is set by its"
            " dotted name"
        )
    if override.is_delete() and value is None:
        return []
    several = cast(
        "list[Any]", value if isinstance(value, list) else ["null" if value is None else value]
    )
    return [str(item) for item in several]


_EXTENSIONS = {
    "env": ("env.name", WORLDS),
    "model": ("model.kind", MODELS),
    "users": ("users.kind", USERS),
    "database": ("database.engine", ENGINES),
    "tasks": ("tasks.kind", TASK_SOURCES),
    "runtime": ("runtime.kind", RUNTIMES),
}
"""The key that names an extension which no file of its config group chooses."""


def _check_choice(key: str, choice: str, known: Sequence[str]) -> None:
    if choice not in known:
        _refuse_extension(key, choice)
        path = quoted_value(choice) if Path(choice).is_dir() else "/path/to/world"
        own = f"; a world of your own: env.path={path}" if key == "env" else ""
        raise _Refused(
            f"{key}={choice}: no such choice{hint(nearest(choice, known))} (there are:"
            f" {', '.join(known)}{own})"
        )


def _refuse_extension(key: str, choice: str) -> None:
    """Refuse a choice that is the name of an installed extension, and say how it is named."""
    name, point = _EXTENSIONS.get(key, ("", None))
    if point is None:
        return
    with contextlib.suppress(PluginError):
        found = point.find(choice)
        raise _Refused(
            f"{key}={choice}: the {point.kind} {choice!r} is an extension"
            f"{f' of {found.distribution}' if found.distribution else ''}, and no file of the"
            f" config group {key} chooses it; use {name}={choice}"
        )
