"""Queries of an author: values are bound and never pasted, and a refusal is shown at its place."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy

from envs.types import Pins
from synth.core.tasks.queries import Queries, binds_of, bound, run_query, select
from synth.errors import TaskError
from tests.servers import template_of

HERE = TaskError("must", "tasks.yaml", 7, "f")


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


def test_which_names_a_query_binds():
    query = "SELECT :a, ':b', now()::date, :c -- :d\n /* :e */ WHERE :a = \":f\""
    assert binds_of(query) == ("a", "c")


class TestQueries:
    def test_columns_of_a_query_that_is_not_run_to_its_end(self, queries: Queries):
        sql = (
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, :name AS"
            " b FROM n -- all"
        )
        assert list(queries.columns(sql, {"name"}, HERE)) == ["i", "b"]

    @pytest.mark.parametrize(
        ("sql", "words"),
        [
            ("SELECT nmae FROM patients", "must: the query fails: "),
            ("SELECT * FROM patient", "must: the query fails: "),
            ("SELECT :nmae", "must: the query binds the unknown slot :nmae; did you mean 'name'?"),
            ("SELECT 1; DROP TABLE patients", "must: the query fails: "),
            ("DELETE FROM patients", "must: the query fails: "),
        ],
    )
    def test_what_the_database_refuses(self, queries: Queries, sql: str, words: str):
        with pytest.raises(TaskError) as caught:
            queries.columns(sql, {"name"}, HERE)
        assert caught.value.message.startswith(words)
        assert str(caught.value).startswith("tasks.yaml:7: family f: must")
        assert len(queries.rows("SELECT * FROM patients", HERE)) == 3

    def test_a_condition_over_a_table(self, queries: Queries):
        queries.check_condition(
            "visits", "visits.patient_id = :pid AND note IS NULL", {"pid"}, HERE
        )
        with pytest.raises(TaskError, match=r"must: the query fails: .*nmae"):
            queries.check_condition("visits", "nmae = 1", {"pid"}, HERE)


def test_a_value_that_is_only_compared_takes_the_other_sides_type():
    enum = [
        "CREATE TYPE mood AS ENUM ('new', 'paid')",
        "CREATE TABLE t (id INT PRIMARY KEY, m mood, day DATE)",
        "INSERT INTO t VALUES (1, 'paid', '2026-01-02')",
    ]
    sql = "SELECT id, :m || '!' AS v FROM t WHERE m = :one AND day >= :day"
    with template_of("postgresql", enum) as template, template.open(Pins()) as sandbox:
        found = run_query(
            sandbox, sql, {"one": "paid", "m": "x", "day": "2026-01-02"}, template, HERE
        )
    assert found == [{"id": 1, "v": "x!"}]
