"""The two kinds of file that exporters write, streaming and flushed to disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

import pyarrow as pa

from synth.dataset.columns import Kind
from synth.dataset.record import column_array, make_schema
from synth.dataset.shard import ROWS_PER_GROUP
from synth.dataset.shard import write_parquet as write_groups
from synth.dataset.wire import json_text

Json = Any

# Characters that str.splitlines() takes for the end of a line, but JSON does not: escaped, a line stays one line.
_LINE_ENDS: Final = str.maketrans({"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def write_jsonl(examples: Iterable[Mapping[str, Json]], out: Path) -> int:
    """One compact JSON object a line, UTF-8; returns the number of lines."""
    count = 0
    with out.open("w", encoding="utf-8", newline="\n") as file:
        for example in examples:
            file.write(json_text(example).translate(_LINE_ENDS) + "\n")
            count += 1
        file.flush()
        os.fsync(file.fileno())
    return count


def write_parquet(examples: Iterable[Mapping[str, Json]], out: Path, columns: Mapping[str, Kind]) -> int:
    """A Parquet file of those columns; returns the number of rows.

    JSON kinds take Python values, which ``datasets`` gives back exactly, absent keys absent. Raises OperatorError where
    the file cannot be read back: on a full disk the Parquet writer closes without a word.
    """
    schema = pa.schema(list(cast("Any", make_schema(columns.items()))))  # without our stamp: it is no dataset of ours
    groups = (
        pa.table([_array([row[name] for row in chunk], kind) for name, kind in columns.items()], schema=schema)
        for chunk in _chunks(examples, ROWS_PER_GROUP)
    )
    return write_groups(out, groups, schema, out.with_name(f"{out.name}.unread"))[0]


def _array(values: list[Json], kind: Kind) -> pa.Array | pa.ChunkedArray:
    if kind == "json":
        values = [None if value is None else json_text(value) for value in values]
    elif kind == "list<json>":
        values = [None if value is None else [json_text(item) for item in value] for value in values]
    return column_array(values, kind)


def _chunks(examples: Iterable[Mapping[str, Json]], size: int) -> Iterator[list[Mapping[str, Json]]]:
    source = iter(examples)
    while chunk := list(islice(source, size)):
        yield chunk
