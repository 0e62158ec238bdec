"""Hydra, kept behind one function: overrides in, checked configs out.

Hydra's ``compose`` stops at the first bad override, refuses sweeps, and its ``main`` writes
overrides, keys included, to three files. So the overrides are parsed first, all that is wrong with
them is said at once, and only sound overrides reach Hydra.
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
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from synth.config import KEYS, SECTIONS, RunConfig, from_dict, problems, to_dict
from synth.core.config.overrides import SEARCH_PATH, Groups, ParsedOverrides, Point, read_overrides
from synth.core.config.rules import walk
from synth.core.foundation.credentials import ADVICE, is_secret_variable, known_secrets, redact
from synth.core.foundation.shipped import config_groups, configs_dir
from synth.core.foundation.suggestions import hint, nearest_key
from synth.errors import ConfigProblems

PRIMARY = "run"

_WORLD_ELSEWHERE = re.compile(r"^env=(?=[a-z]+:)")
"""``env=hf:org/name`` names a place, no config of the group."""

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
    overrides = [_WORLD_ELSEWHERE.sub("env.path=", line) for line in overrides]
    with _reading(overrides, multirun, config_dir, config_name) as (_, reading):
        lines = list(reading.problems)
        composed: list[Composed] = []
        for point in reading.points:
            raw, found = _compose_one(config_name, reading, point)
            if not found:
                # A refused override leaves a hole, of which the rules between keys must not
                # complain.
                found = [
                    _as_typed(line, point.overrides)
                    for line in problems(raw, rules=not reading.problems)
                ]
            if not found and not reading.problems:
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
    with _reading(overrides, False, config_dir, config_name) as (home, reading):
        if reading.problems:
            raise ConfigProblems(list(reading.problems))
        chosen = _defaults(
            config_name, [*_searching(reading.search_path), *reading.points[0].lines]
        )
        files = [
            f"{entry.config_path}" + (f" -> {entry.package}" if entry.package else "")
            for entry in chosen.defaults
            if entry.config_path is not None and not entry.config_path.startswith("hydra")
        ]
    shown = {
        "search path": [home, *(folder.removeprefix("file://") for folder in reading.search_path)],
        "composed, in this order (a later file wins)": files,
        "config groups": [
            f"{group}: {', '.join(names)}"
            for group, names in sorted(reading.groups.choices.items())
        ],
    }
    return "".join(
        f"{title}:\n" + "".join(f"  {line}\n" for line in lines) for title, lines in shown.items()
    )


def store(group: str = "synth", name: str = "schema") -> None:
    """Register every key and default in Hydra's ConfigStore, for ``defaults: [{synth: schema}]``
    of a Hydra application.

    The section ``group`` of the composed config is then what ``synth.run`` takes and checks.
    """
    ConfigStore.instance().store(name, to_dict(RunConfig()), group=group, provider="synth")


@contextmanager
def _reading(
    overrides: Sequence[str], multirun: bool, config_dir: Path | None, config_name: str
) -> Generator[tuple[Path, ParsedOverrides]]:
    """Hydra with the folder of the primary config, and the overrides as they are read in it.

    Hydra finds a primary config in its first folder only. A Hydra application of the user's, within
    which this may be, is set aside.
    """
    home = configs_dir()
    if config_dir is not None and (config_dir.expanduser() / f"{config_name}.yaml").is_file():
        home, config_dir = config_dir.expanduser().resolve(), home
    instance = GlobalHydra.instance()
    outer = instance.hydra
    instance.clear()
    try:
        with initialize_config_dir(str(home), job_name="synth", version_base="1.3"):
            groups_in = partial(_groups, config_name, home)
            yield (
                home,
                read_overrides(overrides, groups_in, multirun=multirun, config_dir=config_dir),
            )
    finally:
        GlobalHydra.instance().hydra = outer


def _searching(folders: Sequence[str]) -> list[str]:
    """The override by which Hydra searches these folders as well."""
    quoted = ",".join(QuotedString(folder, Quote.single).with_quotes() for folder in folders)
    return [f"{SEARCH_PATH}=[{quoted}]"] if folders else []


def _defaults(primary: str, lines: Sequence[str]) -> Any:
    """Hydra's list of the files that it composes. Raises ConfigProblems for a missing one."""
    loader = GlobalHydra.instance().config_loader()
    try:
        return loader.compute_defaults_list(primary, list(lines), RunMode.RUN)
    except HydraException as error:
        raise ConfigProblems([_hydra_message(error)]) from None


def _groups(primary: str, home: Path, folders: Sequence[str]) -> Groups:
    @cache
    def known() -> frozenset[str]:
        return frozenset(_defaults(primary, _searching(folders)).overrides.known_choices)

    @cache
    def listed() -> str:
        return (home / f"{primary}.yaml").read_text(encoding="utf-8")

    def is_composed(group: str) -> bool:
        # Hydra reads all files to know its groups; most stand in the list of the first file.
        return f"\n- {group}: " in listed() or group in known()

    given = (Path(folder.removeprefix("file://")) for folder in folders)
    return Groups(config_groups([home, *given]), is_composed)


def _compose_one(
    primary: str, reading: ParsedOverrides, point: Point
) -> tuple[dict[str, Any], list[str]]:
    """The plain dict of one point, and what was wrong on the way to it."""
    try:
        node = hydra_compose(primary, overrides=[*_searching(reading.search_path), *point.lines])
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, ValueError) as error:
        return {}, [_hydra_message(error)]
    _choose_world(node, reading.keys)
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
