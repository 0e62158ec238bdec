"""A snapshot of a live database: its tables as SQLite knows them, and rows that refer to no other.

Only SELECT is sent. Types become SQLite's; columns that hold bytes or what has no plain form are
left out, and rules are kept as far as SQLite decides them alike. Both are named.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    Column,
    Engine,
    Index,
    MetaData,
    Table,
    UniqueConstraint,
    inspect,
    text,
)
from sqlalchemy import types as sql
from sqlalchemy.dialects.postgresql import CIDR, DOMAIN, INET, MACADDR, MACADDR8
from sqlalchemy.dialects.postgresql.ranges import AbstractMultiRange, AbstractRange
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from sqlalchemy.types import NullType

from synth.errors import OperatorError
from synth.foundation.suggestions import hint, nearest
from synth.generation.checks import ColumnRules, condition, default, read_checks
from synth.generation.names import quoted

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class LiveColumn:
    """A column of a live database in the terms of SQLite. ``default`` and ``computed`` are SQL;
    ``as_text`` tells that the server writes its values as texts.
    """

    name: str
    type: str
    nullable: bool
    choices: tuple[object, ...] = ()
    comment: str | None = None
    default: str | None = None
    computed: str | None = None
    as_text: bool = False


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table of a live database. ``links`` are its foreign keys: columns, table, columns there.

    ``checks`` are conditions in SQLite's SQL, ``partials`` unique indexes of some rows: columns and
    condition. ``left_out`` names columns that are not read, ``lost`` rules that are not carried
    over.
    """

    name: str
    table: Table
    columns: tuple[LiveColumn, ...]
    key: tuple[str, ...] = ()
    uniques: tuple[tuple[str, ...], ...] = ()
    links: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = ()
    comment: str | None = None
    checks: tuple[str, ...] = ()
    partials: tuple[tuple[tuple[str, ...], str], ...] = ()
    left_out: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

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
        with warnings.catch_warnings():  # unknown types, and tables that refer to each other
            warnings.simplefilter("ignore", SAWarning)
            metadata.reflect(engine, resolve_fks=True)
            ordered = metadata.sorted_tables
        found = {table.name: table for table in ordered if table.schema is None}
        chosen = _chosen(found, wanted)
        inspector = inspect(engine)
        checks = {
            name: [str(check["sqltext"]) for check in inspector.get_check_constraints(name)]
            for name in chosen
        }
        types = _unknown_types(engine, [found[name] for name in chosen])
    except SQLAlchemyError as error:
        raise _unreadable(error) from None
    dialect = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql"}
    known = dialect.get(engine.dialect.name, "sqlite")
    return [
        _TableReader(found[name], known, types).table(checks[name], set(chosen))
        for name in found
        if name in chosen
    ]


def _unreadable(error: SQLAlchemyError) -> OperatorError:
    cause = str(getattr(error, "orig", None) or error).splitlines()[0]
    return OperatorError(f"the database cannot be read: {cause}")


def _unknown_types(engine: Engine, tables: Sequence[Table]) -> dict[tuple[str, str], str]:
    """The types of the columns that SQLAlchemy does not know, by table and column."""
    unknown = {(t.name, c.name) for t in tables for c in t.columns if isinstance(c.type, NullType)}
    if not unknown or engine.dialect.name == "sqlite":
        return dict.fromkeys(unknown, "no type")
    last = "udt_name" if engine.dialect.name == "postgresql" else "data_type"
    query = f"SELECT table_name, column_name, {last} FROM information_schema.columns"
    with engine.connect() as db:
        rows = [tuple(map(str, row)) for row in db.execute(text(query))]
    return {(table, column): kind for table, column, kind in rows if (table, column) in unknown}


def views_and_triggers(engine: Engine) -> list[str]:
    """The views and triggers of a database, which no world holds: ``view live_contracts``."""
    schema = {"postgresql": "current_schema()", "sqlite": ""}.get(engine.dialect.name, "DATABASE()")
    query = (
        f"SELECT DISTINCT trigger_name FROM information_schema.triggers WHERE"
        f" trigger_schema = {schema} ORDER BY 1"
        if schema
        else "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY 1"
    )
    try:
        views = sorted(inspect(engine).get_view_names())
        with engine.connect() as db:
            triggers = [str(name) for name in db.execute(text(query)).scalars()]
    except SQLAlchemyError as error:
        raise _unreadable(error) from None
    return [f"view {name}" for name in views] + [f"trigger {name}" for name in triggers]


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


_Address = (
    ipaddress.IPv4Address
    | ipaddress.IPv6Address
    | ipaddress.IPv4Interface
    | ipaddress.IPv6Interface
    | ipaddress.IPv4Network
    | ipaddress.IPv6Network
)

_AS_TEXT = (MACADDR, MACADDR8, AbstractRange, AbstractMultiRange)
"""Types of PostgreSQL whose values are read as the server writes them."""


class _TableReader:
    """One table, and what of it is left out or lost."""

    def __init__(self, table: Table, dialect: str, types: Mapping[tuple[str, str], str]) -> None:
        self.source = table
        self.dialect = dialect
        self.types = types
        self.names = [str(column.name) for column in table.columns]
        self.checks = list[str]()
        self.left_out = list[str]()
        self.lost = list[str]()

    def table(self, checks: Sequence[str], chosen: set[str]) -> LiveTable:
        """The table; ``checks`` are its conditions, ``chosen`` the tables that are read."""
        table = self.source
        found = [self._column(column) for column in table.columns]
        columns = [column for column in found if column is not None]
        self.names = [column.name for column in columns]
        for check in checks:
            self._check(check, None)
        self.checks = list(dict.fromkeys(self.checks))
        names = set(self.names)
        key = tuple(column.name for column in table.primary_key.columns)
        links = [link for link in _links(table) if link[1] in chosen and set(link[0]) <= names]
        return LiveTable(
            table.name,
            table,
            tuple(_with_choices(columns, self.checks)),
            key if set(key) <= names else (),
            tuple(sorted(one for one in _uniques(table) if set(one) <= names and one != key)),
            tuple(sorted(links)),
            table.comment,
            tuple(self.checks),
            tuple(self._partials()),
            tuple(self.left_out),
            tuple(self.lost),
        )

    def _check(self, sql: str, column: str | None) -> None:
        """A condition of the table, or of the domain of a column."""
        held = condition(sql, self.dialect, self.names, column)
        if held is not None:
            self.checks.append(held)
        else:
            where = f"{self.source.name}.{column}" if column else self.source.name
            self.lost.append(f"check of {where}: {' '.join(sql.split())[:120]}")

    def _partials(self) -> Iterator[tuple[tuple[str, ...], str]]:
        for index in sorted(self.source.indexes, key=lambda one: str(one.name)):
            where = _where(index)
            if not index.unique or where is None:
                continue
            columns = tuple(str(getattr(column, "name", "")) for column in index.expressions)
            held = condition(where, self.dialect, self.names)
            if held is not None and columns and set(columns) <= set(self.names):
                yield columns, held
            else:
                self.lost.append(f"unique index {index.name} of {self.source.name}")

    def _column(self, column: Column[Any]) -> LiveColumn | None:
        kind, name = column.type, str(column.name)
        base = kind.data_type if isinstance(kind, DOMAIN) else kind
        declared, place = _type(base), f"{self.source.name}.{name}"
        if declared is None:
            shown = self.types.get((self.source.name, name)) or str(kind).lower()
            self.left_out.append(f"{place} ({shown})")
            return None
        computed = None
        if column.computed is not None:
            computed = condition(str(column.computed.sqltext), self.dialect, self.names)
            if computed is None:
                self.left_out.append(f"{place} (computed: {column.computed.sqltext})")
                return None
        if isinstance(kind, DOMAIN) and kind.check is not None:
            self._check(str(kind.check), name)
        enums = getattr(base, "enums", None)
        choices = tuple(str(item) for item in enums) if enums else ()
        if choices:
            listed = ", ".join("'" + choice.replace("'", "''") + "'" for choice in choices)
            self.checks.append(f"{quoted(name)} IN ({listed})")
        return LiveColumn(
            name=name,
            type=declared,
            nullable=bool(column.nullable),
            choices=choices,
            comment=str(column.comment) if column.comment else None,
            default=self._default(column, kind) if computed is None else None,
            computed=computed,
            as_text=isinstance(base, _AS_TEXT),
        )

    def _default(self, column: Column[Any], kind: object) -> str | None:
        given = getattr(column.server_default, "arg", None)
        if given is None and isinstance(kind, DOMAIN):
            given = kind.default
        words = "" if given is None else str(given)
        if not words or "nextval(" in words or words.upper() == "NULL":
            return None  # numbered keys are numbered by SQLite too
        held = default(words, self.dialect)
        if isinstance(column.type, ARRAY):
            held = "'[]'" if words.startswith("'{}'") else None
        if held is None:
            self.lost.append(f"default of {self.source.name}.{column.name}: {words}")
        return held


def _with_choices(columns: Sequence[LiveColumn], checks: list[str]) -> list[LiveColumn]:
    rules = read_checks(checks).columns
    return [
        replace(c, choices=c.choices or rules.get(c.name, ColumnRules()).choices) for c in columns
    ]


def _where(index: Index) -> str | None:
    """The condition of an index of some rows."""
    found = [options.get("where") for options in index.dialect_options.values()]
    return next((str(where) for where in found if where is not None), None)


def _uniques(table: Table) -> set[tuple[str, ...]]:
    """The columns of each unique constraint and index."""
    constraints = [one for one in table.constraints if isinstance(one, UniqueConstraint)]
    indexes = [index for index in table.indexes if index.unique and _where(index) is None]
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
        (sql.ARRAY, "TEXT"),
        ((INET, CIDR, *_AS_TEXT), "TEXT"),
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
    if isinstance(value, UUID | dt.timedelta | _Address):
        return str(value)
    return json.dumps(value, default=str, sort_keys=True)
