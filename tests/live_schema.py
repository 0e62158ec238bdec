"""A script of SQLite as a live database of a server, in the types that such a server is given."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import sqlalchemy
import sqlglot
from sqlalchemy import Connection, MetaData
from sqlglot import exp

from tests.servers import server

DIALECTS = {"postgresql": "postgres", "mariadb": "mysql"}
LONGEST = 120
"""Characters of a text column: MariaDB has no keys over unbounded texts."""


@contextmanager
def own_database(engine: str, script: str = "") -> Generator[str]:
    """A database of its own on the engine's test server, as a script makes it; yields its URL."""
    home = sqlalchemy.make_url(server(engine))
    name = f"synth_live_{uuid.uuid4().hex[:12]}"
    admin = sqlalchemy.create_engine(home, isolation_level="AUTOCOMMIT")
    with admin.connect() as db:
        db.exec_driver_sql(f"CREATE DATABASE {name}")
    own = sqlalchemy.create_engine(home.set(database=name))
    try:
        with own.begin() as db:
            for statement in filter(str.strip, script.split(";\n")):
                db.exec_driver_sql(statement)
        own.dispose()
        yield own.url.render_as_string(hide_password=False)
    finally:
        with admin.connect() as db:
            db.exec_driver_sql(f"DROP DATABASE {name}")
        admin.dispose()


@contextmanager
def live_database(engine: str, script: Path) -> Generator[str]:
    """The same, with the tables and the rows that the script makes."""
    with own_database(engine) as url:
        own = sqlalchemy.create_engine(url)
        try:
            with own.begin() as db:
                for statement in tables_for(engine, script.read_text()):
                    db.exec_driver_sql(statement.replace("%", "%%"))
                copy_rows(script, db)
        finally:
            own.dispose()
        yield url


def tables_for(engine: str, script: str) -> list[str]:
    """The script's CREATE TABLE statements for a server: numbered keys count by themselves, texts
    are bounded, and a column of a few values is MariaDB's ENUM.
    """
    return [
        _native(statement, engine).sql(DIALECTS[engine], identify=True, comments=False)
        for statement in sqlglot.parse(script, read="sqlite")
        if isinstance(statement, exp.Create)
    ]


def _native(table: exp.Create, engine: str) -> exp.Create:
    for column in table.find_all(exp.ColumnDef):
        kind, rules = column.kind, column.constraints
        assert kind is not None
        numbered = kind.is_type("int") and any(
            isinstance(rule.kind, exp.PrimaryKeyColumnConstraint) for rule in rules
        )
        if numbered:
            counts: exp.Expr = exp.AutoIncrementColumnConstraint()
            if engine == "postgresql":
                counts = exp.GeneratedAsIdentityColumnConstraint(this=False)
            column.append("constraints", exp.ColumnConstraint(kind=counts))
        elif kind.is_type("text"):
            column.set("kind", exp.DataType.build(f"VARCHAR({LONGEST})"))
            if engine == "mariadb":
                _enumerate(column)
        elif kind.is_type("boolean") and engine == "postgresql":
            for default in column.find_all(exp.DefaultColumnConstraint):
                default.set("this", exp.Boolean(this=default.this.name == "1"))
    return table


def _enumerate(column: exp.ColumnDef) -> None:
    """CHECK (column IN ('a', 'b')) as the type ENUM('a', 'b')."""
    for rule in column.constraints:
        check = rule.kind
        if not isinstance(check, exp.CheckColumnConstraint) or not isinstance(check.this, exp.In):
            continue
        values = ", ".join(value.sql("mysql") for value in check.this.expressions)
        column.set("kind", exp.DataType.build(f"ENUM({values})", dialect="mysql"))
        rule.pop()


def copy_rows(script: Path, db: Connection) -> None:
    """The rows of the script into its tables on a server, which go on counting behind them."""
    tables = MetaData()
    tables.reflect(db)
    with closing(sqlite3.connect(":memory:")) as made:
        made.row_factory = sqlite3.Row
        made.executescript(script.read_text())
        for table in tables.sorted_tables:
            found = made.execute(f'SELECT * FROM "{table.name}"').fetchall()
            db.execute(table.insert(), [_typed(table, dict(row)) for row in found])
            (key, *more) = table.primary_key.columns
            if not more and db.dialect.name == "postgresql" and key.identity is not None:
                db.exec_driver_sql(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', '{key.name}'),"
                    f' max("{key.name}")) FROM "{table.name}"'
                )


def _typed(table: sqlalchemy.Table, row: dict[str, object]) -> dict[str, object]:
    """A row of SQLite with the values that the columns' types expect: dates as dates."""
    for column in table.columns:
        value, kind = row[column.name], column.type.python_type
        if isinstance(value, str) and hasattr(kind, "fromisoformat"):
            row[column.name] = kind.fromisoformat(value)
    return row
