"""The pinned Arrow schemas, and the conversion of wire rows to Arrow tables. Nothing is inferred
from data.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from synth.core.dataset.columns import COLUMNS, SCHEMA_VERSION, Kind
from synth.core.dataset.store.error_row import ErrorRow
from synth.core.dataset.store.wire import decode
from synth.core.foundation.own_process import has_begun
from synth.errors import DatasetError


class _NoPandas:
    """An import hook that hides pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


if has_begun() and "pandas" not in sys.modules:
    # Arrow imports pandas for its first array, which takes as long as all of SQLAlchemy. It looks
    # once; `to_pandas` looks again.
    sys.meta_path.insert(0, _NoPandas)
    pa.array([])
    sys.meta_path.remove(_NoPandas)

VERSION_KEY: Final = b"synth.schema_version"
_METADATA: Final = {VERSION_KEY: str(SCHEMA_VERSION).encode()}
_JSON: Final = pa.json_(pa.string())

_STORED: Final[dict[Kind, pa.DataType]] = {
    "str": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "json": pa.string(),
    "list<json>": pa.list_(pa.string()),
    "list<str>": pa.list_(pa.string()),
    "list<list<int32>>": pa.list_(pa.list_(pa.int32())),
    "list<list<float64>>": pa.list_(pa.list_(pa.float64())),
}
_TYPES: Final[dict[Kind, pa.DataType]] = {**_STORED, "json": _JSON, "list<json>": pa.list_(_JSON)}


def make_schema(columns: Iterable[tuple[str, Kind]]) -> pa.Schema:
    """Build an Arrow schema of those names and kinds, stamped with the schema version."""
    return pa.schema([pa.field(name, _TYPES[kind]) for name, kind in columns], metadata=_METADATA)


def column_array(values: Sequence[Any], kind: Kind) -> pa.Array | pa.ChunkedArray:
    """Convert the wire values of a column to Arrow: JSON as text, None as null."""
    stored = pa.array(values, _STORED[kind])
    return stored.cast(_TYPES[kind]) if kind in {"json", "list<json>"} else stored


SCHEMA: Final = make_schema((col.name, col.kind) for col in COLUMNS)
"""Schema of the shards. Arrow sees every field as nullable; the wire form enforces the required
ones.
"""


def table(rows: Iterable[bytes]) -> pa.Table:
    """Convert encoded rows to one Arrow table in :data:`SCHEMA`, in their order."""
    decoded = [decode(row) for row in rows]
    arrays = [column_array([row[col.name] for row in decoded], col.kind) for col in COLUMNS]
    return pa.table(arrays, schema=SCHEMA)


def empty(names: Sequence[str] | None = None) -> pa.Table:
    """Return a table of those columns without rows (``Schema.empty_table`` does not support
    extension types).
    """
    chosen = [col for col in COLUMNS if names is None or col.name in names]
    return pa.table(
        [column_array([], col.kind) for col in chosen],
        schema=make_schema((c.name, c.kind) for c in chosen),
    )


def conform(data: pa.Table, names: Sequence[str], source: Path) -> pa.Table:
    """Return columns in their pinned types, from a file that another program may have rewritten.

    Raises :class:`~synth.errors.DatasetError` for a column that is missing or has another type.
    """
    columns: list[pa.Array | pa.ChunkedArray] = []
    for name in names:
        if name not in data.column_names:
            raise DatasetError(f"{source} has no column {name}")
        column, wanted = data[name], SCHEMA.field(name).type
        try:
            column = column if column.type == wanted else column.cast(wanted)
        except pa.ArrowException as error:
            raise DatasetError(f"{source}: column {name} is {column.type}, not {wanted}") from error
        columns.append(column)
    return pa.table(
        columns, schema=pa.schema([SCHEMA.field(name) for name in names], metadata=_METADATA)
    )


_ERROR_COLUMNS: Final[tuple[tuple[str, Kind], ...]] = (
    ("trajectory_id", "str"),
    ("task_id", "str"),
    ("job_index", "int64"),
    ("family", "str"),
    ("sample_index", "int32"),
    ("seed", "int64"),
    ("error_type", "str"),
    ("message", "str"),
    ("retryable", "bool"),
    ("terminal", "bool"),
    ("attempts", "int32"),
    ("model", "str"),
    ("created_at", "timestamp"),
    ("retries", "list<json>"),
)

ERRORS_SCHEMA: Final = make_schema(_ERROR_COLUMNS)


def error_values(error: ErrorRow, max_attempts: int) -> dict[str, Any]:
    """Return the columns of errors.parquet for one error."""
    row = asdict(error)
    row["attempts"] = error.attempts or 0
    row["terminal"] = error.is_terminal(max_attempts)
    return {name: row[name] for name, _ in _ERROR_COLUMNS}


def errors_table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Convert rows of :func:`error_values` to Arrow."""
    arrays = [column_array([row[name] for row in rows], kind) for name, kind in _ERROR_COLUMNS]
    return pa.table(arrays, schema=ERRORS_SCHEMA)
