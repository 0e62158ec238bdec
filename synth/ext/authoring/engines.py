"""schema.postgresql.sql and schema.mariadb.sql of a generated world, beside SQLite's schema.sql.

Types follow from what the columns hold, so that every engine gives the same values: moments are
texts, whole numbers have 64 bits. MariaDB compares texts as SQLite does, by their bytes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Literal

from sqlalchemy import Engine

from envs.quoting import quoted
from synth.ext.authoring.checks import translated
from synth.ext.authoring.learn import checks_of
from synth.ext.authoring.live_tables import live_tables
from synth.ext.authoring.sample import ALL_ROWS, sample
from synth.ext.authoring.schema_sql import partial_indexes
from synth.ext.authoring.snapshot import LiveColumn, LiveTable, Rows
from synth.ext.authoring.table_reader import COMPUTED

Server = Literal["postgresql", "mariadb"]
SERVERS: tuple[Server, ...] = ("postgresql", "mariadb")

SHORT = 190
"""The most characters of a text that MariaDB is asked to index."""

_END = {"postgresql": ");", "mariadb": ") CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;"}


class Unportable(ValueError):
    """A database that another engine cannot hold, and why."""


def server_files(engine: Engine, seed: str) -> dict[str, str]:
    """The scripts of a world's database for PostgreSQL and MariaDB, by their names.

    Raises Unportable for what they cannot hold.
    """
    tables = live_tables(engine)
    rows, checks = sample(engine, tables, ALL_ROWS), checks_of(engine, tables)
    for table in tables:
        sums = [column.computed for column in table.columns if column.computed]
        left_out = any(entry.why == COMPUTED for entry in table.ledger.entries)
        if left_out or any(translated(one, server) is None for one in sums for server in SERVERS):
            raise Unportable(f"{table.name} has a column that the database computes")
    out = dict[str, str]()
    for server in SERVERS:
        writer = _Writer(server, tables, rows)
        created = [writer.create(table, checks[table.name]) for table in tables]
        out[f"schema.{server}.sql"] = "\n".join(created)
        own = write_server_seed(server, seed)
        out |= {f"seed.{server}.sql": own} if own else {}
    return out


def write_server_seed(server: Server, seed: str) -> str | None:
    """The seed for a server; None if it can read SQLite's as it is."""
    if server != "mariadb" or not ("\\" in seed or '"' in seed):
        return None
    modes = "STRICT_TRANS_TABLES,ANSI_QUOTES,NO_BACKSLASH_ESCAPES"
    return f"SET sql_mode = '{modes}';\n{seed}"


class _Writer:
    def __init__(self, server: Server, tables: Sequence[LiveTable], rows: Rows) -> None:
        self.server = server
        self.rows = rows
        self.order = {table.name: index for index, table in enumerate(tables)}

    def create(self, table: LiveTable, checks: Sequence[str]) -> str:
        indexed = table.bound.union(table.key, *table.uniques)
        parts = [self.column(table, column, indexed) for column in table.columns]
        if table.key:
            parts.append(f"PRIMARY KEY ({self.names(table.key)})")
        parts += [f"UNIQUE ({self.names(one)})" for one in table.uniques]
        for columns, target, there in table.links:
            if self.order[target] <= self.order[table.name]:
                words = f"REFERENCES {self.quoted(target)} ({self.names(there)})"
                parts.append(f"FOREIGN KEY ({self.names(columns)}) {words}")
        parts += [f"CHECK ({text})" for check in checks if (text := translated(check, self.server))]
        body = ",\n".join(f"  {part}" for part in parts)
        create = f"CREATE TABLE {self.quoted(table.name)} (\n{body}\n{_END[self.server]}\n"
        return create + "".join(self.index(table, *one) for one in partial_indexes(table))

    def index(self, table: LiveTable, name: str, columns: Sequence[str], where: str) -> str:
        """A unique index of some rows, which PostgreSQL has and MariaDB has not."""
        condition = translated(where, self.server)
        listed = self.names(columns)
        if self.server == "mariadb" or condition is None:
            return f"-- Not held here: {listed} of {table.name} is unique where {where}.\n"
        head = f"CREATE UNIQUE INDEX {self.quoted(name)} ON {self.quoted(table.name)}"
        return f"{head} ({listed}) WHERE {condition};\n"

    def quoted(self, name: str) -> str:
        return quoted(name, '"' if self.server == "postgresql" else "`")

    def names(self, columns: Sequence[str]) -> str:
        return ", ".join(self.quoted(column) for column in columns)

    def column(self, table: LiveTable, column: LiveColumn, indexed: set[str]) -> str:
        values = [row[column.name] for row in self.rows.by_table[table.name]]
        kind = self.type(column, [value for value in values if value is not None], indexed)
        null = "" if column.nullable and column.name not in table.key else " NOT NULL"
        if column.computed is not None:
            sum_ = translated(column.computed, self.server)
            return f"{self.quoted(column.name)} {kind} GENERATED ALWAYS AS ({sum_}) STORED"
        return f"{self.quoted(column.name)} {kind}{self.default(column, kind)}{null}"

    def default(self, column: LiveColumn, kind: str) -> str:
        """The default, if it is a plain value."""
        text = column.default or ""
        if kind == "BOOLEAN":
            text = {"1": "TRUE", "0": "FALSE"}.get(text, text)
        left_out = not text or "\\" in text or text.startswith("CURRENT_")  # as tools set it
        return "" if left_out else f" DEFAULT {text}"

    def type(self, column: LiveColumn, values: Sequence[object], indexed: set[str]) -> str:
        if column.type == "BOOLEAN" and all(value in (0, 1) for value in values):
            return "BOOLEAN"
        numbers = [value for value in values if isinstance(value, int | float)]
        declared = column.type in {"INTEGER", "NUMERIC", "REAL"}
        if len(numbers) == len(values) and (numbers or declared):
            return self.number(column, numbers)
        texts = [str(value) for value in values]
        plain = column.default and not column.default.startswith("CURRENT_")
        given = [str(column.default).strip("'")] if plain else []
        if column.type == "DATE" and all(map(_is_day, [*texts, *given])):
            return "DATE"
        return "TEXT" if self.server == "postgresql" else _mariadb_text(column, texts, indexed)

    def number(self, column: LiveColumn, values: Sequence[float]) -> str:
        if column.type not in {"NUMERIC", "REAL"} and all(isinstance(one, int) for one in values):
            return "BIGINT"
        places = max([2, *(len(f"{one:.8f}".rstrip("0").partition(".")[2]) for one in values)])
        if column.type == "REAL" or any(abs(one) >= 10 ** (20 - places) for one in values):
            return "DOUBLE PRECISION" if self.server == "postgresql" else "DOUBLE"
        return f"NUMERIC(20, {places})"


def _mariadb_text(column: LiveColumn, texts: Sequence[str], indexed: set[str]) -> str:
    if column.name not in indexed:
        return "LONGTEXT"
    if any(len(text) > SHORT for text in texts):
        raise Unportable(f"{column.name} holds texts that are too long to be indexed")
    return f"VARCHAR({SHORT})"


def _is_day(text: str) -> bool:
    try:
        return str(dt.date.fromisoformat(text)) == text
    except ValueError:
        return False
