"""Drawn databases: statements that make tables, rows and other objects."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

from tests.drawn.material import (
    COLUMNS,
    MARIADB,
    NAMES,
    POSTGRES,
    SQLITE,
    TABLES,
    TEXTS,
    TYPES,
    features,
)

STRICT_TYPES = {"INTEGER", "REAL", "TEXT", "BLOB"}
"""The types of columns of SQLite's strict tables."""

TRIGGERS = {
    SQLITE: "AFTER UPDATE ON {0} BEGIN SELECT 1; END",
    POSTGRES: "AFTER UPDATE ON {0} FOR EACH ROW EXECUTE FUNCTION noop()",
    MARIADB: "AFTER UPDATE ON {0} FOR EACH ROW SET @a = 1",
}
"""What triggers do, by engine."""

PRELUDE = {
    POSTGRES: (
        "CREATE TYPE mood AS ENUM ('sad', 'so so')",
        "CREATE DOMAIN positive AS integer CHECK (VALUE > 0)",
        "CREATE FUNCTION noop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE SCHEMA other",
    ),
    MARIADB: ("SET sql_mode = ''",),
}
"""Statements before those of the tables."""

MANY = 60
"""Rows of a table of many."""


@dataclass(frozen=True)
class DrawnDatabase:
    """Statements that make a database; one that the engine refuses is skipped."""

    engine: str
    statements: Sequence[str]
    features: frozenset[str]

    def __repr__(self) -> str:
        return "\n".join([f"-- {', '.join(sorted(self.features))}", *map(_line, self.statements)])


def _line(statement: str) -> str:
    return f"{statement};"


@dataclass
class _Column:
    name: str
    type: str
    values: Sequence[str]
    rule: str = ""
    made: bool = False


@dataclass
class _Table:
    name: str
    columns: list[_Column]
    key: list[str]
    rules: list[str] = field(default_factory=list[str])
    tail: str = ""
    rows: list[list[str]] = field(default_factory=list[list[str]])

    def values(self, columns: Sequence[str]) -> list[list[str]]:
        """The values that the rows have in these columns."""
        places = [[one.name for one in self.stored].index(name) for name in columns]
        return [[row[place] for place in places] for row in self.rows]

    @property
    def stored(self) -> list[_Column]:
        return [column for column in self.columns if not column.made]


def quoted(name: str, engine: str = SQLITE) -> str:
    """A name in the engine's SQL."""
    mark = "`" if engine == "mariadb" else '"'
    return mark + name.replace(mark, mark * 2) + mark


def text(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"


@st.composite
def databases(draw: st.DrawFn, engine: str = SQLITE, most_tables: int = 3) -> DrawnDatabase:
    """A database with up to five features."""
    asked = draw(st.sets(st.sampled_from(features(engine)), min_size=1, max_size=5))
    return _Drawing(draw, engine, asked).database(most_tables)


class _Drawing:
    """The drawing of one database."""

    def __init__(self, draw: st.DrawFn, engine: str, asked: set[str]) -> None:
        self.draw = draw
        self.engine = engine
        self.asked = asked
        self.names = [name for one in sorted(asked) for name in NAMES.get(one, ())]
        self.texts = [value for one in sorted(asked) for value in TEXTS.get(one, ())]
        self.types = [
            (kind, values)
            for one in sorted(asked)
            for kind, values in TYPES[engine].get(one, {}).items()
        ]
        self.tables = list[_Table]()
        self.more = list[str]()

    def wants(self, feature: str) -> bool:
        """True if the database has a feature, here."""
        return feature in self.asked and self.draw(st.booleans())

    def name(self, usual: Sequence[str], taken: Sequence[str]) -> str:
        """A name that the engine takes for another one than those taken."""
        odd = [name for name in self.names if name.lower() not in taken]
        more = [f"{usual[0]}_{number}" for number in range(2, 2 + len(taken))]
        free = [name for name in (*usual, *more) if name.lower() not in taken]
        return self.draw(st.sampled_from(odd if odd and self.draw(st.booleans()) else free))

    def database(self, most: int) -> DrawnDatabase:
        for _ in range(self.draw(st.integers(1, most))):
            self.tables.append(self.table())
        self.objects()
        if self.engine == POSTGRES:
            self.postgres_objects()
        made = [self.create(table) for table in self.tables]
        rows = [line for table in self.tables for line in self.inserts(table)]
        statements = [*PRELUDE.get(self.engine, ()), *made, *rows, *self.more]
        return DrawnDatabase(self.engine, statements, frozenset(self.asked))

    def table(self) -> _Table:
        name = self.name(TABLES, [table.name.lower() for table in self.tables])
        table = _Table(name, [], [])
        count = 0 if self.wants("rows: none") else self.draw(st.integers(1, 8))
        if self.wants("rows: many"):
            count = MANY
        self.key(table, count)
        for _ in range(self.draw(st.integers(1, 4))):
            self.column(table)
        for parent in self.tables:
            if self.draw(st.booleans()):
                self.link(table, parent)
        if self.wants("keys: self-referring") and len(table.key) == 1:
            self.link(table, table)
        self.extras(table)
        self.fill(table, count)
        return table

    def key(self, table: _Table, count: int) -> None:
        """The columns of the key, with a distinct value for each row."""
        numbers = [str(one) for one in range(1, count + 1)]
        kind, values, parts = "INTEGER", numbers, 1
        if self.wants("keys: none"):
            return
        if self.wants("keys: text"):
            kind, values = self.text_type(), [text(f"K-{one}") for one in numbers]
        elif self.wants("keys: huge"):
            kind, base = "BIGINT", self.draw(st.sampled_from([2**53, 10**18, 2**63 - 1 - count]))
            values = [str(base + int(one)) for one in numbers]
        elif self.wants("keys: date"):
            kind, values = "DATE", [text(f"2024-01-{int(one) % 28 + 1:02}") for one in numbers]
        elif self.wants("keys: bytes"):
            kind, values = "BLOB", [f"x'{int(one):04x}'" for one in numbers]
        elif self.wants("keys: real"):
            kind, values = "REAL", [f"{one}.5" for one in numbers]
        elif self.wants("keys: composite"):
            parts = 2
        if self.wants("keys: NULL"):
            values = ["NULL", *values[1:]]
        for part in range(parts):
            taken = [column.name.lower() for column in table.columns]
            name = self.name(("id", f"{table.name}_id"[:60], "code", "no"), taken)
            own = values if part == 0 else ["1", "2"]
            table.columns.append(_Column(name, kind, own))
            table.key.append(name)
        if (parts, kind) == (1, "INTEGER") and self.wants("objects: sequence"):
            table.columns[0].rule, table.key = "PRIMARY KEY AUTOINCREMENT", [table.key[0]]
        elif self.wants("keys: without rowid"):
            table.tail = " WITHOUT ROWID"

    def text_type(self) -> str:
        return "TEXT" if self.engine != "mariadb" else "VARCHAR(120)"

    def column(self, table: _Table) -> None:
        name = self.name(COLUMNS, [column.name.lower() for column in table.columns])
        usual = [
            (self.text_type(), [text(one) for one in ("open", "closed", "Rome", "Bern", "Ida")]),
            (self.text_type(), [text(f"{word} {n}") for n in range(9) for word in ("Ada", "Bo")]),
            ("INTEGER", [str(one) for one in range(0, 40, 3)]),
            ("NUMERIC(8,2)" if self.engine != SQLITE else "REAL", ["1.5", "20.25", "99", "0"]),
            ("DATE", ["'2024-03-01'", "'2023-11-30'", "'2024-12-24'"]),
        ]
        if self.texts:
            usual.append((self.text_type(), [text(one) for one in self.texts]))
        kinds = self.types if self.types and self.draw(st.booleans()) else usual
        kind, values = self.draw(st.sampled_from(kinds))
        rule = self.draw(st.sampled_from(["", "", "", "NOT NULL"]))
        if self.wants("objects: unique"):
            rule += " UNIQUE"
        if self.wants("objects: defaults"):
            rule += f" DEFAULT {self.draw(st.sampled_from(values))}"
        if rule != "NOT NULL" and self.draw(st.booleans()):
            values = [*values, "NULL"]
        table.columns.append(_Column(name, kind, values, rule))

    def link(self, table: _Table, parent: _Table) -> None:
        """A foreign key to the parent's whole key."""
        if not parent.key:
            return
        taken = [column.name.lower() for column in table.columns]
        names = list[str]()
        found = parent.values(parent.key) if parent is not table else [["NULL"], ["1"]]
        for place, key in enumerate(parent.key):
            kind = next(column.type for column in parent.columns if column.name == key)
            name = self.name((f"{parent.name}_{key}"[:60], "ref", "other_ref", "up"), taken)
            taken.append(name.lower())
            values = [row[place] for row in found] or ["NULL"]
            if self.wants("keys: orphans"):
                values = [*values, "77"]
            table.columns.append(_Column(name, kind, values))
            names.append(name)
        self.refer(table, names, parent.name, parent.key)
        if self.wants("keys: a column twice"):
            other = self.draw(st.sampled_from([*self.tables, parent]))
            if other.key:
                self.refer(table, [names[0]] * len(other.key), other.name, other.key)

    def refer(self, table: _Table, own: Sequence[str], to: str, there: Sequence[str]) -> None:
        here = ", ".join(quoted(one, self.engine) for one in own)
        target = ", ".join(quoted(one, self.engine) for one in there)
        table.rules.append(f"FOREIGN KEY ({here}) REFERENCES {quoted(to, self.engine)} ({target})")

    def extras(self, table: _Table) -> None:
        """Checks, generated columns and what else stands in CREATE TABLE."""
        column = self.draw(st.sampled_from(table.columns))
        own = quoted(column.name, self.engine)
        if self.wants("objects: check"):
            table.rules.append(
                self.draw(
                    st.sampled_from(
                        [
                            f"CHECK ({own} IS NULL OR {own} <> 'zzz')",
                            f"CHECK ({own} IN ({', '.join(dict.fromkeys(column.values))}))",
                            f"CHECK ({own} = {own})",
                        ]
                    )
                )
            )
        if self.wants("objects: generated column"):
            name = self.name(("made", "total"), [one.name.lower() for one in table.columns])
            kind = self.draw(st.sampled_from(["STORED", "VIRTUAL"]))
            joined = f"CONCAT({own}, '-')" if self.engine == MARIADB else f"{own} || '-'"
            rule = f"GENERATED ALWAYS AS ({joined}) {kind}"
            table.columns.append(_Column(name, self.text_type(), [], rule, made=True))
        if self.wants("keys: to nothing"):
            self.refer(table, [column.name], "nowhere", ["id"])
        if self.wants("keys: circular") and self.tables:
            other = self.tables[0]
            if other.key and len(table.key) == 1:
                name = self.name(("back_ref",), [one.name.lower() for one in other.columns])
                other.columns.append(_Column(name, "INTEGER", ["NULL"]))
                for row in other.rows:
                    row.insert(len(other.stored) - 1, "NULL")
                self.refer(other, [name], table.name, table.key)
        kinds = {column.type for column in table.columns}
        if kinds <= STRICT_TYPES and self.wants("objects: strict"):
            table.tail += " STRICT" if not table.tail else ", STRICT"

    def fill(self, table: _Table, count: int) -> None:
        for number in range(count):
            row = list[str]()
            for place, column in enumerate(table.stored):
                if place == 0 and table.key:
                    row.append(column.values[number])
                else:
                    row.append(self.draw(st.sampled_from(column.values)))
            table.rows.append(row)

    def objects(self) -> None:
        """Views, triggers, indexes and virtual tables."""
        for number, table in enumerate(self.tables):
            own, columns = quoted(table.name, self.engine), table.columns
            column = quoted(self.draw(st.sampled_from(columns)).name, self.engine)
            if self.wants("objects: view"):
                self.more.append(f"CREATE VIEW v{number} AS SELECT * FROM {own}")
            if self.wants("objects: trigger"):
                self.more.append(f"CREATE TRIGGER t{number} {TRIGGERS[self.engine]}".format(own))
            unique = self.draw(st.sampled_from(["", "UNIQUE "]))
            if self.wants("objects: expression index"):
                self.more.append(f"CREATE {unique}INDEX e{number} ON {own} (lower({column}))")
            if self.wants("objects: partial index"):
                where = f"WHERE {column} IS NOT NULL"
                self.more.append(f"CREATE {unique}INDEX p{number} ON {own} ({column}) {where}")
            if self.engine != SQLITE and self.wants("objects: sequence"):
                self.more.append(f"CREATE SEQUENCE s{number}")
            if self.wants("objects: full text"):
                self.more += [
                    f"CREATE VIRTUAL TABLE search{number} USING fts5(body, title)",
                    f"INSERT INTO search{number} VALUES ('a b', 'c')",
                ]
            if self.wants("objects: rtree"):
                self.more.append(f"CREATE VIRTUAL TABLE area{number} USING rtree(id, lo, hi)")

    def postgres_objects(self) -> None:
        """Parts of tables, children of tables, and tables of another schema."""
        own = quoted(self.tables[0].name)
        if self.wants("objects: partitions"):
            self.more += [
                "CREATE TABLE log (id integer, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at)",
                "CREATE TABLE log_1 PARTITION OF log FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')",
                "CREATE TABLE log_2 PARTITION OF log DEFAULT",
                "INSERT INTO log VALUES (1, '2024-02-02'), (2, '2026-01-01')",
            ]
        if self.wants("objects: inheritance"):
            extra = self.draw(st.sampled_from(["", "extra integer"]))
            self.more += [f"CREATE TABLE child ({extra}) INHERITS ({own})"]
        if self.wants("objects: materialized view"):
            self.more.append(f"CREATE MATERIALIZED VIEW m AS SELECT * FROM {own}")
        if self.wants("objects: another schema"):
            self.more += [
                "CREATE TABLE other.place (place_id integer PRIMARY KEY, name text)",
                "INSERT INTO other.place VALUES (1, 'Rome'), (2, 'Bern')",
                f"CREATE TABLE other.{own} (id integer PRIMARY KEY)",
                "CREATE TABLE stay (id integer PRIMARY KEY, place_id integer REFERENCES other.place)",
                "INSERT INTO stay VALUES (1, 1), (2, 2), (3, 2)",
            ]

    def create(self, table: _Table) -> str:
        parts = [
            f"{quoted(column.name, self.engine)} {column.type} {column.rule}".strip()
            for column in table.columns
        ]
        if table.key and not any("PRIMARY KEY" in column.rule for column in table.columns):
            names = ", ".join(quoted(one, self.engine) for one in table.key)
            parts.append(f"PRIMARY KEY ({names})")
        body = ", ".join([*parts, *table.rules])
        return f"CREATE TABLE {quoted(table.name, self.engine)} ({body}){table.tail}"

    def inserts(self, table: _Table) -> list[str]:
        names = ", ".join(quoted(column.name, self.engine) for column in table.stored)
        into = f"INSERT INTO {quoted(table.name, self.engine)} ({names})"
        return [f"{into} VALUES ({', '.join(row)})" for row in table.rows]


def make_sqlite(database: DrawnDatabase, file: Path) -> list[str]:
    """Make the database in a file, as far as SQLite takes it; return the statements it took."""
    taken = list[str]()
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        for statement in database.statements:
            with suppress(sqlite3.Error):
                db.execute(statement)
                taken.append(statement)
    return taken
