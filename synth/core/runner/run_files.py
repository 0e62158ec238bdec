"""Files of a run directory beside the dataset: config, world archive and tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from envs.errors import WorldError
from envs.unreadable import unreadable
from envs.world.loader import World, world_digest
from synth.config import RunConfig, from_dict, to_dict
from synth.core.config.fingerprints import difference
from synth.core.dataset.store.atomic_files import write_file
from synth.core.dataset.store.parquet_shard import remedy
from synth.core.dataset.store.task_table import read_gate_names, write_tasks
from synth.core.dataset.store.wire import json_text
from synth.core.foundation.archive import unpack_world
from synth.core.foundation.consent import (
    Consent,
    config_part,
    remember,
    require_consent,
    tasks_part,
    world_part,
)
from synth.core.foundation.scrubber import Scrubber
from synth.core.renaming.opening import opening_of, rules_of, tools_of
from synth.errors import DatasetError, OperatorError, ResumeRefused
from synth.task import Task

TASKS_FILE = "tasks.parquet"
CONFIG_FILE = "config.yaml"


def load_config(directory: Path, changes: Mapping[str, object]) -> RunConfig:
    """The config of a run, with changes to keys that do not affect the data.

    Raises :class:`OperatorError` if there is no run, and :class:`ResumeRefused` with the difference
    if a change would affect the data.
    """
    return with_changes(directory, from_dict(_read(directory)), changes)


def with_changes(directory: Path, before: RunConfig, changes: Mapping[str, object]) -> RunConfig:
    """The config of a run with changes.

    Raises :class:`ResumeRefused` with the difference if a change would affect the data.
    """
    after = from_dict(changed(to_dict(before), changes))
    if lines := "\n  ".join(difference(before, after)):
        raise ResumeRefused(
            f"{directory} was made with another config, which a resume may not change:\n  {lines}"
        )
    return after


def recorded_config(directory: Path) -> RunConfig:
    """The config of a run that is not continued: its extensions need not be installed.

    Raises :class:`OperatorError` if there is no run.
    """
    return from_dict(_read(directory), installed=False)


def recorded_world(directory: Path, into: Path, consent: Consent) -> Path:
    """Unpack the world of a recorded run, if ``consent`` is given to a stranger's code in it, its
    config and its tasks; nothing is executed here.

    Raises :class:`DatasetError` where the archive or the tasks are missing or damaged, and
    :class:`~synth.errors.UntrustedCode`.
    """
    archives, tasks = sorted((directory / "world").glob("*.tar.zst")), directory / TASKS_FILE
    if len(archives) != 1 or not tasks.is_file():
        raise DatasetError(
            f"{directory}: to play it again takes world/<digest>.tar.zst and {TASKS_FILE};"
            " this directory lacks them"
        )
    archive = archives[0].read_bytes()
    try:
        folder = unpack_world(archive, into)
        if world_digest(folder) != archives[0].name.split(".")[0]:
            raise WorldError("its digest is not its name")
    except WorldError as error:
        advice = remedy(archives[0].parent)
        raise DatasetError(f"{archives[0]} is damaged: {error.message}{advice}") from error
    config = config_part((directory / CONFIG_FILE).read_bytes())
    parts = [world_part(archive), config, tasks_part(tasks, read_gate_names(tasks))]
    require_consent(directory, parts, consent)
    return folder


def _read(directory: Path) -> dict[str, Any]:
    file = directory / CONFIG_FILE
    if not directory.is_dir():
        raise OperatorError(f"{directory}: no such directory")
    if not file.is_file():
        raise OperatorError(f"{directory} holds no run: it lacks {CONFIG_FILE}")
    try:
        raw: Any = yaml.safe_load(file.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise OperatorError(f"{file}: {unreadable(error, 'valid YAML')}{remedy(file)}") from None
    if not isinstance(raw, dict):
        raise OperatorError(f"{file} is not the config of a run{remedy(file)}")
    return cast("dict[str, Any]", raw)


def changed(raw: Mapping[str, Any], changes: Mapping[str, object]) -> dict[str, Any]:
    """A copy of a nested dict with the values at dotted keys replaced."""
    out = dict(raw)
    for dotted, value in changes.items():
        head, _, rest = dotted.partition(".")
        inner = out.get(head)
        nested = cast("dict[str, Any]", inner) if isinstance(inner, Mapping) else dict[str, Any]()
        out[head] = changed(nested, {rest: value}) if rest else value
    return out


def write_whole(path: Path, data: bytes) -> None:
    """Write a file completely or not at all.

    Raises :class:`OperatorError` if the disk refuses.
    """
    write_file(path, data, path.with_name(f".{path.name}.tmp"))


def write_world(directory: Path, world: World, archive: bytes, config: bytes) -> None:
    """Write the world and the config of a run; they are this machine's own from now on."""
    (directory / "world").mkdir(exist_ok=True)
    write_whole(directory / "world" / f"{world.digest}.tar.zst", archive)
    write_whole(directory / CONFIG_FILE, config)
    remember([world_part(archive), config_part(config)])


def write_proved(directory: Path, world: World, tasks: Iterable[Task], scrubber: Scrubber) -> None:
    """Write the proved tasks of a run, without its secrets, which a world may hold or tell."""
    rows = (_scrubbed(task_row(task, world), scrubber) for task in tasks)
    write_tasks(directory / TASKS_FILE, rows)
    remember([tasks_part(directory / TASKS_FILE, ())])


def _scrubbed(row: dict[str, object], scrubber: Scrubber) -> dict[str, object]:
    holds = scrubber and scrubber.in_bytes(json_text(row).encode())
    return scrubber.value(row) if holds else row


def task_row(task: Task, world: World) -> dict[str, object]:
    """The row of tasks.parquet: what is asked, and what it is judged by."""
    return {
        "task_id": task.id,
        "family": task.family,
        "case": task.case,
        "env": task.env,
        "env_digest": world.digest,
        "split": task.split,
        "universe": task.universe,
        "key": task.key,
        "slots": dict(task.slots),
        "prompt": task.prompt,
        "system": rules_of(task),
        "messages": opening_of(task),
        "tools": tools_of(task, [world.toolbox]),
        "answer": task.answer,
        "gold": [step.to_json() for step in task.gold],
        "checks": {
            "compare": dict(task.rules.compare),
            "compare_answer": dict(task.rules.compare_answer),
            "form": task.form,
            "gates": [gate.to_json() for gate in task.gates],
            "oracle": dict(task.oracle),
            "end": None if task.end is None else task.end.to_json(),
        },
        "task": task.to_json(),
        "now": task.now,
        "seed": task.seed,
    }
