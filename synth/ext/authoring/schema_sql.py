"""schema.sql and seed.sql of a snapshot: the schema for SQLite, the rows for every engine."""

from __future__ import annotations

from collections.abc import Sequence

from synth.ext.authoring.checks import columns_of
from synth.ext.authoring.names import quoted
from synth.ext.authoring.snapshot import LiveColumn, LiveTable, Rows, Value

BATCH = 50
"""Rows of one INSERT."""


def write_schema(tables: Sequence[LiveTable]) -> str:
    """CREATE TABLE for each table, with comments; views and triggers are left out."""
    order = {table.name: index for index, table in enumerate(tables)}
    return "\n".join(_create(table, order) for table in tables)


def _create(table: LiveTable, order: dict[str, int]) -> str:
    single = table.key[0] if len(table.key) == 1 else None
    own = {column.name: list[str]() for column in table.columns}
    shared = list[str]()
    for check in table.checks:
        named = columns_of(check)
        (own[min(named)] if len(named) == 1 else shared).append(check)
    parts = [(_column(c, single, own[c.name]), c.comment) for c in table.columns]
    if len(table.key) > 1:
        parts.append((f"PRIMARY KEY ({_names(table.key)})", None))
    parts += [(f"UNIQUE ({_names(one)})", None) for one in table.uniques]
    for columns, target, there in table.links:
        later = " DEFERRABLE INITIALLY DEFERRED" if order[target] > order[table.name] else ""
        words = f"FOREIGN KEY ({_names(columns)}) REFERENCES {quoted(target)} ({_names(there)})"
        parts.append((words + later, None))
    parts += [(f"CHECK ({check})", None) for check in shared]
    lines = list[str]()
    for index, (words, comment) in enumerate(parts):
        comma = "," if index < len(parts) - 1 else ""
        lines.append(f"  {words}{comma}{_comment(comment)}")
    body = "\n".join(lines)
    indexes = "".join(
        f"CREATE UNIQUE INDEX {quoted(name)} ON {quoted(table.name)} ({_names(columns)})"
        f" WHERE {where};\n"
        for name, columns, where in partial_indexes(table)
    )
    head = f"CREATE TABLE {quoted(table.name)} ({_comment(table.comment)[1:]}"
    return f"{head}\n{body}\n);\n{indexes}"


def partial_indexes(table: LiveTable) -> list[tuple[str, tuple[str, ...], str]]:
    """The unique indexes of some rows of a table: name, columns, condition."""
    return [
        (f"{table.name}_unique_{number}", columns, where)
        for number, (columns, where) in enumerate(table.partials, 1)
    ]


def _comment(text: str | None) -> str:
    return f"  -- {' '.join(text.split())}" if text else ""


def _column(column: LiveColumn, key: str | None, checks: Sequence[str]) -> str:
    words = [quoted(column.name), column.type + column.digits]
    if column.small and column.type == "TEXT":
        words[1] = f"VARCHAR({column.length})"
    elif column.small and column.type == "INTEGER" and column.name != key:  # SQLite numbers a key
        words[1] = "SMALLINT"
    if column.computed is not None:
        words.append(f"GENERATED ALWAYS AS ({column.computed}) STORED")
    if column.name == key:
        words.append("PRIMARY KEY")
    elif not column.nullable:
        words.append("NOT NULL")
    if column.default is not None:
        words.append(f"DEFAULT {column.default}")
    if checks:
        together = " AND ".join(f"({one})" if " OR " in one else one for one in checks)
        words.append(f"CHECK ({together})" if len(checks) > 1 else f"CHECK ({checks[0]})")
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
        columns = [column for column in table.columns if column.computed is None]
        names = [column.name for column in columns]
        for start in range(0, len(found), BATCH):
            values = ",\n".join(
                "  (" + ", ".join(literal(_typed(c, row[c.name])) for c in columns) + ")"
                for row in found[start : start + BATCH]
            )
            head = f"INSERT INTO {quoted(table.name)} ({_names(names)}) VALUES"
            out.append(f"{head}\n{values};\n")
    return "".join(out)
