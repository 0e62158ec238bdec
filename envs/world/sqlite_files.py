"""A world over SQLite files that exist: `databases.json` in the place of schema.sql and seed.sql, a
universe each.

    [{"name": "california_schools",
      "file": "/data/bird/dev_databases/california_schools/california_schools.sqlite",
      "sha256": "1f0c...",
      "about": {"schools": {"CDSCode": "The school's code."}}}]

``about`` is optional: what columns hold, by table and column.

The files are read and never opened for writing. They do not travel with the world: each process
reads them where they are, and a file that is not what it was is refused.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from envs.errors import WorldError
from envs.quoting import quoted
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.sandboxes.sqlite.schema import UndecodableTextError
from envs.types import Table
from envs.unreadable import unreadable

FILE = "databases.json"

KEYS = frozenset({"name", "file", "sha256", "about"})


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    """One database; ``about`` maps tables to columns to what they hold."""

    name: str
    path: Path
    sha256: str
    about: Mapping[str, Mapping[str, str]]


def read_databases(folder: Path) -> tuple[DatabaseFile, ...]:
    """The databases of a world's folder, in their order; none where there is no `databases.json`.

    Raises :class:`WorldError` for what is not such a list.
    """
    file = folder / FILE
    if not file.is_file():
        return ()
    try:
        raw: Any = json.loads(file.read_bytes())
    except ValueError as error:
        raise WorldError(f"not JSON: {error}", file) from None
    if not isinstance(raw, list) or not raw:
        raise WorldError("must hold a list of databases", file)
    out: list[DatabaseFile] = []
    for item in cast("list[Any]", raw):
        entry = cast("dict[str, Any]", item if isinstance(item, dict) else {})
        texts = all(isinstance(entry.get(key), str) for key in ("name", "file", "sha256"))
        if not texts or set(entry) - KEYS:
            raise WorldError("a database has `name`, `file` and `sha256`, texts, and `about`", file)
        about: dict[str, dict[str, Any]] = entry.get("about") or {}
        shown = {
            str(table): {str(k): str(v) for k, v in columns.items()}
            for table, columns in about.items()
        }
        out.append(DatabaseFile(entry["name"], folder / entry["file"], entry["sha256"], shown))
    return tuple(out)


def read_image(path: Path) -> bytes:
    """A database file's bytes. :class:`WorldError` if unreadable, or its last writes are not in."""
    try:
        image = path.read_bytes()
        waiting = path.with_name(f"{path.name}-wal")
        if waiting.is_file() and waiting.stat().st_size:
            raise WorldError(
                "writes to this database still stand in its -wal file: open it once with sqlite3",
                path,
            )
    except OSError as error:
        why = unreadable(error, "a SQLite database")
        raise WorldError(f"the database cannot be read: {why}", path) from None
    if not image.startswith(b"SQLite format 3\0"):
        raise WorldError("not a SQLite database", path)
    return image


def database_template(database: DatabaseFile) -> SqliteTemplate:
    """A template of the file as it is, with the replacement sign for bytes of a text that are not
    UTF-8. Text in double quotes may stand for a text, as in the stock SQLite that published
    questions were written for.

    Raises :class:`WorldError` for a file that cannot be read, or is not what it was.
    """
    image = read_image(database.path)
    if hashlib.sha256(image).hexdigest() != database.sha256:
        raise WorldError(
            "the database is not what it was: its content has another digest", database.path
        )
    try:
        template = SqliteTemplate.from_image(image, loose_quotes=True)
    except UndecodableTextError:
        template = SqliteTemplate.from_image(_with_valid_text(image), loose_quotes=True)
    except WorldError as error:
        raise WorldError(error.message, database.path) from None
    template.tables = {
        name: _described(table, database.about) for name, table in template.tables.items()
    }
    return template


def _with_valid_text(image: bytes) -> bytes:
    """The image with the replacement sign for each byte of a text that is not UTF-8."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as raw:
        raw.deserialize(image)
        raw.text_factory = bytes
        columns = raw.execute(
            "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_xinfo(t.name) c"
            " WHERE t.schema = 'main' AND t.type = 'table' AND c.hidden = 0"
        ).fetchall()
        for table, column in columns:
            table_name, name = quoted(table.decode()), quoted(column.decode())
            found = raw.execute(
                f"SELECT DISTINCT {name} FROM {table_name} WHERE typeof({name}) = 'text'"
            )
            for (text,) in list(found):
                if (valid := text.decode("utf-8", "replace")).encode() != text:
                    raw.execute(
                        f"UPDATE {table_name} SET {name} = ? WHERE CAST({name} AS BLOB) = ?",
                        (valid, text),
                    )
        return raw.serialize()


def _described(table: Table, about: Mapping[str, Mapping[str, str]]) -> Table:
    columns_of_table = {name.lower(): columns for name, columns in about.items()}.get(
        table.name.lower(), {}
    )
    by_name = {name.strip().lower(): text for name, text in columns_of_table.items()}
    columns = tuple(
        replace(column, about=by_name.get(column.name.strip().lower(), ""))
        for column in table.columns
    )
    return replace(table, columns=columns)
