"""Seed rows that break a declared foreign key on SQLite, which does not look while a script runs.

Servers refuse such a row themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from envs.errors import ScriptError
from envs.quoting import quoted
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.scripts.run import Watch, run_script


def check_rows(connection: Any, schema: Path, seed: Path) -> None:
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
    message = f"a row of {table} breaks a foreign key: {values} is in no row of {parent}"
    raise ScriptError(message, *_written(schema, seed, f"SELECT 1 {where}", row_id))


def _written(schema: Path, seed: Path, query: str, row_id: int) -> tuple[Path, int | None]:
    """File and line of the statement of a seed that wrote a row."""
    found: list[tuple[Path, int]] = []

    def load(connection: Any) -> None:
        run_script(schema, connection, "sqlite")
        run_script(seed, connection, "sqlite", _watch(connection, query, row_id, found))

    SqliteTemplate.build(load).close()
    return found[0] if found else (seed, None)


def _watch(connection: Any, query: str, row_id: int, found: list[tuple[Path, int]]) -> Watch:
    def watch(file: Path, line: int) -> None:
        if not found and connection.execute(query, (row_id,)).fetchone() is not None:
            found.append((file, line))

    return watch
