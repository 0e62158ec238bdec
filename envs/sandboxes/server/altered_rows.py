"""Changes to the rows of a server database that was just loaded: a query has another answer there.

Such a database is only read, so it needs no triggers and no constraints any more. What constraints
promised about its rows still holds: references lead to rows that exist, and keys and unique columns
keep their values.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sqlalchemy
from sqlalchemy import (
    ColumnClause,
    Connection,
    Inspector,
    bindparam,
    column,
    delete,
    func,
    select,
    update,
)
from sqlalchemy.pool import StaticPool

from envs.scripts import Dialect

_PRIME = 2_654_435_761
"""Knuth's multiplicative hash: which share a row is in does not follow the order of the rows."""

_DRIVERS = {"psycopg", "psycopg2", "pymysql"}

_DROP_GUARDS = """
    DO $$
    DECLARE item record;
    BEGIN
      FOR item IN
        SELECT conrelid::regclass AS name, conname FROM pg_constraint
        WHERE contype IN ('f', 'c', 'x') AND conrelid <> 0
          AND connamespace = current_schema()::regnamespace
      LOOP
        EXECUTE 'ALTER TABLE ' || item.name || ' DROP CONSTRAINT IF EXISTS '
          || quote_ident(item.conname);
      END LOOP;
      FOR item IN
        SELECT oid::regclass AS name FROM pg_class
        WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
      LOOP
        EXECUTE 'ALTER TABLE ' || item.name || ' DISABLE TRIGGER USER';
      END LOOP;
    END $$"""

_TRIGGERS = "SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = DATABASE()"

_STORED_COLUMNS = """
    SELECT column_name FROM information_schema.columns
    WHERE table_schema = {schema} AND table_name = :name AND is_generated = 'NEVER'
    ORDER BY ordinal_position"""


def _row_subset(connection: Any, dialect: Dialect, part: int, parts: int) -> None:
    """Delete the ``part``-th of ``parts`` shares of the rows of each table that has a primary key,
    and all rows that refer to a deleted one.

    ``connection`` is the driver's own. Raises :class:`sqlalchemy.exc.DBAPIError` where the database
    refuses.
    """
    with _unguarded(connection, dialect) as (session, inspector):
        tables = {
            name: _Rows.read(session, inspector, name) for name in inspector.get_table_names()
        }
        for number, rows in enumerate(tables.values()):
            rows.mark(number, part, parts)
        while any(rows.follow(tables) for rows in tables.values()):
            pass
        for rows in tables.values():
            rows.delete_marked(session)


def _exchanged_rows(connection: Any, dialect: Dialect, step: int) -> None:
    """Give each row of a table that has a primary key the values of the row ``step`` shares further
    on. Keys and unique columns stay.

    ``connection`` is the driver's own. Raises :class:`sqlalchemy.exc.DBAPIError` where the database
    refuses.
    """
    _shifted(connection, dialect, step, lambda _: True)


def _shifted_columns(connection: Any, dialect: Dialect, bit: int) -> None:
    """As :func:`_exchanged_rows`, for the columns whose number has the bit ``bit``.

    Of any two columns of the first 2**n, one is moved without the other for some bit below n.
    """
    _shifted(connection, dialect, bit + 1, lambda index: bool(index >> bit & 1))


def _shifted(connection: Any, dialect: Dialect, step: int, moves: Callable[[int], bool]) -> None:
    with _unguarded(connection, dialect) as (session, inspector):
        for name in inspector.get_table_names():
            key = _key(inspector, name)
            fixed = {*key, *_unique_columns(inspector, name)}
            columns = _stored_columns(session, dialect, name)
            moved = [
                column
                for index, column in enumerate(columns)
                if moves(index) and column not in fixed
            ]
            if key and moved:
                _shift(session, name, key, moved, step)


@dataclass
class _Rows:
    """The rows of one table: the columns that tell them apart or refer to others, as lists of equal
    length. ``by`` are the columns that a row is deleted by, ``marked`` the rows to delete.
    """

    name: str
    keyed: bool
    by: Sequence[str]
    references: Sequence[tuple[Sequence[str], str, Sequence[str]]]
    columns: Mapping[str, Sequence[Any]]
    marked: set[int] = field(default_factory=set[int])

    @classmethod
    def read(cls, session: Connection, inspector: Inspector, name: str) -> _Rows:
        """Read a table. A row of one without a primary key is told from others by its references,
        the only reason to delete it.
        """
        key = _key(inspector, name)
        references = [
            (one["constrained_columns"], one["referred_table"], one["referred_columns"])
            for one in inspector.get_foreign_keys(name)
        ]
        own = [column for columns, _, _ in references for column in columns]
        referred = [
            column
            for child in inspector.get_table_names()
            for one in inspector.get_foreign_keys(child)
            if one["referred_table"] == name
            for column in one["referred_columns"]
        ]
        names = list(dict.fromkeys([*key, *own, *referred]))
        columns: list[ColumnClause[Any]] = [column(name) for name in names]
        table = sqlalchemy.table(name, *columns)
        found = session.execute(select(*columns).select_from(table).order_by(*columns))
        rows = [tuple(row) for row in found]
        lists = [[row[index] for row in rows] for index in range(len(names))]
        by = key or list(dict.fromkeys(own))
        return cls(name, bool(key), by, references, dict(zip(names, lists, strict=True)))

    def mark(self, number: int, part: int, parts: int) -> None:
        if self.keyed:
            count = len(self.columns[self.by[0]])
            share = ((row * _PRIME + number >> 8) % parts for row in range(count))
            self.marked.update(row for row, of in enumerate(share) if of == part)

    def tuples(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        return zip(*(self.columns[name] for name in names), strict=True)

    def follow(self, tables: Mapping[str, _Rows]) -> bool:
        """Mark the rows that refer to a marked one; tell whether there were new ones."""
        before = len(self.marked)
        for own, parent, referred in self.references:
            rows = tables[parent]
            gone = {key for row, key in enumerate(rows.tuples(referred)) if row in rows.marked}
            self.marked.update(row for row, key in enumerate(self.tuples(own)) if key in gone)
        return len(self.marked) > before

    def delete_marked(self, session: Connection) -> None:
        if not self.marked:
            return
        table = sqlalchemy.table(self.name, *map(column, self.by))
        same = [
            table.c[name].is_not_distinct_from(bindparam(f"value_{index}"))
            for index, name in enumerate(self.by)
        ]
        marked = [
            {f"value_{index}": value for index, value in enumerate(values)}
            for row, values in enumerate(self.tuples(self.by))
            if row in self.marked
        ]
        session.execute(delete(table).where(*same), marked)


@contextmanager
def _unguarded(connection: Any, dialect: Dialect) -> Generator[tuple[Connection, Inspector]]:
    """A session on a database with triggers and constraints off, and what was there before."""
    packages = {parent.__module__.partition(".")[0] for parent in type(connection).__mro__}
    (driver,) = packages & _DRIVERS
    engine = sqlalchemy.create_engine(
        f"{dialect}+{driver}://",
        creator=lambda: connection,
        poolclass=StaticPool,
        isolation_level="AUTOCOMMIT",
    )
    with engine.connect() as session:
        inspector = sqlalchemy.inspect(session)
        for name in inspector.get_table_names():
            inspector.get_foreign_keys(name)  # which the inspector remembers
        if dialect == "postgresql":
            session.exec_driver_sql(_DROP_GUARDS)
        else:
            session.exec_driver_sql("SET foreign_key_checks = 0, check_constraint_checks = 0")
            quote = session.dialect.identifier_preparer.quote
            for trigger in session.scalars(sqlalchemy.text(_TRIGGERS)).all():
                session.exec_driver_sql(f"DROP TRIGGER {quote(trigger)}")
        yield session, inspector


def _key(inspector: Inspector, table: str) -> Sequence[str]:
    return inspector.get_pk_constraint(table)["constrained_columns"]


def _unique_columns(inspector: Inspector, table: str) -> Iterator[str]:
    for index in inspector.get_indexes(table):
        if index["unique"]:
            yield from (name for name in index["column_names"] if name is not None)


def _stored_columns(session: Connection, dialect: Dialect, table: str) -> Sequence[str]:
    schema = "current_schema()" if dialect == "postgresql" else "DATABASE()"
    statement = sqlalchemy.text(_STORED_COLUMNS.format(schema=schema))
    return session.scalars(statement, {"name": table}).all()


def _shift(
    session: Connection, name: str, key: Sequence[str], moved: Sequence[str], step: int
) -> None:
    """Give each row the moved columns of the row that lies ``step`` shares further on."""
    table = sqlalchemy.table(name, *map(column, dict.fromkeys([*key, *moved])))
    count = session.scalar(select(func.count()).select_from(table)) or 0
    if count < 2:
        return
    offset = max(1, count * step // 7 % count)
    number = func.row_number().over(order_by=[table.c[name] for name in key])
    to = select(*(table.c[name] for name in key), number.label("synth_row")).subquery("synth_to")
    source = select(
        *(table.c[name] for name in moved), ((number - 1 + offset) % count + 1).label("synth_row")
    ).subquery("synth_from")
    session.execute(
        update(table)
        .values({name: source.c[name] for name in moved})
        .where(*(table.c[name] == to.c[name] for name in key), to.c.synth_row == source.c.synth_row)
    )


ALTERATIONS: tuple[Callable[[Any, Dialect], None], ...] = (
    *(partial(_row_subset, part=part, parts=2) for part in range(2)),
    *(partial(_row_subset, part=part, parts=8) for part in (0, 3, 6)),
    *(partial(_exchanged_rows, step=step) for step in (1, 3)),
    *(partial(_shifted_columns, bit=bit) for bit in range(4)),
)
"""Changes that each make another database, which queries are judged on."""
