"""Parts of a dataset: each is a file, a journal segment, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from synth.core.dataset.store.journal import Segment
from synth.core.dataset.store.layout import Shard
from synth.core.dataset.store.merge import merged, read_shard
from synth.core.dataset.store.parquet_shard import check_file_version, open_parquet, read_columns


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
            jobs.update(read_shard(self.path, ["job_index"])["job_index"].to_pylist())
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
