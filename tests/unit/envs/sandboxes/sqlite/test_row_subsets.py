"""Copies of a database with a share of the rows gone."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from envs.quoting import quoted
from envs.sandboxes.sqlite.altered_images import row_subset
from envs.sandboxes.sqlite.sandbox import SqliteTemplate

SCRIPT = """
CREATE TABLE "old parents" (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE children (rowid TEXT, parent REFERENCES "old parents", friend TEXT REFERENCES "old parents" (name));
CREATE TABLE grandchildren (id INTEGER PRIMARY KEY, child INTEGER, up REFERENCES grandchildren (id) ON DELETE CASCADE);
CREATE TABLE pairs (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE lost (x REFERENCES nowhere (y), z REFERENCES pairs);
CREATE VIRTUAL TABLE words USING fts5 (text);
CREATE TRIGGER gone AFTER DELETE ON children BEGIN DELETE FROM "old parents"; END;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO "old parents" SELECT i, 'p' || i FROM n;
INSERT INTO children SELECT 'c' || id, id, CASE WHEN id % 2 THEN 'p' || (61 - id) END FROM "old parents";
INSERT INTO children VALUES ('stray', 999, NULL);
INSERT INTO grandchildren SELECT id, id, nullif(id / 2, 0) FROM "old parents";
INSERT INTO pairs VALUES (1, 2);
INSERT INTO lost VALUES (1, 2);
INSERT INTO words VALUES ('a word');
"""


@pytest.fixture(scope="module")
def image() -> bytes:
    raw = apsw.Connection(":memory:")
    raw.execute(SCRIPT)
    return raw.serialize("main")


def column(image: bytes, sql: str) -> set[Any]:
    raw = apsw.Connection(":memory:")
    raw.deserialize("main", image)
    return {row[0] for row in raw.execute(sql)}


@pytest.mark.parametrize("parts", [2, 3])
def test_each_row_is_missing_somewhere_and_not_everywhere(image: bytes, parts: int):
    copies = [row_subset(image, part, parts) for part in range(parts)]
    for table, key in (("old parents", "id"), ("children", "_rowid_"), ("grandchildren", "id")):
        sql = f"SELECT {key} FROM {quoted(table)}"
        whole, left = column(image, sql), [column(copy, sql) for copy in copies]
        assert all(copy < whole for copy in left)
        assert set.intersection(*left) == set()
    assert all(column(copy, 'SELECT id FROM "old parents"') for copy in copies)


def test_no_key_is_broken_that_was_whole(image: bytes):
    for part in range(3):
        copy = row_subset(image, part, 3)
        orphans = 'SELECT rowid FROM children WHERE parent NOT IN (SELECT id FROM "old parents")'
        assert column(copy, orphans) <= {"stray"}
        named = 'SELECT rowid FROM children WHERE friend NOT IN (SELECT name FROM "old parents")'
        assert column(copy, named) == set()
        assert (
            column(
                copy, "SELECT id FROM grandchildren WHERE up NOT IN (SELECT id FROM grandchildren)"
            )
            == set()
        )


def test_what_cannot_be_thinned_stays(image: bytes):
    copy = row_subset(image, 0, 2)
    assert column(copy, "SELECT a FROM pairs") == {1}
    assert column(copy, "SELECT text FROM words WHERE words MATCH 'word'") == {"a word"}


def test_the_copy_is_a_template_and_the_same_each_time(image: bytes):
    assert row_subset(image, 1, 3) == row_subset(image, 1, 3)
    with SqliteTemplate.from_image(row_subset(image, 1, 3)) as template:
        assert set(template.tables) >= {"old parents", "children", "grandchildren"}
