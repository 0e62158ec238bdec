"""The tables of a SQLite template, the identities of their rows, and the digest of its content."""

from __future__ import annotations

import functools
import hashlib
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import apsw

from envs.errors import WorldError
from envs.quoting import quoted
from envs.sandboxes.foreign_keys import ColumnReference, references_of
from envs.types import Column, Pins, Table

_FTS_INDEX = ("_data", "_idx", "_docsize", "_config", "_segments", "_segdir", "_stat")
"""Tables behind a full-text index: derived, and different for rows in another order."""

_ORDINARY, _GENERATED = 0, (2, 3)
"""Values of ``hidden`` in PRAGMA table_xinfo."""


class UndecodableTextError(WorldError):
    """A table holds a text that is not UTF-8."""


@dataclass(frozen=True)
class SqliteTable:
    """The reading and the identity of one table's rows.

    ``columns`` are those that hold data of their own: generated ones follow from them. ``key`` are
    the primary key's columns as indexes into ``columns``. ``rowid`` is a name under which SQLite
    gives the row's number, None for a WITHOUT ROWID table. ``aliased`` is true where the row's
    number is its primary key, an INTEGER PRIMARY KEY. ``generated`` is true where some column is
    generated.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[int, ...]
    rowid: str | None
    aliased: bool
    generated: bool

    def __reduce__(self) -> tuple[type[SqliteTable], tuple[Any, ...]]:
        """Leave out the derived functions, which do not travel."""
        return SqliteTable, (
            self.name,
            self.columns,
            self.key,
            self.rowid,
            self.aliased,
            self.generated,
        )

    @functools.cached_property
    def key_names(self) -> tuple[str, ...]:
        return tuple(self.columns[index] for index in self.key)

    @functools.cached_property
    def key_of(self) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        """Take a row's key out of its columns; the empty tuple where the table has none."""
        if len(self.key) == 1:
            (index,) = self.key
            return lambda row: (row[index],)
        return operator.itemgetter(*self.key) if self.key else lambda _: ()

    @functools.cached_property
    def select(self) -> str:
        return (
            f"SELECT {', '.join(quoted(column) for column in self.columns)} FROM"
            f" {quoted(self.name)}"
        )

    @functools.cached_property
    def select_one(self) -> str:
        """The statement that reads an identity's row: by rowid, or by its primary key without."""
        if self.rowid is not None:
            return f"{self.select} WHERE {quoted(self.rowid)} = ?"
        return (
            f"{self.select} WHERE {' AND '.join(f'{quoted(name)} = ?' for name in self.key_names)}"
        )


@dataclass(frozen=True)
class Plan:
    """The facts about a template's database that its sandboxes need beside its pages."""

    digest: str
    tables: Mapping[str, Table]
    shapes: Mapping[str, SqliteTable]
    loose_quotes: bool
    value_bytes: int
    number: int


@dataclass(frozen=True, slots=True)
class State:
    """The present state of a sandbox: its pins, and its own pages."""

    pins: Pins
    unordered: bool
    own: Mapping[int, bytes]
    size: int


def read_shapes(raw: apsw.Connection) -> dict[str, SqliteTable]:
    """The tables whose rows are state: not SQLite's own, not the index of a full-text table."""
    shapes: dict[str, SqliteTable] = {}
    listed = list(
        raw.execute(
            "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE"
            " 'sqlite\\_%' ESCAPE '\\' AND type IN ('table', 'shadow') ORDER BY name"
        )
    )
    for name, kind, without_rowid in listed:
        if kind == "shadow" and name.endswith(_FTS_INDEX):
            continue
        info = list(
            raw.execute("SELECT name, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid", (name,))
        )
        stored = [(column, pk) for column, pk, hidden in info if hidden == _ORDINARY]
        key = [
            index for _, index in sorted((pk, index) for index, (_, pk) in enumerate(stored) if pk)
        ]
        shapes[name] = SqliteTable(
            name=name,
            columns=tuple(column for column, _ in stored),
            key=tuple(key),
            rowid=None
            if without_rowid
            else _rowid_name(raw, name, [column for column, _, _ in info]),
            aliased=not without_rowid and _alias(raw, name) is not None,
            generated=any(hidden in _GENERATED for _, _, hidden in info),
        )
    return shapes


def _rowid_name(raw: apsw.Connection, table: str, columns: list[str]) -> str:
    """A name of the row's number that no column of the table hides."""
    taken = {column.lower() for column in columns}
    for name in ("rowid", "_rowid_", "oid"):
        if name not in taken:
            return name
    alias = _alias(raw, table)
    if alias is None:
        raise WorldError(
            f"table {table} has columns named rowid, _rowid_ and oid: its rows cannot be told apart"
        )
    return alias


def _alias(raw: apsw.Connection, table: str) -> str | None:
    """The rowid under another name: an INTEGER PRIMARY KEY, which has no index of its own."""
    found = raw.execute(
        "SELECT x.name FROM pragma_table_xinfo(?1) x WHERE x.pk = 1 AND upper(x.type) = 'INTEGER'"
        " AND NOT EXISTS (SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk')",
        (table,),
    ).fetchone()
    return None if found is None else str(found[0])


def read_tables(raw: apsw.Connection) -> dict[str, Table]:
    """The tables as their author declared them."""
    tables: dict[str, Table] = {}
    names = [
        name
        for (name,) in raw.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table',"
            " 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        )
    ]
    keys = {name: _primary_key(raw, name) for name in names}
    for name in names:
        references = references_of(links(raw, name, keys))
        columns = tuple(
            Column(
                column, declared, not notnull and not pk, bool(pk), references.get((name, column))
            )
            for column, declared, notnull, pk in raw.execute(
                'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?) WHERE hidden <> 1'
                " ORDER BY cid",
                (name,),
            )
        )
        tables[name] = Table(name, columns, keys[name])
    return tables


def _primary_key(raw: apsw.Connection, table: str) -> tuple[str, ...]:
    rows = raw.execute("SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk", (table,))
    return tuple(column for (column,) in rows)


def links(
    raw: apsw.Connection, table: str, keys: Mapping[str, tuple[str, ...]]
) -> Iterator[ColumnReference]:
    """A foreign key without columns of the parent means its primary key, where that has as many."""
    by_fold = {name.lower(): name for name in keys}
    rows = raw.execute(
        'SELECT id, seq, "table", "from", "to", count(*) OVER (PARTITION BY id) FROM'
        " pragma_foreign_key_list(?)",
        (table,),
    )
    for number, position, named, column, to, width in rows:
        parent = by_fold.get(named.lower(), str(named))
        implied = keys.get(parent, ())
        if to is not None or len(implied) == width:
            yield ColumnReference(
                table, number, column, parent, to if to is not None else implied[position]
            )


def read_content(raw: apsw.Connection, shapes: Mapping[str, SqliteTable]) -> tuple[str, int]:
    """Return the digest of the schema and the rows, whatever pages they lie on, and the length of
    the largest row as text.

    Rows are in the order of their primary key; a table without one counts its rowids too, for they
    are the keys of its changes. Raises WorldError for a text that is not Unicode: nothing could
    name it later.
    """
    total, largest = hashlib.sha256(), 0
    schema = raw.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%'"
        " ESCAPE '\\' ORDER BY type, name"
    )
    for row in schema:
        text = repr(row).encode()
        largest = max(largest, len(text))
        total.update(text)
    for name, shape in sorted(shapes.items()):
        total.update(f"\0{name}\0".encode("utf-8", "surrogatepass"))
        if shape.key:
            order = ", ".join(quoted(shape.columns[index]) for index in shape.key)
            query = f"{shape.select} ORDER BY {order}" + (
                f", {quoted(shape.rowid)}" if shape.rowid else ""
            )
        else:
            query = (
                shape.select.replace("SELECT ", f"SELECT {quoted(shape.rowid or 'rowid')}, ", 1)
                + " ORDER BY 1"
            )
        try:
            for row in raw.execute(query):
                text = repr(row).encode("utf-8", "surrogatepass")
                largest = max(largest, len(text))
                total.update(text)
        except UnicodeDecodeError:
            message = f"table {name} holds a text that is not valid UTF-8"
            raise UndecodableTextError(message) from None
    return total.hexdigest()[:16], largest


def needs_loose_quotes(raw: apsw.Connection) -> bool:
    """Return True where a view or trigger of the schema writes a text in double quotes, as SQLite
    tolerates.

    Where none does, sandboxes switch the tolerance off: it turns a misspelt column into a text
    without an error. Leaves it switched off on this connection.
    """
    raw.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    written = raw.execute(
        "SELECT type, tbl_name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger')"
    ).fetchall()
    try:
        for kind, table, sql in written:
            for statement in _exercises(raw, str(kind), str(table), str(sql).upper()):
                raw.execute(f"EXPLAIN {statement}")
    except apsw.SQLError:
        return True
    return False


def _exercises(raw: apsw.Connection, kind: str, table: str, sql: str) -> list[str]:
    """Statements that make SQLite compile a view, or the triggers of a table."""
    if kind == "view":
        return [f"SELECT * FROM {quoted(table)}"]
    columns = [
        quoted(str(row[0]))
        for row in raw.execute("SELECT name FROM pragma_table_info(?)", (table,))
    ]
    values = ", ".join("NULL" for _ in columns)
    every = {
        "DELETE": f"DELETE FROM {quoted(table)}",
        "INSERT": f"INSERT INTO {quoted(table)} ({', '.join(columns)}) VALUES ({values})",
        "UPDATE": (
            f"UPDATE {quoted(table)} SET {', '.join(f'{column} = NULL' for column in columns)}"
        ),
    }
    return [statement for word, statement in every.items() if word in sql]
