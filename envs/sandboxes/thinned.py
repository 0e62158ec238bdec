"""Copies of a SQLite database with a part of its rows gone, so that a query's answer there is another one.

Of ``parts`` copies each row is missing from at least one, so that no fixed answer fits all of them. What referred to a
row that is gone goes too: a copy breaks no foreign key that the database itself kept.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# apsw's stubs leave the type of buffers and rows unknown.

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import apsw

_ROWIDS = ("rowid", "_rowid_", "oid")

_PRIME = 2_654_435_761
"""Knuth's multiplicative hash: which share a row is in follows from its number without following its order."""


@dataclass(frozen=True, slots=True)
class _Table:
    """``rowid`` is a name of the hidden row number that no column has taken, ``gone`` the table of the marked ones."""

    name: str
    rowid: str
    gone: str
    columns: frozenset[str]
    key: Sequence[str]


def thinned(image: bytes, part: int, parts: int) -> bytes:
    """The image without the ``part``-th of ``parts`` shares of each table's rows, and without what referred to them.

    Virtual tables and those WITHOUT ROWID keep their rows. Triggers are dropped: nobody writes here.
    """
    raw = apsw.Connection(":memory:")
    try:
        raw.deserialize("main", image)
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute("BEGIN")
        for (name,) in list(raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
            raw.execute(f"DROP TRIGGER main.{quoted(name)}")
        tables = list(_tables(raw))
        for at, each in enumerate(tables):
            share = f"abs(({each.rowid} * {_PRIME} + {at}) >> 8) % {parts} = {part}"
            raw.execute(f"CREATE TEMP TABLE {each.gone} (id INTEGER PRIMARY KEY)")
            raw.execute(f"INSERT INTO {each.gone} SELECT {each.rowid} FROM main.{quoted(each.name)} WHERE {share}")
        _spread(raw, tables)
        for each in tables:
            raw.execute(f"DELETE FROM main.{quoted(each.name)} WHERE {each.rowid} IN (SELECT id FROM {each.gone})")
        raw.execute("COMMIT")
        return raw.serialize("main")
    finally:
        raw.close()


def quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _tables(raw: apsw.Connection) -> Iterator[_Table]:
    """Ordinary tables."""
    for schema, name, kind, _, without_rowid, *_ in list(raw.execute("PRAGMA main.table_list")):
        if schema != "main" or kind != "table" or without_rowid or name.startswith("sqlite_"):
            continue
        rows = list(raw.execute(f"PRAGMA main.table_xinfo({quoted(name)})"))
        columns = frozenset(str(row[1]).lower() for row in rows)
        key = [str(row[1]) for row in sorted(rows, key=lambda row: row[5]) if row[5]]
        if rowid := next((each for each in _ROWIDS if each not in columns), None):
            yield _Table(name, rowid, f"temp.{quoted('gone ' + name)}", columns, key)


def _spread(raw: apsw.Connection, tables: Sequence[_Table]) -> None:
    """Mark what refers to a marked row, until nothing more does."""
    by_name = {each.name.lower(): each for each in tables}
    marking = [
        f"INSERT OR IGNORE INTO {child.gone} SELECT c.{child.rowid} FROM main.{quoted(child.name)} c "
        f"JOIN main.{quoted(parent.name)} p ON {joined} JOIN {parent.gone} g ON g.id = p.{parent.rowid}"
        for child in tables
        for parent, joined in _references(raw, child, by_name)
    ]
    grew = bool(marking)
    while grew:
        before = raw.total_changes()
        for each in marking:
            raw.execute(each)
        grew = raw.total_changes() > before


def _references(raw: apsw.Connection, child: _Table, tables: dict[str, _Table]) -> Iterator[tuple[_Table, str]]:
    """The parents of a table, each with the condition that ties them; keys that lead nowhere are left out."""
    keys: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, _, parent, own, other, *_ in list(raw.execute(f"PRAGMA main.foreign_key_list({quoted(child.name)})")):
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
            yield parent, " AND ".join(f"c.{quoted(own)} = p.{quoted(other)}" for own, other in named)
