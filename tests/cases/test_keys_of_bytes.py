"""Issue 29, spiceai#4660 and public shops: keys of bytes (a UUID in BINARY(16)) took tables and keys
with them. They are read in hexadecimal, other columns of bytes are left out by name.
"""

from __future__ import annotations

import pytest

from synth.core.personal.formats import personal_values
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.source import Extract
from synth.ext.authoring.stored import IN_HEXADECIMAL
from tests.cases.test_values_beyond_their_type import server_source

TABLES = """
CREATE TABLE goods (id {key} NOT NULL PRIMARY KEY, title VARCHAR(40) NOT NULL, picture {bytes});
CREATE TABLE labels (id {key} NOT NULL PRIMARY KEY, word VARCHAR(40) NOT NULL);
CREATE TABLE labelled (goods_id {key} NOT NULL, label_id {key} NOT NULL, PRIMARY KEY (goods_id, label_id),
  FOREIGN KEY (goods_id) REFERENCES goods (id), FOREIGN KEY (label_id) REFERENCES labels (id));
CREATE TABLE notes (note_id INTEGER PRIMARY KEY, goods_id {key}, label_id {key}, words VARCHAR(40),
  FOREIGN KEY (goods_id, label_id) REFERENCES labelled (goods_id, label_id));
INSERT INTO goods VALUES ({mark}0001ff', 'Lamp', {mark}0001ff'), ({mark}80fe00', 'Chair', NULL), ({mark}ffffff', 'Desk', NULL);
INSERT INTO labels VALUES ({mark}0001ff', 'new'), ({mark}80fe00', 'old');
INSERT INTO labelled VALUES ({mark}0001ff', {mark}80fe00'), ({mark}ffffff', {mark}80fe00'), ({mark}ffffff', {mark}0001ff');
INSERT INTO notes VALUES (1, {mark}ffffff', {mark}0001ff', 'Scratched'), (2, NULL, NULL, 'None')
"""
A, B, C = "0001ff", "80fe00", "ffffff"
WRITTEN = {
    "postgresql": {"key": "bytea", "bytes": "bytea", "mark": "'\\x"},
    "mariadb": {"key": "BINARY(3)", "bytes": "BLOB", "mark": "x'"},
}


@pytest.mark.parametrize("rows", [None, 4])
@pytest.mark.parametrize("engine", WRITTEN)
def test_tables_with_keys_of_bytes_stay(engine: str, rows: int | None):
    source = server_source(engine, TABLES.format(**WRITTEN[engine]), Extract(rows=rows))
    with source.engine.connect() as db:
        found = db.exec_driver_sql("SELECT * FROM labelled ORDER BY 1, 2").all()
        assert found == ([(A, B), (C, A), (C, B)] if rows is None else [(A, B), (C, A)])
        joined = "SELECT title, words FROM notes JOIN goods ON id = goods_id"
        assert db.exec_driver_sql(joined).all() == [("Desk", "Scratched")]
    shape = reflect(source.engine)
    assert {name: len(table.links) for name, table in shape.tables.items()} == {
        "goods": 0, "labels": 0, "labelled": 2, "notes": 1,  # of two columns
    }  # fmt: skip
    columns = [one for one in source.ledger.entries if one.kind == "column"]
    assert [one.name for one in columns if one.outcome == "left out"] == ["goods.picture"]
    changed = {one.name for one in columns if one.why == IN_HEXADECIMAL}
    assert changed >= {"goods.id", "labelled.label_id", "notes.label_id"}


def test_a_uuid_and_a_text_are_compared_as_texts():
    """And arrays and documents, which are texts in SQLite only, are no keys and no fault."""
    tables = (
        "CREATE TABLE users (id uuid PRIMARY KEY, tags text[] NOT NULL, doc json);"
        "CREATE TABLE notes (note_id integer PRIMARY KEY, user_id text NOT NULL);"
        "INSERT INTO users SELECT md5(n::text)::uuid, '{a}', '{}' FROM generate_series(1, 4) n;"
        "INSERT INTO notes SELECT row_number() OVER (), id::text FROM users"
    )
    shown = list[str]()
    server_source("postgresql", tables, Extract(accept=lambda lines: bool(shown.extend(lines))))
    assert shown == ["notes.user_id -> users.id: name, 100 percent of 4 values"]


def test_digits_within_a_key_are_no_card_number():
    assert [*personal_values("key 0a112233445566778899aabbccddee0b")] == []
    found = personal_values("cards 5500000000000004, 4111 1111 1111 1111.")
    assert [value for _, value in found] == ["5500000000000004", "4111 1111 1111 1111"]
