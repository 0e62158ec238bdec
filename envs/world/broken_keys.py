"""Rows of a world's scripts whose foreign keys lead to no row, found on SQLite."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from envs.errors import ScriptError
from envs.quoting import quoted
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.scripts.run import run_script


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
    message = f"a row of {table} breaks a foreign key: {values} is in no row of {parent}"
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
