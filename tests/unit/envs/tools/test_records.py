"""The helpers that the tools of the example worlds, and of anybody's, are written with."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
import sqlalchemy
from sqlalchemy.exc import DBAPIError, ResourceClosedError

from envs import ToolError
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.sql_errors.classify import to_result
from envs.tools import records
from envs.types import Limits, Pins, ToolResult


@pytest.fixture
def db():
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as connection:
        connection.info["now"] = dt.datetime(2026, 3, 2, 9, 30, 15, 250_000)
        records.change(connection, "CREATE TABLE people (name TEXT, name_folded TEXT, cents REAL)")
        for name in ("Chloé Ruiz", "Siobhán O'Brien-Núñez", "Bo Ruizzi"):
            records.change(
                connection,
                "INSERT INTO people VALUES (:name, :folded, 12.5)",
                name=name,
                folded=records.fold(name),
            )
        yield connection
        connection.info.pop("now")
    engine.dispose()


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("  Siobhán O'Brien-Núñez ", "siobhan obrien nunez"),
        ("Łukasz Ørsted", "lukasz orsted"),
        ("STRASSE / Straße", "strasse strasse"),
        ("İpek", "ipek"),
        ("d\u2019Arc", "darc"),
        ("...", ""),
    ],
)
def test_fold(name: str, folded: str):
    assert records.fold(name) == folded


def test_rows_are_dicts_with_whole_numbers_as_integers(db: sqlalchemy.Connection):
    query = "SELECT sum(cents) AS sum, avg(cents) AS mean FROM people WHERE name <> :not"
    assert records.rows(db, query, **{"not": "Bo Ruizzi"}) == [{"sum": 25, "mean": 12.5}]
    assert isinstance(records.rows(db, query, **{"not": ""})[0]["mean"], float)
    assert records._number(Decimal("3.00")) == 3


def test_the_first_row_or_none(db: sqlalchemy.Connection):
    assert records.first(db, "SELECT name FROM people ORDER BY name") == {"name": "Bo Ruizzi"}
    assert records.first(db, "SELECT name FROM people WHERE 0") is None


def test_two_columns_of_one_name_are_refused(db: sqlalchemy.Connection):
    with pytest.raises(ValueError, match="rename one with AS"):
        records.rows(db, "SELECT name, name FROM people")


def test_the_clock(db: sqlalchemy.Connection):
    assert records.now(db).isoformat() == "2026-03-02T09:30:15"
    assert records.timestamp(db) == "2026-03-02 09:30:15"
    assert records.today(db) == "2026-03-02"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("ruiz", ["Bo Ruizzi", "Chloé Ruiz"]),
        ("RUIZ chl", ["Chloé Ruiz"]),
        ("nunez o'brien", ["Siobhán O'Brien-Núñez"]),
        ("uiz", []),
        ("100%", []),
    ],
)
def test_each_word_begins_a_word(db: sqlalchemy.Connection, words: str, names: list[str]):
    condition, binds = records.words_condition("name_folded", words)
    found = records.rows(db, f"SELECT name FROM people WHERE {condition} ORDER BY 1", **binds)
    assert [row["name"] for row in found] == names


def test_a_search_without_a_letter_is_refused():
    with pytest.raises(ToolError, match=r"Give at least one letter to search for\."):
        records.words_condition("name_folded", " - ")
    with pytest.raises(ToolError, match="A name, please"):
        records.words_condition("name_folded", "", "A name, please.")


class TestInASandbox:
    """A query goes to SQLite's driver itself, with SQLAlchemy's transactions and errors."""

    @pytest.fixture
    def call(self):
        template = SqliteTemplate.build(
            lambda db: db.executescript(
                "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
                "INSERT INTO people VALUES (1, 'Ada'), (2, 'Bo')"
            )
        )
        with template.open(Pins()) as sandbox, sandbox.transaction(Limits()) as transaction:
            yield transaction.connection

    def test_rows_are_those_of_sqlalchemy(self, call: sqlalchemy.Connection):
        for sql in (
            "SELECT id, name FROM people WHERE id = :id",
            "SELECT 12.0 AS hours, '12\\:30' AS at FROM people WHERE id < :id",
        ):
            theirs = call.execute(sqlalchemy.text(sql), {"id": 2}).mappings().all()
            assert records.rows(call, sql, id=2) == theirs != []

    def test_work_after_a_commit_is_undone(self, call: sqlalchemy.Connection):
        insert = "INSERT INTO people (name) VALUES (:name) RETURNING id"
        assert records.rows(call, insert, name="Cy") == [{"id": 3}]
        call.commit()
        assert records.rows(call, insert, name="Di") == [{"id": 4}]
        call.rollback()
        assert records.first(call, "SELECT max(id) AS last FROM people") == {"last": 3}

    @pytest.mark.parametrize(
        ("sql", "name"),
        [
            ("SELECT age FROM people", "Cy"),
            ("INSERT INTO people VALUES (1, :name) RETURNING id", "Cy"),
            ("INSERT INTO people (id, name) VALUES (3, :name) RETURNING id", None),
        ],
    )
    def test_a_refusal_is_that_of_sqlalchemy(
        self, call: sqlalchemy.Connection, sql: str, name: str | None
    ):
        told: list[ToolResult] = []
        for ask in (
            lambda: records.rows(call, sql, name=name),
            lambda: call.execute(sqlalchemy.text(sql), {"name": name}),
        ):
            with pytest.raises(DBAPIError) as raised:
                ask()
            told.append(to_result(raised.value, "sqlite", {}))
        assert told[0] == told[1]

    @pytest.mark.parametrize(
        "value", ["Ada", 3, 2.5, b"x", True, dt.datetime(2026, 3, 2), dt.date(2026, 3, 2)]
    )
    def test_a_change_stores_what_sqlalchemy_stores(
        self, call: sqlalchemy.Connection, value: object
    ):
        sql = "UPDATE people SET name = :name WHERE id = :id"
        records.change(call, sql, name=value, id=1)
        call.execute(sqlalchemy.text(sql), {"name": value, "id": 2})
        ours, theirs = records.rows(call, "SELECT name, typeof(name) AS type FROM people")
        assert ours == theirs
        with pytest.raises(DBAPIError, match="no such table"):
            records.change(call, "DELETE FROM nobody WHERE name = :name", name=value)

    def test_a_statement_without_rows_is_refused(self, call: sqlalchemy.Connection):
        with pytest.raises(ResourceClosedError, match="gives no rows"):
            records.rows(call, "DELETE FROM people")
