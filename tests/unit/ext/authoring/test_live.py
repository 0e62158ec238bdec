"""Worlds from live databases: a closed sample, masked personal columns, SQLite's own scripts."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Generator
from operator import attrgetter
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import Engine

from envs.errors import DatabaseConfigError
from synth.errors import OperatorError
from synth.ext.authoring.live_tables import live_tables
from synth.ext.authoring.mask import mask
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.sample import sample
from synth.ext.authoring.schema_sql import write_schema, write_seed
from synth.ext.authoring.source import Extract, from_files, from_url

SCHEMATA = Path(__file__).parents[3] / "schemata"
PEOPLE = """
CREATE TABLE people (
  person_id INTEGER PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL, email TEXT UNIQUE, born_on DATE,
  password TEXT, boss_id INTEGER REFERENCES people (person_id), home_address TEXT, note TEXT
);
INSERT INTO people VALUES
  (1, 'Ida', 'Nowak', 'ida@firm.example', '1970-04-05', 'hunter2x', 3, '12 Elm Road', 'likes tea'),
  (2, 'Jon', 'Okafor', 'jon@firm.example', '1981-11-30', 'swordfish9', 1, '7 Oak Lane', NULL),
  (3, 'Xandrella', 'Nowak', '', NULL, NULL, NULL, '1 Ash Way', 'on leave');
"""
SECRETS = [
    "Ida", "Jon", "Xandrella", "Nowak", "Okafor", "@firm", "1970-04-05", "hunter2x", "Elm Road",
]  # fmt: skip


def database(tmp_path: Path, script: str) -> Path:
    file = tmp_path / "live.db"
    with sqlite3.connect(file) as db:
        db.executescript(script)
    db.close()
    return file


@pytest.fixture
def media(tmp_path: Path) -> Generator[Engine]:
    file = database(tmp_path, (SCHEMATA / "media_shop.sql").read_text("utf-8"))
    engine = sqlalchemy.create_engine(f"sqlite:///{file}")
    yield engine
    engine.dispose()


@pytest.mark.parametrize("most", [15, 60, 200, 5000])
def test_every_reference_of_a_sample_leads_to_a_row_of_it(media: Engine, most: int):
    tables = live_tables(media, None)
    rows = sample(media, tables, most)
    total = sum(map(len, rows.by_table.values()))
    assert total == 373 if most == 5000 else total < 373
    loaded = sqlite3.connect(":memory:")
    loaded.execute("PRAGMA foreign_keys = ON")
    loaded.executescript(write_schema(tables) + write_seed(tables, rows))
    assert loaded.execute("PRAGMA foreign_key_check").fetchall() == []
    loaded.close()


def test_tables_with_too_few_rows_for_families_get_more(tmp_path: Path):
    rows = [", ".join(f"({i}, {i})" for i in range(size)) for size in (3, 90)]
    table = "CREATE TABLE t{0} (id INTEGER PRIMARY KEY, size INTEGER); INSERT INTO t{0} VALUES {1};"
    script = "".join(table.format(n, rows[n < 30]) for n in range(90))
    source = from_url(f"sqlite:///{database(tmp_path, script)}", Extract(500), secret=False)
    made = reflect(source.engine).tables
    assert (made["t80"].rows, made["t1"].rows) == (8, 30)


def test_chosen_tables_bring_what_they_refer_to(media: Engine):
    names = {table.name for table in live_tables(media, ["invoices"])}
    assert names == {"invoices", "customers", "employees"}
    with pytest.raises(OperatorError, match="unknown table 'invoces'; did you mean"):
        live_tables(media, ["invoces"])


def test_a_snapshot_keeps_keys_choices_and_bounds(media: Engine):
    tables = live_tables(media, None)
    engine = from_files([SCHEMATA / "media_shop.sql"], Extract()).engine
    copied, real = reflect(engine), reflect(media)
    assert {name: table.rows for name, table in copied.tables.items()} == {
        table.name: real.tables[table.name].rows for table in tables
    }
    for name, table in real.tables.items():
        copy = copied.tables[name]
        assert (copy.key, set(copy.links), copy.handle) == (table.key, {*table.links}, table.handle)
        for column in table.columns:
            kept = attrgetter("choices", "low", "high", "role")
            assert kept(copy.column(column.name)) == kept(column)


def test_personal_data_does_not_leave_the_database(tmp_path: Path):
    source = from_url(f"sqlite:///{database(tmp_path, PEOPLE)}", Extract(), secret=False)
    assert not [secret for secret in SECRETS if secret in source.seed]
    decided = {decision.column: decision.masked for decision in source.decisions}
    assert [column for column, masked in decided.items() if not masked] == ["people.note"]
    assert len(decided) == 7
    assert source.personal["people", "last_name"] == "name"
    assert "password" not in {c.name for c in reflect(source.engine).tables["people"].columns}


def test_one_value_is_masked_as_one_value(tmp_path: Path):
    engine = sqlalchemy.create_engine(f"sqlite:///{database(tmp_path, PEOPLE)}")
    tables = live_tables(engine, None)
    rows = sample(engine, tables, 100)
    engine.dispose()
    mask(tables, rows, ["people.first_name"], seed=3)
    by_key = {row["person_id"]: row for row in rows.by_table["people"]}
    assert by_key[1]["last_name"] == by_key[3]["last_name"] != by_key[2]["last_name"]
    assert by_key[1]["first_name"] == "Ida"
    assert by_key[3]["email"] == "", "an empty text says nothing"
    with pytest.raises(OperatorError, match=r"--keep-column people.frist_name: no such column"):
        mask(tables, rows, ["people.frist_name"], seed=3)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://me:secret@localhost/shop", "holds a password"),
        ("sqlite:///nowhere.db", "SQLite file not found"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused(url: str, message: str):
    with pytest.raises((OperatorError, DatabaseConfigError), match=message) as refused:
        from_url(url, Extract(), secret=False)
    assert "secret" not in str(refused.value)


def test_the_database_of_a_source_is_closed_with_it():
    """Nobody disposes of the engine; Python 3.13 warns of a connection that is left open."""
    source = from_files([SCHEMATA / "media_shop.sql"])
    with source.engine.connect() as connection:
        database = connection.connection.dbapi_connection
    assert isinstance(database, sqlite3.Connection)
    del source, connection
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        database.execute("SELECT 1")
