"""Some rows of a dataset as a dataset of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.core.dataset.arrow_schema import SCHEMA
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.atomic_files import disk
from synth.core.dataset.store.parquet_shard import write_shard
from synth.core.dataset.store.wire import to_values


def write_subset(
    dataset: Dataset, out: Path, columns: Sequence[str], keep: Callable[[Mapping[str, Any]], bool]
) -> int:
    """Write the rows that ``keep`` takes, by their values in ``columns``, with all their columns as
    one Parquet file, and return their number.

    Every row is asked about once, in the dataset's order. The file appears as a whole or not at
    all. Raises :class:`~synth.errors.OperatorError` if the disk fails.
    """

    def groups() -> Iterator[pa.Table]:
        for part in dataset.parts:
            for table in part.tables(SCHEMA.names):
                rows = table.select(list(columns)).to_pylist()
                kept = (index for index, row in enumerate(rows) if keep(to_values(row)))
                yield table.take(list(kept))

    with disk(out):
        out.parent.mkdir(parents=True, exist_ok=True)
    count, _ = write_shard(out, groups(), out.with_name(f".{out.name}.{os.getpid()}.part"))
    return count
