"""Rows that are made up for a schema of a business, and what is asked of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from synth.ext.authoring.source import Extract, from_files
from synth.ext.authoring.world import NewWorld, make_world

SCHEMA = """
CREATE TABLE stores (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  main_id INTEGER NOT NULL REFERENCES stores (id));
INSERT INTO stores VALUES (1, 'North', 3), (2, 'South', 3), (3, 'Centre', 3);
CREATE TABLE fields (model TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (model, name));
INSERT INTO fields WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
  SELECT 'model' || i, 'field' || i FROM n;
CREATE TABLE models (model TEXT PRIMARY KEY);
INSERT INTO models SELECT model FROM fields;
CREATE TABLE widths (id INTEGER PRIMARY KEY, model TEXT NOT NULL REFERENCES models (model),
  field TEXT NOT NULL, FOREIGN KEY (model, field) REFERENCES fields (model, name));
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  order_count INTEGER NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE,
  customer_id INTEGER NOT NULL REFERENCES customers (id), currency TEXT NOT NULL,
  total NUMERIC NOT NULL, store_id INTEGER NOT NULL REFERENCES stores (id));
CREATE TABLE entries (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id),
  debit NUMERIC NOT NULL, credit NUMERIC NOT NULL, order_number TEXT, CHECK (debit * credit = 0));
CREATE TABLE payments (id INTEGER PRIMARY KEY, code TEXT UNIQUE, currency TEXT, amount NUMERIC);
INSERT INTO payments VALUES (1, 'P-11', 'EUR', 10.5), (2, 'P-12', 'USD', 3.2), (3, 'P-13', NULL, 8);
CREATE TABLE users (id INTEGER PRIMARY KEY, display_name TEXT NOT NULL, email TEXT);
INSERT INTO users VALUES (1, 'Wren Hollow', 'w@m.test'), (2, 'a_hedge', 'h@m.test'),
  (3, 'otani', 'o@m.test');
CREATE TABLE jobs (SchedTime DATETIME, StartTime DATETIME, EndTime DATETIME, RealEndTime DATETIME);
CREATE TABLE calls (created_at INTEGER NOT NULL, ended_at INTEGER NOT NULL);
CREATE TABLE ranges (id INTEGER PRIMARY KEY, proxy_class TEXT NOT NULL UNIQUE,
  ip_address TEXT NOT NULL, imei VARCHAR(35) NOT NULL, hidden CHAR(1) NOT NULL, kind CHAR(1) NOT NULL,
  spoofed TEXT NOT NULL CHECK (spoofed IN ('yes', 'no', '?')));
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> NewWorld:
    file = tmp_path_factory.mktemp("business") / "schema.sql"
    file.write_text(SCHEMA)
    return make_world("w", from_files([file], Extract(rows=400)), print, proves=False)


def test_every_table_gets_rows(made: NewWorld):
    """Checks over columns, unique kinds, references within references, own rows in any order."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(made.files["schema.sql"] + made.files["seed.sql"])
        for table in ("widths", "customers", "orders", "entries", "ranges", "users"):
            assert db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] >= 8
        assert db.execute("SELECT SUM(debit + credit > 0) FROM entries").fetchone()[0] >= 4
        assert not db.execute("PRAGMA foreign_key_check").fetchall()
        ends = "SELECT MIN(StartTime >= SchedTime AND MIN(EndTime, RealEndTime) >= StartTime) * (SELECT MIN(ended_at >= created_at AND created_at > 1.7e9) FROM calls) FROM jobs"
        assert db.execute(ends).fetchone() == (1,)
        same = "SELECT MIN(order_number = number) FROM entries JOIN orders o ON o.id = order_id"
        learned = tuple(map(made.files["seed.py"].count, ("Copy(", '"ended_at": After(')))
        assert (db.execute(same).fetchone(), learned) == ((1,), (1, 1))
        whole = "SUM(hidden IN ('Y', 'N')) = COUNT(*), MIN(ip_address) LIKE '%.%.%.%', MIN(kind), MIN(imei LIKE 'RAN-%'), (SELECT COUNT(*) = COUNT(DISTINCT display_name) FROM users)"
        assert db.execute(f"SELECT {whole} FROM ranges").fetchone() == (1, 1, "B", 1, 1)
    assert not [draft.id for draft in made.drafts if "spoofed" in draft.id]
    assert made.shape.tables["customers"].column("order_count").role == "audit"


def test_amounts_of_several_currencies_are_said_with_it_and_not_compared(made: NewWorld):
    bodies = {draft.id: str(draft.body) for draft in made.drafts}
    assert "{total_found} {total_found_currency}" in bodies["look_up_order"]
    assert "_currency}" not in bodies["look_up_payment"], "one payment names none"
    assert not {"compare_order_total", "sum_children_customer_orders_total"} & bodies.keys()


def test_of_many_tables_that_nothing_joins_thirty_are_worked(tmp_path: Path):
    table = "CREATE TABLE {}{} (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    file = tmp_path / "schema.sql"
    file.write_text("".join(table.format(one, n) for one in ("lamp", "chair") for n in range(31)))
    source = from_files([file], Extract(rows=600))
    make_world("w", source, print, proves=False)
    assert "worked tables: 30 of 62 used" in list(source.ledger.lines())
