"""Queries that fail as they would for somebody who does not know the schema."""

from __future__ import annotations

import sqlite3

import pytest

from synth.core.models.scripted.mistakes import misspelt, wrong_queries

SCHEMA = """
CREATE TABLE orders (order_id INTEGER, placed_at TEXT, status TEXT);
CREATE TABLE order_items (order_id INTEGER, unit_price INTEGER, name TEXT);
CREATE TABLE stock (variant_id INTEGER, free INTEGER);
"""

QUERIES = (
    "SELECT COUNT(*) FROM orders WHERE substr(placed_at, 1, 7) = '2025-03'",
    (
        "SELECT i.name, SUM(i.unit_price) AS total_price FROM order_items i JOIN orders o GROUP BY"
        " i.name ORDER BY total_price"
    ),
    "select free from stock where free > (select avg(free) from stock) -- from nowhere_else",
    (
        "WITH dear_ones AS (SELECT order_id FROM order_items WHERE unit_price > 5) SELECT COUNT(*)"
        " FROM dear_ones"
    ),
    "SELECT 'from_here, \"it\"''s' FROM stock",
    (
        "SELECT o.status FROM orders o, order_items i WHERE i.order_id = o.order_id AND o.status <>"
        " 'not_sent'"
    ),
)


@pytest.mark.parametrize("sql", QUERIES)
def test_each_fails_where_the_right_one_runs(sql: str):
    with sqlite3.connect(":memory:") as db:
        db.executescript(SCHEMA)
        db.execute(sql)
        wrong = list(wrong_queries(sql))
        assert len(wrong) >= 2 - sql.startswith("WITH")
        for each in wrong:
            assert each != sql
            with pytest.raises(sqlite3.OperationalError, match=r"no such|syntax"):
                db.execute(each)
    db.close()


@pytest.mark.parametrize(
    "sql", ["", "SELECT 1", "VALUES (1)", "'unterminated", "FROM", "SELECT from", "EXPLAIN x"]
)
def test_what_cannot_be_spoilt_is_left_alone_or_spoilt_somehow(sql: str):
    assert sql not in list(wrong_queries(sql))


def test_a_name_is_misspelt_as_people_do():
    assert [misspelt(each) for each in ("orders", "stock", "order_items", "_x_y", "as", "is_")] == [
        "order", "stocks", "orderitems", "_xy", "ass", "is_s"
    ]  # fmt: skip
