"""What drawn input found, each with its smallest input."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from synth.ext.authoring.source import Extract, from_files, from_url
from tests.drawn.test_new import check_world

SCRIPTS = {
    "a name of two lines": """
        CREATE TABLE orders ("a\nb" INTEGER PRIMARY KEY, name TEXT, "c\nd" TEXT);
        INSERT INTO orders VALUES (1, 'x', 'y'), (2, 'z', 'w');""",
    "an index of an expression": """
        CREATE TABLE products (product_id INTEGER PRIMARY KEY, city TEXT);
        CREATE INDEX by_city ON products (lower(city));
        CREATE UNIQUE INDEX one_city ON products (upper(city));
        INSERT INTO products VALUES (1, 'Rome'), (2, 'Bern');""",
    "a reference by a date": """
        CREATE TABLE days (day DATE PRIMARY KEY, name TEXT);
        CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, day DATE REFERENCES days (day));
        INSERT INTO days VALUES ('2024-01-02', 'Epiphany'), ('2024-01-03', 'Wednesday');
        INSERT INTO visits VALUES (1, '2024-01-02'), (2, '2024-01-03');""",
    "texts that are none, in rows without a key": """
        CREATE TABLE staff (email TEXT);
        INSERT INTO staff VALUES (CAST(x'c328' AS TEXT)), (CAST(x'c4' AS TEXT)), ('ok');""",
    "a text that is none, in tables that refer to one another": """
        CREATE TABLE orders (order_id INTEGER PRIMARY KEY, back_id INTEGER REFERENCES staff (staff_id));
        CREATE TABLE staff (staff_id INTEGER PRIMARY KEY, title TEXT,
            order_id INTEGER REFERENCES orders (order_id));
        INSERT INTO orders VALUES (1, NULL);
        INSERT INTO staff VALUES (1, CAST(x'ff41' AS TEXT), 1);""",
    "a key that is declared twice": """
        CREATE TABLE orders (order_id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE lines (line_id INTEGER PRIMARY KEY, order_id INTEGER,
            FOREIGN KEY (order_id) REFERENCES orders (order_id),
            FOREIGN KEY (order_id) REFERENCES orders (order_id));
        INSERT INTO orders VALUES (1, 'x'), (2, 'y');
        INSERT INTO lines VALUES (1, 1);""",
    "a number with an exponent that is personal": """
        CREATE TABLE staff (staff_id INTEGER PRIMARY KEY, name TEXT NOT NULL, "prénom" REAL);
        INSERT INTO staff VALUES (1, 'a', 1e400), (2, 'b', 1e400), (3, 'c', 1e-320);""",
    "a personal column of a table in brackets": """
        CREATE TABLE "[x]" (id INTEGER PRIMARY KEY, email TEXT, name TEXT);
        INSERT INTO "[x]" VALUES (1, 'open', 'open');""",
    "a key to a table that is not there": """
        CREATE TABLE orders (order_id INTEGER PRIMARY KEY, ref INTEGER REFERENCES nowhere (id));
        INSERT INTO orders VALUES (1, NULL), (2, NULL);""",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_the_input_makes_a_world(script: str, tmp_path: Path):
    file, text = tmp_path / "live.db", tmp_path / "script.sql"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(script)
    text.write_text(script, "utf-8")
    check_world(partial(from_url, f"sqlite:///{file}", Extract(), secret=False), file)
    check_world(partial(from_files, [text]), file)


def test_a_dump_with_a_virtual_table_makes_a_world(tmp_path: Path):
    file, text = tmp_path / "live.db", tmp_path / "dump.sql"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(
            "CREATE TABLE notes (note_id INTEGER PRIMARY KEY, title TEXT);"
            "INSERT INTO notes VALUES (1, 'One'), (2, 'Two');"
            "CREATE VIRTUAL TABLE search USING fts5(title); INSERT INTO search VALUES ('One');"
        )
        own = 'INSERT INTO "search"'  # sqlite3's `.dump` leaves the rows to the shadow tables
        text.write_text("\n".join(line for line in db.iterdump() if not line.startswith(own)))
    check_world(partial(from_files, [text]), file)
