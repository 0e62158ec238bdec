"""A copy of a MariaDB template, with a log of changes and triggers that fire for one account only.

Every table has triggers that write a row before and after its change into a table of a second
database, which the sandbox's account cannot see. The key there is UUID_SHORT(), which only rises: a
counter would take the ``insert_id`` that was set for another table. Foreign keys that cascade fire
no trigger: the tables that they reach are compared with a copy of their seed rows, kept in that
second database too, whenever a parent row was deleted or changed. All triggers, the world's too,
fire for the sandbox's own account only, so that the administrator can set rows directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from envs.quoting import backticked
from envs.sandboxes.mariadb.schema import MariaDBTable, Schema
from envs.sandboxes.mariadb.server import MariaDBServer

Entry = tuple[int, Any, Any]
"""(table's number, image before, image after)."""


def copy(server: MariaDBServer, template: str, schema: Schema, name: str) -> None:
    """Make the database ``name``, its log ``name_log`` and its account ``name``."""
    log = f"{name}_log"
    server.new_database(log)
    server.new_database(name)
    server.run(
        [*_rows(template, schema), *_watch(schema, name, log), *_rest(server, schema, name)], name
    )
    server.new_login(name, name)


def _rows(template: str, schema: Schema) -> Iterable[str]:
    yield from schema.creates
    for shape in schema.shapes.values():
        order = (
            f" ORDER BY {', '.join(map(backticked, shape.key_columns))}"
            if shape.key_columns
            else ""
        )
        yield "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'"
        yield (
            f"INSERT INTO {backticked(shape.name)} ({shape.names()})"
            f" SELECT {shape.names()} FROM {template}.{backticked(shape.name)}{order}"
        )


def _watch(schema: Schema, name: str, log: str) -> Iterable[str]:
    cascaded = frozenset[int]().union(*schema.cascades.values())
    for shape in schema.shapes.values():
        table = f"{log}.t{shape.number}"
        sides = ", ".join(
            f"{side}{index} {kind} NULL DEFAULT NULL"
            for side in "on"
            for index, kind in enumerate(shape.types)
        )
        yield (
            f"CREATE TABLE {table} (seq bigint unsigned PRIMARY KEY, op char(1) CHARACTER SET"
            f" ascii, {sides}) ROW_FORMAT=DYNAMIC"
        )
        old, new = shape.names("OLD."), shape.names("NEW.")
        was = ", ".join(f"o{index}" for index in range(len(shape.columns)))
        now = ", ".join(f"n{index}" for index in range(len(shape.columns)))
        for event, columns, values in (
            ("INSERT", now, new),
            ("UPDATE", f"{was}, {now}", f"{old}, {new}"),
            ("DELETE", was, old),
        ):
            yield _trigger(
                f"envs_{event[0]}{shape.number}",
                "AFTER",
                event,
                shape.name,
                f"INSERT INTO {table} (seq, op, {columns}) VALUES (UUID_SHORT(), '{event[0]}',"
                f" {values})",
                name,
            )
        if shape.number in cascaded:
            yield f"CREATE TABLE {log}.s{shape.number} LIKE {backticked(shape.name)}"
            yield (
                f"INSERT INTO {log}.s{shape.number} ({shape.names()}) SELECT {shape.names()}"
                f" FROM {backticked(shape.name)}"
            )


def _rest(server: MariaDBServer, schema: Schema, name: str) -> Iterable[str]:
    for trigger, time, event, table, body, mode in schema.triggers:
        yield f"SET sql_mode = '{mode}'"
        yield _trigger(trigger, time, event, table, body, name, server.owner)
    yield "SET sql_mode = ''"
    yield from schema.routines
    for view, text in schema.views:
        yield f"CREATE DEFINER = {server.owner}@'%' VIEW {backticked(view)} AS {text}"


def _trigger(
    name: str, time: str, event: str, table: str, body: str, login: str, definer: str | None = None
) -> str:
    who = f"DEFINER = {definer}@'%' " if definer else ""
    return (
        f"CREATE {who}TRIGGER {backticked(name)} {time} {event} ON {backticked(table)} FOR EACH ROW"
        f" IF SUBSTRING_INDEX(USER(), '@', 1) = '{login}' THEN {body.rstrip().rstrip(';')}; END IF"
    )


class Log:
    """The entries that a copy's triggers wrote and that were not read yet."""

    def __init__(self, server: MariaDBServer, schema: Schema, name: str) -> None:
        self._server = server
        self._schema = schema
        self._name = name
        self._read = dict.fromkeys(schema.shapes, 0)
        self._ends = " UNION ALL ".join(
            f"(SELECT {number}, MAX(seq) FROM {name}_log.t{number})" for number in schema.shapes
        )

    def entries(self) -> list[Entry]:
        out: list[Entry] = []
        if not self._ends:
            return out
        for number, last in self._server.peek(self._ends):
            if last is None or last <= self._read[number]:
                continue
            width = len(self._schema.shapes[number].columns)
            for _, op, *sides in self._server.peek(
                f"SELECT * FROM {self._name}_log.t{number} WHERE seq > %s ORDER BY seq",
                [self._read[number]],
            ):
                old, new = tuple(sides[:width]), tuple(sides[width:])
                out.append((number, None if op == "I" else old, None if op == "D" else new))
            self._read[number] = last
        return out

    def taken_along(self, entries: Sequence[Entry]) -> frozenset[int]:
        """The tables whose rows foreign keys may have changed."""
        parents = {number for number, old, new in entries if old is not None and old != new}
        return frozenset[int]().union(
            *(self._schema.cascades.get(number, frozenset()) for number in parents)
        )

    def against_seed(self, number: int) -> Mapping[Any, tuple[Any, Any]]:
        """Map keys to (seed row, present row) in a table that cascades reach, where the two differ;
        None for a row that does not exist.
        """
        shape = self._schema.shapes[number]
        seed, here = f"{self._name}_log.s{number}", f"{self._name}.{backticked(shape.name)}"
        same = " AND ".join(
            f"s.{backticked(key)} = h.{backticked(key)}" for key in shape.key_columns
        )
        equal = " AND ".join(
            f"BINARY s.{backticked(name)} <=> BINARY h.{backticked(name)}" for name in shape.columns
        )
        first = backticked(shape.key_columns[0])
        both = f"{shape.names('s.')}, {shape.names('h.')}"
        rows = self._server.peek(
            f"SELECT s.{first} IS NOT NULL, h.{first} IS NOT NULL, {both} FROM {seed} s LEFT JOIN"
            f" {here} h ON {same} WHERE h.{first} IS NULL OR NOT ({equal}) UNION ALL SELECT 0, 1,"
            f" {both} FROM {here} h LEFT JOIN {seed} s ON {same} WHERE s.{first} IS NULL"
        )
        width = len(shape.columns)
        out: dict[Any, tuple[Any, Any]] = {}
        for seeded, present, *sides in rows:
            was = tuple(sides[:width]) if seeded else None
            now = tuple(sides[width:]) if present else None
            image = was if was is not None else now
            assert image is not None
            out[shape.key_of(image)] = (was, now)
        return out


def put(shape: MariaDBTable, database: str, old: Any, new: Any) -> list[tuple[str, Sequence[Any]]]:
    """Return the statements that turn the row ``old`` into ``new``; None means no such row."""
    table = f"{database}.{backticked(shape.name)}"
    out: list[tuple[str, Sequence[Any]]] = []
    if old is not None:
        columns = shape.key_columns or shape.columns
        values = shape.key_of(old) if shape.key_columns else old
        where = " AND ".join(f"{backticked(name)} <=> %s" for name in columns)
        out.append((f"DELETE FROM {table} WHERE {where} LIMIT 1", values))
    if new is not None:
        out.append(
            (f"INSERT INTO {table} ({shape.names()}) VALUES ({', '.join(['%s'] * len(new))})", new)
        )
    return out
