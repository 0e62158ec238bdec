"""Grounding: domains, the order of tasks, and queries whose values are bound and never pasted."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy

from synth.tasks.ground import Choice, Range, bound, combination, distinct_sorted, parse_domain, permuted, select


class TestDomains:
    @pytest.mark.parametrize(
        ("raw", "values"),
        [
            ({"int": [1, 4]}, [1, 2, 3, 4]),
            ({"int": [0, 10, 5]}, [0, 5, 10]),
            ({"int": [0, 11, 5]}, [0, 5, 10]),
            ({"int": [3, 3]}, [3]),
            ({"float": [0.1, 0.5, 0.1]}, [0.1, 0.2, 0.3, 0.4, 0.5]),
            ({"choice": ["a", 1, None, True]}, ["a", 1, None, True]),
            ({"date": ["2024-02-28", "2024-03-01"]}, ["2024-02-28", "2024-02-29", "2024-03-01"]),
        ],
    )
    def test_values(self, raw: Any, values: list[Any]):
        domain = parse_domain(raw)
        assert [domain[at] for at in range(len(domain))] == values

    @pytest.mark.parametrize(
        ("raw", "words"),
        [
            (5, "write one of int, float, choice or date"),
            ({}, "write one of"),
            ({"int": [1, 2], "choice": [1]}, "write one of"),
            ({"int": 5}, "int takes a list"),
            ({"int": []}, "int takes a list"),
            ({"int": [5]}, r"\[low, high, step\] or \[low, high\]"),
            ({"int": [1, 2.5]}, "whole numbers"),
            ({"int": [1, True]}, "takes numbers"),
            ({"int": [5, 1]}, "range is empty"),
            ({"int": [1, 5, 0]}, "range is empty"),
            ({"int": [0, 10**20]}, "too many values"),
            ({"float": [1.0, 2.0]}, r"float takes \[low, high, step\]$"),
            ({"float": [0.0, float("inf"), 1.0]}, "finite"),
            ({"choice": [1, 1]}, "twice"),
            ({"date": ["2024-01-01"]}, "two ISO dates"),
            ({"date": ["2024-13-01", "2024-14-01"]}, "two ISO dates"),
            ({"date": ["2024-02-01", "2024-01-01"]}, "before the first"),
            ({"colour": ["red"]}, "unknown kind 'colour'"),
        ],
    )
    def test_what_is_no_domain_is_said_in_words(self, raw: Any, words: str):
        with pytest.raises(ValueError, match=words):
            parse_domain(raw)


class TestOrder:
    @pytest.mark.parametrize("size", [1, 2, 3, 5, 16, 17, 100, 257, 1000])
    def test_permuted_is_a_bijection(self, size: int):
        assert sorted(permuted(at, size, "7/record") for at in range(size)) == list(range(size))

    def test_the_key_chooses_the_permutation(self):
        def order(key: str) -> list[int]:
            return [permuted(at, 100, key) for at in range(100)]

        assert order("a") == order("a")
        assert len({tuple(order(key)) for key in ("a", "b", "c", "1/x", "2/x")}) == 5
        assert order("a") != list(range(100))

    def test_ten_billion_places_are_no_list(self):
        places = [permuted(at, 10**10, "k") for at in range(200)]
        assert len(set(places)) == 200
        assert all(0 <= each < 10**10 for each in places)

    def test_combination_counts_through_the_product_the_last_domain_fastest(self):
        domains = {"a": Choice(("x", "y")), "b": Range(Decimal(1), Decimal(1), 3, whole=True)}
        assert [tuple(combination(at, domains).items()) for at in range(6)] == [
            (("a", a), ("b", b)) for a in ("x", "y") for b in (1, 2, 3)
        ]
        assert combination(0, {}) == {}

    def test_rows_are_sorted_by_content_and_stand_once(self):
        rows = [{"a": 2}, {"a": 10}, {"a": 2}, {"a": None}]
        assert distinct_sorted(rows) == distinct_sorted(rows[::-1])
        assert len(distinct_sorted(rows)) == 3


@pytest.fixture
def connection():
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as one:
        yield one
    engine.dispose()


class TestBound:
    @pytest.mark.parametrize(
        ("sql", "value"),
        [
            ("SELECT :name AS v", "O'Brien; DROP TABLE x"),
            ("SELECT ':name' AS v", ":name"),
            ("SELECT 'it''s :name' AS v", "it's :name"),
            ("SELECT '12:30:00' AS v", "12:30:00"),
            ("SELECT :name AS v -- not :other, it's a comment", "O'Brien; DROP TABLE x"),
            ("SELECT /* :other 'x */ :name AS v", "O'Brien; DROP TABLE x"),
            ("SELECT ':' || :name || '::' AS v", ":O'Brien; DROP TABLE x::"),
            ('SELECT ":odd" AS v FROM (SELECT 1 AS ":odd")', 1),
            ("SELECT :name || :name AS v", "O'Brien; DROP TABLE xO'Brien; DROP TABLE x"),
            ("SELECT '100% :x' AS v", "100% :x"),
        ],
    )
    def test_only_what_stands_in_the_query_itself_is_bound(
        self, connection: sqlalchemy.Connection, sql: str, value: Any
    ):
        assert select(connection, sql, {"name": "O'Brien; DROP TABLE x"}) == [{"v": value}]

    def test_a_cast_is_no_name(self):
        """PostgreSQL's ``::``, which SQLite does not know: shown on the compiled text."""
        clause = bound("SELECT :name::int, now()::date, '{}'::jsonb", {"name": 5})
        assert str(clause) == "SELECT :name::int, now()::date, '{}'::jsonb"
        assert clause.compile().params == {"name": 5}

    def test_a_name_without_a_value_is_a_key_error(self):
        with pytest.raises(KeyError, match="nmae"):
            bound("SELECT :nmae", {"name": 1})

    def test_values_that_are_not_bound_are_left_out(self):
        assert bound("SELECT 1", {"name": 1}).compile().params == {}

    def test_rows_hold_json_values(self, connection: sqlalchemy.Connection):
        assert select(connection, "SELECT 1 AS a, NULL AS b, 1.5 AS c, 'x' AS d") == [
            {"a": 1, "b": None, "c": 1.5, "d": "x"}
        ]
        with pytest.raises(ValueError, match="bytes"):
            select(connection, "SELECT x'00' AS b")
