"""Every text of a Parquet file as it is stored, for a scan that must miss none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq

from synth.errors import DatasetError


def stored_texts(file: Path) -> Iterator[tuple[str, str]]:
    """Yield column and text of every string in a Parquet file; JSON columns are their text.

    One row group is in memory at a time. Raises DatasetError for a file that is no Parquet.
    """
    try:
        with pq.ParquetFile(file) as opened:
            for group in range(opened.metadata.num_row_groups):
                for row in opened.read_row_group(group).to_pylist():
                    for name, value in row.items():
                        if isinstance(value, str):
                            yield name, value
                        elif isinstance(value, list | dict) and value:
                            yield name, str(cast("object", value))
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"{file} cannot be read: {error}") from None
