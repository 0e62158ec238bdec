"""Copies of a SQLite database on which a query has another answer.

A copy lacks a part of the rows, or its rows have exchanged some of their values. Of the parts each
row is missing from at least one, so no fixed answer fits all copies; rows that refer to a missing
row are missing too. Exchanged columns keep their set of values: references lead to rows that exist,
and unique columns stay unique.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import apsw

from envs.quoting import quoted

_ROWIDS = ("rowid", "_rowid_", "oid")

_PRIME = 2_654_435_761
"""Knuth's multiplicative hash: a row's share follows from its number, but not its order."""


MOST_ROWS = 100_000
"""Rows of a table beyond which it is left as it is: its rows are held in memory."""

_STORED = 0
"""What `PRAGMA table_xinfo` says of a column that is neither hidden nor generated."""


@dataclass(frozen=True, slots=True)
class _Table:
    """``rowid``: a name of the hidden row number, free; ``gone``: the table of the marked rows."""

    name: str
    rowid: str
    gone: str
    columns: frozenset[str]
    key: Sequence[str]


@contextmanager
def _altered(image: bytes, out: list[bytes]) -> Generator[apsw.Connection]:
    """Change an image that nobody writes to, without triggers; then ``out`` is the new one."""
    raw = apsw.Connection(":memory:")
    try:
        raw.deserialize("main", image)
        raw.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; BEGIN")
        for (name,) in list(raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
            raw.execute(f"DROP TRIGGER main.{quoted(name)}")
        yield raw
        raw.execute("COMMIT")
        out.append(raw.serialize("main"))
    finally:
        raw.close()


def row_subset(image: bytes, part: int, parts: int) -> bytes:
    """Return the image without the ``part``-th of ``parts`` shares of each table's rows, and
    without the rows that refer to them. Virtual tables and those WITHOUT ROWID keep their rows.
    """
    out: list[bytes] = []
    with _altered(image, out) as raw:
        tables = list(_rowid_tables(raw))
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
    return out[0]


def renamed_keys(image: bytes, step: int) -> bytes:
    """Return the image with the primary keys of each table moved ``step`` shares on among its rows.

    What refers to a row refers to another row then. The values of a row stay together.
    """
    return _shifted(image, step, lambda _, is_key: is_key)


def shifted_columns(image: bytes, bit: int) -> bytes:
    """Return the image with the columns moved on whose number has the bit ``bit``; keys stay.

    Of any two columns of the first 2**n, one is moved without the other for some bit below n.
    """
    return _shifted(image, bit + 1, lambda index, is_key: not is_key and bool(index >> bit & 1))


def _shifted(image: bytes, step: int, moves: Callable[[int, bool], bool]) -> bytes:
    out: list[bytes] = []
    with _altered(image, out) as raw:
        for name in list(_shiftable(raw)):
            _shift(raw, name, step, moves)
    return out[0]


COPIES: tuple[Callable[[bytes], bytes], ...] = (
    *(partial(row_subset, part=part, parts=2) for part in range(2)),
    *(partial(row_subset, part=part, parts=3) for part in range(3)),
    *(partial(row_subset, part=part, parts=8) for part in (0, 3, 6)),
    *(partial(renamed_keys, step=step) for step in (1, 3)),
    *(partial(shifted_columns, bit=bit) for bit in range(4)),
)
"""Copies that queries are judged on; those that keep rows whole come first."""


def _rowid_tables(raw: apsw.Connection) -> Iterator[_Table]:
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
        f"INSERT OR IGNORE INTO {child.gone} SELECT c.{child.rowid} FROM main.{quoted(child.name)}"
        f" c JOIN main.{quoted(parent.name)} p ON {joined} JOIN {parent.gone} g ON g.id ="
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
    """A table's parents, each with the condition that ties them; keys to nowhere are left out."""
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


def _shiftable(raw: apsw.Connection) -> Iterator[str]:
    """Ordinary tables that have two rows or more, and not too many."""
    for schema, name, kind, *_ in list(raw.execute("PRAGMA main.table_list")):
        if schema == "main" and kind == "table" and not name.startswith("sqlite_"):
            count = raw.execute(f"SELECT COUNT(*) FROM main.{quoted(name)}").get
            if isinstance(count, int) and 2 <= count <= MOST_ROWS:
                yield name


def _shift(raw: apsw.Connection, table: str, step: int, moves: Callable[[int, bool], bool]) -> None:
    described = list(raw.execute(f"PRAGMA main.table_xinfo({quoted(table)})"))
    columns = [(str(row[1]), bool(row[5])) for row in described if row[6] == _STORED]
    moved = [moves(index, is_key) for index, (_, is_key) in enumerate(columns)]
    if not any(moved):
        return
    names = ", ".join(quoted(name) for name, _ in columns)
    rows = list(raw.execute(f"SELECT {names} FROM main.{quoted(table)} ORDER BY {names}"))
    offset = max(1, len(rows) * step // 7 % len(rows))
    raw.execute(f"DELETE FROM main.{quoted(table)}")
    marks = ", ".join("?" * len(columns))
    # The double of a row by a constraint of several columns is left out.
    raw.executemany(
        f"INSERT OR IGNORE INTO main.{quoted(table)} ({names}) VALUES ({marks})",
        [
            tuple(
                rows[(index + offset) % len(rows)][place] if moves_on else row[place]
                for place, moves_on in enumerate(moved)
            )
            for index, row in enumerate(rows)
        ],
    )
