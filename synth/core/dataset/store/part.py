"""Parts of a dataset: each is a file, a journal segment, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from envs.plugins import PluginError, resolve
from synth.core.dataset.arrow_schema import SCHEMA, table
from synth.core.dataset.columns import JSON_COLUMNS
from synth.core.dataset.store.journal import Segment
from synth.core.dataset.store.layout import Shard
from synth.core.dataset.store.parquet_shard import (
    ROWS_PER_GROUP,
    check_file_version,
    open_parquet,
    read_columns,
)
from synth.core.dataset.store.wire import to_values
from synth.errors import DatasetError

_JOB = "job_index"


def _read_shard(path: Path, names: Sequence[str]) -> pa.Table:
    """Read columns of a shard in their pinned types.

    Raises :class:`~synth.errors.DatasetError` with the path.
    """
    with open_parquet(path) as file:
        return read_columns(file, path, names)


def checked_jobs(data: pa.Table, path: Path, shard: Shard) -> list[int]:
    """Return the jobs of a shard's rows.

    Raises :class:`~synth.errors.DatasetError` for jobs out of order or of another shard.
    """
    jobs: list[int] = data[_JOB].to_pylist()
    ordered = all(left < right for left, right in pairwise(jobs))
    if not ordered or (jobs and not (shard.start <= jobs[0] and jobs[-1] < shard.stop)):
        raise DatasetError(
            f"{path} does not hold rows of jobs {shard.start} to {shard.stop - 1} in their order"
        )
    return jobs


def shard_jobs(path: Path, shard: Shard) -> list[int]:
    """Return the jobs of a committed shard, ascending.

    Raises :class:`~synth.errors.DatasetError` if the file is damaged, of an unreadable version, out
    of order or holds jobs of another shard.
    """
    return checked_jobs(_read_shard(path, [_JOB]), path, shard)


def merged(
    file: Path | None, shard: Shard, segment: Segment | None, names: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """Yield the rows of ``file`` and the segment's rows that the file does not hold, sorted by
    job, as tables of at most 256 rows and one chunk.

    ``names`` selects columns; None selects all.
    """
    names = SCHEMA.names if names is None else names
    old = None if file is None else _read_shard(file, list(dict.fromkeys((_JOB, *names))))
    positions = (
        {}
        if old is None or file is None
        else {job: i for i, job in enumerate(checked_jobs(old, file, shard))}
    )
    new = () if segment is None else (job for job in segment.frames if job not in positions)
    order = sorted((*positions, *new))
    for start in range(0, len(order), ROWS_PER_GROUP):
        parts: list[pa.Table] = []
        for kept, run in groupby(order[start : start + ROWS_PER_GROUP], positions.__contains__):
            indices = list(run)
            if kept and old is not None:
                parts.append(old.slice(positions[indices[0]], len(indices)).select(names))
            elif segment is not None:
                parts.append(table(segment.read(index) for index in indices).select(names))
        yield pa.concat_tables(parts).combine_chunks()


@dataclass(frozen=True, slots=True)
class Part:
    """One part. ``shard`` is None for a plain file; a part of a live run may have a segment but no
    file yet.
    """

    path: Path | None
    shard: Shard | None = None
    segment: Segment | None = None

    def count(self) -> int:
        """Return the number of rows, from the footer where that is enough."""
        if self.segment is not None:
            return len(self.jobs())
        if self.path is None:
            return 0
        with open_parquet(self.path) as file:
            check_file_version(file, self.path)
            return file.metadata.num_rows

    def jobs(self) -> set[int]:
        """Return the jobs that have a row in this part."""
        jobs = set(self.segment.frames) if self.segment is not None else set[int]()
        if self.path is not None:
            jobs.update(_read_shard(self.path, ["job_index"])["job_index"].to_pylist())
        return jobs

    def tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Yield columns, one row group at a time."""
        if self.segment is not None and self.shard is not None:
            yield from merged(self.path, self.shard, self.segment, names)
        elif self.path is not None:
            with open_parquet(self.path) as file:
                check_file_version(file, self.path)
                for group in range(file.num_row_groups):
                    yield read_columns(file, self.path, names, group)


def data_frame(table: pa.Table) -> Any:
    """Convert rows to a ``pandas.DataFrame``; JSON columns hold Python values."""
    frame: Any = _library("pandas:DataFrame", "to_pandas()")
    columns = table.column_names
    decoded = [name for name in columns if name in JSON_COLUMNS]
    values = [to_values(row) for row in table.select(decoded).to_pylist()] if decoded else []
    plain = [name for name in columns if name not in decoded]
    converted = table.select(plain).to_pandas()
    made = {
        name: [row[name] for row in values] if name in decoded else converted[name]
        for name in columns
    }
    return frame(made, columns=columns)


def dataset_dict(name: str, parts: Sequence[Part]) -> Any:
    """Load the files of a dataset as a ``datasets.DatasetDict``, by split."""
    load: Any = _library("datasets:load_dataset", "to_datasets()")
    files: dict[str, list[str]] = {}
    for part in parts:
        if part.path is None or part.segment is not None:
            raise DatasetError(
                f"{name} is not sealed yet: to_datasets() reads finished files; `synth run"
                " --resume` goes on with a run that was killed"
            )
        if part.count():  # `datasets` cannot read a file without rows
            split = "train" if part.shard is None else part.shard.split
            files.setdefault(split, []).append(str(part.path))
    return load("parquet", data_files=files)


def _library(target: str, caller: str) -> Any:
    try:
        return resolve(target)
    except PluginError as error:
        package = target.partition(":")[0]
        raise DatasetError(f"{caller} needs {package}: pip install 'synth-worlds[hf]'") from error
