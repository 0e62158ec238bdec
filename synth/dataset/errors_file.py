"""errors.parquet: rollouts that infrastructure broke, one row each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa

from synth.dataset.columns import SCHEMA_VERSION
from synth.dataset.error_row import ErrorRow
from synth.dataset.journal import Segment
from synth.dataset.record import error_values, errors_table
from synth.dataset.shard import check_version, open_parquet
from synth.dataset.tally import Census
from synth.errors import DatasetError

_ROWS_PER_GROUP: Final = 1024


def error_tables(segment: Segment, indices: Sequence[int], max_attempts: int, census: Census) -> Iterator[pa.Table]:
    """The journal's errors of those jobs as tables of a row group each, counted on the way."""
    stream = iter(indices)
    while batch := list(islice(stream, _ROWS_PER_GROUP)):
        rows = [error_values(ErrorRow.from_bytes(segment.read(index)), max_attempts) for index in batch]
        for row in rows:
            census.add_error(row)
        yield errors_table(rows)


def read_errors(path: Path) -> Iterator[ErrorRow]:
    """The rows of an errors.parquet. Raises :class:`~synth.errors.DatasetError` where it cannot be read."""
    with open_parquet(path) as file:
        check_version(file, path, SCHEMA_VERSION)
        for group in range(file.num_row_groups):
            for row in file.read_row_group(group).to_pylist():
                row.pop("terminal", None)  # follows from the attempts and the limit of the day
                try:
                    yield ErrorRow(**row)
                except TypeError as error:
                    raise DatasetError(f"{path} is no table of errors: {error}") from error
