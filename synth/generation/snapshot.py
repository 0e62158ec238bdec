"""A snapshot of a live database: its tables as SQLite knows them, and rows that refer to no other.

Only SELECT is sent. Types become SQLite's; columns that hold bytes or what has no plain form are
left out, and checks are kept as far as they are understood.
"""

from __future__ import annotations

import datetime as dt
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from sqlalchemy import Engine, MetaData, Table, UniqueConstraint, inspect
from sqlalchemy import types as sql
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from synth.errors import OperatorError
from synth.foundation.suggestions import hint, nearest
from synth.generation.checks import ColumnRules, read_checks

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class LiveColumn:
    """A column of a live database in the terms of SQLite."""

    name: str
    type: str
    nullable: bool
    choices: tuple[object, ...] = ()
    low: float | None = None
    high: float | None = None
    comment: str | None = None
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table of a live database. ``links`` are its foreign keys: columns, table, columns there."""

    name: str
    table: Table
    columns: tuple[LiveColumn, ...]
    key: tuple[str, ...] = ()
    uniques: tuple[tuple[str, ...], ...] = ()
    links: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = ()
    comment: str | None = None

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


@dataclass
class Rows:
    """Sampled rows by table, each as a map of columns to plain values."""

    by_table: dict[str, list[dict[str, Value]]] = field(
        default_factory=dict[str, list[dict[str, Value]]]
    )


def live_tables(engine: Engine, wanted: Sequence[str] | None) -> list[LiveTable]:
    """The tables of a database, parents first; with ``wanted`` only these and what they refer to.

    Raises OperatorError for a table that is not there, or a database that cannot be read.
    """
    metadata = MetaData()
    try:
        metadata.reflect(engine, resolve_fks=True)
        with warnings.catch_warnings():  # tables that refer to each other stay unsorted
            warnings.simplefilter("ignore", SAWarning)
            ordered = metadata.sorted_tables
        found = {table.name: table for table in ordered if table.schema is None}
        chosen = _chosen(found, wanted)
        inspector = inspect(engine)
        checks = {
            name: [str(check["sqltext"]) for check in inspector.get_check_constraints(name)]
            for name in chosen
        }
    except SQLAlchemyError as error:
        cause = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise OperatorError(f"the database cannot be read: {cause}") from None
    dialect = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql"}
    return [
        _live(found[name], checks[name], dialect.get(engine.dialect.name, "sqlite"), set(chosen))
        for name in found
        if name in chosen
    ]


def _chosen(found: Mapping[str, Table], wanted: Sequence[str] | None) -> set[str]:
    """The wanted tables and all that they refer to."""
    if wanted is None:
        return set(found)
    for name in wanted:
        if name not in found:
            raise OperatorError(f"there is no table {name!r}{hint(nearest(name, found))}")
    chosen, queue = set[str](), list(wanted)
    while queue:
        name = queue.pop()
        if name in chosen or name not in found:
            continue
        chosen.add(name)
        queue += [key.column.table.name for key in found[name].foreign_keys]
    return chosen


def _live(table: Table, checks: list[str], dialect: str, chosen: set[str]) -> LiveTable:
    rules = read_checks(checks, dialect).columns
    found = [_column(column, rules.get(column.name, ColumnRules())) for column in table.columns]
    columns = [column for column in found if column is not None]
    names = {column.name for column in columns}
    key = tuple(column.name for column in table.primary_key.columns)
    return LiveTable(
        table.name,
        table,
        tuple(columns),
        key if set(key) <= names else (),
        tuple(sorted(one for one in _uniques(table) if set(one) <= names and one != key)),
        tuple(
            sorted(link for link in _links(table) if link[1] in chosen and set(link[0]) <= names)
        ),
        table.comment,
    )


def _uniques(table: Table) -> set[tuple[str, ...]]:
    """The columns of each unique constraint and index."""
    constraints = [one for one in table.constraints if isinstance(one, UniqueConstraint)]
    indexes = [
        index
        for index in table.indexes
        if index.unique
        and not any(options.get("where") for options in index.dialect_options.values())
    ]
    found = {tuple(column.name for column in one.columns) for one in constraints}
    found |= {tuple(str(column.name) for column in index.columns) for index in indexes}
    return found - {()}


def _links(table: Table) -> list[tuple[tuple[str, ...], str, tuple[str, ...]]]:
    """The foreign keys: columns, table, columns there."""
    return [
        (
            tuple(element.parent.name for element in key.elements),
            key.referred_table.name,
            tuple(element.column.name for element in key.elements),
        )
        for key in table.foreign_key_constraints
    ]


def _column(column: object, rule: ColumnRules) -> LiveColumn | None:
    kind = getattr(column, "type", None)
    declared = _type(kind)
    if declared is None:
        return None
    enums = getattr(kind, "enums", None)
    choices = tuple(str(item) for item in enums) if enums else rule.choices
    comment = getattr(column, "comment", None)
    default = getattr(column, "server_default", None)
    return LiveColumn(
        name=str(getattr(column, "name", "")),
        type=declared,
        nullable=bool(getattr(column, "nullable", True)),
        choices=choices,
        low=rule.low,
        high=rule.high,
        comment=str(comment) if comment else None,
        has_default=default is not None,
    )


def _type(kind: object) -> str | None:
    """The type in SQLite; None for a column that is left out."""
    for known, name in (
        (sql.Boolean, "BOOLEAN"),
        (sql.Integer, "INTEGER"),
        (sql.Float, "REAL"),
        (sql.Numeric, "NUMERIC"),
        (sql.Date, "DATE"),
        (sql.DateTime, "DATETIME"),
        (sql.Time, "TEXT"),
        (sql.LargeBinary, ""),
        (sql.ARRAY, ""),
        (sql.String, "TEXT"),
        (sql.Uuid, "TEXT"),
        (sql.JSON, "TEXT"),
    ):
        if isinstance(kind, known):
            return name or None
    word = type(kind).__name__
    return "INTEGER" if word in {"YEAR", "TINYINT", "BIT"} else None


def plain(value: object) -> Value:
    """A value of a driver in the form in which SQLite keeps it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None, microsecond=0).isoformat(sep=" ")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, UUID | dt.timedelta):
        return str(value)
    return json.dumps(value, default=str, sort_keys=True)
