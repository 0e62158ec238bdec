"""The one writer of a run directory.

Nothing about progress is stored as such: after any death it is recomputed from what is on disk (the jobs that
committed shards hold, the frames of the journal), and every step can be taken again:

    row      one frame in its shard's segment
    commit   shard = old file + segment, to a temporary file, synced, footer read back, renamed; then the segment goes
    seal     commit every open shard, errors.parquet, README.md, manifest.json last; then the journal goes
    resume   the manifest goes before the first change, so that no manifest ever claims what is not there
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from synth.dataset.claim import claim_new, claim_old, let_go
from synth.dataset.durable import Fault, disk, no_fault, sync_directory
from synth.dataset.error_row import ErrorRow
from synth.dataset.errors_file import read_errors
from synth.dataset.journal import ERROR, ROW, Journal, Segment
from synth.dataset.layout import Layout
from synth.dataset.lock import RunLock
from synth.dataset.manifest import Status, build_manifest
from synth.dataset.merge import merged, shard_jobs
from synth.dataset.run_info import Identity, RunFiles, RunInfo
from synth.dataset.sealing import survey, write_claim, write_errors
from synth.dataset.shard import write_shard
from synth.dataset.tally import Census
from synth.dataset.wire import RowError, job_index
from synth.errors import DatasetError

Json = Any

STEPS: Final = (
    "create:locked",
    "create:prepared",
    "create:described",
    "resume:locked",
    "resume:described",
    "resume:seeded",
    "unsealed",
    "row:written",
    "error:written",
    "shard:written",
    "shard:synced",
    "shard:renamed",
    "segment:deleted",
    "seal:shards",
    "seal:errors",
    "seal:card",
    "seal:manifest",
    "seal:journal",
    "seal:described",
)
"""Where the hook of crash tests is called; a death at any of them, any number of times, must lose and double nothing."""

_SYNC_S: Final = 1.0
_WAITING, _ROW, _GIVEN_UP = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, in jobs. ``given_up`` are those with a terminal error."""

    jobs: int
    rows: int
    given_up: int

    @property
    def waiting(self) -> int:
        return self.jobs - self.rows - self.given_up


class RunWriter:
    """Made by :meth:`create` or :meth:`resume`; holds the run's lock until :meth:`seal` or :meth:`close`.

    Not safe for use by two threads. Whatever the disk refuses is an :class:`~synth.errors.OperatorError` with the path; the
    directory is then as it was and can be resumed. ``warnings`` says what resuming found damaged.
    """

    def __init__(self, files: RunFiles, info: RunInfo, lock: RunLock, fault: Fault) -> None:
        self.files = files
        self.info = info
        self.layout = info.layout
        self.warnings: list[str] = []
        self._lock = lock
        self._fault = fault
        self._journal = Journal(files.journal)
        self._state = bytearray(info.layout.jobs)  # one byte a job: ten million jobs are ten megabytes
        self._rows = self._given_up = 0
        self._attempts: dict[int, int] = {}
        self._open: set[int] = set()  # shards with a segment
        self._digests: dict[int, str] = {}
        self._synced = time.monotonic()
        self._sealed = files.manifest.exists()
        self._closed = False

    # -- beginning

    @classmethod
    def create(
        cls,
        directory: Path,
        layout: Layout,
        identity: Identity,
        *,
        max_attempts: int = 3,
        prepare: Callable[[Path], None] | None = None,
        fault: Fault = no_fault,
    ) -> Self:
        """Start a run in a new or empty directory.

        ``prepare`` puts the other files of a run (config, tasks, world) into the directory, under the lock and before the
        directory counts as a run: one that died before it is done is no run and may be created again. Raises
        OperatorError where the directory holds a run or anything else, ResumeRefused where another process is at it.
        """
        files, info, lock = claim_new(Path(directory), layout, identity, max_attempts, prepare, fault)
        return cls(files, info, lock, fault)

    @classmethod
    def resume(
        cls, directory: Path, layout: Layout, *, max_attempts: int | None = None, fault: Fault = no_fault
    ) -> Self:
        """Go on with a run that died, was drained, or has errors worth another attempt.

        ``max_attempts`` None keeps the run's own; a higher one gives jobs that were given up another chance. Raises
        OperatorError where there is no run, ResumeRefused where it is being written or has another layout, DatasetError
        where a committed shard is damaged.
        """
        files, info, lock = claim_old(Path(directory), layout, max_attempts, fault)
        writer = cls(files, info, lock, fault)
        try:
            writer._recover()
        except BaseException:
            writer._journal.close()
            lock.release()
            raise
        return writer

    def _recover(self) -> None:
        """Recompute the state from shards, segments and errors; commit what was finished but not committed."""
        missing: set[int] = set()
        for shard in self.layout:
            path = self.files.directory / shard.path
            if path.exists():
                for index in shard_jobs(path, shard):
                    self._mark(index, _ROW)
            else:
                missing.add(shard.number)
        for number in self._journal.shards():
            self._recover_segment(number)
        self._recover_errors()
        for number in sorted(self._open | missing):
            self._commit_if_done(number)

    def _repaired(self, path: Path) -> Segment:
        segment = self._journal.repair(path)
        if segment.damaged:
            self.warnings.append(f"{path}: {segment.damaged} damaged bytes stepped over; their jobs run again")
        return segment

    def _recover_segment(self, number: int) -> None:
        path = self._journal.shard_path(number)
        if number >= len(self.layout):
            raise DatasetError(f"{path} belongs to no shard of this run")
        jobs = self.layout.shard(number).jobs
        segment = self._repaired(path)
        for index in segment.frames:
            if index not in jobs:
                raise DatasetError(f"{path} holds job {index}, which belongs to another shard")
            self._mark(index, _ROW)
        segment.close()
        self._open.add(number)

    def _recover_errors(self) -> None:
        path = self._journal.errors_path
        segment = self._repaired(path) if path.exists() else None
        known = segment.frames if segment is not None else {}
        if segment is not None:
            for index in known:
                self._recover_error(ErrorRow.from_bytes(segment.read(index)), path)
            segment.close()
        for error in read_errors(self.files.errors) if self.files.errors.exists() else ():
            # a sealed run's errors come back into the journal: the next seal writes errors.parquet from it alone
            if error.job_index not in known:
                self._recover_error(error, self.files.errors)
                self._journal.append(path, ERROR, error.job_index, error.to_bytes())
        self._fault("resume:seeded")

    def _recover_error(self, error: ErrorRow, source: Path) -> None:
        index = error.job_index
        if not 0 <= index < self.layout.jobs:
            raise DatasetError(f"{source} holds job {index}, which is not in the plan")
        self._attempts[index] = error.attempts or 0
        if self._state[index] == _WAITING and error.is_terminal(self.info.max_attempts):
            self._mark(index, _GIVEN_UP)

    # -- while it runs

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def progress(self) -> Progress:
        return Progress(self.layout.jobs, self._rows, self._given_up)

    def unaccounted(self) -> Iterator[int]:
        """Jobs without a row and without a terminal error, in the plan's order, as it is while this is iterated."""
        index = self._state.find(_WAITING)
        while index >= 0:
            yield index
            index = self._state.find(_WAITING, index + 1)

    def attempts(self, index: int) -> int:
        """How many attempts at a job have ended in an error, over all sessions of this run."""
        return self._attempts.get(index, 0)

    def open_shards(self) -> int:
        """How many shards have rows that only the journal holds: what a driver keeps bounded."""
        return len(self._open)

    def add_row(self, index: int, row: bytes) -> bool:
        """Keep an encoded row; False where the job had one already, which is then kept. Commits its shard when that is done.

        A row is safe from the death of this process when this returns, and from a loss of power a second later.
        """
        number = self._number(index)
        if job_index(row) != index:
            raise RowError(f"the row of job {job_index(row)} was given for job {index}", "job_index")
        if self._state[index] == _ROW:
            return False
        self._unseal()
        self._journal.append(self._journal.shard_path(number), ROW, index, row)
        self._fault("row:written")
        self._mark(index, _ROW)
        self._open.add(number)
        self._sync_sometimes()
        self._commit_if_done(number)
        return True

    def add_error(self, index: int, error: ErrorRow) -> bool:
        """Keep what broke a job; True where the job is given up with it. Nothing happens where the job has its row."""
        number = self._number(index)
        if error.job_index != index:
            raise RowError(f"the error of job {error.job_index} was given for job {index}", "job_index")
        if self._state[index] == _ROW:
            return False
        self._unseal()
        error = replace(error, attempts=self.attempts(index) + 1 if error.attempts is None else error.attempts)
        self._journal.append(self._journal.errors_path, ERROR, index, error.to_bytes())
        self._fault("error:written")
        self._attempts[index] = error.attempts or 0
        self._sync_sometimes()
        if not error.is_terminal(self.info.max_attempts):
            return False
        self._mark(index, _GIVEN_UP)
        self._commit_if_done(number)
        return True

    def sync(self) -> None:
        """Make everything so far safe from a loss of power."""
        self._journal.sync()
        self._synced = time.monotonic()

    def _number(self, index: int) -> int:
        if self._closed:
            raise ValueError(f"the writer of {self.files.directory} is closed")
        return self.layout.shard_of(index)

    def _sync_sometimes(self) -> None:
        if time.monotonic() - self._synced >= _SYNC_S:
            self.sync()

    def _mark(self, index: int, state: int) -> None:
        before, self._state[index] = self._state[index], state
        self._rows += (state == _ROW) - (before == _ROW)
        self._given_up += (state == _GIVEN_UP) - (before == _GIVEN_UP)

    def _unseal(self) -> None:
        """Take the claim away before the first change."""
        if self._sealed:
            with disk(self.files.manifest, "delete"):
                self._journal.sync()
                self.files.manifest.unlink()
                sync_directory(self.files.directory)
            self._sealed = False
            self._fault("unsealed")

    # -- committing

    def _commit_if_done(self, number: int) -> None:
        shard = self.layout.shard(number)
        if self._state.find(_WAITING, shard.start, shard.stop) < 0:
            self._commit(number)

    def _commit(self, number: int) -> None:
        """Write a shard from its file, if there is one, and its segment; then delete the segment."""
        shard = self.layout.shard(number)
        path, log = self.files.directory / shard.path, self._journal.shard_path(number)
        with disk(log, "read"):
            segment = Segment(log) if log.exists() else None
        held = frozenset(shard_jobs(path, shard)) if path.exists() else None
        if held is None or (segment is not None and not segment.frames.keys() <= held):
            self._unseal()
            groups = merged(path if held else None, shard, segment)
            _, self._digests[number] = write_shard(path, groups, self.files.temporary(path), self._fault)
        if segment is not None:
            segment.close()
            self._journal.delete(log)
            self._fault("segment:deleted")
        self._open.discard(number)

    # -- ending

    def seal(self, status: Status, extra: Mapping[str, Json] | None = None) -> dict[str, Json]:
        """Write everything that is there as a valid dataset, the manifest last, and let go of the run; returns the manifest.

        ``extra`` adds keys to the manifest. errors.parquet is there only where there are errors. Raises ValueError for a
        ``complete`` run with jobs that are not accounted for.
        """
        if self._closed:
            raise ValueError(f"the writer of {self.files.directory} is closed")
        if status == "complete" and self.progress.waiting:
            raise ValueError(f"{self.progress.waiting} jobs are not accounted for: not complete")
        self._unseal()
        for number in sorted(self._open):
            self._commit(number)
        self._fault("seal:shards")
        census = Census(self.layout)
        shards = survey(self.files, self.layout, self._digests, census)
        self._write_errors(census)
        self._fault("seal:errors")
        manifest = build_manifest(self.info, status, shards, census, extra or {})
        write_claim(self.files, manifest, self._fault)
        self._sealed = True
        self._let_go()
        return manifest

    def _write_errors(self, census: Census) -> None:
        log = self._journal.errors_path
        with disk(log, "read"):
            segment = Segment(log) if log.exists() else None
        broken = sorted(index for index in (segment.frames if segment else ()) if self._state[index] != _ROW)
        write_errors(self.files, segment, broken, self.info.max_attempts, census)
        if segment is not None:
            segment.close()

    def _let_go(self) -> None:
        let_go(self.files, self._journal, self._lock, self._fault)
        self._closed = True

    def close(self) -> None:
        """Let go of the run without sealing it; it can be resumed. Safe to call twice, and after :meth:`seal`."""
        if self._closed:
            return
        if self._sealed:  # resumed, and nothing had to be done
            self._let_go()
            return
        self._closed = True
        try:
            self._journal.sync()
        finally:
            self._journal.close()
            self._lock.release()
