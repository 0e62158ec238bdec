"""SQL conditions over a dataset's columns, run by DuckDB on Arrow data in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

import duckdb
import pyarrow as pa

from synth.dataset.columns import COLUMNS
from synth.dataset.record import SCHEMA, empty
from synth.errors import DatasetError

_ROW = "#row"


def mentioned(where: str) -> list[str]:
    """The columns that a condition may look at: all that it names, or all there are for ``COLUMNS(...)``."""
    words = {word.lower() for word in re.findall(r"\w+", where)}
    found = [col.name for col in COLUMNS if col.name in words or "columns" in words]
    return found or ["job_index"]


def matching(data: pa.Table, where: str) -> list[int]:
    """Places of the rows of ``data`` that fulfil a condition, in the order that it asks for.

    ``where`` is what may follow WHERE, ORDER BY and LIMIT included. JSON columns are JSON, ``created_at`` is a TIMESTAMP
    in UTC. Raises :class:`~synth.errors.DatasetError` in DuckDB's words. The SQL reaches no file, no network and no
    Python object: external access and replacement scans are off, and the configuration is locked.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "python_enable_replacements": "false",
        "threads": "1",  # keeps the rows in their order
    }
    try:
        with duckdb.connect(config=config) as connection:
            connection.execute("SET lock_configuration = true")
            statements = connection.extract_statements(f'SELECT "{_ROW}" FROM dataset WHERE {where}\n')
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise DatasetError("--where takes one condition, not several statements")
            # once without rows but with every column, so that a wrong name is told the right ones
            connection.register("dataset", _numbered(empty()))
            connection.execute(statements[0]).fetchall()
            connection.register("dataset", _numbered(data))
            places = [int(row[0]) for row in connection.execute(statements[0]).fetchall()]
    except duckdb.Error as error:
        said = str(error).split("\n\n", maxsplit=1)[0]
        known = f"\ncolumns: {', '.join(SCHEMA.names)}" if isinstance(error, duckdb.BinderException) else ""
        raise DatasetError(f"--where: {said}{known}") from error
    if any(not 0 <= place < data.num_rows for place in places):
        raise DatasetError("--where names rows that are not in the dataset")
    return places


def _numbered(data: pa.Table) -> pa.Table:
    names: Sequence[str] = data.column_names
    # DuckDB turns times with a zone only with an extension that its wheel does not carry
    columns = [data[name].cast(pa.timestamp("us")) if name == "created_at" else data[name] for name in names]
    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    numbered = pa.table(columns, schema=pa.schema(fields))
    return numbered.append_column(_ROW, pa.array(range(data.num_rows), pa.int64()))
