"""The tables of a PostgreSQL template, the text form of their rows, the digest of its content."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import psycopg
from psycopg.adapt import Transformer

from envs.quoting import quoted
from envs.sandboxes.foreign_keys import ColumnReference, references_of
from envs.types import Column, Table

WORLD = "n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'envs_guard')"
"""Schemas whose objects are the world's."""

_LOADED = frozenset(
    {16, 17, 20, 21, 23, 25, 114, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1186,
     1266, 1700, 2950, 3802}
    | {1000, 1001, 1005, 1007, 1009, 1014, 1015, 1016, 1021, 1022, 1115, 1182, 1183,
     1185, 1187, 1231, 2951, 199, 3807}
)  # fmt: skip
"""Types (and arrays of them) with a form of their own in JSON; all others are their text."""

UNREADABLE = (psycopg.Error, ValueError, OverflowError, RecursionError)
"""psycopg's errors for what Python cannot represent: infinity, a date BC, JSON too deep."""

_DEEPEST = 500
"""Levels of a JSON value. Python 3.12 reads more than its own functions can walk."""


def shallow(value: Any) -> Any:
    """The value. Raises RecursionError if it is nested too deeply."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [item for one in level for item in _inner(one)]
        if not level:
            return value
    raise RecursionError


def _inner(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[Any, Any]", value).values()
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()


_FIELD = re.compile(r'"((?:[^"\\]|""|\\.)*)"|([^,]*)', re.DOTALL)
_ESCAPED = re.compile(r'""|\\(.)', re.DOTALL)


def fields_of(image: str) -> list[str | None]:
    """The fields of a row in composite syntax, as in ``(1,"a, b",)``; an empty one is NULL."""
    out: list[str | None] = []
    position, end = 1, len(image) - 1
    while True:
        found = _FIELD.match(image, position, end)
        assert found is not None
        inside, bare = found.groups()
        out.append(
            _ESCAPED.sub(lambda each: each[1] or '"', inside)
            if inside is not None
            else bare or None
        )
        position = found.end() + 1
        if found.end() >= end:
            return out


@dataclass(frozen=True)
class PostgresTable:
    """One table whose rows are state. An image is the row's text, as ``row::text`` gives it.

    ``attributes`` are all columns, of which those in ``stored`` (indexes) hold data of their own;
    ``key`` are the primary key's, as indexes too. ``types`` are base types, by their OIDs.
    """

    oid: int
    schema: str
    table: str
    name: str
    attributes: tuple[str, ...]
    types: tuple[int, ...]
    stored: tuple[int, ...]
    key: tuple[int, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.attributes[index] for index in self.stored)

    @property
    def key_columns(self) -> tuple[str, ...]:
        return tuple(self.attributes[index] for index in self.key)

    def key_of(self, image: str) -> tuple[str | None, ...]:
        fields = fields_of(image)
        return tuple(fields[index] for index in self.key)

    @functools.cached_property
    def _loaders(self) -> list[Callable[[bytes], Any] | None]:
        transformer = Transformer()
        return [
            transformer.get_loader(oid, psycopg.pq.Format.TEXT).load if oid in _LOADED else None
            for oid in self.types
        ]

    def values(self, image: str) -> list[Any]:
        fields = fields_of(image)
        out: list[Any] = []
        for index in self.stored:
            text, load = fields[index], self._loaders[index]
            if text is None or load is None:
                out.append(text)
                continue
            try:
                out.append(shallow(load(text.encode())))
            except UNREADABLE:
                out.append(text)
        return out

    @functools.cached_property
    def path(self) -> str:
        return f"{quoted(self.schema)}.{quoted(self.table)}"

    @functools.cached_property
    def wipe(self) -> str:
        """Deletes the rows whose images $1 holds, one each."""
        if self.key:
            same = " AND ".join(
                f"t.{quoted(name)} = (g.v).{quoted(name)}" for name in self.key_columns
            )
            return (
                f"DELETE FROM ONLY {self.path} t USING (SELECT r::{self.path} AS v FROM"
                f" unnest($1) r OFFSET 0) g WHERE {same}"
            )
        return (
            "WITH doomed AS (SELECT r, count(*) AS n FROM unnest($1) r GROUP BY r), there AS"
            " (SELECT t.ctid AS at, t::text AS r, row_number() OVER (PARTITION BY t::text ORDER BY"
            " ctid DESC) AS i"
            f" FROM ONLY {self.path} t)"
            f" DELETE FROM ONLY {self.path} t USING there, doomed"
            " WHERE t.ctid = there.at AND there.r = doomed.r AND there.i <= doomed.n"
        )

    @functools.cached_property
    def fill(self) -> str:
        """Inserts the rows whose images $1 holds."""
        names = ", ".join(quoted(name) for name in self.columns)
        values = ", ".join(f"(g.v).{quoted(name)}" for name in self.columns)
        return (
            f"INSERT INTO {self.path} ({names}) OVERRIDING SYSTEM VALUE"
            f" SELECT {values} FROM (SELECT r::{self.path} AS v FROM unnest($1) r OFFSET 0) g"
        )


def ask(db: psycopg.Connection[Any], sql: str, *values: Any) -> psycopg.Cursor[Any]:
    """Execute SQL of our making (psycopg's stubs want literals); ``values`` for placeholders."""
    return db.execute(sql.encode(), values or None)


def read_shapes(db: psycopg.Connection[Any]) -> dict[int, PostgresTable]:
    """Tables whose rows are state, by OID: ordinary ones and partitions (named as the root)."""
    relations = ask(
        db,
        f"""
        SELECT c.oid, n.nspname, c.relname, rn.nspname, rc.relname,
            ARRAY(SELECT a.attname::text FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum),
            ARRAY(SELECT COALESCE(NULLIF(t.typbasetype, 0), t.oid)::bigint FROM pg_attribute a
                JOIN pg_type t ON t.oid = a.atttypid
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum),
            ARRAY(SELECT a.attname::text FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attgenerated <> ''),
            ARRAY(SELECT a.attname::text FROM pg_constraint k,
                unnest(k.conkey) WITH ORDINALITY AS part (number, place)
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = part.number
                WHERE k.conrelid = c.oid AND k.contype = 'p' ORDER BY part.place)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_class rc ON rc.oid = COALESCE(pg_partition_root(c.oid), c.oid)
        JOIN pg_namespace rn ON rn.oid = rc.relnamespace
        WHERE c.relkind = 'r' AND {WORLD} ORDER BY n.nspname, c.relname
        """,
    ).fetchall()
    shapes: dict[int, PostgresTable] = {}
    for oid, schema, table, root_schema, root, attributes, types, generated, key in relations:
        shapes[oid] = PostgresTable(
            oid=oid,
            schema=schema,
            table=table,
            name=_shown(root_schema, root),
            attributes=tuple(attributes),
            types=tuple(types),
            stored=tuple(index for index, name in enumerate(attributes) if name not in generated),
            key=tuple(attributes.index(name) for name in key),
        )
    return shapes


def _shown(schema: str, table: str) -> str:
    return table if schema == "public" else f"{schema}.{table}"


REWRITE_BYTES = 4_000_000
"""Size of a table, with its indexes, above which a new copy of the database costs less than
writing the table again: measured at 41 ms for 1.5 MB, and 90 ms for a copy and its removal.
"""


def read_rewritable(db: psycopg.Connection[Any], shapes: Mapping[int, PostgresTable]) -> set[int]:
    """The tables that can be written again in the order of their keys, and are small enough."""
    return {
        oid
        for oid, shape in shapes.items()
        if shape.key
        and ask(db, f"SELECT pg_total_relation_size({oid}) < {REWRITE_BYTES}").fetchone() == (True,)
    }


def read_tables(db: psycopg.Connection[Any]) -> dict[str, Table]:
    """The tables as their author declared them."""
    rows = ask(
        db,
        f"""
        SELECT n.nspname, c.relname, a.attname,
            format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
            array_position(p.conkey, a.attnum)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_constraint p ON p.conrelid = c.oid AND p.contype = 'p'
        WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND {WORLD}
        ORDER BY n.nspname, c.relname, a.attnum
        """,
    ).fetchall()
    links = ask(
        db,
        """
        SELECT n.nspname, c.relname, k.oid, a.attname, pn.nspname, pc.relname, pa.attname
        FROM pg_constraint k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS part (own, other)
        JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = part.own
        JOIN pg_class pc ON pc.oid = k.confrelid JOIN pg_namespace pn ON pn.oid = pc.relnamespace
        JOIN pg_attribute pa ON pa.attrelid = pc.oid AND pa.attnum = part.other
        WHERE k.contype = 'f'
        """,
    ).fetchall()
    references = references_of(
        ColumnReference(_shown(schema, table), constraint, column, _shown(far, parent), target)
        for schema, table, constraint, column, far, parent, target in links
    )
    columns: dict[str, list[Column]] = {}
    keys: dict[str, list[tuple[int, str]]] = {}
    for schema, table, column, kind, nullable, place in rows:
        name = _shown(schema, table)
        target = references.get((name, column))
        columns.setdefault(name, []).append(
            Column(column, kind, nullable, place is not None, target)
        )
        if place is not None:
            keys.setdefault(name, []).append((place, column))
    return {
        name: Table(name, tuple(own), tuple(column for _, column in sorted(keys.get(name, ()))))
        for name, own in columns.items()
    }


_DEFINITIONS = (
    """SELECT n.nspname, c.relname, c.relkind::text, a.attname,
        format_type(a.atttypid, a.atttypmod), a.attnotnull,
        a.attidentity::text, a.attgenerated::text, pg_get_expr(d.adbin, d.adrelid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'c', 'f') AND {world} ORDER BY 1, 2, a.attnum""",
    (
        "SELECT n.nspname, c.conname, pg_get_constraintdef(c.oid) FROM pg_constraint c"
        " JOIN pg_namespace n ON n.oid = c.connamespace WHERE {world} ORDER BY 1, 2, 3"
    ),
    (
        "SELECT n.nspname, c.relname, pg_get_indexdef(c.oid) FROM pg_class c JOIN pg_namespace n"
        " ON n.oid = c.relnamespace"
        " WHERE c.relkind = 'i' AND {world} ORDER BY 1, 2"
    ),
    (
        "SELECT n.nspname, c.relname, pg_get_viewdef(c.oid) FROM pg_class c JOIN pg_namespace n ON"
        " n.oid = c.relnamespace"
        " WHERE c.relkind IN ('v', 'm') AND {world} ORDER BY 1, 2"
    ),
    (
        "SELECT n.nspname, c.relname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c"
        " ON c.oid = t.tgrelid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT t.tgisinternal AND {world} ORDER"
        " BY 1, 2, 3"
    ),
    (
        "SELECT n.nspname, pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n ON n.oid ="
        " p.pronamespace"
        " WHERE p.prokind IN ('f', 'p') AND {world} ORDER BY 1, 2"
    ),
    (
        "SELECT n.nspname, t.typname, e.enumlabel FROM pg_type t JOIN pg_namespace n ON n.oid ="
        " t.typnamespace"
        " JOIN pg_enum e ON e.enumtypid = t.oid WHERE {world} ORDER BY 1, 2, e.enumsortorder"
    ),
    (
        "SELECT schemaname, sequencename, start_value, increment_by, last_value FROM pg_sequences"
        " WHERE schemaname !~ '^pg_' ORDER BY 1, 2"
    ),
)


def content_digest(db: psycopg.Connection[Any], shapes: Mapping[int, PostgresTable]) -> str:
    """Digest of schema and rows, whatever their OIDs and pages. Without a key, order counts."""
    total = hashlib.sha256()
    for definition in _DEFINITIONS:
        for row in ask(db, definition.replace("{world}", WORLD)):
            total.update(repr(row).encode())
    for shape in shapes.values():
        if shape.key:
            half = "sum(('x' || substr(md5(t::text), {at}, 15))::bit(60)::bigint)::text"
            sums = f"count(*), {half.format(at=1)}, {half.format(at=16)}"
        else:
            sums = "count(*), md5(string_agg(md5(t::text), '' ORDER BY ctid))"
        total.update(
            repr(
                (shape.path, ask(db, f"SELECT {sums} FROM ONLY {shape.path} t").fetchone())
            ).encode()
        )
    return total.hexdigest()[:16]


def read_seeds(
    db: psycopg.Connection[Any], shapes: Mapping[int, PostgresTable]
) -> dict[int, Sequence[str]]:
    """The rows of the tables without a key, in their order."""
    return {
        oid: [text for (text,) in ask(db, f"SELECT t::text FROM ONLY {shape.path} t ORDER BY ctid")]
        for oid, shape in shapes.items()
        if not shape.key
    }
