"""Taking hold of a run directory and letting go of it: what is refused, what is prepared, what is cleaned away."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from synth.dataset.durable import Fault, disk, sync_directory, write_file
from synth.dataset.journal import Journal
from synth.dataset.layout import Layout
from synth.dataset.lock import RunLock
from synth.dataset.run_info import Identity, RunFiles, RunInfo
from synth.errors import OperatorError, ResumeRefused


def claim_new(
    directory: Path,
    layout: Layout,
    identity: Identity,
    max_attempts: int,
    prepare: Callable[[Path], None] | None,
    fault: Fault,
) -> tuple[RunFiles, RunInfo, RunLock]:
    """Make a directory a run, under its lock; it counts as one only when everything in it is prepared."""
    files = RunFiles(directory)
    with disk(directory, "create"):
        if directory.exists() and not directory.is_dir():
            raise OperatorError(f"{directory} is a file: choose another output.dir")
        _refuse_occupied(files)
        files.private.mkdir(parents=True, exist_ok=True)
    lock = RunLock(files.lock)
    try:
        fault("create:locked")
        with disk(directory, "create"):
            _refuse_occupied(files)
            _make_places(files)
        if prepare is not None:
            prepare(directory)
        fault("create:prepared")
        info = RunInfo(layout, identity, max_attempts, datetime.now(UTC).isoformat(timespec="seconds"))
        _describe(files, info)
        with disk(directory, "create"):
            sync_directory(directory)
            sync_directory(directory.absolute().parent)
        fault("create:described")
    except BaseException:
        lock.release()
        raise
    return files, info, lock


def claim_old(
    directory: Path, layout: Layout, max_attempts: int | None, fault: Fault
) -> tuple[RunFiles, RunInfo, RunLock]:
    """Take hold of a run that was begun before; removes half-written files, changes nothing else."""
    files = RunFiles(directory)
    if not files.holds_run():
        raise OperatorError(f"{directory} holds no run to resume")
    with disk(directory):
        files.private.mkdir(exist_ok=True)
    lock = RunLock(files.lock)
    try:
        fault("resume:locked")
        info = files.info()
        if info.layout != layout:
            raise ResumeRefused(f"{directory} is laid out as {info.layout.to_json()}, this job as {layout.to_json()}")
        if max_attempts is not None:
            info = replace(info, max_attempts=max_attempts)
        with disk(directory):
            _make_places(files)
            for path in files.scratch.iterdir():
                path.unlink()
        _describe(files, info)
        fault("resume:described")
    except BaseException:
        sealed = not files.run.exists()
        lock.release(remove=sealed)
        if sealed:  # refused: leave a finished run as it was
            _remove_if_empty(files.private)
        raise
    return files, info, lock


def let_go(files: RunFiles, journal: Journal, lock: RunLock, fault: Fault) -> None:
    """Remove what only a living run needs, once the manifest stands; logs of others in .synth stay."""
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


def _make_places(files: RunFiles) -> None:
    for path in (files.data, files.journal, files.scratch):
        path.mkdir(exist_ok=True)


def _describe(files: RunFiles, info: RunInfo) -> None:
    data = json.dumps(info.to_json(), indent=2, ensure_ascii=False).encode()
    write_file(files.run, data, files.temporary(files.run))


def _remove_if_empty(path: Path) -> None:
    try:
        path.rmdir()
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT}:
            raise


def _refuse_occupied(files: RunFiles) -> None:
    """Refuse a directory that is neither empty nor what a death before the run was described leaves."""
    directory = files.directory
    if files.holds_run():
        raise OperatorError(
            f"{directory} already holds a run: continue it with --resume {directory}, or choose another output.dir"
        )
    names = {path.name for path in directory.iterdir()} if directory.exists() else set[str]()
    if names and (files.private.name not in names or any(files.data.glob("*.parquet"))):
        raise OperatorError(f"{directory} is not empty and holds no run: choose another output.dir")
