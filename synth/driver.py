"""A job from its config to a sealed run directory.

    config -> plan -> [workers: prove, play, judge] -> journal -> shards -> manifest

The driver alone writes. It can be killed at any moment: what it had journaled is not run again.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from envs.folder import world_files
from synth.archive import pack_world, unpack_world
from synth.config import RunConfig, to_yaml
from synth.dataset.writer import RunWriter
from synth.errors import OperatorError, ResumeRefused
from synth.preparation import new_directory, prepare
from synth.run_files import CONFIG_FILE, TASKS_FILE, load_config, write_whole
from synth.scratch import Scratch
from synth.session import Report, Session
from synth.shipped import find_world

Json = Any


def launch(config: RunConfig, console: Console) -> Report:
    """Run a new job. Raises :class:`OperatorError` and the errors of worlds and tasks before anything is paid for."""
    if config.model.kind == "replay" and config.model.path is not None:
        recorded = Path(config.model.path).expanduser().absolute()
        config = replace(config, model=replace(config.model, path=str(recorded)))
    if config.tasks.path is not None:
        asked = Path(config.tasks.path).expanduser().absolute()
        config = replace(config, tasks=replace(config.tasks, path=str(asked)))
    run = prepare(config)
    for line in run.notes:
        console.print(f"note: {line}", markup=False, soft_wrap=True)
    if config.env.path is not None:  # a resume may come from another working directory
        config = replace(config, env=replace(config.env, path=str(run.world.path)))
        run = replace(run, config=config)
    directory = new_directory(config)
    archive = pack_world(run.world.path)

    def prepare_files(home: Path) -> None:
        (home / "world").mkdir(exist_ok=True)
        write_whole(home / "world" / f"{run.world.digest}.tar.zst", archive)
        write_whole(home / CONFIG_FILE, to_yaml(config).encode())

    writer = RunWriter.create(
        directory,
        run.layout,
        run.identity,
        max_attempts=config.runtime.max_attempts,
        prepare=prepare_files,
    )
    try:
        with writer:
            return Session(run, directory, writer, archive, console).main()
    except BaseException:
        if (directory / TASKS_FILE).exists():
            _say_how_to_go_on(directory, console)
        else:
            withdraw(directory)
        raise


def withdraw(directory: Path) -> None:
    """Take away a run that never got as far as its tasks, so that it can be launched again in the same place."""
    for name in ("world", ".synth"):
        shutil.rmtree(directory / name, ignore_errors=True)
    (directory / CONFIG_FILE).unlink(missing_ok=True)
    for each in (directory / "data", directory):
        with contextlib.suppress(OSError):  # not empty: somebody else's files
            each.rmdir()


def resume(directory: Path, changes: Mapping[str, Json], console: Console) -> Report:
    """Go on with a run. ``changes`` are dotted config keys to change; those that make the data may not.

    Raises :class:`ResumeRefused` with the difference where config or world are not those of the run.
    """
    config = load_config(directory, changes)
    archive_path = next(iter(sorted((directory / "world").glob("*.tar.zst"))), None)
    if archive_path is None:
        raise ResumeRefused(f"{directory} holds no world archive; it is not a run that can be resumed")
    archive = archive_path.read_bytes()
    with Scratch("resume") as home:
        own = unpack_world(archive, home.path / config.world_folder)
        refuse_changed_world(config, own)
        run = prepare(config, own)
        if f"{run.world.digest}.tar.zst" != archive_path.name:
            raise ResumeRefused(f"{archive_path} is damaged: its content has another digest")
        writer = RunWriter.resume(directory, run.layout, max_attempts=config.runtime.max_attempts)
        with writer:
            write_whole(directory / CONFIG_FILE, to_yaml(config).encode())
            try:
                return Session(run, directory, writer, archive, console).main()
            except BaseException:
                _say_how_to_go_on(directory, console)
                raise


def _say_how_to_go_on(directory: Path, console: Console) -> None:
    where = shlex.quote(str(directory))
    console.print(f"What has finished is kept. Go on with: synth run --resume {where}", markup=False, soft_wrap=True)


def refuse_changed_world(config: RunConfig, own: Path) -> None:
    """ResumeRefused where the world's folder still stands but is no longer what the run was made with."""
    if config.tasks.kind == "bird":
        return  # the digests of its databases say it
    try:
        folder = find_world(config.env.path or config.env.name or "")
    except OperatorError:
        return  # gone: the run has its own copy
    was = {each.relative_to(own).as_posix(): each.read_bytes() for each in world_files(own)}
    now = {each.relative_to(folder).as_posix(): each.read_bytes() for each in world_files(folder)}
    changed = [name for name in sorted(was.keys() | now.keys()) if was.get(name) != now.get(name)]
    if changed:
        raise ResumeRefused(
            f"the world {folder} changed since the run began: {', '.join(changed)}. "
            "Put it back to resume, or start a new run in another output.dir."
        )
