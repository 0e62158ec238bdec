"""Copies of a SQLite database that lack a part of the rows, so that a query has another answer
there.

Of ``parts`` copies each row is missing from at least one, so no fixed answer fits all of them. Rows
that refer to a missing row are missing too: a copy breaks no foreign key that the database itself
keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import apsw

from envs.quoting import quoted

_ROWIDS = ("rowid", "_rowid_", "oid")

_PRIME = 2_654_435_761
"""Knuth's multiplicative hash: which share a row is in follows from its number without following
its order.
"""


@dataclass(frozen=True, slots=True)
class _Table:
    """``rowid`` is a name of the hidden row number that no column has taken, ``gone`` the table of
    the marked rows.
    """

    name: str
    rowid: str
    gone: str
    columns: frozenset[str]
    key: Sequence[str]


def row_subset(image: bytes, part: int, parts: int) -> bytes:
    """Return the image without the ``part``-th of ``parts`` shares of each table's rows, and
    without the rows that refer to them.

    Virtual tables and those WITHOUT ROWID keep their rows. Triggers are dropped: nobody writes
    here.
    """
    raw = apsw.Connection(":memory:")
    try:
        raw.deserialize("main", image)
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute("BEGIN")
        for (name,) in list(raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
            raw.execute(f"DROP TRIGGER main.{quoted(name)}")
        tables = list(_tables(raw))
        for index, table in enumerate(tables):
            share = f"abs(({table.rowid} * {_PRIME} + {index}) >> 8) % {parts} = {part}"
            raw.execute(f"CREATE TEMP TABLE {table.gone} (id INTEGER PRIMARY KEY)")
            raw.execute(
                f"INSERT INTO {table.gone} SELECT {table.rowid} FROM main.{quoted(table.name)}"
                f" WHERE {share}"
            )
        _spread(raw, tables)
        for table in tables:
            raw.execute(
                f"DELETE FROM main.{quoted(table.name)} WHERE {table.rowid} IN (SELECT id FROM"
                f" {table.gone})"
            )
        raw.execute("COMMIT")
        return raw.serialize("main")
    finally:
        raw.close()


def _tables(raw: apsw.Connection) -> Iterator[_Table]:
    for schema, name, kind, _, without_rowid, *_ in list(raw.execute("PRAGMA main.table_list")):
        if schema != "main" or kind != "table" or without_rowid or name.startswith("sqlite_"):
            continue
        rows = list(raw.execute(f"PRAGMA main.table_xinfo({quoted(name)})"))
        columns = frozenset(str(row[1]).lower() for row in rows)
        key = [str(row[1]) for row in sorted(rows, key=lambda row: row[5]) if row[5]]
        if rowid := next((name for name in _ROWIDS if name not in columns), None):
            yield _Table(name, rowid, f"temp.{quoted('gone ' + name)}", columns, key)


def _spread(raw: apsw.Connection, tables: Sequence[_Table]) -> None:
    """Mark the rows that refer to a marked row, until there are no more."""
    by_name = {table.name.lower(): table for table in tables}
    marking = [
        f"INSERT OR IGNORE INTO {child.gone} SELECT c.{child.rowid} FROM"
        f" main.{quoted(child.name)} c "
        f"JOIN main.{quoted(parent.name)} p ON {joined} JOIN {parent.gone} g ON g.id ="
        f" p.{parent.rowid}"
        for child in tables
        for parent, joined in _references(raw, child, by_name)
    ]
    grew = bool(marking)
    while grew:
        before = raw.total_changes()
        for statement in marking:
            raw.execute(statement)
        grew = raw.total_changes() > before


def _references(
    raw: apsw.Connection, child: _Table, tables: dict[str, _Table]
) -> Iterator[tuple[_Table, str]]:
    """The parents of a table, each with the condition that ties them; keys that lead nowhere are
    left out.
    """
    keys: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, _, parent, own, other, *_ in list(
        raw.execute(f"PRAGMA main.foreign_key_list({quoted(child.name)})")
    ):
        keys.setdefault(number, []).append((parent, own, other))
    for pairs in keys.values():
        parent = tables.get(pairs[0][0].lower())
        if parent is None:
            continue
        if any(other is None for _, _, other in pairs):
            if len(parent.key) != len(pairs):
                continue
            named = [(own, key) for (_, own, _), key in zip(pairs, parent.key, strict=True)]
        else:
            named = [(own, str(other)) for _, own, other in pairs]
        if all(other.lower() in parent.columns for _, other in named):
            yield (
                parent,
                " AND ".join(f"c.{quoted(own)} = p.{quoted(other)}" for own, other in named),
            )
