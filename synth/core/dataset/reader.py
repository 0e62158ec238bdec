"""Reader of a dataset in any state: complete, partial, being written, or interrupted.

It never writes and never waits. A run that is being written is read as a snapshot: the segments of
the journal are opened before the shards are listed, so that a shard that is committed in between is
seen at least once and counted once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import pyarrow as pa

from envs.closing import Closing
from envs.unreadable import unreadable
from synth.core.dataset.arrow_schema import SCHEMA, empty, error_values
from synth.core.dataset.columns import REVIEWED
from synth.core.dataset.store.error_row import ErrorRow
from synth.core.dataset.store.errors_file import read_errors
from synth.core.dataset.store.journal import Journal, Segment, segment_numbers
from synth.core.dataset.store.lock import is_held
from synth.core.dataset.store.manifest import read_manifest
from synth.core.dataset.store.parquet_shard import file_digest, remedy
from synth.core.dataset.store.part import Part, data_frame, dataset_dict
from synth.core.dataset.store.run_info import REFUSAL, RunFiles, RunInfo
from synth.core.dataset.store.wire import to_values
from synth.core.foundation.suggestions import hint, nearest
from synth.errors import DatasetError
from synth.plugins import find_module, resolve

if TYPE_CHECKING:
    from synth.core.dataset.reviews import Reviews


class Trajectory(dict[str, Any]):
    """A row of the dataset: its columns by name, JSON columns as Python values.

    A notebook shows it as a transcript beside its row changes and verdicts.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        named = (f"{name}={self[name]!r}" for name in _NAMED if name in self)
        return f"Trajectory({', '.join(named)}, {len(self)} columns)"

    def _repr_html_(self) -> str:
        return str(resolve("synth.core.screen.notebook:trajectory_html")(self))


_NAMED = ("trajectory_id", "family", "reward", "stop_reason")


Status = Literal["complete", "partial", "running", "interrupted"]

_DEFAULT_ATTEMPTS = 3
_JOB_DIGITS = 7  # a longer number is an id, not a job index


class Dataset(Closing):
    """An open dataset; see :meth:`open`.

    ``manifest`` and ``info`` are None if there are none; plain Parquet files have the status
    ``complete``. ``warnings`` describes the damage in the journal of a run. A file that cannot be
    read raises :class:`~synth.errors.DatasetError` with its path.
    """

    def __init__(
        self,
        path: Path,
        status: Status,
        parts: Sequence[Part],
        manifest: dict[str, Any] | None = None,
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
        self.warnings = [
            f"{log.path}: {log.damaged} damaged bytes skipped"
            for log in logs
            if log and log.damaged
        ]
        self._count: int | None = None

    # -- opening

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a run directory, one of its ``.parquet`` files, or a directory of such files."""
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
            # The run was sealed or resumed between two reads: its files are consistent again.
            return cls._open_run(files)

    @classmethod
    def _open_plain(cls, path: Path) -> Self:
        files = RunFiles(path)
        found = sorted(files.data.glob("*.parquet"))
        found = found or sorted(
            file for file in path.glob("*.parquet") if file not in {files.tasks, files.errors}
        )
        if not found:
            runs = [
                child
                for child in sorted(path.iterdir())
                if child.is_dir() and RunFiles(child).holds_run()
            ]
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
                raise DatasetError(
                    f"{files.manifest} names {name}, which is not a shard of this run"
                )
            if not path.exists():
                raise DatasetError(f"{path} is missing{remedy(path)}")
            parts.append(Part(path, shards[name]))
        return cls(
            files.directory, "running" if held else manifest["status"], parts, manifest, info
        )

    @classmethod
    def _open_living(cls, files: RunFiles, status: Status) -> Self:
        info = files.info()
        journal = Journal(files.journal)
        error_log = _segment(journal.errors_path)
        found = (
            (number, _segment(journal.shard_path(number)))
            for number in segment_numbers(files.journal)
        )
        segments = {number: segment for number, segment in found if segment is not None}
        parts: list[Part] = []
        for shard in info.layout:
            path = files.directory / shard.path
            segment = segments.get(shard.number)
            if segment is not None or path.exists():
                parts.append(Part(path if path.exists() else None, shard, segment))
        return cls(files.directory, status, parts, None, info, error_log)

    def close(self) -> None:
        """Release the journal of a run that is being written. Closing is optional."""
        for segment in (*(part.segment for part in self._parts), self._error_log):
            if segment is not None:
                segment.close()

    # -- facts

    @property
    def paths(self) -> tuple[Path, ...]:
        """The run directories or files that were opened."""
        return (self.path,)

    @property
    def jobs(self) -> int | None:
        """Number of rollouts that the run planned; None for plain files."""
        return self.info.layout.jobs if self.info is not None else None

    @property
    def sealed(self) -> bool:
        """True if there is a manifest, complete or partial."""
        return self.manifest is not None

    @property
    def resumable(self) -> bool:
        """True if `synth run --resume` can play rollouts that have no row."""
        if self.info is None or self.status == "running" or REFUSAL in self.info.identity.more:
            return False
        return self.status != "complete" or not all(one["terminal"] for one in self.errors())

    @property
    def name(self) -> str:
        """The paths, separated by commas."""
        return ", ".join(str(path) for path in self.paths)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}: {self.status}, {self.count} rows)"

    def _repr_html_(self) -> str:
        families_html = resolve("synth.core.screen.notebook:families_html")
        return str(families_html(self.name, self.status, self.rows(["family", "reward"])))

    # -- rows

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Trajectory]:
        return (Trajectory(row) for row in self.rows())

    @overload
    def __getitem__(self, position: int) -> Trajectory: ...

    @overload
    def __getitem__(self, position: slice) -> list[Trajectory]: ...

    def __getitem__(self, position: int | slice) -> Trajectory | list[Trajectory]:
        """Return the row at a position in plan order, or the rows of a slice in a list.

        Raises IndexError, and TypeError for a name.
        """
        if isinstance(position, str):  # as a column of `datasets` is read
            raise TypeError(f"a row has a number; a column is in rows([{position!r}])")
        several = isinstance(position, slice)
        places = range(self.count)[position] if several else [position]
        if not (several or -self.count <= position < self.count):
            raise IndexError(f"unknown row {position}: the dataset has {self.count} rows")
        taken = self._take([one % self.count for one in places], SCHEMA.names)
        found = [*map(Trajectory, self._values(taken))]
        return found if several else found[0]

    @property
    def parts(self) -> Sequence[Part]:
        """The files and journal segments that hold the rows, in plan order."""
        return self._parts

    @property
    def count(self) -> int:
        """Number of trajectories."""
        if self._count is None:
            self._count = sum(part.count() for part in self._parts)
        return self._count

    def _names(self, columns: Sequence[str] | None) -> list[str]:
        names = SCHEMA.names if columns is None else list(columns)
        unknown = [name for name in names if name not in SCHEMA.names]
        wrong = [f"unknown column {name}{hint(nearest(name, SCHEMA.names))}" for name in unknown]
        if wrong:
            raise DatasetError("\n".join([*wrong, f"the columns are {', '.join(SCHEMA.names)}"]))
        return names

    def tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Yield columns in plan order, one row group at a time."""
        if not set(REVIEWED) & set(names) or not self.reviews.rows:
            return (table for part in self._parts for table in part.tables(names))
        more = list(dict.fromkeys((*names, "trajectory_id")))
        found = self.reviews
        return (found.over(table, names) for part in self._parts for table in part.tables(more))

    @property
    def reviews(self) -> Reviews:
        """The reviews that people gave of the rows."""
        return resolve("synth.core.dataset.reviews:Reviews").read(self.path)

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows in plan order as one Arrow table."""
        names = self._names(columns)
        return pa.concat_tables([empty(names).select(names), *self.tables(names)])

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield all rows in plan order, with JSON columns as Python values; one row group is in
        memory at a time.
        """
        names = self._names(columns)
        return (row for table in self.tables(names) for row in self._values(table))

    def _values(self, table: pa.Table) -> Iterator[dict[str, Any]]:
        for row in table.to_pylist():
            try:
                yield to_values(row)
            except ValueError as error:
                raise DatasetError(
                    f"{self.path}: a row holds text that is not JSON: {error}"
                ) from error

    def to_pandas(self, columns: Sequence[str] | None = None) -> Any:
        """Return rows as a ``pandas.DataFrame`` in plan order, JSON columns as Python values.

        Raises :class:`~synth.errors.DatasetError` where pandas is not installed.
        """
        return data_frame(self.table(columns))

    def to_datasets(self) -> Any:
        """Return a ``datasets.DatasetDict`` with a dataset for each split, as ``load_dataset``
        does.

        Raises :class:`~synth.errors.DatasetError` where `datasets` is not installed, and for a run
        that is not sealed yet.
        """
        return dataset_dict(self.name, self._parts)

    def find(self, key: str | int) -> Trajectory:
        """Return the row with a trajectory id, with a unique prefix of one, or with a job index (up
        to seven digits).

        Raises :class:`~synth.errors.DatasetError` if there is none, or if the prefix is ambiguous.
        """
        text = str(key)
        ids, positions = self._matches(text)
        if len(positions) == 1:
            return self[positions[0]]
        if ids:
            listed = ", ".join(ids[:5]) + (" ..." if len(ids) > 5 else "")
            raise DatasetError(f"{text} is the beginning of {len(ids)} ids: {listed}")
        for error in self.errors() if text else ():
            if error["trajectory_id"].startswith(text):
                cause = f"{error['error_type']}: {error['message']}"
                raise DatasetError(f"{text} has no trajectory: {cause}")
        raise DatasetError(
            f"unknown trajectory {text} in {self.path}: `synth inspect {self.path} --limit 0` lists"
            " them all"
        )

    def _matches(self, text: str) -> tuple[list[str], list[int]]:
        """Return ids and positions of the row with that id or job index, or else of all rows whose
        id begins with the text.
        """
        index = int(text) if text.isdecimal() and len(text) <= _JOB_DIGITS else None
        ids: list[str] = []
        positions: list[int] = []
        for position, row in enumerate(self.rows(["trajectory_id", "job_index"])):
            found = row["trajectory_id"]
            if found == text or (index is not None and row["job_index"] == index):
                return [found], [position]
            if text and found.startswith(text):
                ids.append(found)
                positions.append(position)
        return ids, positions

    def query(self, where: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return those columns of the rows that meet an SQL condition of DuckDB; ORDER BY and LIMIT
        may follow it.

        Only the columns that the condition names are loaded, and then only the matching rows.
        """
        names = self._names(columns)
        if find_module("duckdb") is None:
            raise DatasetError("SQL over columns needs DuckDB: pip install 'synth-worlds[query]'")
        matching = resolve("synth.core.dataset.query:matching")
        return self._take(matching(self.table(_mentioned(where)), where), names)

    def ids(self, where: str) -> set[str]:
        """The ids of the rows that meet an SQL condition; see :meth:`query`."""
        return set(self.query(where, ["trajectory_id"])["trajectory_id"].to_pylist())

    def _take(self, positions: Sequence[int], names: Sequence[str]) -> pa.Table:
        """Return rows by their positions in the dataset, in the order of ``positions``."""
        wanted = sorted(set(positions))
        found: list[pa.Table] = [empty(names).select(names)]
        start = taken = 0
        for table in self.tables(names):
            local: list[int] = []
            while taken < len(wanted) and wanted[taken] < start + table.num_rows:
                local.append(wanted[taken] - start)
                taken += 1
            if local:
                found.append(table.take(local))
            start += table.num_rows
        if taken < len(wanted):
            raise DatasetError(f"{self.path} changed while it was read; try again")
        rank = {position: number for number, position in enumerate(wanted)}
        rows = pa.concat_tables(found).combine_chunks()
        if wanted == list(positions):
            return rows
        return rows.take([rank[position] for position in positions])

    # -- errors and verification

    def errors(self) -> list[dict[str, Any]]:
        """Return the rollouts that ended in an infrastructure error and have no row, by job, with
        the columns of errors.parquet.
        """
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

    def errors_by_split(self) -> Counter[str]:
        """Count the errors of each split; empty for plain files."""
        if self.info is None:
            return Counter()
        layout = self.info.layout
        return Counter(layout.split_of(error["job_index"]) for error in self.errors())

    def _jobs_near(self, info: RunInfo, indices: dict[int, ErrorRow]) -> set[int]:
        """Return the jobs that have a row, in the shards to which those jobs belong."""
        shards = {info.layout.shard_of(index) for index in indices if index < info.layout.jobs}
        near = (
            part for part in self._parts if part.shard is not None and part.shard.number in shards
        )
        return {job for part in near for job in part.jobs()}

    def verify(self) -> None:
        """Read everything and compare it with the manifest: hashes, row counts, unknown files,
        missing jobs.

        Raises :class:`~synth.errors.DatasetError` for the first difference.
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
                raise DatasetError(
                    f"{path} is not the file that the manifest describes: its SHA-256 differs"
                    + remedy(path)
                )
        known = {files.directory / entry["path"] for entry in self.manifest["shards"]}
        for path in sorted(files.data.glob("*.parquet")):
            if path not in known:
                raise DatasetError(f"{path} is not in the manifest")
        counts = self.manifest["counts"]
        broken = len(self.errors())
        if counts["rows"] != self.count or counts["errors"] != broken:
            claim = f"{counts['rows']} rows and {counts['errors']} errors"
            raise DatasetError(
                f"{files.manifest} counts {claim}; there are {self.count} and {broken}"
            )
        if self.manifest["status"] == "complete" and self.count + broken != counts["jobs"]:
            raise DatasetError(
                f"{self.path} is complete but {counts['jobs'] - self.count - broken} jobs are"
                " missing"
            )


def _mentioned(where: str) -> list[str]:
    """Return the columns that a condition may use: those that it names, or all for
    ``COLUMNS(...)``.
    """
    words = {word.lower() for word in re.findall(r"\w+", where)}
    found = [name for name in SCHEMA.names if name in words or "columns" in words]
    return found or ["job_index"]


def _segment(path: Path) -> Segment | None:
    """Open a segment, or return None if its shard has been committed meanwhile."""
    try:
        return Segment(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be read: {unreadable(error, 'a part of a run')}"
        ) from error
