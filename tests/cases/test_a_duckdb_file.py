"""Issue 29: a file of DuckDB was no source. Its values are read as it writes them, and its account is
complete.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from synth.errors import OperatorError
from synth.ext.authoring.source import Extract, from_url
from tests.drawn.test_new import check_world

SCRIPT = """
CREATE SEQUENCE numbers START 1;
CREATE TABLE clients (client_id INTEGER PRIMARY KEY, title VARCHAR NOT NULL UNIQUE,
  tier VARCHAR DEFAULT 'b' CHECK (tier IN ('a', 'b')), due TIMESTAMP, day DATE, zoned TIMESTAMPTZ,
  fee DECIMAL(8, 2), many HUGEINT, tags VARCHAR[], size STRUCT(w INTEGER), picture BLOB);
CREATE TABLE visits (visit_id INTEGER PRIMARY KEY DEFAULT nextval('numbers'),
  client_id INTEGER REFERENCES clients (client_id), sure BOOLEAN, starts TIME);
CREATE INDEX by_client ON visits (client_id);
CREATE VIEW titles AS SELECT title FROM clients;
CREATE SCHEMA audit;
CREATE TABLE audit.notes (note_id INTEGER PRIMARY KEY, words VARCHAR);
INSERT INTO audit.notes VALUES (1, 'seen');
INSERT INTO clients VALUES
  (1, 'Red barn', 'a', 'infinity', '-infinity', '2024-03-01 10:00:00+02', 12.5, 1, ['x'], {'w': 1}, '\\xFF'),
  (2, 'Old mill', 'b', '2024-03-01 10:00:00.25', '2024-03-01', NULL, 8, 1267650600228229401496703205376,
   NULL, NULL, NULL);
INSERT INTO visits VALUES (1, 1, TRUE, '10:00'), (2, 1, FALSE, '23:59:59'), (3, 2, NULL, NULL);
"""
OWN = {"table": 2, "view": 1, "sequence": 1, "schema": 1, "row": 5, "column": 15, "index": 1}


@pytest.fixture
def url(tmp_path: Path) -> str:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("duckdb_sqlalchemy")
    file = tmp_path / "live.duckdb"
    with duckdb.connect(str(file)) as db:
        db.execute(SCRIPT)
    return f"duckdb:///{file}"


def test_it_makes_a_world_and_nothing_is_lost_unsaid(url: str):
    check_world(partial(from_url, url, Extract(), secret=False), OWN)


def test_values_are_read_as_the_database_writes_them(url: str):
    source = from_url(url, Extract(), secret=False)
    with source.engine.connect() as db:
        row = dict(db.exec_driver_sql("SELECT * FROM clients").mappings().one())
    expected = {"due": "infinity", "day": "-infinity", "zoned": "2024-03-01 08:00:00", "fee": 12.5}
    assert {name: row[name] for name in expected} == expected
    left_out = {one.name: one.why for one in source.ledger.entries if one.kind == "row"}
    assert left_out["clients (client_id 2)"] == "it holds a number beyond the 64 bits of SQLite"


def test_a_schema_is_read_by_its_name(url: str):
    source = from_url(url, Extract(schemata=["audit"]), secret=False)
    assert source.ledger.counts()["table"]["used"] == 1
    with pytest.raises(OperatorError, match="no such schema; did you mean audit"):
        from_url(url, Extract(schemata=["audits"]), secret=False)
