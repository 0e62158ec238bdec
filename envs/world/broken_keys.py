"""Rows of a world's scripts whose foreign keys lead to no row."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

from envs.errors import ScriptError
from envs.quoting import backticked, quoted
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.scripts import Dialect
from envs.scripts.run import run_script

_SERVER_KEYS = {
    "postgresql": """
SELECT (pg_identify_object('pg_class'::regclass, k.conrelid, 0)).identity,
  (pg_identify_object('pg_class'::regclass, k.confrelid, 0)).identity,
  string_agg(quote_ident(a.attname), E'\n' ORDER BY o),
  string_agg(quote_ident(p.attname), E'\n' ORDER BY o)
FROM pg_constraint k, unnest(k.conkey, k.confkey) WITH ORDINALITY AS c(child, parent, o),
  pg_attribute a, pg_attribute p
WHERE k.contype = 'f' AND a.attrelid = k.conrelid AND a.attnum = c.child
  AND p.attrelid = k.confrelid AND p.attnum = c.parent
GROUP BY k.oid, k.conrelid, k.confrelid ORDER BY k.conname, k.oid
""",
    "mysql": """
SELECT TABLE_NAME, REFERENCED_TABLE_NAME,
  GROUP_CONCAT(COLUMN_NAME ORDER BY ORDINAL_POSITION SEPARATOR '\n'),
  GROUP_CONCAT(REFERENCED_COLUMN_NAME ORDER BY ORDINAL_POSITION SEPARATOR '\n')
FROM information_schema.KEY_COLUMN_USAGE
WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_SCHEMA = DATABASE()
GROUP BY CONSTRAINT_NAME, TABLE_NAME, REFERENCED_TABLE_NAME ORDER BY CONSTRAINT_NAME
""",
}
"""Table, parent and their columns of each foreign key."""


def check_server_keys(
    connection: Any, dialect: Dialect, seed: Path, tables: Collection[str] | None = None
) -> None:
    """:func:`check_keys` for a server, where a script may switch its keys off: the error names the
    row, not the line. ``tables`` are those that are checked, by default all.
    """
    cursor = connection.cursor()
    cursor.execute(_SERVER_KEYS[dialect])
    plain = backticked if dialect == "mysql" else str
    for child, parent, own, theirs in cursor.fetchall():
        if tables is not None and child not in tables:
            continue
        columns = own.split("\n")
        pairs = list(zip(map(plain, columns), map(plain, theirs.split("\n")), strict=True))
        there = " AND ".join(f"p.{name} = c.{column}" for column, name in pairs)
        known = " AND ".join(f"c.{column} IS NOT NULL" for column, _ in pairs)
        cursor.execute(
            f"SELECT {', '.join(f'c.{column}' for column, _ in pairs)} FROM {plain(child)} c WHERE"
            f" {known} AND NOT EXISTS (SELECT 1 FROM {plain(parent)} p WHERE {there}) LIMIT 1"
        )
        broken = cursor.fetchone()
        if broken is not None:
            cells = zip(columns, broken, strict=True)
            values = ", ".join(f"{column}={cell!r}" for column, cell in cells)
            raise ScriptError(_broken(child, values, parent), seed)


def _broken(table: str, values: str, parent: str) -> str:
    return f"a row of {table} breaks a foreign key: {values} is in no row of {parent}"


def check_keys(connection: Any, schema: Path, seed: Path) -> None:
    """Raise :class:`ScriptError` with file and line of the statement that wrote the first row whose
    foreign key leads to no row.

    A key that its own declaration makes impossible is left to the tools that need it.
    """
    try:
        broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    except connection.Error:
        return
    if broken is None:
        return
    table, row_id, parent, number = broken
    if row_id is None:  # a table without rowid
        raise ScriptError(f"a row of {table} breaks its foreign key to {parent}", seed)
    keys = connection.execute(f"PRAGMA foreign_key_list({quoted(table)})").fetchall()
    columns = [key[3] for key in sorted(keys, key=lambda key: key[1]) if key[0] == number]
    where = f"FROM {quoted(table)} WHERE rowid = ?"
    listed = ", ".join(map(quoted, columns))
    cells = connection.execute(f"SELECT {listed} {where}", (row_id,)).fetchone()
    values = ", ".join(f"{name}={cell!r}" for name, cell in zip(columns, cells, strict=True))
    message = _broken(table, values, parent)
    raise ScriptError(message, *_written(schema, seed, f"SELECT 1 {where}", row_id))


def _written(schema: Path, seed: Path, query: str, row_id: int) -> tuple[Path, int | None]:
    found: list[tuple[Path, int]] = []

    def load(connection: Any) -> None:
        run_script(schema, connection, "sqlite")
        run_script(seed, connection, "sqlite", partial(watch, connection))

    def watch(connection: Any, file: Path, line: int) -> None:
        if not found and connection.execute(query, (row_id,)).fetchone() is not None:
            found.append((file, line))

    SqliteTemplate.build(load).close()
    return found[0] if found else (seed, None)
