"""schema.sql and seed.sql of a snapshot: the schema for SQLite, the rows for every engine."""

from __future__ import annotations

from collections.abc import Sequence

from synth.generation.names import quoted
from synth.generation.snapshot import LiveColumn, LiveTable, Rows, Value

BATCH = 50
"""Rows of one INSERT."""


def write_schema(tables: Sequence[LiveTable]) -> str:
    """CREATE TABLE for each table, with comments; views and triggers are left out."""
    order = {table.name: index for index, table in enumerate(tables)}
    return "\n".join(_create(table, order) for table in tables)


def _create(table: LiveTable, order: dict[str, int]) -> str:
    single = table.key[0] if len(table.key) == 1 else None
    parts = [(_column(column, single), column.comment) for column in table.columns]
    if len(table.key) > 1:
        parts.append((f"PRIMARY KEY ({_names(table.key)})", None))
    parts += [(f"UNIQUE ({_names(one)})", None) for one in table.uniques]
    for columns, target, there in table.links:
        later = " DEFERRABLE INITIALLY DEFERRED" if order[target] > order[table.name] else ""
        words = f"FOREIGN KEY ({_names(columns)}) REFERENCES {quoted(target)} ({_names(there)})"
        parts.append((words + later, None))
    lines = list[str]()
    for index, (words, comment) in enumerate(parts):
        comma = "," if index < len(parts) - 1 else ""
        lines.append(f"  {words}{comma}{_comment(comment)}")
    body = "\n".join(lines)
    head = f"{_comment(table.comment).strip()}\n" if table.comment else ""
    return f"{head}CREATE TABLE {quoted(table.name)} (\n{body}\n);\n"


def _comment(text: str | None) -> str:
    return f"  -- {' '.join(text.split())}" if text else ""


def _column(column: LiveColumn, key: str | None) -> str:
    name, words = quoted(column.name), [quoted(column.name), column.type]
    if column.name == key:
        words.append("PRIMARY KEY")
    elif not column.nullable:
        words.append("NOT NULL")
    rules = list[str]()
    if column.choices:
        rules.append(f"{name} IN ({', '.join(literal(choice) for choice in column.choices)})")
    if column.low is not None:
        rules.append(f"{name} >= {column.low:g}")
    if column.high is not None:
        rules.append(f"{name} <= {column.high:g}")
    if rules:
        words.append(f"CHECK ({' AND '.join(rules)})")
    return " ".join(words)


def _typed(column: LiveColumn, value: Value) -> Value:
    return bool(value) if column.type == "BOOLEAN" and value in (0, 1) else value


def _names(columns: Sequence[str]) -> str:
    return ", ".join(quoted(column) for column in columns)


def literal(value: object) -> str:
    """A value in SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def write_seed(tables: Sequence[LiveTable], rows: Rows) -> str:
    """INSERT statements of many rows each, parents first."""
    out = list[str]()
    for table in tables:
        found: list[dict[str, Value]] = rows.by_table[table.name]
        for start in range(0, len(found), BATCH):
            values = ",\n".join(
                "  (" + ", ".join(literal(_typed(c, row[c.name])) for c in table.columns) + ")"
                for row in found[start : start + BATCH]
            )
            head = f"INSERT INTO {quoted(table.name)} ({_names(table.names)}) VALUES"
            out.append(f"{head}\n{values};\n")
    return "".join(out)
