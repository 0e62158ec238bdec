"""Overrides of the command line: parsed, checked and multiplied out before Hydra sees them."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import re
from collections.abc import Callable, Generator, Mapping, Sequence
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
from synth.core.config.rules import EXTENSIONS
from synth.core.foundation.credentials import ADVICE, is_secret_key, looks_secret, redact
from synth.core.foundation.suggestions import hint, nearest, nearest_key
from synth.errors import ConfigProblems
from synth.plugins import PluginError, find_module

SEARCH_PATH = "hydra.searchpath"

SWEEPS = (
    "; -m runs the points of a sweep one after the other, into output.dir or output.root; for"
    " another launcher or sweeper, call synth.run in a Hydra application of your own, as"
    " examples/hydra_app does"
)

MOST_JOBS = 1_000
"""More combinations than this are taken for a slip."""

_LONGEST_NAME = 80

_OF_SWEEPS = re.compile(r"hydra[./](?:launcher|sweeper|sweep)\b")

_NAMES = re.compile(r"([\w.-]+)['\"]?\s*[:=]")
"""Keys anywhere in an override, also in an inline mapping: ``model={api_key: ...}``."""

_ONE_WORD = re.compile(r"[^,\[\]{}'\"$\\]+")
"""A value that is not a list, mapping, sweep, quoted text or interpolation, whatever else Hydra's
grammar says to it.
"""

_NAMED = {
    key.partition(".")[0]: key for key in EXTENSIONS if key.endswith((".name", ".kind", ".engine"))
}
"""The key of a config group that names an extension, which no file of the group may choose."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The config groups that can be found, each with its choices; ``is_composed`` says whether
    run.yaml composes one.
    """

    choices: Mapping[str, Sequence[str]]
    is_composed: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Point:
    """One combination: what Hydra is given, what the person wrote, and the name of the
    subdirectory.
    """

    lines: tuple[str, ...]
    overrides: tuple[str, ...]
    directory: str


@dataclass(frozen=True, slots=True)
class ParsedOverrides:
    """One point for each combination of the sound overrides' values, and a line for each problem.

    ``keys`` are the sound overrides' keys. ``search_path`` are the folders to search besides.
    """

    points: Sequence[Point]
    problems: Sequence[str]
    keys: frozenset[str]
    search_path: Sequence[str]
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
    """Parse, check and multiply out the overrides; ``groups_in`` finds the config groups once the
    search path is known.
    """
    problems: list[str] = []
    parsed: list[Override] = []
    folders: list[str] = []
    given: list[tuple[str, Any]] = []
    for line in lines:
        with _collecting(problems):
            override = _parse(line)
            if override.key_or_group == SEARCH_PATH:
                value = cast("Any", override.value())
                several = cast("list[Any]", value if isinstance(value, list) else [value])
                given += [(SEARCH_PATH, folder) for folder in several]
            else:
                parsed.append(override)
    if config_dir is not None:
        given.append(("--config-dir", str(config_dir)))
    for key, folder in given:
        with _collecting(problems):
            folders.append(_folder(key, folder))
    groups = groups_in(folders)
    axes: list[list[tuple[Override, str]]] = []
    for override in parsed:
        with _collecting(problems):
            sound = _checked(override, groups)
            axes.append([(sound, value) for value in _values(sound, groups, multirun=multirun)])
    problems += _twice([axis[0][0] for axis in axes])
    if math.prod(map(len, axes)) > MOST_JOBS:
        problems.append(f"this sweep has more than {MOST_JOBS} jobs; split it")
        axes = [axis[:1] for axis in axes]
    combinations = list(itertools.product(*axes))
    width = len(str(len(combinations) - 1))
    points = [
        _point(combination, f"{index:0{width}d}" if multirun else "")
        for index, combination in enumerate(combinations)
    ]
    keys = frozenset(axis[0][0].key_or_group for axis in axes)
    return ParsedOverrides(points, problems, keys, folders, groups)


@contextlib.contextmanager
def _collecting(problems: list[str]) -> Generator[None]:
    try:
        yield
    except _Refused as refused:
        problems.append(str(refused))


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
            f"{shown}: cannot be read{reason}; close brackets and quotes, and quote a value"
            f" with special characters twice, as in '{key}=\"...\"'"
        ) from error


def override_lines(values: Mapping[str, object]) -> list[str]:
    """Write config values as overrides: ``{"env": "shop", "tasks": {"count": 8}}`` becomes
    ``env=shop`` and ``tasks.count=8``.

    Keys may be dotted. A text for a section chooses a config of its group.
    """
    return [
        f"{key}={quoted_value(value)}"
        if isinstance(value, str)
        else f"{key}={Transformer.str(_quoted(value, key))}"
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


def plain_changes(lines: Sequence[str]) -> dict[str, object]:
    """Read ``key=value`` texts as changes of a config that is there; values are YAML.

    Raises :class:`ConfigProblems` for a text of another form.
    """
    found: dict[str, object] = {}
    for line in lines:
        key, equals, value = line.partition("=")
        if not equals:
            raise ConfigProblems([f"{line!r} is not of the form key=value"])
        found[_NAMED.get(key, key)] = yaml.safe_load(value)
    return found


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


def _quoted(value: Any, where: str = "") -> Any:
    """A value whose texts stay texts: ``"true"`` is not true. Tuples and arrays become lists."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        items = cast("Mapping[object, Any]", value).items()
        return {str(key): _quoted(inner, where) for key, inner in items}
    if isinstance(value, (list, tuple)):
        return [_quoted(inner, where) for inner in cast("list[Any]", value)]
    if not isinstance(value, str | Path | int | float | None):
        raise ConfigProblems([f"{where}: takes numbers, texts, lists, mappings, not {value!r:.60}"])
    return QuotedString(str(value), Quote.double) if isinstance(value, str | Path) else value


def _folder(key: str, folder: Any) -> str:
    """A folder of config groups as Hydra's search path has it."""
    if not isinstance(folder, str):
        raise _Refused(f"{key}: takes a list of folders, as in '{key}=[file:///my/configs]'")
    scheme, _, rest = folder.rpartition("://")
    if scheme == "pkg":
        spec = find_module(rest.replace("/", "."))
        rest = ((spec and spec.submodule_search_locations) or ["no such package"])[0]
    path = Path(rest).expanduser().resolve()
    if not path.is_dir():
        raise _Refused(f"{key}: folder not found: {path}")
    return f"file://{path}"


def _checked(override: Override, groups: Groups) -> Override:
    """The override in the form that works whether or not the key stands in a YAML file already."""
    key, line = override.key_or_group, override.input_line
    if override.is_hydra_override() or key == "hydra":
        instead = SWEEPS if _OF_SWEEPS.match(key) else ""
        raise _Refused(f"{key}: of Hydra's own settings only {SEARCH_PATH} is used here{instead}")
    if override.package is not None:
        raise _Refused(f"{line}: packages (@) are not used here; the group is {key}")
    if key in groups.choices:
        for choice in _choices(override, groups.choices[key]):
            _check_choice(key, choice, groups.choices[key])
        if override.is_delete():
            return override
        # A group that run.yaml composes is changed, any other is added; which of the two need not
        # be known by heart.
        return replace(
            override, type=OverrideType.CHANGE if groups.is_composed(key) else OverrideType.ADD
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


def _values(override: Override, groups: Groups, *, multirun: bool) -> list[str]:
    """The texts to which an override sets its key: one, or one for each point of a sweep."""
    key, line = override.key_or_group, override.input_line
    if not override.is_sweep_override():
        return [override.get_value_string() if override.value_type is not None else ""]
    if not multirun:
        text = override.get_value_string()
        raise _Refused(
            f"{line}: several values; to sweep over them add -m, for a list write '{key}=[{text}]'"
        )
    if not override.is_discrete_sweep():
        raise _Refused(
            f"{line}: an interval has no single values to run; use range(...) or choice(...)"
        )
    value: Any = override.value()
    if isinstance(value, Glob):
        if key not in groups.choices:
            raise _Refused(
                f"{line}: glob chooses among the files of a config group, and {key} is none"
            )
        return value.filter(list(groups.choices[key]))
    try:
        found = list(itertools.islice(map(_as_text, override.sweep_iterator()), MOST_JOBS + 1))
    except (HydraException, ValueError) as error:
        raise _Refused(f"{line}: {error}") from None
    if not found:
        raise _Refused(f"{line}: this range holds no value")
    return found


def _as_text(element: Any) -> str:
    # An interpolation has to stay one: Hydra's own rendering would escape its braces.
    return (
        element if isinstance(element, str) and "${" in element else str(Transformer.str(element))
    )


def _twice(overrides: Sequence[Override]) -> list[str]:
    keys = [override.key_or_group for override in overrides]
    swept = {override.key_or_group for override in overrides if override.is_sweep_override()}
    return [
        f"{key}: given {keys.count(key)} times, and swept over"
        for key in sorted(swept)
        if keys.count(key) > 1
    ]


def _point(combination: Sequence[tuple[Override, str]], index: str) -> Point:
    lines: list[str] = []
    plain: list[str] = []
    name = [index]
    for override, value in combination:
        tail = f"={value}" if override.value_type is not None else ""
        key = override.key_or_group
        if key in FREE and value.startswith("{") and not _MODELS.fullmatch(key):
            lines.append(f"++{key}=null")  # else Hydra adds to what a file has there
        lines.append(override.get_key_element() + tail)
        plain.append(("~" if override.is_delete() else "") + key + tail)
        if override.is_sweep_override():
            name += [key, value]
    # No "=": readers of Parquet take a folder named key=value for a partition.
    words = [re.sub(r"[^A-Za-z0-9._]+|\.{2,}", "_", part).strip("._") for part in name]
    safe = "-".join(word for word in words if word)[:_LONGEST_NAME].rstrip("-._")
    return Point(tuple(lines), tuple(plain), safe if index else "")


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


def _check_choice(key: str, choice: str, known: Sequence[str]) -> None:
    if choice not in known:
        path = quoted_value(choice) if Path(choice).is_dir() else "/path/to/world"
        own = f"; a world of your own: env.path={path}" if key == "env" else ""
        raise _Refused(
            f"{key}={choice}: no such choice{hint(nearest(choice, known))} (there are:"
            f" {', '.join(known)}{own}{_extension(key, choice)})"
        )


def _extension(key: str, choice: str) -> str:
    """Words on a choice that is the name of an installed extension: the key that takes it."""
    with contextlib.suppress(KeyError, PluginError):
        name = _NAMED[key]
        found = EXTENSIONS[name].find(choice)
        of = f" of {found.distribution}" if found.distribution else ""
        return f"; for the {EXTENSIONS[name].kind} {choice!r}{of} use {name}={choice}"
    return ""
