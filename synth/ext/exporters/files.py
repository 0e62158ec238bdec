"""Writers of the two file formats that exporters use: they stream, and flush to disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from synth.core.dataset.arrow_schema import column_array, make_schema
from synth.core.dataset.columns import Kind
from synth.core.dataset.store.parquet_shard import ROWS_PER_GROUP
from synth.core.dataset.store.parquet_shard import write_parquet as write_groups
from synth.core.dataset.store.wire import json_text

_LINE_ENDS: Final = str.maketrans({"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""Characters that end a line for ``str.splitlines()`` but not in JSON; they are escaped."""

_JSON: Final = ("json", "list<json>")

Columns = Mapping[str, Kind | pa.DataType]
"""Columns of a Parquet file: kinds of the dataset's own, or types of Arrow for readers that know no
JSON type (pandas).
"""


def write_jsonl(examples: Iterable[Mapping[str, object]], out: Path) -> int:
    """Write one compact JSON object per line in UTF-8, and return the number of lines."""
    count = 0
    with out.open("w", encoding="utf-8", newline="\n") as file:
        for example in examples:
            file.write(json_text(example).translate(_LINE_ENDS) + "\n")
            count += 1
        file.flush()
        os.fsync(file.fileno())
    return count


def write_parquet(
    examples: Iterable[Mapping[str, object]], out: Path, columns: Columns, *, plain: bool = False
) -> int:
    """Write a Parquet file of those columns, and return the number of rows.

    JSON kinds take Python values; ``datasets`` 5 returns them unchanged, without null-filled keys.
    ``plain`` writes them as one text of JSON in a cell, which any reader takes.
    Raises :class:`~synth.errors.OperatorError` if the file cannot be read back: on a full disk the
    Parquet writer closes without an error.
    """
    if plain:
        texts = [name for name, kind in columns.items() if kind in _JSON]
        examples = ({**row, **{name: _text(row[name]) for name in texts}} for row in examples)
        columns = {**columns, **dict.fromkeys(texts, "str")}
    # Without the schema version: the file is not a dataset of this format.
    schema = pa.schema([_field(name, kind) for name, kind in columns.items()])
    groups = (
        pa.table(
            [_array([row[name] for row in chunk], kind) for name, kind in columns.items()],
            schema=schema,
        )
        for chunk in _chunks(examples, ROWS_PER_GROUP)
    )
    return write_groups(out, groups, schema, out.with_name(f"{out.name}.unread"))[0]


def _text(value: object) -> str | None:
    return None if value is None else json_text(value)


def _field(name: str, kind: Kind | pa.DataType) -> pa.Field:
    if isinstance(kind, pa.DataType):
        return pa.field(name, kind)
    return make_schema([(name, kind)]).field(name)


def _array(values: list[Any], kind: Kind | pa.DataType) -> pa.Array | pa.ChunkedArray:
    if isinstance(kind, pa.DataType):
        return pa.array(values, kind)
    if kind == "json":
        values = [None if value is None else json_text(value) for value in values]
    elif kind == "list<json>":
        values = [
            None if value is None else [json_text(item) for item in value] for value in values
        ]
    return column_array(values, kind)


def _chunks(
    examples: Iterable[Mapping[str, object]], size: int
) -> Iterator[list[Mapping[str, object]]]:
    source = iter(examples)
    while chunk := list(islice(source, size)):
        yield chunk
