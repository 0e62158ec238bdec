"""The account of a source beside what its own catalog counts."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from envs.ledger import Ledger
from tests.drawn.databases import quoted

_RELATIONS = """
SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
"""


def check_account(ledger: Ledger, own: Mapping[str, int]) -> None:
    """Check that each part that the source counts is used or named, and that the sums are right."""
    ledger.check()
    counts = ledger.counts()
    for kind, count in own.items():
        found = counts.get(kind, {"found": 0})["found"]
        assert found == count, f"{kind}: the source has {count}, the account {found}"


def catalog_counts(file: Path, ledger: Ledger) -> Counter[str]:
    """What SQLite's catalog lists, by the kinds of the account. A table that is left out takes its
    parts with it.
    """
    unread = {
        one.name for one in ledger.entries if (one.kind, one.outcome) == ("table", "left out")
    }
    out = Counter[str]()
    with closing(sqlite3.connect(file)) as db:
        for name, kind in db.execute(_RELATIONS).fetchall():
            out["view" if kind == "view" else "table"] += 1
            if kind == "table" and name not in unread:
                out += _parts(db, name)
        triggers = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'"
        out["trigger"] = db.execute(triggers).fetchone()[0]
    return out


_FOREIGN_KEYS = """SELECT COUNT(DISTINCT key) FROM (
    SELECT group_concat("from" || '>' || "table" || '.' || ifnull("to", '')) AS key
    FROM (SELECT * FROM pragma_foreign_key_list(?) ORDER BY id, seq) GROUP BY id)"""
"""A key that is declared twice is one."""


def _parts(db: sqlite3.Connection, table: str) -> Counter[str]:
    """The rows, columns, keys and indexes of a table."""

    def count(query: str) -> int:
        return int(db.execute(query, (table,)).fetchone()[0])

    return Counter(
        {
            "row": int(db.execute(f"SELECT COUNT(*) FROM {quoted(table)}").fetchone()[0]),
            "column": count("SELECT COUNT(*) FROM pragma_table_xinfo(?)"),
            "foreign key": count(_FOREIGN_KEYS),
            "index": count('SELECT COUNT(*) FROM pragma_index_list(?) WHERE NOT "unique"'),
        }
    )
