"""The files of a run directory that are not the dataset: config, world archive, tasks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from synth.config import RunConfig, difference, fingerprint, from_dict, to_dict
from synth.dataset.durable import write_file
from synth.errors import OperatorError, ResumeRefused

Json = Any

TASKS_FILE = "tasks.parquet"
CONFIG_FILE = "config.yaml"


def load_config(directory: Path, changes: Mapping[str, Json]) -> RunConfig:
    """A run's own config with changes to keys that do not make the data.

    Raises :class:`OperatorError` where there is no run, :class:`ResumeRefused` with the difference where a change
    would make other data.
    """
    file = directory / CONFIG_FILE
    if not directory.is_dir():
        raise OperatorError(f"{directory}: there is no such directory")
    if not file.is_file():
        raise OperatorError(f"{directory} holds no run: there is no {CONFIG_FILE} in it")
    try:
        raw: Any = yaml.safe_load(file.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise OperatorError(f"{file} is not valid YAML: {error}") from None
    if not isinstance(raw, dict):
        raise OperatorError(f"{file} is not the config of a run")
    before = from_dict(cast("dict[str, Json]", raw))
    after = from_dict(changed(to_dict(before), changes))
    if fingerprint(before)[0] != fingerprint(after)[0]:
        lines = "\n  ".join(difference(before, after))
        raise ResumeRefused(f"{directory} was made with another config, which a resume may not change:\n  {lines}")
    return after


def changed(raw: Mapping[str, Json], changes: Mapping[str, Json]) -> dict[str, Json]:
    """A nested dict with values put in at dotted keys."""
    out = dict(raw)
    for dotted, value in changes.items():
        head, _, rest = dotted.partition(".")
        inner = out.get(head)
        nested = cast("dict[str, Json]", inner) if isinstance(inner, Mapping) else dict[str, Json]()
        out[head] = changed(nested, {rest: value}) if rest else value
    return out


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there in full or not at all. Raises :class:`OperatorError` where the disk refuses."""
    write_file(path, data, path.with_name(f".{path.name}.tmp"))
