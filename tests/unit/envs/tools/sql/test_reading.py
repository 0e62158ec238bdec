"""Facts about a query's answer that are read from its text."""

from __future__ import annotations

import pytest

from envs.tools.sql.critic import read_query, weakened


@pytest.mark.parametrize(
    ("sql", "tables", "ordered"),
    [
        ("SELECT 1", (), False),
        ("SELECT * FROM b JOIN a USING (x) ORDER BY 1", ("b", "a"), True),
        ("SELECT * FROM (SELECT * FROM a ORDER BY x)", ("a",), False),
        ("WITH c AS (SELECT * FROM a) SELECT * FROM c JOIN b ON TRUE", ("c", "b", "a"), False),
        (
            "SELECT `School Name` FROM `the schools` UNION SELECT x FROM y ORDER BY 1",
            ("the schools", "y"),
            True,
        ),
    ],
)
def test_tables_and_order(sql: str, tables: tuple[str, ...], ordered: bool):
    reading = read_query(sql)
    assert reading is not None
    assert set(reading.tables) == set(tables) - {"c"}
    assert reading.ordered is ordered


@pytest.mark.parametrize(
    "sql", ["", "DELETE FROM a", "SELECT 1; SELECT 2", "nonsense", "CREATE TABLE a (b)"]
)
def test_what_is_no_query(sql: str):
    assert read_query(sql) is None


@pytest.mark.parametrize(
    ("sql", "settled"),
    [
        ("SELECT a FROM t LIMIT 3", False),
        ("SELECT a FROM t ORDER BY a LIMIT 3", True),
        ("SELECT a FROM t WHERE b = (SELECT b FROM u LIMIT 1)", False),
        ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u LIMIT 1)", True),
        ("SELECT a FROM t ORDER BY random()", False),
        ("SELECT hex(randomblob(4)) FROM t", False),
    ],
)
def test_answers_that_may_vary(sql: str, settled: bool):
    reading = read_query(sql)
    assert reading is not None
    assert (reading.unsettled is None) is settled


@pytest.mark.parametrize(
    ("sql", "ranked"),
    [
        (
            "SELECT a FROM t ORDER BY b DESC LIMIT 3",
            "SELECT a, b AS sort_key_0 FROM t ORDER BY b DESC",
        ),
        (
            "SELECT a AS x FROM t ORDER BY 1, x",
            "SELECT a AS x, a AS sort_key_0, (a) AS sort_key_1 FROM t ORDER BY 1, x",
        ),
        ("SELECT a FROM t", None),
        ("SELECT * FROM t ORDER BY 1", None),
        ("SELECT DISTINCT a FROM t ORDER BY b", None),
    ],
)
def test_sort_keys_are_shown(sql: str, ranked: str | None):
    reading = read_query(sql)
    assert reading is not None
    assert reading.ranked == ranked


def test_one_thing_wrong():
    sql = (
        "SELECT COUNT(DISTINCT a), SUM(b) FROM t WHERE c = 1 AND d = 2 GROUP BY e HAVING MAX(f)"
        " > 3 ORDER BY 2"
    )
    labels = [label for label, _ in weakened(sql)]
    assert len(labels) == len({changed for _, changed in weakened(sql)} - {sql}) == 7
    assert "without 'd = 2'" in labels
