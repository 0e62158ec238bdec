"""SQL conditions over a dataset's columns, run by DuckDB on Arrow data in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

import duckdb
import pyarrow as pa

from synth.core.dataset.arrow_schema import SCHEMA, empty
from synth.errors import DatasetError

_ROW = "#row"


def matching(data: pa.Table, where: str) -> list[int]:
    """Return the positions of the rows of ``data`` that meet a condition, in the order that it
    specifies.

    ``where`` is any text that may follow WHERE, including ORDER BY and LIMIT. JSON columns have the
    type JSON, ``created_at`` is a TIMESTAMP in UTC. The SQL cannot reach files, the network or
    Python objects: external access and replacement scans are disabled, and the configuration is
    locked.

    Raises :class:`~synth.errors.DatasetError` with the message of DuckDB.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "python_enable_replacements": "false",
        "threads": "1",  # keeps the rows in their order
    }
    try:
        with duckdb.connect(config=config) as connection:
            connection.execute("SET lock_configuration = true")
            statements = connection.extract_statements(
                f'SELECT "{_ROW}" FROM dataset WHERE {where}\n'
            )
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise DatasetError("--where takes one condition, not several statements")
            # First without rows but with all columns, so that an error lists every column.
            connection.register("dataset", _numbered(empty()))
            connection.execute(statements[0]).fetchall()
            connection.register("dataset", _numbered(data))
            positions = [int(row[0]) for row in connection.execute(statements[0]).fetchall()]
    except duckdb.Error as error:
        reason = str(error).split("\n\n", maxsplit=1)[0]
        raise DatasetError(f"--where: {reason}{_advice(error, where)}") from error
    if any(not 0 <= position < data.num_rows for position in positions):
        raise DatasetError("--where names rows that are not in the dataset")
    return positions


def _advice(error: duckdb.Error, where: str) -> str:
    """Return help for a condition that DuckDB refuses: the columns, and the quotes that the column
    ``case`` needs.
    """
    if isinstance(error, duckdb.ParserException):
        bare = re.search(r'(?<!")\bcase\b(?!")(?!\s+when\b)', where, re.IGNORECASE)
        return '\nwrite the column `case` in double quotes: "case"' if bare else ""
    if not isinstance(error, duckdb.BinderException):
        return ""
    return f"\ncolumns: {', '.join(SCHEMA.names)}"


def _numbered(data: pa.Table) -> pa.Table:
    names: Sequence[str] = data.column_names
    # DuckDB needs an extension for times with a time zone, which its wheel does not include.
    columns = [
        data[name].cast(pa.timestamp("us")) if name == "created_at" else data[name]
        for name in names
    ]
    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    numbered = pa.table(columns, schema=pa.schema(fields))
    return numbered.append_column(_ROW, pa.array(range(data.num_rows), pa.int64()))
