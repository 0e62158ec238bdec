"""Content of a shard: the rows of an existing file together with rows of the journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path

import pyarrow as pa

from synth.core.dataset.arrow_schema import SCHEMA, table
from synth.core.dataset.store.journal import Segment
from synth.core.dataset.store.layout import Shard
from synth.core.dataset.store.parquet_shard import ROWS_PER_GROUP, open_parquet, read_columns
from synth.errors import DatasetError

_JOB = "job_index"


def read_shard(path: Path, names: Sequence[str]) -> pa.Table:
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
    return checked_jobs(read_shard(path, [_JOB]), path, shard)


def merged(
    file: Path | None, shard: Shard, segment: Segment | None, names: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """Yield the rows of ``file`` and the segment's rows that the file does not hold, sorted by
    job, as tables of at most 256 rows and one chunk.

    ``names`` selects columns; None selects all.
    """
    names = SCHEMA.names if names is None else names
    old = None if file is None else read_shard(file, list(dict.fromkeys((_JOB, *names))))
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
