"""What a shard is made of: rows that a file already holds, and rows of the journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path

import pyarrow as pa

from synth.dataset.columns import SCHEMA_VERSION
from synth.dataset.journal import Segment
from synth.dataset.layout import Shard
from synth.dataset.record import SCHEMA, conform, table
from synth.dataset.shard import ROWS_PER_GROUP, check_version, open_parquet
from synth.errors import DatasetError

_JOB = "job_index"


def read_shard(path: Path, names: Sequence[str]) -> pa.Table:
    """Those columns of a file, in their pinned types. Raises :class:`~synth.errors.DatasetError` with the path."""
    with open_parquet(path) as file:
        check_version(file, path, SCHEMA_VERSION)
        return conform(file.read(columns=list(names)), names, path)


def _jobs(data: pa.Table, path: Path, shard: Shard) -> list[int]:
    jobs: list[int] = data[_JOB].to_pylist()
    ordered = all(left < right for left, right in pairwise(jobs))
    if not ordered or (jobs and not (shard.start <= jobs[0] and jobs[-1] < shard.stop)):
        raise DatasetError(f"{path} does not hold rows of jobs {shard.start} to {shard.stop - 1} in their order")
    return jobs


def shard_jobs(path: Path, shard: Shard) -> list[int]:
    """The jobs that a committed shard holds, ascending.

    Raises :class:`~synth.errors.DatasetError` where the file is damaged, of another version, out of order or holds jobs
    of another shard.
    """
    return _jobs(read_shard(path, [_JOB]), path, shard)


def merged(
    file: Path | None, shard: Shard, segment: Segment | None, names: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """Tables of at most 256 rows, sorted by job, each one chunk: the rows of ``file`` and those of the segment that the
    file does not hold. ``names`` selects columns; None is all of them.
    """
    names = SCHEMA.names if names is None else names
    old = None if file is None else read_shard(file, list(dict.fromkeys((_JOB, *names))))
    places = {} if old is None or file is None else {job: i for i, job in enumerate(_jobs(old, file, shard))}
    new = () if segment is None else (job for job in segment.frames if job not in places)
    order = sorted((*places, *new))
    for start in range(0, len(order), ROWS_PER_GROUP):
        parts: list[pa.Table] = []
        for kept, run in groupby(order[start : start + ROWS_PER_GROUP], places.__contains__):
            indices = list(run)
            if kept and old is not None:
                parts.append(old.slice(places[indices[0]], len(indices)).select(names))
            elif segment is not None:
                parts.append(table(segment.read(index) for index in indices).select(names))
        yield pa.concat_tables(parts).combine_chunks()
