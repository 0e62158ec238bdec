"""Rows and texts of any Parquet file as they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from envs.unreadable import unreadable
from synth.errors import DatasetError

_BATCH = 1_024


def stored_texts(file: Path) -> Iterator[tuple[str, str]]:
    """Yield column and text of every string in a Parquet file; JSON columns are their text.

    Raises DatasetError for a file that is not Parquet.
    """
    for row in parquet_rows(file):
        for name, value in row.items():
            if isinstance(value, str):
                yield name, value
            elif isinstance(value, list | dict) and value:
                yield name, str(cast("object", value))


def parquet_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file, a thousand of them in memory at a time.

    Raises DatasetError for a file that is not Parquet.
    """
    try:
        with pq.ParquetFile(file) as opened:
            for batch in opened.iter_batches(_BATCH):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(
            f"{file} cannot be read: {unreadable(error, 'a Parquet file')}"
        ) from None
