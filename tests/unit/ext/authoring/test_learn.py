"""Universes of a generated world: rows of the learned shape, none of them of the original."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from synth.ext.authoring.learn import learn
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.seed_file import WIDTH, write_seed_file
from synth.ext.authoring.source import Source, from_files, separate

pytestmark = pytest.mark.slow

SCHEMATA = Path(__file__).parents[3] / "schemata"
NAMES = sorted(path.stem for path in SCHEMATA.glob("*.sql"))


def source_of(name: str) -> Source:
    return from_files([SCHEMATA / f"{name}.sql"])


def written(source: Source) -> str:
    return write_seed_file(
        learn(source.engine, reflect(source.engine), source.personal, source.schema).tables
    )


@cache
def learned(name: str) -> tuple[Source, str]:
    """A shipped script's source, and the file that makes universes of it."""
    source = source_of(name)
    return source, written(source)


def universe(text: str, number: int) -> list[tuple[str, dict[str, Any]]]:
    names: dict[str, Any] = {}
    exec(compile(text, "seed.py", "exec"), names)
    return list(names["rows"](number, Random(number)))


def loaded(source: Source, rows: list[tuple[str, dict[str, Any]]]) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.executescript(source.schema)
    db.execute("PRAGMA foreign_keys = ON")
    for table, row in rows:
        columns = ", ".join(f'"{column}"' for column in row)
        marks = ", ".join("?" for _ in row)
        db.execute(f'INSERT INTO "{table}" ({columns}) VALUES ({marks})', [*row.values()])
    db.commit()
    return db


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_of_a_universe_are_as_many_and_hold_together(name: str):
    source, text = learned(name)
    shape = reflect(source.engine)
    for number in (1, 2, 3):
        rows = universe(text, number)
        loaded(source, rows).close()
        counts = Counter(table for table, _ in rows)
        for table in shape.tables.values():
            assert counts[table.name] >= 0.9 * table.rows


@pytest.mark.parametrize("name", NAMES)
def test_no_row_is_copied_but_those_of_lookups(name: str):
    source, text = learned(name)
    same = re.split(r"[,\s]+", text.split("says why):\n")[1].split('.\n"""')[0])
    with source.engine.connect() as db:
        tables = reflect(source.engine).tables
        before = {
            table: {
                tuple(str(row[c]) for c in sorted(map(str, row)) if c not in tables[table].key)
                for row in db.exec_driver_sql(f'SELECT * FROM "{table}"').mappings()
            }
            for table in tables
        }
    copies = Counter[str]()
    for table, row in universe(text, 1):
        bare = tuple(str(row[c]) for c in sorted(row) if c not in tables[table].key)
        if table not in same and len(bare) > 2:
            copies[table] += bare in before[table]
    assert sum(copies.values()) <= 0.02 * sum(table.rows for table in tables.values())


def test_states_fan_out_and_numbers_keep_their_shape():
    source, text = learned("hospital")
    db = loaded(source, universe(text, 1))
    fan_out = db.execute("SELECT COUNT(*) FROM stays GROUP BY patient_id").fetchall()
    assert Counter(n for (n,) in fan_out) == {1: 10, 2: 25}
    (share,) = db.execute("SELECT AVG(status = 'admitted') FROM stays").fetchone()
    assert 0.3 < share < 0.7
    low, high = db.execute("SELECT MIN(date_of_birth), MAX(date_of_birth) FROM patients").fetchone()
    assert "1941" <= low < high <= "2017"
    db.close()


def test_the_file_is_python_that_a_person_can_read():
    text = learned("media_shop")[1]
    assert max(map(len, text.splitlines())) <= WIDTH + 4
    assert text.count("FIRST_NAMES = [") == 1
    assert '"first_name": Texts(FIRST_NAMES)' in text
    assert "why):\nartists, genres, playlists." in text


def test_people_are_made_up():
    source, text = learned("media_shop")
    rows = universe(text, 1)
    with source.engine.connect() as db:
        real = set(db.exec_driver_sql("SELECT email FROM customers").scalars())
    emails = {row["email"] for table, row in rows if table == "customers"}
    assert emails
    assert not emails & real


def test_rows_refer_in_a_circle_and_to_themselves(tmp_path: Path):
    file = tmp_path / "circle.sql"
    file.write_text(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER NOT NULL UNIQUE REFERENCES b (id)"
        " DEFERRABLE INITIALLY DEFERRED, boss INTEGER NOT NULL REFERENCES a (id));\n"
        "CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES a (id));\n"
        "BEGIN; INSERT INTO a VALUES (1, 1, 1), (2, 2, 1); INSERT INTO b VALUES (1, 2), (2, 2);"
        " COMMIT;"
    )
    found = written(from_files([file]))
    made = [dict(row) | {"table": table} for table, row in universe(found, 3)]
    ids = {table: {row["id"] for row in made if row["table"] == table} for table in "ab"}
    of_a = [row for row in made if row["table"] == "a"]
    assert {row["b"] for row in of_a} == ids["b"]
    assert {row["boss"] for row in of_a} <= ids["a"]
    assert {row["a"] for row in made if row["table"] == "b"} <= ids["a"]


def test_a_script_is_divided_into_schema_and_rows():
    first = (
        "-- People.\nCREATE TABLE p (a TEXT); -- a note\nINSERT INTO p VALUES ('x;y');\n"
        "CREATE INDEX i ON p (a);\nWITH n AS (SELECT 1) INSERT INTO p SELECT 'z' FROM n;"
    )
    schema, seed = separate([first, "UPDATE p SET a = 'w' WHERE a = 'z'"])
    assert schema == "-- People.\nCREATE TABLE p (a TEXT); -- a note\nCREATE INDEX i ON p (a);\n"
    assert seed == (
        "INSERT INTO p VALUES ('x;y');\nWITH n AS (SELECT 1) INSERT INTO p SELECT 'z' FROM n;\n"
        "UPDATE p SET a = 'w' WHERE a = 'z';\n"
    )


def test_a_trigger_that_fills_a_table_does_not_do_so_twice(tmp_path: Path):
    file = tmp_path / "log.sql"
    file.write_text(
        "CREATE TABLE t (a TEXT); CREATE TABLE log (a TEXT);\nINSERT INTO t VALUES ('x');\n"
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END;"
    )
    assert from_files([file]).seeded is False
