"""The tables of an attached database, and what it is recognised by."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import sqlalchemy
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from sqlalchemy.types import NullType

from envs.sandboxes.attached.access import Access, Places
from envs.types import Column, Table

SMALL_ROWS = 10_000
"""Rows of a table that is recognised by their values; of a larger one they are counted."""

ALL_SMALL_ROWS = 200_000
"""Rows of all tables that are recognised by their values."""


class _TableRecord(TypedDict, total=False):
    """The recognised state of a table: digests of its columns and of its values, the number of its
    rows. A table too large to be counted in time has no ``rows``, a large one no ``values``.
    """

    columns: str
    rows: int
    values: str


Fingerprint = Mapping[str, _TableRecord]
"""The recognised state of a database by table name."""

Read = Callable[[str, int], Sequence[Sequence[Any]] | None]
"""(query, most rows) -> its rows; None if it takes too long or gives more."""


@dataclass(frozen=True, slots=True)
class Relations:
    """The tables and views of a database by the name that a statement gives them, each view with
    its schema (None: it needs none). ``unread`` are further tables, with the reason.
    """

    tables: dict[str, Table]
    views: dict[str, str | None]
    unread: dict[str, SQLAlchemyError] = field(default_factory=dict[str, SQLAlchemyError])


def read_relations(access: Access, connection: sqlalchemy.Connection) -> Relations:
    """The tables and views that a connection leads to. Those of the default schema, or of the
    search path, have their own name, others their schema's before it.
    """
    inspector = sqlalchemy.inspect(connection)
    relations = Relations({}, {})
    places = access.places(connection)
    for schema in [*places.near, *places.far]:
        names, views = access.names(connection, schema)
        for name in sorted(names | views):
            called = name if schema in places.near else f"{schema}.{name}"
            if called in relations.tables or called in relations.views:  # hidden by a nearer one
                called = f"{schema}.{name}"
            outside = None if called == name else schema
            if name in views:
                relations.views[called] = outside
            else:
                try:
                    found = _table(inspector, name, schema, places)
                except SQLAlchemyError as error:
                    relations.unread[called] = error
                    connection.rollback()
                    continue
                relations.tables[called] = replace(found, name=called, schema=outside)
    return relations


def _table(inspector: sqlalchemy.Inspector, name: str, schema: str | None, places: Places) -> Table:
    found = inspector.get_pk_constraint(name, schema) or {}
    key = tuple(found.get("constrained_columns") or ())
    references: dict[str, tuple[str, str]] = {}
    for link in inspector.get_foreign_keys(name, schema):
        far, table = link.get("referred_schema"), link["referred_table"]
        parent = table if far is None or far in places.near else f"{far}.{table}"
        columns = zip(link["constrained_columns"], link["referred_columns"], strict=False)
        references |= {column: (parent, target) for column, target in columns}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # such a type is called unknown
        reflected = inspector.get_columns(name, schema)
    columns = [
        Column(
            column["name"],
            _type(column["type"], inspector.dialect),
            bool(column.get("nullable", True)),
            column["name"] in key,
            references.get(column["name"]),
            column.get("comment") or "",
        )
        for column in reflected
    ]
    return Table(name, tuple(columns), key)


def _type(kind: Any, dialect: sqlalchemy.Dialect) -> str:
    if isinstance(kind, NullType):
        return "unknown"
    try:
        return str(kind.compile(dialect=dialect))
    except SQLAlchemyError:  # a type that the dialect cannot write
        return str(kind)


def fingerprint_of(
    tables: Mapping[str, Table],
    dialect: sqlalchemy.Dialect,
    read: Read,
    unread: dict[str, SQLAlchemyError],
) -> Fingerprint:
    """Read what the database is recognised by: all rows of small tables, the number of rows of
    others. A table that cannot be read is recognised by its columns, and is entered in ``unread``.
    """
    out: dict[str, _TableRecord] = {}
    left = ALL_SMALL_ROWS
    for name, table in sorted(tables.items()):
        record = out[name] = {"columns": _digest([repr(table)])}
        try:
            left -= _read_rows(table.written(dialect.identifier_preparer.quote), record, read, left)
        except SQLAlchemyError as error:
            unread[name] = error
    return out


def _read_rows(source: str, record: _TableRecord, read: Read, left: int) -> int:
    """Enter the number of a table's rows, and their values if it is small; return how many of the
    rows that are ``left`` these values take.
    """
    counted = read(f"SELECT COUNT(*) FROM {source}", 1)
    if counted is None:
        return 0
    rows = record["rows"] = int(counted[0][0])
    values = read(f"SELECT * FROM {source}", SMALL_ROWS) if rows <= min(SMALL_ROWS, left) else None
    if values is None:
        return 0
    record["values"] = _digest(sorted(repr(tuple(row)) for row in values))
    return rows


def digest_of(fingerprint: Fingerprint) -> str:
    return _digest(
        f"{name} {sorted(record.items())}" for name, record in sorted(fingerprint.items())
    )


def differences(before: Fingerprint, now: Fingerprint) -> list[str]:
    """A line for each table that is not what it was. Empty if all are, as far as it was read."""
    lines: list[str] = []
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            lines.append(f"the table {name} is gone")
        elif name not in before:
            lines.append(f"the table {name} is new")
        elif (change := _change(before[name], now[name])) is not None:
            lines.append(f"the table {name} {change}")
    return lines


def _change(before: _TableRecord, now: _TableRecord) -> str | None:
    if before.get("columns") != now.get("columns"):
        return "has other columns, types or keys"
    rows, rows_now = before.get("rows"), now.get("rows")
    if rows is not None and rows_now is not None and rows != rows_now:
        return f"has {rows_now} rows, not {rows}"
    values, values_now = before.get("values"), now.get("values")
    if values is not None and values_now is not None and values != values_now:
        return "has other values"
    return None


def _digest(lines: Any) -> str:
    total = hashlib.sha256()
    for line in lines:
        total.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return total.hexdigest()[:16]
