"""Reading a dataset in whatever state it is: complete, partial, growing, or left behind by a death.

Never writes and never waits. A living run is read as a snapshot: the journal's segments are opened first and the shards are
looked for afterwards, so that a shard that is committed in between is seen in one of the two and counted once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Literal, Self

import pyarrow as pa

from synth.dataset.error_row import ErrorRow
from synth.dataset.errors_file import read_errors
from synth.dataset.journal import Journal, Segment, segment_numbers
from synth.dataset.lock import is_held
from synth.dataset.manifest import read_manifest
from synth.dataset.part import Part
from synth.dataset.query import matching, mentioned
from synth.dataset.record import SCHEMA, empty, error_values
from synth.dataset.run_info import RunFiles, RunInfo
from synth.dataset.shard import file_digest
from synth.dataset.wire import to_values
from synth.errors import DatasetError
from synth.nearest import hint, nearest

Json = Any
Status = Literal["complete", "partial", "running", "interrupted"]

_DEFAULT_ATTEMPTS = 3
_JOB_DIGITS = 7  # up to here a number means a place in the plan, beyond it an id


class Dataset:
    """Made by :meth:`open`. Whatever cannot be read is a :class:`~synth.errors.DatasetError` that names the file.

    ``manifest`` and ``info`` are None where there are none; plain Parquet files make no claim and have the status
    ``complete``. ``warnings`` says what in the journal of a run was damaged.
    """

    def __init__(
        self,
        path: Path,
        status: Status,
        parts: Sequence[Part],
        manifest: dict[str, Json] | None = None,
        info: RunInfo | None = None,
        error_log: Segment | None = None,
    ) -> None:
        self.path = path
        self.status: Status = status
        self.manifest = manifest
        self.info = info
        self._parts = list(parts)
        self._error_log = error_log
        logs = [part.segment for part in parts] + [error_log]
        self.warnings = [f"{log.path}: {log.damaged} damaged bytes stepped over" for log in logs if log and log.damaged]
        self._count: int | None = None

    # -- opening

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a run directory, one ``.parquet`` file of one, or a directory of such files."""
        path = Path(path)
        if path.is_file():
            part = Part(path)
            part.count()
            return cls(path, "complete", [part])
        if not path.is_dir():
            raise DatasetError(f"{path} does not exist")
        files = RunFiles(path)
        if not files.holds_run():
            return cls._open_plain(path)
        try:
            return cls._open_run(files)
        except DatasetError:
            # a run that was sealed or taken up again while it was opened stands still in another form by now
            return cls._open_run(files)

    @classmethod
    def _open_plain(cls, path: Path) -> Self:
        files = RunFiles(path)
        found = sorted(files.data.glob("*.parquet"))
        found = found or sorted(file for file in path.glob("*.parquet") if file not in {files.tasks, files.errors})
        if not found:
            runs = [child for child in sorted(path.iterdir()) if child.is_dir() and RunFiles(child).holds_run()]
            below = f"; runs in it: {', '.join(str(child) for child in runs[-5:])}" if runs else ""
            raise DatasetError(f"{path} holds no dataset{below}")
        parts = [Part(file) for file in found]
        dataset = cls(path, "complete", parts)
        dataset._count = sum(part.count() for part in parts)
        return dataset

    @classmethod
    def _open_run(cls, files: RunFiles) -> Self:
        held = is_held(files.lock)
        if not files.manifest.exists():
            return cls._open_living(files, "running" if held else "interrupted")
        manifest = read_manifest(files.directory)
        info = RunInfo.from_json(manifest, files.manifest)
        shards = {shard.path: shard for shard in info.layout}
        parts: list[Part] = []
        for entry in manifest["shards"]:
            name = str(entry["path"])
            path = files.directory / PurePosixPath(name)
            if name not in shards:
                raise DatasetError(f"{files.manifest} names {name}, which is no shard of this run")
            if not path.exists():
                raise DatasetError(f"{path} is missing")
            parts.append(Part(path, shards[name]))
        return cls(files.directory, "running" if held else manifest["status"], parts, manifest, info)

    @classmethod
    def _open_living(cls, files: RunFiles, status: Status) -> Self:
        info = files.info()
        journal = Journal(files.journal)
        error_log = _segment(journal.errors_path)
        found = ((number, _segment(journal.shard_path(number))) for number in segment_numbers(files.journal))
        segments = {number: segment for number, segment in found if segment is not None}
        parts: list[Part] = []
        for shard in info.layout:
            path = files.directory / shard.path
            segment = segments.get(shard.number)
            if segment is not None or path.exists():
                parts.append(Part(path if path.exists() else None, shard, segment))
        return cls(files.directory, status, parts, None, info, error_log)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the journal of a living run; closing is a courtesy, not a duty."""
        for segment in (*(part.segment for part in self._parts), self._error_log):
            if segment is not None:
                segment.close()

    # -- rows

    @property
    def parts(self) -> Sequence[Part]:
        """The files and journal segments that hold the rows, in the plan's order."""
        return self._parts

    @property
    def count(self) -> int:
        """How many trajectories there are."""
        if self._count is None:
            self._count = sum(part.count() for part in self._parts)
        return self._count

    def _names(self, columns: Sequence[str] | None) -> list[str]:
        names = SCHEMA.names if columns is None else list(columns)
        for name in names:
            if name not in SCHEMA.names:
                said = hint(nearest(name, SCHEMA.names)) or f"; there are {', '.join(SCHEMA.names)}"
                raise DatasetError(f"there is no column {name}{said}")
        return names

    def _tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        return (table for part in self._parts for table in part.tables(names))

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows in the plan's order as one Arrow table."""
        names = self._names(columns)
        return pa.concat_tables([empty(names).select(names), *self._tables(names)])

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Json]]:
        """All rows in the plan's order, a row group in memory at a time, JSON columns as Python values."""
        names = self._names(columns)
        return (row for table in self._tables(names) for row in self._values(table))

    def _values(self, table: pa.Table) -> Iterator[dict[str, Json]]:
        for row in table.to_pylist():
            try:
                yield to_values(row)
            except ValueError as error:
                raise DatasetError(f"{self.path}: a row holds text that is no JSON: {error}") from error

    def find(self, key: str | int) -> dict[str, Json]:
        """The one row of a trajectory id, of the beginning of one, or of a job's index (up to seven digits)."""
        text = str(key)
        index = int(text) if text.isdecimal() and len(text) <= _JOB_DIGITS else None
        ids: list[str] = []
        places: list[int] = []
        for place, row in enumerate(self.rows(["trajectory_id", "job_index"])):
            if row["trajectory_id"] == text or (index is not None and row["job_index"] == index):
                ids, places = [row["trajectory_id"]], [place]
                break
            if text and row["trajectory_id"].startswith(text):
                ids.append(row["trajectory_id"])
                places.append(place)
        if len(places) == 1:
            return next(self._values(self._take(places, SCHEMA.names)))
        if ids:
            raise DatasetError(f"{text} begins {len(ids)} ids: {', '.join(ids[:5])}{' ...' if len(ids) > 5 else ''}")
        broken = next((e for e in self.errors() if text and e["trajectory_id"].startswith(text)), None)
        if broken is not None:
            raise DatasetError(f"{text} has no trajectory: {broken['error_type']}: {broken['message']}")
        raise DatasetError(f"there is no trajectory {text} in {self.path}")

    def query(self, where: str, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows that fulfil an SQL condition (DuckDB's; ORDER BY and LIMIT may follow it), with those columns.

        Loads only the columns that the condition names, and then only the rows that it found.
        """
        names = self._names(columns)
        return self._take(matching(self.table(mentioned(where)), where), names)

    def _take(self, places: Sequence[int], names: Sequence[str]) -> pa.Table:
        """Rows by their place in the dataset, in the order asked for."""
        wanted = sorted(set(places))
        found: list[pa.Table] = [empty(names).select(names)]
        start = at = 0
        for table in self._tables(names):
            local: list[int] = []
            while at < len(wanted) and wanted[at] < start + table.num_rows:
                local.append(wanted[at] - start)
                at += 1
            if local:
                found.append(table.take(local))
            start += table.num_rows
        if at < len(wanted):
            raise DatasetError(f"{self.path} changed while it was read; try again")
        rank = {place: number for number, place in enumerate(wanted)}
        rows = pa.concat_tables(found).combine_chunks()
        return rows if wanted == list(places) else rows.take([rank[place] for place in places])

    # -- errors and truth

    def errors(self) -> list[dict[str, Json]]:
        """Rollouts that infrastructure broke and that have no row, by job: the columns of errors.parquet."""
        path = RunFiles(self.path).errors
        limit = self.info.max_attempts if self.info else _DEFAULT_ATTEMPTS
        last = {error.job_index: error for error in (read_errors(path) if path.is_file() else ())}
        if self._error_log is not None:
            for index in self._error_log.frames:
                last[index] = ErrorRow.from_bytes(self._error_log.read(index))
        if self.manifest is None and self.info is not None and last:
            done = self._jobs_near(self.info, last)
            last = {index: error for index, error in last.items() if index not in done}
        return [error_values(error, limit) for _, error in sorted(last.items())]

    def _jobs_near(self, info: RunInfo, indices: dict[int, ErrorRow]) -> set[int]:
        """Jobs with a row, in the shards that those jobs belong to."""
        shards = {info.layout.shard_of(index) for index in indices if index < info.layout.jobs}
        near = (part for part in self._parts if part.shard is not None and part.shard.number in shards)
        return {job for part in near for job in part.jobs()}

    def verify(self) -> None:
        """Read everything and hold it against the manifest: hashes, row counts, stray files, jobs that are nowhere.

        Raises :class:`~synth.errors.DatasetError` for the first thing that is not so.
        """
        for part in self._parts:
            for _ in part.tables(SCHEMA.names):
                pass
        if self.manifest is None:
            return
        files = RunFiles(self.path)
        for entry in self.manifest["shards"]:
            path = files.directory / entry["path"]
            if file_digest(path) != entry["sha256"]:
                raise DatasetError(f"{path} is not the file that the manifest describes: its SHA-256 differs")
        known = {files.directory / entry["path"] for entry in self.manifest["shards"]}
        for path in sorted(files.data.glob("*.parquet")):
            if path not in known:
                raise DatasetError(f"{path} is not in the manifest")
        counts = self.manifest["counts"]
        broken = len(self.errors())
        if counts["rows"] != self.count or counts["errors"] != broken:
            claim = f"{counts['rows']} rows and {counts['errors']} errors"
            raise DatasetError(f"{files.manifest} counts {claim}; there are {self.count} and {broken}")
        if self.manifest["status"] == "complete" and self.count + broken != counts["jobs"]:
            raise DatasetError(f"{self.path} is complete but {counts['jobs'] - self.count - broken} jobs are nowhere")


def _segment(path: Path) -> Segment | None:
    """A segment as it is now, or None where its shard was committed meanwhile."""
    try:
        return Segment(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error
