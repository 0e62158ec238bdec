"""One table of a live database in the terms of SQLite, with the account of its parts."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Literal

from sqlalchemy import Connection, Inspector, TableClause, column, func, select, table, text
from sqlalchemy import types as sql
from sqlalchemy.dialects.mysql import SET, TINYINT
from sqlalchemy.dialects.postgresql import CIDR, DOMAIN, INET, INTERVAL, MACADDR, MACADDR8
from sqlalchemy.dialects.postgresql.ranges import AbstractMultiRange, AbstractRange
from sqlalchemy.engine.interfaces import (
    ReflectedColumn,
    ReflectedForeignKeyConstraint,
    ReflectedIndex,
)

from envs.ledger import Ledger
from synth.ext.authoring.catalog import Relation
from synth.ext.authoring.checks import ColumnRules, condition, default, read_checks
from synth.ext.authoring.names import quoted, spelled
from synth.ext.authoring.roles import COUNTED_OFF
from synth.ext.authoring.shape import NAMES
from synth.ext.authoring.snapshot import ForeignKey, LiveColumn, LiveTable
from synth.ext.authoring.stored import IN_HEXADECIMAL, Hexadecimal, Stored, Written

COMPUTED = "it is computed by a formula that engines may not share"

_DIALECTS = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql", "duckdb": "duckdb"}
"""The names that sqlglot has for SQLAlchemy's dialects."""

SHORT = 32
"""The most bytes of a column that is read beside keys: addresses, digests, references that nobody
declared.
"""

_FIRST_WORD = re.compile(r'\s*(?:"([^"]+)"|`([^`]+)`|\[([^]]+)\]|(\w+))')
"""The name at the beginning of a line of a script."""

_BYTES = (sql.LargeBinary, sql.BINARY, sql.VARBINARY)


@dataclass
class TableReader:
    """Reads one table. ``name`` is its name in the world, ``tables`` are all tables' names."""

    db: Connection
    inspector: Inspector
    relation: Relation
    name: str
    tables: Mapping[tuple[str | None, str], str]
    names: list[str] = field(default_factory=list[str])
    written: dict[str, str] = field(default_factory=dict[str, str])
    bound: set[str] = field(default_factory=set[str])
    types: dict[str, Stored] = field(default_factory=dict[str, Stored])
    checks: list[str] = field(default_factory=list[str])
    ledger: Ledger = field(default_factory=Ledger)

    def __post_init__(self) -> None:
        self.engine = self.inspector.dialect.name
        self.dialect = _DIALECTS.get(self.engine, "sqlite")
        self.where: dict[str, Any] = {
            "table_name": self.relation.name,
            "schema": self.relation.schema,
        }

    def table(self) -> LiveTable | None:
        """The table; None if it has no column that can be read. Raises SQLAlchemyError."""
        raw = self.inspector.get_columns(**self.where)
        self.names = [str(one["name"]) for one in raw]
        self.written = self._written()
        self.ledger.found("column", len(raw))
        key = tuple(self.inspector.get_pk_constraint(**self.where)["constrained_columns"])
        links = tuple(self._links())
        self.bound = {*key, *(name for columns, _, _ in links for name in columns)}
        columns = [one for one in map(self._column, raw) if one is not None]
        if not columns:
            return None
        self.names = [one.name for one in columns]
        source = table(
            self.relation.name,
            *(column(name, self.types[name]) for name in self.names),
            schema=self.relation.schema,
        )
        for check in self.inspector.get_check_constraints(**self.where):
            self._check(str(check["sqltext"]), None)
        self.checks = list(dict.fromkeys(self.checks))
        self.ledger.found("check", len(self.checks))
        if key:
            self._count("primary key", self.name, key)
            key = key if self._has(key) else ()
        uniques, partials = self._indexes(key)
        if not key:
            key = self._key_among(uniques, columns, source)
            uniques = tuple(one for one in uniques if one != key)
        live = LiveTable(
            self.name,
            source,
            tuple(_with_choices(columns, self.checks)),
            key,
            uniques,
            links,
            self._comment(),
            tuple(self.checks),
            partials,
            self.ledger,
            self.relation.alone,
        )
        self.db.execute(live.select().limit(1)).all()
        return live

    def _key_among(
        self, uniques: Sequence[tuple[str, ...]], columns: Sequence[LiveColumn], source: TableClause
    ) -> tuple[str, ...]:
        """The number called ``id``, if each row has its own, else the shortest unique rule over
        columns that are never null, as the key; else the beginning of an index that has a name in
        it, and by which no two rows are the same.
        """
        empty = {column.name for column in columns if column.nullable}
        whole = [(one, "a unique rule over columns that are never null") for one in uniques]
        fitting = [one for one in whole if empty.isdisjoint(one[0])]
        fitting.sort(key=lambda one: len(one[0]))
        numbers = [c.name for c in columns if (c.name.lower(), c.type) == ("id", "INTEGER")]
        own = "a number called id, of which each row has its own"
        found = [((name,), own) for name in numbers if name not in self.bound]
        named = "an index of which each row has its own values"
        looked = [(one, named) for one in self._named_indexes(empty)]
        for key, why in [*found, *fitting, *looked]:
            if (key, why) in fitting or self._tells_apart(key, source):
                self.ledger.found("primary key")
                self.ledger.change("primary key", f"{self.name} ({', '.join(key)})", why)
                return key
        return ()

    def _named_indexes(self, empty: Container[str]) -> Iterator[tuple[str, ...]]:
        """The columns of each index up to the first that may be null, if one of them is a name."""
        for index in self.inspector.get_indexes(**self.where):
            whole = map(str, index["column_names"])  # an expression is called None
            columns = tuple(takewhile(lambda one: one in self.names and one not in empty, whole))
            if {spelled(one) for one in columns} & NAMES:
                yield columns

    def _tells_apart(self, key: Sequence[str], source: TableClause) -> bool:
        """True for columns in which no two rows are the same."""
        apart = select(*(source.c[name] for name in key)).distinct().subquery()
        counts = [select(func.count()).select_from(one) for one in (source, apart)]
        rows, values = (self.db.execute(count).scalar_one() for count in counts)
        return rows == values

    def _has(self, columns: Sequence[str | None]) -> bool:
        return set(columns) <= set(self.names)

    def _count(self, kind: str, name: str, columns: Sequence[str | None]) -> bool:
        """Account for a key or an index; True if the world has all of its columns."""
        self.ledger.found(kind)
        if self._has(columns):
            self.ledger.use(kind)
            return True
        self.ledger.leave_out(kind, name, "a column of it is left out")
        return False

    def _comment(self) -> str | None:
        try:
            found = self.inspector.get_table_comment(**self.where)["text"]
        except NotImplementedError:  # SQLite keeps those that the script has
            return self.written.get("")
        return str(found) if found else None

    def _written(self) -> dict[str, str]:
        """The comments at the ends of the lines of a table of SQLite, by column, the table's by
        an empty name.
        """
        if self.engine != "sqlite":
            return {}
        query = text("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = :name")
        script = str(self.db.execute(query, {"name": self.relation.name}).scalar() or "")
        out = dict[str, str]()
        for line in script.splitlines():
            code, _, comment = line.partition("-- ")
            words = _FIRST_WORD.match(code)
            name = "".join(filter(None, words.groups())) if words else ""
            if comment and "'" not in code and (name in self.names or code.endswith("( ")):
                out[name if name in self.names else ""] = comment.strip()
        return out

    def _check(self, sql: str, column: str | None) -> None:
        """A condition of the table, or of the domain of a column."""
        held = condition(sql, self.dialect, self.names, column)
        if held is not None:
            self.checks.append(held)
        else:
            self.ledger.found("check")
            where = f"{self.name}.{column}" if column else self.name
            name = f"{where}: {' '.join(sql.split())[:120]}"
            self.ledger.leave_out("check", name, "SQLite would not decide it alike")

    def _indexes(
        self, key: tuple[str, ...]
    ) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[tuple[str, ...], str], ...]]:
        """The unique keys of all rows, and of some."""
        whole, partial = dict[tuple[str, ...], None](), dict[tuple[tuple[str, ...], str], None]()
        own: dict[str, Any] = {"include_auto_indexes": True} if self.engine == "sqlite" else {}
        constraints = self.inspector.get_unique_constraints(**self.where)
        found = [tuple(one["column_names"]) for one in constraints]
        for index in [*self.inspector.get_indexes(**self.where, **own), *self._expressions()]:
            columns = tuple(map(str, index["column_names"]))
            where = _where(index) if index["unique"] and _is_plain(index) else None
            if not index["unique"] or not _is_plain(index):
                self._lost_index(index)
            elif where is None:
                found.append(columns)
            elif (held := self._held(index, where)) is not None:
                partial[columns, held] = None
        for columns in sorted({*found} - {key, ()}):
            if self._count("unique key", f"{self.name} ({', '.join(columns)})", columns):
                whole[columns] = None
        return tuple(whole), tuple(sorted(partial))

    def _lost_index(self, index: ReflectedIndex) -> None:
        kind, why = "index", "it makes queries fast, a world is small"
        if index["unique"]:
            kind, why = "unique key", "it is of more than whole columns"
        elif "duplicates_constraint" in index:
            kind, why = "exclusion constraint", "SQLite has no rule for two rows beside equality"
        self.ledger.found(kind)
        self.ledger.leave_out(kind, f"{self.name}.{index['name']}", why)

    def _held(self, index: ReflectedIndex, where: str) -> str | None:
        """The condition of a unique index of some rows; None if it is left out."""
        held = condition(where, self.dialect, self.names)
        self.ledger.found("unique key")
        if held is not None and self._has(index["column_names"]):
            self.ledger.use("unique key")
            return held
        why = "SQLite would not decide alike for which rows it is"
        self.ledger.leave_out("unique key", f"{self.name}.{index['name']}", why)
        return None

    def _expressions(self) -> list[ReflectedIndex]:
        """The indexes of expressions in SQLite, which SQLAlchemy does not reflect."""
        if self.engine != "sqlite":
            return []
        query = text(
            'SELECT name, "unique" FROM pragma_index_list(:table_name) l WHERE EXISTS'
            " (SELECT 1 FROM pragma_index_info(l.name) WHERE cid = -2)"
        )
        found = self.db.execute(query, {"table_name": self.relation.name})
        return [
            {"name": name, "unique": bool(unique), "column_names": [None]} for name, unique in found
        ]

    def _links(self) -> Iterator[ForeignKey]:
        own: dict[str, Any] = (
            {"postgresql_ignore_search_path": True} if self.engine == "postgresql" else {}
        )
        for key in self.inspector.get_foreign_keys(**self.where, **own):
            self.ledger.found("foreign key")
            self._actions(key)
            place = key["referred_schema"] or self.relation.schema, key["referred_table"]
            other = self.tables.get(place) or ".".join(filter(None, place))
            columns = tuple(map(str, key["constrained_columns"]))
            yield columns, other, tuple(map(str, key["referred_columns"]))

    def _actions(self, key: ReflectedForeignKeyConstraint) -> None:
        """Name what the database does to rows when their parent goes or gets another key."""
        columns = list(map(str, key["constrained_columns"]))
        actions = dict[Any, Any](key.get("options", {}))
        if self.engine == "sqlite":  # of which SQLAlchemy reflects some only
            query = text(
                "SELECT on_delete AS ondelete, on_update AS onupdate"
                ' FROM pragma_foreign_key_list(:child) WHERE "from" = :column AND "table" = :parent'
            )
            where = {
                "child": self.relation.name,
                "column": columns[0],
                "parent": key["referred_table"],
            }
            actions |= self.db.execute(query, where).mappings().first() or {}
        for event, words in (("ondelete", "ON DELETE"), ("onupdate", "ON UPDATE")):
            action = actions.get(event, "NO ACTION")
            if action not in {"NO ACTION", "RESTRICT"}:
                self.ledger.found("action")
                name = f"{self.name} ({', '.join(columns)}): {words} {action}"
                self.ledger.leave_out("action", name, "the world's tools delete no row and no key")

    def _column(self, raw: ReflectedColumn) -> LiveColumn | None:
        """A column; None if it is left out, which the account says."""
        name, kind = str(raw["name"]), _base(raw["type"])
        declared, own = self._read_as(name, kind)
        computed = None
        if "computed" in raw:
            computed = condition(str(raw["computed"]["sqltext"]), self.dialect, self.names)
        before = {one.lower() for one in self.names[: self.names.index(name)]}
        if declared is None or name.lower() in before or ("computed" in raw and computed is None):
            twice = "SQLite has one name for it and another" if name.lower() in before else COMPUTED
            kept = "cast it to a text, a number or a day"
            why = f"type {self._shown(kind, name)}: {kept}" if declared is None else twice
            self.ledger.leave_out("column", f"{self.name}.{name}", why)
            return None
        if why := _altered(kind, own):
            self.ledger.change("column", f"{self.name}.{name}", why)
        else:
            self.ledger.use("column")
        self.types[name] = own
        comment = raw.get("comment") or self.written.get(name)
        return LiveColumn(
            name=name,
            type=declared,
            nullable=bool(raw["nullable"]),
            choices=self._choices(raw, name),
            comment=str(comment) if comment else None,
            default=self._default(raw) if computed is None else None,
            computed=computed,
            length=None if isinstance(kind, _BYTES) else getattr(raw["type"], "length", None),
            maintained=self._maintained(name, str(raw.get("default"))),
            digits=_digits(kind) if declared == "NUMERIC" else "",
            small=_is_small(kind),
        )

    def _maintained(self, name: str, default: str) -> Literal["", "set"]:
        if " ON UPDATE " not in default:
            return ""
        self.ledger.found("action")
        place = f"{self.name}.{name}: ON UPDATE CURRENT_TIMESTAMP"
        self.ledger.leave_out("action", place, "a tool's change leaves the column as it is")
        return "set"

    def _read_as(self, name: str, kind: sql.TypeEngine[Any]) -> tuple[str | None, Stored]:
        """The type in SQLite, None for a column that is left out, and how its values are read."""
        declared = "BOOLEAN" if self._is_yes_or_no(kind, name) else _type(kind)
        if declared is None and self.engine == "sqlite":
            return self._stored_type(name), Stored()
        if isinstance(kind, _BYTES) and (name in self.bound or 0 < (kind.length or 0) <= SHORT):
            return "TEXT", Hexadecimal(self.engine)
        item = _type(_base(getattr(kind, "item_type", kind)))
        numeric = item in {"BOOLEAN", "INTEGER", "REAL", "NUMERIC"}
        if self.engine in {"duckdb", "postgresql"} and not numeric:
            zoned = isinstance(kind, sql.DateTime) and kind.timezone
            several = "list" if hasattr(kind, "item_type") else ""
            return declared, Written(
                "zoned" if zoned else "inet" if isinstance(kind, INET) else several
            )
        return declared, Stored()

    def _is_yes_or_no(self, kind: sql.TypeEngine[Any], name: str) -> bool:
        """True for what MariaDB keeps for a BOOLEAN, if it holds no other numbers than 0 and 1."""
        small = isinstance(kind, TINYINT) and kind.display_width == 1
        if not small or COUNTED_OFF.search(spelled(name)):
            return False
        own = column(name, kind)
        source = table(self.relation.name, own, schema=self.relation.schema)
        return self.db.execute(source.select().where(own.not_in((0, 1))).limit(1)).first() is None

    def _choices(self, raw: ReflectedColumn, name: str) -> tuple[str, ...]:
        """The values of an ENUM, which becomes a check, beside the check of a domain."""
        kind: sql.TypeEngine[Any] = raw["type"]
        while isinstance(kind, DOMAIN):
            if kind.check is not None:
                self._check(str(kind.check), name)
            kind = kind.data_type
        if getattr(kind, "unsigned", False):
            self.checks.append(f"{quoted(name)} >= 0")
        choices = tuple(map(str, getattr(kind, "enums", None) or ()))
        if choices:
            listed = ", ".join("'" + choice.replace("'", "''") + "'" for choice in choices)
            self.checks.append(f"{quoted(name)} IN ({listed})")
        return choices

    def _stored_type(self, name: str) -> str | None:
        """The type of a column of SQLite that declares none, by what it holds; None for bytes."""
        shown = f"SELECT DISTINCT typeof({quoted(name)}) FROM {quoted(self.relation.name)}"
        found = set(self.db.exec_driver_sql(shown).scalars()) - {"null"}
        if "blob" in found:
            return None
        if found and found <= {"integer", "real"}:
            return "INTEGER" if found == {"integer"} else "NUMERIC"
        return "TEXT"

    def _shown(self, kind: sql.TypeEngine[Any], name: str) -> str:
        """The name of a type, as the database calls it."""
        if not isinstance(kind, sql.NullType) or self.engine == "sqlite":
            return str(kind).lower() if not isinstance(kind, sql.NullType) else "blob"
        last = "udt_name" if self.engine == "postgresql" else "data_type"
        query = text(
            f"SELECT {last} FROM information_schema.columns WHERE table_schema = :schema"
            " AND table_name = :table_name AND column_name = :name"
        )
        return str(self.db.execute(query, {**self.where, "name": name}).scalar())

    def _default(self, raw: ReflectedColumn) -> str | None:
        kind: sql.TypeEngine[Any] = raw["type"]
        given = raw.get("default")
        if given is None and isinstance(kind, DOMAIN):
            given = kind.default
        words = "" if given is None else str(given).partition(" ON UPDATE ")[0]
        held = default(words, self.dialect) if words else "NULL"
        if held == "NULL" or "nextval(" in words:
            return None  # numbered keys are numbered by SQLite too
        if isinstance(kind, sql.ARRAY):
            held = "'[]'" if words.startswith("'{}'") else None
        self.ledger.found("default")
        if held is None:
            name = f"{self.name}.{raw['name']}: {words}"
            self.ledger.leave_out("default", name, "it is not one plain value")
        else:
            self.ledger.use("default")
        return held


def _is_small(kind: sql.TypeEngine[Any]) -> bool:
    """True for numbers of a byte or two and for texts that are no longer than a code."""
    if isinstance(kind, sql.String):
        return not isinstance(kind, sql.Enum) and 0 < (kind.length or 0) < 4
    return isinstance(kind, TINYINT | sql.SmallInteger)


def _digits(kind: sql.TypeEngine[Any]) -> str:
    """The precision and scale of a decimal, such as ``(8, 2)``; empty without a scale."""
    if isinstance(kind, sql.Numeric) and kind.scale:
        return f"({kind.precision}, {kind.scale})"
    return ""


def _altered(kind: sql.TypeEngine[Any], own: Stored) -> str:
    """The way in which values are kept otherwise; empty if they are not."""
    if isinstance(own, Hexadecimal):
        return IN_HEXADECIMAL
    return "a SET, which becomes a text" if isinstance(kind, SET) else ""


def _base(kind: sql.TypeEngine[Any]) -> sql.TypeEngine[Any]:
    """The type of the values of a domain, which may be one of another domain."""
    return _base(kind.data_type) if isinstance(kind, DOMAIN) else kind


def _with_choices(columns: Sequence[LiveColumn], checks: list[str]) -> list[LiveColumn]:
    rules = read_checks(checks)
    return [
        replace(c, choices=c.choices or rules.get(c.name, ColumnRules()).choices) for c in columns
    ]


def _is_plain(index: ReflectedIndex) -> bool:
    """True for an index of whole columns."""
    lengths = index.get("dialect_options", {}).get("mysql_length")
    return None not in index["column_names"] and "expressions" not in index and not lengths


def _where(index: ReflectedIndex) -> str | None:
    """The condition of an index of some rows."""
    options = index.get("dialect_options", {})
    return next((str(value) for name, value in options.items() if name.endswith("_where")), None)


def _type(kind: object) -> str | None:
    """The type in SQLite; None for a column whose values have no plain form."""
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
        ((INET, CIDR, INTERVAL, MACADDR, MACADDR8, AbstractRange, AbstractMultiRange), "TEXT"),
        (sql.String, "TEXT"),
        (sql.Uuid, "TEXT"),
        (sql.JSON, "TEXT"),
    ):
        if isinstance(kind, known):
            return name or None
    return "INTEGER" if type(kind).__name__ in {"YEAR", "TINYINT", "BIT"} else None
