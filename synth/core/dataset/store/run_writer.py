"""The only writer of a run directory.

Progress is not stored. After any death it is computed from what is on disk (the jobs in committed
shards, the frames of the journal), and every step can be repeated:

- row: one frame in the segment of its shard.
- commit: the shard, from its old file and the segment, is written to a temporary file, synced, read
  back at its footer and renamed; then the segment is deleted.
- seal: every open shard is committed, then errors.parquet, README.md and manifest.json are written
  in this order; then the journal is deleted.
- resume: the manifest is deleted before the first change, so that no manifest claims more than
  there is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from envs.closing import Closing
from envs.plugins import resolve
from synth.core.dataset.store.acquire import claim_existing, claim_new, release_run
from synth.core.dataset.store.atomic_files import Fault, disk, no_fault, sync_directory
from synth.core.dataset.store.counts import RunCounts
from synth.core.dataset.store.error_row import ErrorRow
from synth.core.dataset.store.errors_file import read_errors
from synth.core.dataset.store.journal import ERROR, ROW, Journal, Segment
from synth.core.dataset.store.layout import Layout, Shard
from synth.core.dataset.store.lock import RunLock
from synth.core.dataset.store.manifest import (
    Status,
    build_manifest,
    survey,
    write_claim,
    write_errors,
)
from synth.core.dataset.store.parquet_shard import write_shard
from synth.core.dataset.store.part import merged, shard_jobs
from synth.core.dataset.store.run_info import RunFiles, RunIdentity, RunInfo
from synth.core.dataset.store.wire import RowError, job_index
from synth.core.dataset.variety import Variety
from synth.errors import DatasetError

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
"""Steps after which the hook of crash tests is called. Dying at any of them, any number of times,
must neither lose nor duplicate a row.
"""

_SYNC_S: Final = 1.0
_WAITING, _ROW, _GIVEN_UP = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run in jobs. ``given_up`` are those with a terminal error."""

    jobs: int
    rows: int
    given_up: int

    @property
    def waiting(self) -> int:
        return self.jobs - self.rows - self.given_up


class RunWriter(Closing):
    """The writer of a run directory, constructed by :meth:`create` or :meth:`resume`; it holds the
    lock of the run until :meth:`seal` or :meth:`close`.

    It is not thread-safe. A failing disk raises :class:`~synth.errors.OperatorError` with the path;
    the directory is then as it was and can be resumed. ``warnings`` describes the damage that
    resuming found.
    """

    def __init__(self, files: RunFiles, info: RunInfo, lock: RunLock, fault: Fault) -> None:
        self.files = files
        self.info = info
        self.layout = info.layout
        self.warnings: list[str] = []
        self._lock = lock
        self._fault = fault
        self._journal = Journal(files.journal)
        # One byte per job: ten megabytes for ten million jobs.
        self._state = bytearray(info.layout.jobs)
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
        identity: RunIdentity,
        *,
        max_attempts: int = 3,
        prepare: Callable[[Path], None] | None = None,
        fault: Fault = no_fault,
    ) -> Self:
        """Start a run in a new or empty directory.

        ``prepare`` writes the other files of a run (config, tasks, world) into the directory, under
        the lock and before the directory counts as a run: a start that dies before the end of it
        leaves no run and may be repeated. Raises :class:`~synth.errors.OperatorError` if the
        directory holds a run or anything else, :class:`~synth.errors.ResumeRefused` if another
        process is writing it.
        """
        files, info, lock = claim_new(
            Path(directory), layout, identity, max_attempts, prepare, fault
        )
        return cls(files, info, lock, fault)

    @classmethod
    def resume(
        cls,
        directory: Path,
        layout: Layout,
        *,
        max_attempts: int | None = None,
        restored: RunInfo | None = None,
        fault: Fault = no_fault,
    ) -> Self:
        """Continue a run that died, was stopped, or has errors worth another attempt.

        Damaged files are set aside, with warnings, and the jobs that are lost with them wait again.
        ``max_attempts`` None keeps the number of the run; a higher number retries jobs that were
        given up. ``restored`` describes a run that lost its own description. Raises
        :class:`~synth.errors.OperatorError` if there is no run,
        :class:`~synth.errors.ResumeRefused` if it is being written, has another layout or an older
        schema version.
        """
        files, info, lock = claim_existing(Path(directory), layout, max_attempts, restored, fault)
        writer = cls(files, info, lock, fault)
        try:
            writer._recover()
        except BaseException:
            writer._journal.close()
            lock.release()
            raise
        return writer

    def _recover(self) -> None:
        """Compute the state from shards, segments and errors, and commit the shards whose jobs are
        all done.
        """
        missing: set[int] = set()
        digests = resolve("synth.core.dataset.store.damage:known_digests")(self.files)
        for shard in self.layout:
            path = self.files.directory / shard.path
            if path.exists():
                self._mend(path, shard, digests.get(shard.path))
            if path.exists():
                for index in shard_jobs(path, shard):
                    self._mark(index, _ROW)
            else:
                missing.add(shard.number)
                if shard.path in digests:
                    self._unseal()
                    self.warnings.append(f"{path} is missing; its rows are made again")
        for number in self._journal.shards():
            self._recover_segment(number)
        self._recover_errors()
        for number in sorted(self._open | missing):
            self._commit_if_done(number)

    def _mend(self, path: Path, shard: Shard, sha256: str | None) -> None:
        """Set a damaged shard aside, with a warning; what can be read of it stays."""
        damage = resolve("synth.core.dataset.store.damage:damage_of")(path, shard, sha256)
        if damage is None:
            return
        self._unseal()
        mend_shard = resolve("synth.core.dataset.store.damage:mend_shard")
        aside, saved = mend_shard(self.files, path, shard)
        kept = f"{saved} rows in it are kept, the others" if saved else "its rows"
        self.warnings.append(
            f"{path} is damaged ({damage}); it was set aside as {aside}, {kept} are made again"
        )

    def _repaired(self, path: Path) -> Segment:
        segment = self._journal.repair(path)
        if segment.damaged:
            self.warnings.append(
                f"{path}: {segment.damaged} damaged bytes skipped; their jobs run again"
            )
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
        for error in self._sealed_errors():
            # The errors of a sealed run return to the journal, because the next seal writes
            # errors.parquet from the journal alone.
            if error.job_index not in known:
                self._recover_error(error, self.files.errors)
                self._journal.append(path, ERROR, error.job_index, error.to_bytes())
        self._fault("resume:seeded")

    def _sealed_errors(self) -> list[ErrorRow]:
        """Return the errors of a sealed run; a damaged file of them is set aside."""
        path = self.files.errors
        if not path.exists():
            return []
        try:
            return list(read_errors(path))
        except DatasetError as problem:
            self._unseal()
            aside = resolve("synth.core.dataset.store.damage:set_aside")(self.files, path)
            self.warnings.append(f"{problem}; it was set aside as {aside}, its jobs run again")
            return []

    def _recover_error(self, error: ErrorRow, source: Path) -> None:
        index = error.job_index
        if not 0 <= index < self.layout.jobs:
            raise DatasetError(f"{source} holds job {index}, which is not in the plan")
        self._attempts[index] = error.attempts or 0
        if self._state[index] == _WAITING and error.is_terminal(self.info.max_attempts):
            self._mark(index, _GIVEN_UP)

    # -- running

    @property
    def progress(self) -> Progress:
        return Progress(self.layout.jobs, self._rows, self._given_up)

    def still_to_play(self) -> Iterator[int]:
        """Yield the jobs without a row or a terminal error in plan order, by the state at the time
        of each step.
        """
        index = self._state.find(_WAITING)
        while index >= 0:
            yield index
            index = self._state.find(_WAITING, index + 1)

    def is_waiting(self, index: int) -> bool:
        """True for a job without a row or a terminal error."""
        return self._state[index] == _WAITING

    def attempts(self, index: int) -> int:
        """Return the number of attempts at a job that ended in an error, over all sessions of this
        run.
        """
        return self._attempts.get(index, 0)

    def add_row(self, index: int, row: bytes) -> bool:
        """Store an encoded row, and commit its shard if that was its last job.

        The row survives the death of this process when this returns, and a power failure a second
        later. Returns False if the job already has a row, which is kept.
        """
        number = self._number(index)
        if job_index(row) != index:
            raise RowError(
                f"the row of job {job_index(row)} was given for job {index}", "job_index"
            )
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
        """Store the error of a job that has no row; return True if the job is given up with it."""
        number = self._number(index)
        if error.job_index != index:
            raise RowError(
                f"the error of job {error.job_index} was given for job {index}", "job_index"
            )
        if self._state[index] == _ROW:
            return False
        self._unseal()
        error = replace(
            error, attempts=self.attempts(index) + 1 if error.attempts is None else error.attempts
        )
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
        """Make everything so far survive a power failure."""
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
        """Delete the manifest before the first change."""
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
        """Write a shard from its old file and its segment, then delete the segment."""
        shard = self.layout.shard(number)
        path, log = self.files.directory / shard.path, self._journal.shard_path(number)
        with disk(log, "read"):
            segment = Segment(log) if log.exists() else None
        held = frozenset(shard_jobs(path, shard)) if path.exists() else None
        if held is None or (segment is not None and not segment.frames.keys() <= held):
            self._unseal()
            groups = merged(path if held else None, shard, segment)
            _, self._digests[number] = write_shard(
                path, groups, self.files.temporary(path), self._fault
            )
        if segment is not None:
            segment.close()
            self._journal.delete(log)
            self._fault("segment:deleted")
        self._open.discard(number)

    # -- ending

    def seal(self, status: Status, extra: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Write everything so far as a valid dataset, the manifest last, release the run, and
        return the manifest.

        ``extra`` adds keys to the manifest. errors.parquet exists only if there are errors. Raises
        ValueError for a ``complete`` run with jobs that have to be played.
        """
        if self._closed:
            raise ValueError(f"the writer of {self.files.directory} is closed")
        if status == "complete" and self.progress.waiting:
            raise ValueError(
                f"{self.progress.waiting} jobs are not accounted for; the run is not complete"
            )
        self._unseal()
        for number in sorted(self._open):
            self._commit(number)
        self._fault("seal:shards")
        counts = RunCounts(self.layout, variety=Variety([self.files.directory]))
        shards = survey(self.files, self.layout, self._digests, counts)
        self._write_errors(counts)
        self._fault("seal:errors")
        manifest = build_manifest(self.info, status, shards, counts, extra or {})
        write_claim(self.files, manifest, self._fault)
        self._sealed = True
        self._release()
        return manifest

    def _write_errors(self, counts: RunCounts) -> None:
        log = self._journal.errors_path
        with disk(log, "read"):
            segment = Segment(log) if log.exists() else None
        broken = sorted(
            index for index in (segment.frames if segment else ()) if self._state[index] != _ROW
        )
        write_errors(self.files, segment, broken, self.info.max_attempts, counts)
        if segment is not None:
            segment.close()

    def _release(self) -> None:
        release_run(self.files, self._journal, self._lock, self._fault)
        self._closed = True

    def close(self) -> None:
        """Release the run without sealing it; it can be resumed. May be called twice, and after
        :meth:`seal`.
        """
        if self._closed:
            return
        if self._sealed:  # resumed without any work to do
            self._release()
            return
        self._closed = True
        try:
            self._journal.sync()
        finally:
            self._journal.close()
            self._lock.release()
