"""Acquisition and release of a run directory: refusals, preparation, removal of temporary files."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from envs.plugins import resolve
from synth.core.dataset.store.atomic_files import Fault, disk, sync_directory, write_file
from synth.core.dataset.store.journal import Journal
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.lock import RunLock
from synth.core.dataset.store.run_info import RunFiles, RunIdentity, RunInfo, json_bytes
from synth.errors import OperatorError, ResumeRefused


def claim_new(
    directory: Path,
    layout: Layout,
    identity: RunIdentity,
    max_attempts: int,
    prepare: Callable[[Path], None] | None,
    fault: Fault,
) -> tuple[RunFiles, RunInfo, RunLock]:
    """Turn a directory into a run, under its lock. It counts as a run only when everything in it is
    prepared.
    """
    files = RunFiles(directory)
    with disk(directory, "create"):
        if directory.exists() and not directory.is_dir():
            raise OperatorError(f"{directory} is a file: choose another output.dir")
        refuse_occupied(files)
        files.private.mkdir(parents=True, exist_ok=True)
    lock = RunLock(files.lock)
    try:
        fault("create:locked")
        with disk(directory, "create"):
            refuse_occupied(files)
            _make_folders(files)
        if prepare is not None:
            prepare(directory)
        fault("create:prepared")
        info = RunInfo(
            layout, identity, max_attempts, datetime.now(UTC).isoformat(timespec="seconds")
        )
        _describe(files, info)
        with disk(directory, "create"):
            sync_directory(directory)
            sync_directory(directory.absolute().parent)
        fault("create:described")
    except BaseException:
        lock.release()
        raise
    return files, info, lock


def claim_existing(
    directory: Path,
    layout: Layout,
    max_attempts: int | None,
    restored: RunInfo | None,
    fault: Fault,
) -> tuple[RunFiles, RunInfo, RunLock]:
    """Acquire a run for resuming: remove half-written files, change nothing else.

    ``restored`` describes a run whose own description cannot be read.
    """
    files = RunFiles(directory)
    if restored is None and not files.holds_run():
        raise OperatorError(f"{directory} holds no run to resume")
    with disk(directory):
        files.private.mkdir(exist_ok=True)
    lock = RunLock(files.lock)
    try:
        fault("resume:locked")
        info = files.info() if restored is None else restored
        if info.layout != layout:
            raise ResumeRefused(
                f"{directory} is laid out as {info.layout.to_json()}, this job as"
                f" {layout.to_json()}"
            )
        if max_attempts is not None:
            info = replace(info, max_attempts=max_attempts)
        with disk(directory):
            _make_folders(files)
            for path in files.scratch.iterdir():
                path.unlink()
        _describe(files, info)
        if restored is not None and files.manifest.exists():
            resolve("synth.core.dataset.store.damage:set_aside")(files, files.manifest)
        fault("resume:described")
    except BaseException:
        sealed = not files.run.exists()
        lock.release(remove=sealed)
        if sealed:  # refused: leave a finished run as it was
            _remove_if_empty(files.private)
        raise
    return files, info, lock


def release_run(files: RunFiles, journal: Journal, lock: RunLock, fault: Fault) -> None:
    """Remove the files of a live run once the manifest is written. Log files of other modules in
    .synth stay.
    """
    with disk(files.private, "delete"):
        for number in journal.shards():
            journal.delete(journal.shard_path(number))
        journal.delete(journal.errors_path)
        fault("seal:journal")
        files.run.unlink(missing_ok=True)
        fault("seal:described")
        for path in (files.journal, files.scratch):
            _remove_if_empty(path)
        lock.release(remove=True)
        _remove_if_empty(files.private)


def _make_folders(files: RunFiles) -> None:
    for path in (files.data, files.journal, files.scratch):
        path.mkdir(exist_ok=True)


def _describe(files: RunFiles, info: RunInfo) -> None:
    write_file(files.run, json_bytes(info.to_json()), files.temporary(files.run))


def _remove_if_empty(path: Path) -> None:
    try:
        path.rmdir()
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT}:
            raise


def refuse_occupied(files: RunFiles) -> None:
    """Refuse a directory that is neither empty nor the remains of a start that died before the run
    was described.
    """
    directory = files.directory
    if files.holds_run():
        raise OperatorError(
            f"{directory} already holds a run: continue it with --resume {directory}, or choose"
            " another output.dir"
        )
    names = {path.name for path in directory.iterdir()} if directory.exists() else set[str]()
    if names and (files.private.name not in names or any(files.data.glob("*.parquet"))):
        raise OperatorError(f"{directory} is not empty and holds no run: choose another output.dir")
