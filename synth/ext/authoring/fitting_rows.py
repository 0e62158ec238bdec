"""The rows of a snapshot that a world can hold: no two of one key, each reference leads to a row.

A source may hold more: rows from before a key was declared, numbers beyond 64 bits. They are left
out with what refers to them, and named.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from envs.ledger import Ledger
from synth.ext.authoring.names import quoted
from synth.ext.authoring.schema_sql import write_schema
from synth.ext.authoring.snapshot import LiveTable, Rows, Value

SHOWN = 5
"""The keys of rows that one entry of the account shows."""

_UNIQUE, _EMPTY = "UNIQUE constraint failed: ", "NOT NULL constraint failed: "

Row = dict[str, Value]


def fit(tables: Sequence[LiveTable], rows: Rows, ledger: Ledger) -> list[LiveTable]:
    """Remove the rows that the world cannot hold, and the checks that its rows break.

    Returns the tables with the other checks. All is named in the account.
    """
    bare = [replace(table, checks=()) for table in tables]
    left_out = dict[tuple[str, str], list[Row]]()
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(write_schema(bare))
        loaded = {table.name: _Loaded(db, table, rows) for table in bare}
        for table in loaded.values():
            table.load(left_out)
        while broken := db.execute("PRAGMA foreign_key_check").fetchall():
            for name, number, parent, _ in broken:
                loaded[name].remove(
                    number, f"it refers to a row of {parent} that is not here", left_out
                )
        for table in loaded.values():
            rows.by_table[table.table.name] = list(table.by_number.values())
        kept = [_held(db, table, ledger) for table in tables]
    for (name, why), found in left_out.items():
        key = loaded[name].table.key
        shown = ", ".join("/".join(str(row[one]) for one in key) for row in found[:SHOWN])
        more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
        place = f"{name} ({', '.join(key)} {shown}{more})" if key else name
        ledger.leave_out("row", place, why, len(found))
    return kept


@dataclass
class _Loaded:
    """A table in SQLite, and its rows by their numbers there."""

    db: sqlite3.Connection
    table: LiveTable
    rows: Rows
    by_number: dict[int, Row] = field(default_factory=dict[int, Row])

    def load(self, left_out: dict[tuple[str, str], list[Row]]) -> None:
        names = [column.name for column in self.table.columns if column.computed is None]
        listed = ", ".join(map(quoted, names))
        marks = ", ".join("?" * len(names))
        insert = f"INSERT INTO {quoted(self.table.name)} ({listed}) VALUES ({marks})"
        for row in self.rows.by_table[self.table.name]:
            try:
                number = self.db.execute(insert, [row[name] for name in names]).lastrowid
            except (sqlite3.IntegrityError, OverflowError) as error:
                left_out.setdefault((self.table.name, _reason(error)), []).append(row)
            else:
                self.by_number[number or 0] = row

    def remove(self, number: int, why: str, left_out: dict[tuple[str, str], list[Row]]) -> None:
        row = self.by_number.pop(number, None)
        if row is not None:  # a row may break two keys
            self.db.execute(f"DELETE FROM {quoted(self.table.name)} WHERE rowid = ?", [number])
            left_out.setdefault((self.table.name, why), []).append(row)


def _reason(error: Exception) -> str:
    words = str(error)
    if isinstance(error, OverflowError):
        return "it holds a number beyond the 64 bits of SQLite"
    if words.startswith(_UNIQUE):
        return f"another row has the same {words.removeprefix(_UNIQUE)}"
    if words.startswith(_EMPTY):
        return f"{words.removeprefix(_EMPTY)} has no value"
    return f"SQLite refuses it: {words}"


def _held(db: sqlite3.Connection, table: LiveTable, ledger: Ledger) -> LiveTable:
    """The table without the checks that its rows break, as rows from before a check do."""
    kept = list[str]()
    for check in table.checks:
        query = f"SELECT 1 FROM {quoted(table.name)} WHERE NOT ({check}) LIMIT 1"
        if db.execute(query).fetchone() is None:
            kept.append(check)
        else:
            ledger.leave_out("check", f"{table.name}: {check}", "rows of the source break it")
    ledger.use("check", len(kept))
    return replace(table, checks=tuple(kept))
