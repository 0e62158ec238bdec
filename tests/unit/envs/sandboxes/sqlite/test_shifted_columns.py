"""Copies of a database whose rows have exchanged values."""

from __future__ import annotations

from typing import Any

import apsw

from envs.sandboxes.sqlite.altered_images import renamed_keys, shifted_columns

SCRIPT = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT UNIQUE, phone TEXT NOT NULL, age INTEGER CHECK (age < 90),
  label TEXT GENERATED ALWAYS AS (name || phone) STORED);
CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES people (id), pet TEXT);
CREATE TABLE codes (code TEXT, area TEXT, PRIMARY KEY (code, area)) WITHOUT ROWID;
CREATE TABLE alone (id INTEGER PRIMARY KEY, x);
CREATE TRIGGER gone AFTER DELETE ON people BEGIN DELETE FROM pets; END;
INSERT INTO people (id, name, phone, age) VALUES (1, 'Ada', '10', 30), (2, 'Bo', '20', 40), (3, 'Cy', '30', 50);
INSERT INTO pets VALUES (1, 1, 'cat'), (2, 1, 'dog'), (3, 2, 'owl'), (4, 3, 'eel');
INSERT INTO codes VALUES ('a', 'x'), ('b', 'y');
INSERT INTO alone VALUES (1, 2);
"""


def image() -> bytes:
    raw = apsw.Connection(":memory:")
    raw.execute(SCRIPT)
    return raw.serialize("main")


def rows(image: bytes, sql: str) -> list[tuple[Any, ...]]:
    raw = apsw.Connection(":memory:")
    raw.deserialize("main", image)
    return [tuple(row) for row in raw.execute(sql)]


def test_renamed_keys_keep_rows_together_and_lead_elsewhere():
    copy = renamed_keys(image(), 3)
    values = "SELECT name, phone, age FROM people ORDER BY 1"
    assert rows(copy, values) == rows(image(), values)
    owned = "SELECT pet FROM pets JOIN people ON people.id = owner WHERE name = 'Ada' ORDER BY 1"
    assert rows(copy, owned)
    assert rows(copy, owned) != rows(image(), owned)
    assert rows(copy, "PRAGMA foreign_key_check") == []


def test_any_two_columns_are_separated_by_some_copy():
    pairs = [("name", "phone"), ("name", "age"), ("phone", "age")]
    copies = [shifted_columns(image(), bit) for bit in range(3)]
    for one, other in pairs:
        sql = f"SELECT {one}, {other} FROM people ORDER BY 1"
        assert any(rows(copy, sql) != rows(image(), sql) for copy in copies), (one, other)
    for copy in copies:
        assert {row[0] for row in rows(copy, "SELECT name FROM people")} == {"Ada", "Bo", "Cy"}
        assert rows(copy, "SELECT count(*) FROM pets") == [(4,)]
        assert rows(copy, "PRAGMA foreign_key_check") == []
        assert rows(copy, "SELECT x FROM alone") == [(2,)]
        assert rows(copy, "SELECT label = name || phone FROM people") == [(1,)] * 3
