"""A dataset as the reader sees it: a list of parts, each a file, a journal segment, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from synth.dataset.columns import SCHEMA_VERSION
from synth.dataset.journal import Segment
from synth.dataset.layout import Shard
from synth.dataset.merge import merged, read_shard
from synth.dataset.record import conform
from synth.dataset.shard import check_version, open_parquet


@dataclass(frozen=True, slots=True)
class Part:
    """``shard`` is None for a plain file. A part of a living run may have a segment and no file yet."""

    path: Path | None
    shard: Shard | None = None
    segment: Segment | None = None

    def count(self) -> int:
        """How many rows, from the footer where that is enough."""
        if self.segment is not None:
            return len(self.jobs())
        if self.path is None:
            return 0
        with open_parquet(self.path) as file:
            check_version(file, self.path, SCHEMA_VERSION)
            return file.metadata.num_rows

    def jobs(self) -> set[int]:
        """The jobs that have a row here."""
        jobs = set(self.segment.frames) if self.segment is not None else set[int]()
        if self.path is not None:
            jobs.update(read_shard(self.path, ["job_index"])["job_index"].to_pylist())
        return jobs

    def tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Those columns, a row group at a time."""
        if self.segment is not None and self.shard is not None:
            yield from merged(self.path, self.shard, self.segment, names)
        elif self.path is not None:
            with open_parquet(self.path) as file:
                check_version(file, self.path, SCHEMA_VERSION)
                for group in range(file.num_row_groups):
                    yield conform(file.read_row_group(group, columns=list(names)), names, self.path)
