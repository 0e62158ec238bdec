"""Issue 29; techouse/sqlite3-to-mysql#4, chennaione/sugar#27, spiceai#4660, dimitri/pgloader#252
and #1098, lanyrd/mysql-postgresql-converter#8, prisma/migrate#514: values that a type does not
promise are read as they are stored, in one form each, and the rest of the table stays.
"""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from envs.sandboxes.attached.engine import AttachedOptions
from envs.sandboxes.attached.template import attach
from envs.sandboxes.base import DatabaseTarget
from envs.types import Limits, Pins
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.source import Extract, Source, from_files, from_url
from synth.ext.authoring.stored import NOT_TEXT, ROUNDED, stored
from synth.ext.authoring.world import make_world
from tests.live_schema import own_database

SQLITE = """
CREATE TABLE odd (id INTEGER PRIMARY KEY, day DATE, price DECIMAL(8, 2), at TIME, doc JSON, sure BOOLEAN,
  moment DATETIME, note TEXT, plain);
INSERT INTO odd VALUES (1, '', '12,50', '25:00', '{bad', 'f', 1709284800, 'fine', 1),
  (2, '1/2/2024', 'n/a', '10:00', '{}', 'false', '2024-03-01', 'good', 2),
  (3, '0000-00-00', 7.5, '', '', 'no', 'soon', CAST(x'636166E9' AS TEXT), 3),
  (4, 1709284800, 8, '9h', 'x', 2, '', 'nice', 4), (5, '2024-03-01', 9, NULL, '[1]', 1, NULL, 'long', 5);
"""
SQLITE_ROWS = {
    "day": ["", "1/2/2024", "0000-00-00", 1709284800, "2024-03-01"],
    "price": ["12,50", "n/a", 7.5, 8, 9],
    "at": ["25:00", "10:00", "", "9h", None],
    "doc": ["{bad", "{}", "", "x", "[1]"],
    "sure": ["f", "false", "no", 2, 1],
    "moment": [1709284800, "2024-03-01", "soon", "", None],
    "note": ["fine", "good", "caf\ufffd", "nice", "long"],
    "plain": [1, 2, 3, 4, 5],
}
POSTGRESQL = """
CREATE DOMAIN low AS integer CHECK (VALUE < 9);
CREATE DOMAIN lower AS low;
CREATE TABLE odd (id integer PRIMARY KEY, day date, at timestamptz, price numeric, share float8, took interval,
  doc jsonb, fixed char(5), host inet, days date[], sums int[], word text COLLATE "C", rank lower);
INSERT INTO odd VALUES (1, 'infinity', '2026-03-01 12:00:00.25+02', 1e400, 'NaN', '1 day 25:00', '{"b": 1, "a": "é"}', 'ab',
   NULL, NULL, NULL, 'a', 1),
  (2, '0044-03-15 BC', '-infinity', 12345678901234567.25, '-Infinity', '2 mons', '[1]', 'abcde',
   '10.0.0.1', '{infinity,2026-03-01}', '{1,NULL}', 'z', 7),
  (3, '2026-03-01', '2026-03-01 10:00+00', 12.50, 0.1, NULL, NULL, '', '10.0.0.0/8', '{}', NULL, NULL, NULL);
"""
POSTGRESQL_ROWS = {
    "day": ["0044-03-15 BC", "2026-03-01"],
    "at": ["-infinity", "2026-03-01 10:00:00"],
    "price": [1.2345678901234568e16, 12.5],
    "share": ["-Infinity", 0.1],
    "took": ["2 mons", None],
    "doc": ["[1]", None],
    "fixed": ["abcde", ""],
    "host": ["10.0.0.1", "10.0.0.0/8"],
    "days": ['["infinity", "2026-03-01"]', "[]"],
    "sums": ["[1, null]", None],
    "word": ["z", None],
    "rank": [7, None],
}
MARIADB = """
SET sql_mode = '';
CREATE TABLE odd (id BIGINT UNSIGNED PRIMARY KEY, day DATE, at DATETIME, urgent BIT(1), took TIME, kind SET('a', 'b'));
CREATE TABLE part (part_id INTEGER PRIMARY KEY, odd_id BIGINT UNSIGNED, FOREIGN KEY (odd_id) REFERENCES odd (id));
INSERT INTO odd VALUES (1, '0000-00-00', '0000-00-00 00:00:00', b'1', '25:00:00', 'a,b'),
  (2, '2026-00-00', NULL, b'0', '-01:00:00', ''), (18446744073709551615, '2026-03-01', NULL, b'1', NULL, 'a');
INSERT INTO part VALUES (1, 1), (2, 18446744073709551615);
"""
MARIADB_ROWS = {
    "day": ["0000-00-00", "2026-00-00"],
    "at": ["0000-00-00 00:00:00", None],
    "urgent": [1, 0],
    "took": ["25:00:00", "-01:00:00"],
    "kind": ["a,b", ""],
}


def rows_of(source: Source, table: str = "odd") -> dict[str, list[Any]]:
    with source.engine.connect() as db:
        found = db.exec_driver_sql(f"SELECT * FROM {table} ORDER BY 1").mappings().all()
    return {name: [row[name] for row in found] for name in found[0]}


def server_source(engine: str, script: str, part: Extract | None = None) -> Source:
    with own_database(engine, script) as url:
        return from_url(url, part or Extract(), secret=True)


def named(source: Source, kind: str) -> dict[str, str]:
    source.ledger.check()
    return {one.name: one.why for one in source.ledger.entries if one.kind == kind}


@pytest.mark.parametrize("live", [True, False])
def test_sqlite_holds_anything_anywhere(tmp_path: Path, *, live: bool):
    file, script = tmp_path / "live.db", tmp_path / "odd.sql"
    script.write_text(SQLITE, "utf-8")
    with sqlite3.connect(file) as db:
        db.executescript(SQLITE)
    db.close()
    address = f"sqlite:///{file}"
    source = from_url(address, Extract(), secret=False) if live else from_files([script])
    found = rows_of(source)
    assert {name: found[name] for name in SQLITE_ROWS} == SQLITE_ROWS
    assert named(source, "value") == {"odd.note": NOT_TEXT}
    kinds = {column.name: column.kind for column in reflect(source.engine).tables["odd"].columns}
    assert {kinds[name] for name in ("day", "price", "sure", "moment")} == {"other"}
    world = make_world("odd", source, print, proves=False)
    assert "DATE" not in world.files["schema.postgresql.sql"]


@pytest.mark.parametrize(
    ("engine", "script", "expected"),
    [("postgresql", POSTGRESQL, POSTGRESQL_ROWS), ("mariadb", MARIADB, MARIADB_ROWS)],
)
def test_a_server_is_read_as_it_writes(engine: str, script: str, expected: dict[str, list[Any]]):
    source = server_source(engine, script)
    found = rows_of(source)
    assert {name: found[name] for name in expected} == expected
    out = named(source, "row")
    assert next(iter(out.values())) == "it holds a number beyond the 64 bits of SQLite"
    if engine == "mariadb":
        assert out.keys() == {"odd (id 18446744073709551615)", "part (part_id 2)"}
        assert named(source, "column")["odd.kind"] == "a SET, which becomes a text"
        assert "CHECK (id >= 0)" in source.schema
    else:
        assert named(source, "value")["odd.price"] == ROUNDED


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (Decimal("1e400"), 10**400),
        (Decimal("1e300"), 1e300),
        (Decimal(18446744073709551615), 18446744073709551615),
        (Decimal("10.00"), 10),
        (Decimal("NaN"), "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (True, 1),
        (b"\xff\x00a", "\ufffd\ufffda"),
        ([1, "é"], '[1, "é"]'),
    ],
)
def test_a_value_has_one_form(value: object, form: object):
    assert stored(value)[0] == form


def test_an_attached_database_reads_bytes_that_are_no_text(tmp_path: Path):
    file = tmp_path / "live.db"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(SQLITE)
    template = attach(DatabaseTarget(f"sqlite:///{file}"), AttachedOptions())
    read = Limits(True, None, None, None)
    with template, template.open(Pins()) as sandbox, sandbox.transaction(read) as transaction:
        found = transaction.connection.exec_driver_sql("SELECT note FROM odd WHERE id = 3")
        assert found.scalar_one() == "caf\ufffd"
