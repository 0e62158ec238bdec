"""Facts about a query's answer that are read from its text."""

from __future__ import annotations

import pytest

from envs.tools.sql.critic import read_query, settled, weakened


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
    ("sql", "is_open"),
    [
        ("SELECT a FROM t LIMIT 3", True),
        ("SELECT a FROM t ORDER BY a LIMIT 3", False),
        ("SELECT a FROM t WHERE b = (SELECT b FROM u LIMIT 1)", True),
        ("SELECT a FROM t WHERE b IN (SELECT b FROM u ORDER BY c LIMIT 5)", True),
        ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u LIMIT 1)", False),
        ("SELECT a, ROW_NUMBER() OVER (ORDER BY b) FROM t", True),
        ("SELECT a, SUM(b) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t", True),
        ("SELECT a, RANK() OVER (ORDER BY b), SUM(b) OVER (ORDER BY a) FROM t", False),
    ],
)
def test_orders_that_are_open(sql: str, is_open: bool):
    completed = settled(sql, "sqlite", {})
    assert (completed is not None) is is_open
    if completed is not None:
        assert " ASC" in completed[0]
        assert " DESC" in completed[1]


@pytest.mark.parametrize(
    ("sql", "random", "clock"),
    [
        ("SELECT a FROM t ORDER BY random()", "RAND", None),
        ("SELECT hex(randomblob(4)) FROM t", "RANDOMBLOB", None),
        ("SELECT a FROM t WHERE d > date('now', '-1 day')", None, "'now'"),
        ("SELECT a FROM t WHERE d > CURRENT_DATE", None, "CURRENT_DATE"),
        ("SELECT a FROM t WHERE d > 'today'::date", None, "'today'"),
        ("SELECT age(d), DATE(d) FROM t WHERE a = 'now'", None, "AGE"),
        ("SELECT age(d, e), DATE(d) FROM t WHERE a = 'now'", None, None),
    ],
)
def test_chance_and_the_clock(sql: str, random: str | None, clock: str | None):
    reading = read_query(sql)
    assert reading is not None
    assert (reading.random, reading.clock) == (random, clock)


@pytest.mark.parametrize(
    ("sql", "ranked"),
    [
        (
            "SELECT a FROM t ORDER BY b DESC LIMIT 3",
            ["SELECT a, RANK() OVER (ORDER BY b DESC) AS sort_rank_ FROM t ORDER BY sort_rank_"],
        ),
        (
            "SELECT a AS x FROM t ORDER BY 1, x",
            [
                (
                    "SELECT a AS x, RANK() OVER (ORDER BY a, (a)) AS sort_rank_ FROM t"
                    " ORDER BY sort_rank_"
                ),
                (
                    "SELECT *, RANK() OVER (ORDER BY x, x) AS sort_rank_ FROM (SELECT a AS x FROM t)"
                    " AS answered ORDER BY sort_rank_"
                ),
            ],
        ),
        (
            'SELECT "A b" FROM t UNION SELECT c FROM u ORDER BY 1',
            [
                (
                    'SELECT *, RANK() OVER (ORDER BY "A b") AS sort_rank_ FROM'
                    ' (SELECT "A b" FROM t UNION SELECT c FROM u) AS answered ORDER BY sort_rank_'
                )
            ],
        ),
        ("SELECT a FROM t", []),
        ("SELECT * FROM t ORDER BY 1", []),
    ],
)
def test_rows_are_ranked(sql: str, ranked: list[str]):
    reading = read_query(sql)
    assert reading is not None
    assert list(reading.ranked) == ranked


def test_one_thing_wrong():
    sql = (
        "SELECT COUNT(DISTINCT a), SUM(b) FROM t WHERE c = 1 AND d = 2 GROUP BY e HAVING MAX(f)"
        " > 3 ORDER BY 2"
    )
    labels = [label for label, _ in weakened(sql)]
    assert len(labels) == len({changed for _, changed in weakened(sql)} - {sql}) == 7
    assert "without 'd = 2'" in labels
