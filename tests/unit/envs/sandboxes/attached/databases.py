"""Databases of the tests of attached ones, filled with the world of the contract tests."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import sqlalchemy

from envs.connection import open_engine, parse_url
from envs.testing import STATEMENTS
from tests.servers import server

VIEW = "CREATE VIEW writers AS SELECT name FROM author"


def sqlite_file(folder: Path) -> str:
    path = folder / "library.db"
    with closing(sqlite3.connect(path)) as raw:
        for statement in (*STATEMENTS, VIEW):
            raw.execute(statement)
        raw.commit()
    return f"sqlite:///{path}"


def duckdb_file(folder: Path) -> str:
    path = folder / "library.duckdb"
    with duckdb.connect(str(path)) as raw:
        for statement in (*STATEMENTS, VIEW, "CREATE SEQUENCE numbers"):
            raw.execute(statement.replace(" ON DELETE CASCADE", ""))
    return f"duckdb:///{path}"


@contextmanager
def on_server(engine: str) -> Generator[str]:
    """The URL of a new database on the tests' server, which is dropped again."""
    url = parse_url(server(engine))
    name = f"attached_{uuid.uuid4().hex[:12]}"
    admin = open_engine(url, isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool)
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    own = url.set(database=name)
    sequence = [] if engine == "mysql itself" else ["CREATE SEQUENCE numbers"]
    try:
        run(own.render_as_string(hide_password=False), *STATEMENTS, VIEW, *sequence)
        yield own.render_as_string(hide_password=False)
    finally:
        forced = " WITH (FORCE)" if engine == "postgresql" else ""
        with admin.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name}{forced}")


def run(address: str, *statements: str) -> None:
    """Execute statements as the database's owner."""
    engine = sqlalchemy.create_engine(address, poolclass=sqlalchemy.NullPool)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
