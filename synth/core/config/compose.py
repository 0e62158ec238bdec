"""Hydra, kept behind one function: overrides in, checked configs out.

Hydra's ``compose`` stops at the first bad override, refuses sweeps, and its ``main`` writes
overrides, keys included, to three files. So the overrides are parsed first, all that is wrong with
them is said at once, sweeps are split here, and only sound overrides reach Hydra.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import yaml
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra._internal.config_repository import ConfigRepository
from hydra._internal.defaults_list import DefaultsList
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from synth.config import KEYS, SECTIONS, RunConfig, from_dict, problems, to_dict
from synth.core.config.overrides import Groups, ParsedOverrides, read_overrides
from synth.core.config.rules import walk
from synth.core.config.sweep import Point, points
from synth.core.foundation.credentials import ADVICE, is_secret_variable, known_secrets, redact
from synth.core.foundation.shipped import configs_dir
from synth.core.foundation.suggestions import hint, nearest_key
from synth.errors import ConfigProblems

PRIMARY = "run"

_FROM_ENVIRONMENT = re.compile(r"\boc\.env\s*:\s*['\"]?([A-Za-z_][A-Za-z0-9_]*)")
_LONG = 16  # a shorter secret may be part of an innocent word


@dataclass(frozen=True, slots=True)
class Composed:
    """One job of the command line: its config, the overrides that made it, and the name of its
    subdirectory.

    ``directory`` is a single safe path component, unique within the sweep; empty without a sweep.
    """

    config: RunConfig
    overrides: tuple[str, ...] = ()
    directory: str = ""


def compose(
    overrides: Sequence[str],
    *,
    multirun: bool = False,
    config_dir: Path | None = None,
    config_name: str = PRIMARY,
) -> list[Composed]:
    """The checked configs that the overrides describe: one, or with ``multirun`` one for each point
    of the sweep.

    ``config_dir`` is a folder with config groups of the user's own, as is each of
    ``hydra.searchpath=[...]``; what ships is found first. ``config_name`` is the primary config.
    Raises ConfigProblems with everything that is wrong with overrides, files and values.
    """
    home, beside = _homes(config_name, config_dir)
    with _hydra(home):
        reading = read_overrides(
            overrides, partial(_groups, config_name), multirun=multirun, config_dir=beside
        )
        lines = list(reading.problems)
        jobs, of_sweep = points(reading.overrides, reading.groups, multirun=multirun)
        lines += of_sweep
        refused = bool(lines)
        composed: list[Composed] = []
        for point in jobs:
            raw, found = _compose_one(config_name, reading, point)
            if not found:
                # A refused override leaves a hole, of which the rules between keys must not
                # complain.
                found = [
                    _as_typed(line, point.overrides) for line in problems(raw, rules=not refused)
                ]
            if not found and not refused:
                composed.append(Composed(from_dict(raw), point.overrides, point.directory))
            lines += [line for line in found if line not in lines]
    if lines:
        raise ConfigProblems(lines)
    return _apart(composed)


def _as_typed(line: str, overrides: Sequence[str]) -> str:
    """Return a problem with the number that the operator typed (``1e10``), where Hydra's grammar
    made another text of it.
    """
    for override in overrides:
        key, _, text = override.lstrip("+").partition("=")
        with suppress(ValueError):
            if line.startswith(f"{key}: "):
                line = line.replace(f", not {float(text)!r}", f", not {text}")
    return line


def _apart(jobs: list[Composed]) -> list[Composed]:
    """Jobs that share ``output.dir`` get their subdirectories of it; those that name one each keep
    what they name.

    Without ``output.dir`` nothing is shared: each run makes a new directory of its own.
    """
    given = [job.config.output.dir for job in jobs if job.config.output.dir is not None]
    if len(given) == len(set(given)):
        return jobs

    def moved(job: Composed) -> Composed:
        if job.config.output.dir is None:
            return job
        output = replace(job.config.output, dir=str(Path(job.config.output.dir) / job.directory))
        return replace(job, config=replace(job.config, output=output))

    return [moved(job) for job in jobs]


def print_config(
    composed: Sequence[Composed], *, package: str | None = None, as_json: bool = False
) -> str:
    """The configs as YAML, a document each; what ``--cfg`` shows and, for one, what config.yaml
    holds. ``package`` is a dotted section that is shown alone.

    With ``as_json`` a JSON object, or an array of them for a sweep.
    """
    shown = [_section(to_dict(job.config), package) for job in composed]
    if as_json:
        whole = shown if any(job.directory for job in composed) else shown[0]
        return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    documents: list[str] = []
    for job, value in zip(composed, shown, strict=True):
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True).removesuffix("...\n")
        documents.append(f"# {job.directory}\n{text}" if job.directory else text)
    return "---\n".join(documents)


def _section(config: dict[str, Any], package: str | None) -> Any:
    value: Any = config
    for name in (package or "").split(".") if package else ():
        if not isinstance(value, dict) or name not in value:
            near = hint(nearest_key(f"{package}", (*KEYS, *SECTIONS)))
            raise ConfigProblems([f"--package: unknown section {package}{near}"])
        value = cast("dict[str, Any]", value)[name]
    return value


def describe(
    overrides: Sequence[str], *, config_dir: Path | None = None, config_name: str = PRIMARY
) -> str:
    """The origin of a config: the search path, and the files that are composed, in order.

    Raises ConfigProblems for overrides that cannot be used.
    """
    home, beside = _homes(config_name, config_dir)
    with _hydra(home):
        reading = read_overrides(
            overrides, partial(_groups, config_name), multirun=False, config_dir=beside
        )
        if reading.problems:
            raise ConfigProblems(list(reading.problems))
        jobs, of_sweep = points(reading.overrides, reading.groups, multirun=False)
        if of_sweep:
            raise ConfigProblems(of_sweep)
        lines = [*reading.search_path, *jobs[0].lines]
        chosen = _defaults(config_name, lines)
        given = re.findall(r"'file://([^']*)'", "".join(reading.search_path))
        files = [
            f"  {entry.config_path}" + (f" -> {entry.package}" if entry.package else "")
            for entry in chosen.defaults
            if entry.config_path is not None and not entry.config_path.startswith("hydra")
        ]
        groups = [
            f"  {group}: {', '.join(names)}"
            for group, names in sorted(reading.groups.choices.items())
        ]
    return "\n".join(
        [
            "search path:",
            *(f"  {folder}" for folder in (home, *given)),
            "composed, in this order (a later file wins):",
            *files,
            "config groups:",
            *groups,
            "",
        ]
    )


@contextmanager
def _hydra(home: Path) -> Generator[None]:
    """Hydra with our configs. Within a Hydra application of the user's, that one is set aside."""
    instance = GlobalHydra.instance()
    outer = instance.hydra
    instance.clear()
    try:
        with initialize_config_dir(str(home), job_name="synth", version_base="1.3"):
            yield
    finally:
        GlobalHydra.instance().hydra = outer


def _homes(config_name: str, config_dir: Path | None) -> tuple[Path, Path | None]:
    """The folder of the primary config, and another one to search.

    Hydra finds a primary config in its first folder only.
    """
    if config_dir is not None:
        own = config_dir.expanduser().resolve()
        if (own / f"{config_name}.yaml").is_file():
            return own, configs_dir()
    return configs_dir(), config_dir


def _defaults(primary: str, lines: Sequence[str]) -> DefaultsList:
    """Hydra's list of the files that it composes. Raises ConfigProblems for a missing one."""
    loader = GlobalHydra.instance().config_loader()
    try:
        return loader.compute_defaults_list(primary, list(lines), RunMode.RUN)
    except HydraException as error:
        raise ConfigProblems([_hydra_message(error)]) from None


def _groups(primary: str, search_path: Sequence[str]) -> Groups:
    loader = GlobalHydra.instance().config_loader()
    # The loader's own method reads the whole config again each time, for a search path in it.
    repository: ConfigRepository | None = None if search_path else cast("Any", loader).repository

    def options(parent: str, kind: ObjectType) -> list[str]:
        if repository is not None:
            return repository.get_group_options(parent, kind)
        return loader.get_group_options(parent, kind, config_name=None, overrides=list(search_path))

    found: dict[str, tuple[str, ...]] = {}
    waiting = [""]
    while waiting:
        parent = waiting.pop()
        for name in options(parent, ObjectType.GROUP):
            group = f"{parent}/{name}" if parent else name
            if group != "hydra":
                waiting.append(group)
                found[group] = tuple(sorted(set(options(group, ObjectType.CONFIG))))

    @cache
    def default() -> frozenset[str]:
        return frozenset(_defaults(primary, search_path).overrides.known_choices)

    return Groups({group: choices for group, choices in found.items() if choices}, default)


def _compose_one(
    primary: str, reading: ParsedOverrides, point: Point
) -> tuple[dict[str, Any], list[str]]:
    """The plain dict of one point, and what was wrong on the way to it."""
    try:
        node = hydra_compose(primary, overrides=[*reading.search_path, *point.lines])
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, ValueError) as error:
        return {}, [_hydra_message(error)]
    _choose_world(node, {override.key_or_group for override in reading.overrides})
    unresolved: dict[str, str] = {}
    raw = _resolved(node, "", unresolved)
    return raw, list((unresolved | _leaks(node, raw)).values())


def _hydra_message(error: BaseException) -> str:
    """Hydra's message with its cause's, on one line and without secrets."""
    chain = [error, error.__cause__] if error.__cause__ is not None else [error]
    # Hydra ends some messages with its search path: every folder it knows, on a line each.
    parts = [" ".join(str(link).partition("Config search path")[0].split()) for link in chain]
    return redact(": ".join(part for part in parts if part))


def _choose_world(node: DictConfig, given: AbstractSet[str]) -> None:
    """``env.path=...`` replaces the world that the defaults name, unless one was named beside
    it.
    """
    if (
        "env.path" in given
        and not {"env", "env.name"} & given
        and OmegaConf.select(node, "env.path") is not None
    ):
        OmegaConf.update(node, "env.name", None, force_add=True)


def _resolved(node: DictConfig, prefix: str, found: dict[str, str]) -> dict[str, Any]:
    """The plain dict of a node, interpolations resolved; for each key that cannot be, a line in
    ``found``.
    """
    out: dict[str, Any] = {}
    for name in node:
        key = f"{prefix}{name}"
        try:
            if OmegaConf.is_missing(node, name):
                found[key] = f"{key}: must be given (it is ??? in the config)"
                continue
            value = node[name]
            if isinstance(value, DictConfig):
                out[cast("str", name)] = _resolved(value, f"{key}.", found)
            elif isinstance(value, ListConfig):
                out[cast("str", name)] = OmegaConf.to_container(value, resolve=True)
            else:
                out[cast("str", name)] = value
        except OmegaConfBaseException as error:
            found[key] = f"{key}: {redact(str(error).splitlines()[0])}"
    return out


def _leaks(node: DictConfig, raw: Mapping[str, Any]) -> dict[str, str]:
    """A line for each value that would carry a secret of the environment into config.yaml, the
    manifest and logs.
    """
    lines: dict[str, str] = {}
    for key, value in walk(OmegaConf.to_container(node, resolve=False)):
        for name in _FROM_ENVIRONMENT.findall(value) if isinstance(value, str) else ():
            if is_secret_variable(name):
                lines[key] = f"{key}: this would store what {name} holds: {ADVICE}"
    secrets = known_secrets()
    for key, value in walk(raw):
        for secret, name in secrets.items() if isinstance(value, str) else ():
            if value == secret or (len(secret) >= _LONG and secret in value):
                lines.setdefault(key, f"{key}: this is what {name} holds: {ADVICE}")
    return lines
