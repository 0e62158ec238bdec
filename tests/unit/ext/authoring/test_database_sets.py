"""Columns that the database sets: by a clock, by a trigger; flags that it keeps as numbers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.shape import Shape
from synth.ext.authoring.source import Extract, from_url
from synth.ext.authoring.toolset import tools_of
from tests.live_schema import own_database

MARIADB = """
CREATE TABLE phones (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE,
  shared TINYINT(1) NOT NULL, ring TINYINT(1), status TINYINT(1), calls INT NOT NULL, quantity INT,
  touched TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  arrival DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
INSERT INTO phones (id, name, shared, ring, calls, quantity) VALUES (1, 'Desk', 0, 2, 5, 7);
CREATE TABLE messages (id INT PRIMARY KEY, phone_id INT NOT NULL);
CREATE TRIGGER counts AFTER INSERT ON messages FOR EACH ROW
  UPDATE phones SET calls = GREATEST(COALESCE(calls, 1), 0) + 1 WHERE id = NEW.phone_id;
"""


def test_what_mariadb_keeps_as_a_number_or_sets_itself_is_known():
    with own_database("mariadb", MARIADB) as url:
        source = from_url(url, Extract(), secret=True)
    phones = reflect(source.engine, None, source.maintained).tables["phones"]
    assert [phones.column(one).role for one in ("shared", "status")] == ["flag", "category"]
    assert phones.column("ring").kind == "integer"
    assert {one.name for one in phones.columns if one.computed} == {"touched", "calls"}
    assert [one.name for one in phones.stamps] == ["touched", "arrival"]
    tools = tools_of(Shape({"phones": phones}))["phones"]
    assert (tools.updates, tools.given) == (("quantity",), ("name", "shared"))


def test_what_a_trigger_of_sqlite_sets_nobody_changes(tmp_path: Path):
    with closing(sqlite3.connect(file := tmp_path / "live.db")) as db:
        db.executescript("""
          CREATE TABLE shelves (id INTEGER PRIMARY KEY, quantity INTEGER, height INTEGER);
          CREATE TABLE books (id INTEGER PRIMARY KEY, shelf_id INTEGER);
          CREATE TRIGGER placed AFTER INSERT ON books WHEN NEW.shelf_id = 1 BEGIN
            UPDATE shelves SET "quantity" = (SELECT MAX(id, 2) FROM books) WHERE height = 3;
          END;
        """)
    source = from_url(f"sqlite:///{file}", Extract(), secret=False)
    assert source.maintained == {("shelves", "quantity"): "set", ("books", "shelf_id"): "read"}
    shape = reflect(source.engine, None, source.maintained)
    assert tools_of(shape)["books"].create is None, "the quantity would be another one"
