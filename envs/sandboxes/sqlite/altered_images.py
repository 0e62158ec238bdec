"""Copies of a SQLite database on which a query has another answer.

A copy lacks a part of the rows, or its rows have exchanged some of their values. Of the parts each
row is missing from at least one, so no fixed answer fits all copies; rows that refer to a missing
row are missing too. Exchanged columns keep their set of values: references lead to rows that exist,
and unique columns stay unique.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial

import apsw

from envs.quoting import quoted
from envs.sandboxes.foreign_keys import ColumnReference
from envs.sandboxes.sqlite.schema import SqliteTable, links, read_shapes, read_tables

_PRIME = 2_654_435_761
"""Knuth's multiplicative hash: a row's share follows from its number, but not its order."""


MOST_ROWS = 100_000
"""Rows of a table beyond which it is left as it is: its rows are held in memory."""


@contextmanager
def _altered(image: bytes, out: list[bytes]) -> Generator[apsw.Connection]:
    """Change an image that nobody writes to, without triggers; then ``out`` is the new one."""
    with closing(apsw.Connection(":memory:")) as raw:
        raw.deserialize("main", image)
        raw.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; BEGIN")
        for (name,) in list(raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
            raw.execute(f"DROP TRIGGER main.{quoted(name)}")
        yield raw
        raw.execute("COMMIT")
        out.append(raw.serialize("main"))


def row_subset(image: bytes, part: int, parts: int) -> bytes:
    """Return the image without the ``part``-th of ``parts`` shares of each table's rows, and
    without the rows that refer to them. Virtual tables and those WITHOUT ROWID keep their rows.
    """
    out: list[bytes] = []
    with _altered(image, out) as raw:
        tables = {table.name: table for table in _ordinary(raw) if table.rowid is not None}
        for index, table in enumerate(tables.values()):
            share = f"abs(({table.rowid} * {_PRIME} + {index}) >> 8) % {parts} = {part}"
            raw.execute(f"CREATE TEMP TABLE {_gone(table)} (id INTEGER PRIMARY KEY)")
            raw.execute(
                f"INSERT INTO {_gone(table)} SELECT {table.rowid} FROM main.{quoted(table.name)}"
                f" WHERE {share}"
            )
        _spread(raw, tables)
        for table in tables.values():
            raw.execute(
                f"DELETE FROM main.{quoted(table.name)} WHERE {table.rowid} IN (SELECT id FROM"
                f" {_gone(table)})"
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
        for table in _ordinary(raw):
            count = raw.execute(f"SELECT COUNT(*) FROM main.{quoted(table.name)}").get
            if isinstance(count, int) and 2 <= count <= MOST_ROWS:
                _shift(raw, table, step, moves)
    return out[0]


COPIES: tuple[Callable[[bytes], bytes], ...] = (
    *(partial(row_subset, part=part, parts=2) for part in range(2)),
    *(partial(row_subset, part=part, parts=3) for part in range(3)),
    *(partial(row_subset, part=part, parts=8) for part in (0, 3, 6)),
    *(partial(renamed_keys, step=step) for step in (1, 3)),
    *(partial(shifted_columns, bit=bit) for bit in range(4)),
)
"""Copies that queries are judged on; those that keep rows whole come first."""


def _ordinary(raw: apsw.Connection) -> list[SqliteTable]:
    """The tables that are neither virtual nor behind a virtual one."""
    declared = read_tables(raw)
    return [table for name, table in read_shapes(raw).items() if name in declared]


def _gone(table: SqliteTable) -> str:
    """The table of a table's marked rows."""
    return f"temp.{quoted('gone ' + table.name)}"


def _spread(raw: apsw.Connection, tables: Mapping[str, SqliteTable]) -> None:
    """Mark the rows that refer to a marked row, until there are no more."""
    marking = [
        f"INSERT OR IGNORE INTO {_gone(child)} SELECT c.{child.rowid} FROM"
        f" main.{quoted(child.name)} c JOIN main.{quoted(parent.name)} p ON {joined} JOIN"
        f" {_gone(parent)} g ON g.id = p.{parent.rowid}"
        for child in tables.values()
        for parent, joined in _references(raw, child, tables)
    ]
    grew = bool(marking)
    while grew:
        before = raw.total_changes()
        for statement in marking:
            raw.execute(statement)
        grew = raw.total_changes() > before


def _references(
    raw: apsw.Connection, child: SqliteTable, tables: Mapping[str, SqliteTable]
) -> Iterator[tuple[SqliteTable, str]]:
    """A table's parents, each with the condition that ties them; keys to nowhere are left out."""
    declared = read_tables(raw)
    keys = {name: table.primary_key for name, table in declared.items()}
    pairs: dict[tuple[object, str], list[ColumnReference]] = defaultdict(list)
    for link in links(raw, child.name, keys):
        pairs[link.constraint, link.parent].append(link)
    for (_, parent), parts in pairs.items():
        if parent not in tables:
            continue
        known = {column.name.lower() for column in declared[parent].columns}
        if all(part.target.lower() in known for part in parts):
            joined = (f"c.{quoted(part.column)} = p.{quoted(part.target)}" for part in parts)
            yield tables[parent], " AND ".join(joined)


def _shift(
    raw: apsw.Connection, table: SqliteTable, step: int, moves: Callable[[int, bool], bool]
) -> None:
    moved = [moves(index, index in table.key) for index in range(len(table.columns))]
    if not any(moved):
        return
    names = ", ".join(map(quoted, table.columns))
    rows = list(raw.execute(f"SELECT {names} FROM main.{quoted(table.name)} ORDER BY {names}"))
    offset = max(1, len(rows) * step // 7 % len(rows))
    raw.execute(f"DELETE FROM main.{quoted(table.name)}")
    marks = ", ".join("?" * len(table.columns))
    # The double of a row by a constraint of several columns is left out.
    raw.executemany(
        f"INSERT OR IGNORE INTO main.{quoted(table.name)} ({names}) VALUES ({marks})",
        [
            tuple(
                rows[(index + offset) % len(rows)][place] if moves_on else row[place]
                for place, moves_on in enumerate(moved)
            )
            for index, row in enumerate(rows)
        ],
    )
