"""errors.parquet: one row for each rollout that ended in an infrastructure error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa

from synth.core.dataset.arrow_schema import error_values, errors_table
from synth.core.dataset.store.counts import RunCounts
from synth.core.dataset.store.error_row import ErrorRow
from synth.core.dataset.store.journal import Segment
from synth.core.dataset.store.parquet_shard import check_file_version, open_parquet
from synth.errors import DatasetError

_ROWS_PER_GROUP: Final = 1024


def error_tables(
    segment: Segment, indices: Sequence[int], max_attempts: int, counts: RunCounts
) -> Iterator[pa.Table]:
    """Yield the errors of those jobs in the journal as tables of one row group each, and count
    them.
    """
    stream = iter(indices)
    while batch := list(islice(stream, _ROWS_PER_GROUP)):
        rows = [
            error_values(ErrorRow.from_bytes(segment.read(index)), max_attempts) for index in batch
        ]
        for row in rows:
            counts.add_error(row)
        yield errors_table(rows)


def read_errors(path: Path) -> Iterator[ErrorRow]:
    """Yield the rows of an errors.parquet.

    Raises :class:`~synth.errors.DatasetError` if it cannot be read.
    """
    with open_parquet(path) as file:
        check_file_version(file, path)
        for group in range(file.num_row_groups):
            for row in file.read_row_group(group).to_pylist():
                row.pop("terminal", None)  # derived from the attempts and the present limit
                try:
                    yield ErrorRow(**row)
                except TypeError as error:
                    raise DatasetError(f"{path} is not a table of errors: {error}") from error
