"""A MariaDB template's tables and the rest of its schema, as statements that make a copy."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from envs.errors import WorldError
from envs.quoting import backticked
from envs.sandboxes.foreign_keys import ColumnReference, references_of
from envs.sandboxes.mariadb.server import MariaDBServer
from envs.types import Column, Table

_OTHER_ENGINE = re.compile(r"\bENGINE=(?!InnoDB)\w+", re.IGNORECASE)
_TABLE_OPTIONS = re.compile(r"\s(?:TRANSACTIONAL|PAGE_CHECKSUM)=\d", re.IGNORECASE)


@dataclass(frozen=True)
class MariaDBTable:
    """One table whose rows are state. An image is the tuple of the values of ``columns``, those
    with data of their own.

    ``counter`` is the AUTO_INCREMENT column with the value that the template would give next.
    """

    number: int
    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    key_columns: tuple[str, ...]
    counter: tuple[str, int] | None

    @functools.cached_property
    def _key(self) -> tuple[int, ...]:
        return tuple(self.columns.index(name) for name in self.key_columns)

    def key_of(self, image: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(image[index] for index in self._key)

    def values(self, image: tuple[Any, ...]) -> Sequence[Any]:
        return image

    def names(self, prefix: str = "") -> str:
        return ", ".join(f"{prefix}{backticked(name)}" for name in self.columns)


@dataclass(frozen=True)
class Schema:
    """A template's schema as the statements that copy it. Views and triggers name no database."""

    shapes: Mapping[int, MariaDBTable]
    tables: Mapping[str, Table]
    creates: Sequence[str]
    routines: Sequence[str]
    views: Sequence[tuple[str, str]]
    triggers: Sequence[tuple[str, str, str, str, str, str]]
    """(name, time, event, table, body, sql_mode), in the order in which they fire."""
    cascades: Mapping[int, frozenset[int]]
    """For each table, those whose rows its changes change by foreign keys: no trigger sees it."""


def read_schema(server: MariaDBServer, database: str) -> Schema:
    """Read the schema of a template. Raises WorldError for objects that a sandbox cannot hold."""
    _refuse_the_strange(server, database)
    shapes, tables = _read_tables(server, database)
    numbers = {shape.name: number for number, shape in shapes.items()}
    creates = [_create(server, database, shape.name) for shape in shapes.values()]
    routines = _read_routines(server, database)
    triggers = _read_triggers(server, database)
    return Schema(
        shapes=shapes,
        tables=tables,
        creates=creates,
        routines=routines,
        views=_read_views(server, database),
        triggers=triggers,
        cascades=_read_cascades(server, database, numbers, shapes),
    )


def _refuse_the_strange(server: MariaDBServer, database: str) -> None:
    kinds = server.ask(
        "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema ="
        f" '{database}' AND table_type NOT IN ('BASE TABLE', 'VIEW') ORDER BY table_name"
    )
    for name, kind in kinds:
        raise WorldError(
            f"{name} is a {str(kind).lower()}: sandboxes on MariaDB hold tables and views (use"
            " AUTO_INCREMENT for keys)"
        )


def _read_tables(
    server: MariaDBServer, database: str
) -> tuple[dict[int, MariaDBTable], dict[str, Table]]:
    names = [
        (str(name), counter)
        for name, counter in server.ask(
            "SELECT table_name, auto_increment FROM information_schema.tables WHERE table_schema ="
            f" '{database}' AND table_type = 'BASE TABLE' ORDER BY table_name"
        )
    ]
    rows = server.ask(
        "SELECT table_name, column_name, column_type, is_nullable, extra, generation_expression,"
        " character_set_name, collation_name FROM information_schema.columns WHERE table_schema ="
        f" '{database}' ORDER BY ordinal_position"
    )
    keys = server.ask(
        "SELECT table_name, column_name FROM information_schema.key_column_usage WHERE"
        f" constraint_name = 'PRIMARY' AND table_schema = '{database}' ORDER BY ordinal_position"
    )
    links = server.ask(
        "SELECT table_name, constraint_name, column_name, referenced_table_name,"
        " referenced_column_name"
        f" FROM information_schema.key_column_usage WHERE table_schema = '{database}'"
        f" AND referenced_table_schema = '{database}' ORDER BY constraint_name, ordinal_position"
    )
    references = references_of(ColumnReference(*map(str, link)) for link in links)
    shapes: dict[int, MariaDBTable] = {}
    tables: dict[str, Table] = {}
    for number, (table, counter) in enumerate(names):
        columns = [_ColumnRow(*row[1:]) for row in rows if row[0] == table]
        key = tuple(str(column) for name, column in keys if name == table)
        shapes[number] = _shape(number, table, columns, key, counter)
        tables[table] = Table(
            table,
            tuple(
                Column(
                    str(column.name),
                    str(column.kind),
                    column.nullable == "YES",
                    column.name in key,
                    references.get((table, column.name)),
                )
                for column in columns
            ),
            key,
        )
    return shapes, tables


class _ColumnRow(NamedTuple):
    """A row of information_schema.columns."""

    name: str
    kind: str
    nullable: str
    extra: str
    generated: str
    charset: str
    collation: str


def _shape(
    number: int,
    table: str,
    columns: Sequence[_ColumnRow],
    key: tuple[str, ...],
    counter: int | None,
) -> MariaDBTable:
    stored = [column for column in columns if not column.generated]
    counted = next(
        (str(column.name) for column in columns if "auto_increment" in str(column.extra).lower()),
        None,
    )
    return MariaDBTable(
        number=number,
        name=table,
        columns=tuple(str(column.name) for column in stored),
        types=tuple(_log_type(column) for column in stored),
        key_columns=key,
        counter=None if counted is None else (counted, int(counter or 1)),
    )


def _log_type(column: _ColumnRow) -> str:
    """The type of a column in the log: the same values, of any length, without index."""
    kind = column.kind
    text = f"CHARACTER SET {column.charset} COLLATE {column.collation}"
    if kind.startswith(("varchar", "char(")) or kind.endswith("text"):
        return f"longtext {text}"
    if kind.startswith(("varbinary", "binary")) or kind.endswith("blob"):
        return "longblob"
    return f"{kind} {text}" if column.charset else kind


def _create(server: MariaDBServer, database: str, table: str) -> str:
    text = str(server.ask(f"SHOW CREATE TABLE {database}.{backticked(table)}")[0][1])
    if found := _OTHER_ENGINE.search(text):  # such a table does not follow a rollback
        text = _TABLE_OPTIONS.sub("", text[: found.start()] + "ENGINE=InnoDB" + text[found.end() :])
    return text


def _read_routines(server: MariaDBServer, database: str) -> list[str]:
    found = server.ask(
        "SELECT routine_type, routine_name FROM information_schema.routines WHERE routine_schema ="
        f" '{database}' ORDER BY routine_type, routine_name"
    )
    return [
        str(server.ask(f"SHOW CREATE {kind} {database}.{backticked(str(name))}")[0][2])
        for kind, name in found
    ]


def _read_views(server: MariaDBServer, database: str) -> list[tuple[str, str]]:
    found = server.ask(
        "SELECT table_name, view_definition FROM information_schema.views WHERE table_schema ="
        f" '{database}' ORDER BY table_name"
    )
    left = {str(name): str(text).replace(f"`{database}`.", "") for name, text in found}
    out: list[tuple[str, str]] = []
    while left:
        ready = [
            name
            for name, text in left.items()
            if not any(f"`{other}`" in text for other in left if other != name)
        ]
        out += [(name, left.pop(name)) for name in ready or list(left)]
    return out


def _read_triggers(
    server: MariaDBServer, database: str
) -> list[tuple[str, str, str, str, str, str]]:
    return [
        (str(name), str(time), str(event), str(table), str(body), str(mode))
        for name, time, event, table, body, mode in server.ask(
            "SELECT trigger_name, action_timing, event_manipulation, event_object_table,"
            " action_statement, sql_mode"
            f" FROM information_schema.triggers WHERE trigger_schema = '{database}'"
            " ORDER BY event_object_table, action_timing, event_manipulation, action_order"
        )
    ]


def _read_cascades(
    server: MariaDBServer,
    database: str,
    numbers: Mapping[str, int],
    shapes: Mapping[int, MariaDBTable],
) -> dict[int, frozenset[int]]:
    direct: dict[int, set[int]] = {}
    for child, parent in server.ask(
        "SELECT table_name, referenced_table_name FROM information_schema.referential_constraints"
        f" WHERE constraint_schema = '{database}' AND (delete_rule IN ('CASCADE', 'SET NULL', 'SET"
        " DEFAULT') OR update_rule IN ('CASCADE', 'SET NULL', 'SET DEFAULT'))"
    ):
        if not shapes[numbers[str(child)]].key_columns:
            raise WorldError(
                f"{child} has a foreign key that cascades, so it needs a primary key on MariaDB"
            )
        direct.setdefault(numbers[str(parent)], set()).add(numbers[str(child)])
    return {parent: frozenset(_reached(parent, direct.get)) for parent in direct}


def _reached(start: int, direct: Callable[[int], set[int] | None]) -> set[int]:
    found: set[int] = set()
    stack = [start]
    while stack:
        for child in direct(stack.pop()) or ():
            if child not in found:
                found.add(child)
                stack.append(child)
    return found


def content_digest(server: MariaDBServer, database: str, schema: Schema) -> str:
    total = hashlib.sha256(
        repr((schema.creates, schema.routines, schema.views, schema.triggers)).encode()
    )
    for shape in schema.shapes.values():
        row = ", ".join(
            f"COALESCE(HEX(CAST({backticked(name)} AS BINARY)), '-')" for name in shape.columns
        )
        half = (
            f"COALESCE(SUM(CAST(CONV(SUBSTRING(MD5(CONCAT_WS(',', {row})), {{at}}, 15), 16, 10)"
            " AS UNSIGNED)), 0)"
        )
        sums = server.ask(
            f"SELECT COUNT(*), {half.format(at=1)}, {half.format(at=16)} FROM"
            f" {database}.{backticked(shape.name)}"
        )
        total.update(repr((shape.name, [str(value) for value in sums[0]])).encode())
    return total.hexdigest()[:16]


def read_seeds(
    server: MariaDBServer, database: str, schema: Schema
) -> dict[int, Sequence[tuple[Any, ...]]]:
    """The rows of the tables without a key, in their order."""
    return {
        number: server.ask(f"SELECT {shape.names()} FROM {database}.{backticked(shape.name)}")
        for number, shape in schema.shapes.items()
        if not shape.key_columns
    }
