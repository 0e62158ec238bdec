"""The catalog of a database: tables, their parts, views, triggers, sequences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlalchemy import Engine, bindparam, inspect, text

from synth.core.foundation.suggestions import hint, nearest
from synth.errors import OperatorError

_SQLITE = """
SELECT NULL, name, type, NULL FROM pragma_table_list
WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
UNION ALL SELECT NULL, name, type, NULL FROM sqlite_master WHERE type = 'trigger'
ORDER BY 2, 3
"""

_MARIADB = """
SELECT table_schema, table_name, CASE table_type
  WHEN 'VIEW' THEN 'view' WHEN 'SEQUENCE' THEN 'sequence' ELSE 'table' END, NULL
FROM information_schema.tables WHERE table_schema IN :schemas
UNION ALL SELECT trigger_schema, trigger_name, 'trigger', NULL
FROM information_schema.triggers WHERE trigger_schema IN :schemas
ORDER BY 1, 2, 3
"""

_POSTGRESQL = """
SELECT n.nspname, c.relname, CASE
  WHEN EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e'
    AND d.classid = CAST('pg_class' AS regclass)) THEN 'extension'
  WHEN c.relkind = 'v' THEN 'view' WHEN c.relkind = 'm' THEN 'materialized view'
  WHEN c.relkind = 'S' THEN 'sequence' WHEN c.relispartition THEN 'partition'
  WHEN p.oid IS NULL THEN 'table'
  WHEN (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
    AND NOT a.attisdropped) = (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = p.oid
    AND a.attnum > 0 AND NOT a.attisdropped) THEN 'equal child' ELSE 'child' END,
  pn.nspname || '.' || p.relname
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN (SELECT inhrelid, CAST(min(CAST(inhparent AS bigint)) AS oid) AS inhparent
  FROM pg_inherits GROUP BY inhrelid) i ON i.inhrelid = c.oid AND c.relkind IN ('r', 'p', 'f')
LEFT JOIN pg_class p ON p.oid = i.inhparent LEFT JOIN pg_namespace pn ON pn.oid = p.relnamespace
WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
UNION ALL SELECT n.nspname, t.tgname || ' of ' || c.relname, 'trigger', NULL
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal
UNION ALL SELECT n.nspname, c.relname, 'row policy', NULL
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relrowsecurity AND row_security_active(c.oid) ORDER BY 1, 2, 3
"""

_DUCKDB = """
SELECT schema_name, table_name, 'table', NULL FROM duckdb_tables()
WHERE NOT internal AND database_name = current_database()
UNION ALL SELECT schema_name, view_name, 'view', NULL FROM duckdb_views()
WHERE NOT internal AND database_name = current_database()
UNION ALL SELECT schema_name, sequence_name, 'sequence', NULL FROM duckdb_sequences()
WHERE database_name = current_database() ORDER BY 1, 2, 3
"""


_TRIGGERS = {
    "sqlite": "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT c.relname, p.prosrc FROM pg_trigger t"
    " JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid"
    " WHERE NOT t.tgisinternal",
    "mysql": "SELECT event_object_table, action_statement FROM information_schema.triggers"
    " WHERE trigger_schema = DATABASE()",
}
"""The table of each trigger, and what it does."""

_NAME = r"(?:\w+\.)?[`\"]?(\w+)[`\"]?"
_OF_NEW = re.compile(
    r"(?:\bSET|\bTHEN|\bELSE|\bBEGIN|[;,])\s+NEW\.[`\"]?(\w+)[`\"]?\s*:?=", re.IGNORECASE
)
_OF_ROWS = re.compile(
    rf"\bUPDATE\s+{_NAME}\s+SET\s(.*?)(?:\bWHERE\b|;|\Z)", re.IGNORECASE | re.DOTALL
)
_SET = re.compile(rf"(?:^|,)\s*{_NAME}\s*=")
_READ = re.compile(r"\bNEW\.[`\"]?(\w+)", re.IGNORECASE)
"""The columns that a trigger sets, in its new row and in other rows, and those that it reads."""


def trigger_columns(engine: Engine) -> dict[tuple[str, str], Literal["set", "read"]]:
    """The tables and columns, in small letters, that triggers set, and those that they read."""
    dialect = engine.dialect.name
    query = _TRIGGERS.get("mysql" if dialect == "mariadb" else dialect)
    if query is None:
        return {}
    with engine.connect() as db:
        found = [(str(table), str(body)) for table, body in db.execute(text(query))]
    out, read = set[tuple[str, str]](), set[tuple[str, str]]()
    for own, body in found:
        sets = {(own, column) for column in _OF_NEW.findall(body)}
        for table, changes in _OF_ROWS.findall(body):
            sets |= {(table, column) for column in _SET.findall(_without_calls(changes))}
        out |= {(table.lower(), column.lower()) for table, column in sets}
        read |= {(own.lower(), column.lower()) for column in _READ.findall(body) if sets}
    return {**dict.fromkeys(read, "read"), **dict.fromkeys(out, "set")}


def _without_calls(sql: str) -> str:
    plain = re.sub(r"\([^()]*\)", "", sql)
    return sql if plain == sql else _without_calls(plain)


@dataclass(frozen=True, slots=True)
class Relation:
    """A table, view, trigger or sequence. ``schema`` is None in a database without schemata.

    ``parent`` is the table of which a partition is a part, or from which a child inherits, with its
    schema. ``alone``: the rows of children do not belong to the table.
    """

    schema: str | None
    name: str
    kind: str
    parent: str | None = None
    alone: bool = False

    @property
    def full(self) -> str:
        """The name with the schema."""
        return ".".join(filter(None, [self.schema, self.name]))


@dataclass(frozen=True, slots=True)
class Catalog:
    """The relations of the schemata that are read; ``others`` counts the tables of further ones."""

    relations: Sequence[Relation]
    others: Counter[str]


def read_catalog(engine: Engine, schemata: Sequence[str] = ()) -> Catalog:
    """The catalog of these schemata, by default the connection's.

    Raises OperatorError for a schema that does not exist.
    """
    wanted = _wanted(engine, schemata)
    own = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL, "duckdb": _DUCKDB}
    query = text(own.get(engine.dialect.name, _MARIADB))
    with engine.connect() as db:
        if engine.dialect.name not in own:
            query = query.bindparams(bindparam("schemas", wanted, expanding=True))
        rows = db.execute(query).all()
    found = [Relation(*map(_name, row)) for row in rows]  # pyright: ignore[reportArgumentType]
    here = _with_children([one for one in found if one.schema is None or one.schema in wanted])
    tables = [one for one in found if one.kind in {"table", "child"} and one.schema is not None]
    others = Counter(str(one.schema) for one in tables if one.schema not in wanted)
    return Catalog(here, others)


def _wanted(engine: Engine, schemata: Sequence[str]) -> list[str]:
    inspector = inspect(engine)
    if schemata and engine.dialect.name == "sqlite":
        raise OperatorError("--schema: SQLite has no schemata; leave the option out")
    known = inspector.get_schema_names() if schemata else []
    if engine.dialect.name == "duckdb":  # it puts the database before each name
        known = [name.rpartition(".")[2] for name in known]
    for name in schemata:
        if name not in known:
            raise OperatorError(f"--schema {name}: no such schema{hint(nearest(name, known))}")
    return list(schemata) or [inspector.default_schema_name or ""]


def _name(value: object) -> str | None:
    if value is None:
        return None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _with_children(relations: Sequence[Relation]) -> list[Relation]:
    """Children that have columns of their own are tables, and so are their ancestors and those
    ancestors' children; others are parts of the table from which they inherit.
    """
    parents = {one.full: one.parent for one in relations}
    own, queue = set[str | None](), [one.parent for one in relations if one.kind == "child"]
    while queue:
        parent = queue.pop()
        if parent is not None and parent not in own:
            own.add(parent)
            queue.append(parents.get(parent))
    out = list[Relation]()
    for one in relations:
        kind = one.kind
        if kind in {"child", "equal child"}:
            kind = "table" if one.parent in own or one.parent not in parents else "partition"
        out.append(replace(one, kind=kind, alone=one.full in own))
    return out
