"""Copies of a SQLite database whose rows have exchanged some of their values, so that every entity
is still there and a query about it has another answer.

Each column keeps its set of values: references lead to rows that exist, and unique columns stay
unique. Only a row that is no longer unique by several columns together is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import apsw

from envs.quoting import quoted

MOST_ROWS = 100_000
"""Rows of a table beyond which it is left as it is: its rows are held in memory."""

_STORED = 0
"""What `PRAGMA table_xinfo` says of a column that is neither hidden nor generated."""


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
    raw = apsw.Connection(":memory:")
    try:
        raw.deserialize("main", image)
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute("PRAGMA ignore_check_constraints = ON")
        raw.execute("BEGIN")
        for (name,) in list(raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
            raw.execute(f"DROP TRIGGER main.{quoted(name)}")
        for name in list(_tables(raw)):
            _shift(raw, name, step, moves)
        raw.execute("COMMIT")
        return raw.serialize("main")
    finally:
        raw.close()


def _tables(raw: apsw.Connection) -> Iterator[str]:
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
