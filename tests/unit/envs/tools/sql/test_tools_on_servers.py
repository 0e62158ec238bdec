"""The built-in SQL tools on PostgreSQL and MariaDB, pooled and cloned: the same answers as on
SQLite. What is refused is tested with the attacks on sandboxes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from envs.sandboxes.base import Template
from envs.sandboxes.mariadb.sandbox import MariaDBTemplate
from envs.sandboxes.postgres.sandbox import PostgresTemplate
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.types import Limits
from tests.servers import server
from tests.unit.envs.tools.sql.test_tools import Desk

BYTES = {"sqlite": "BLOB", "mysql": "BLOB", "postgresql": "bytea"}
LITERAL = {"sqlite": "x'00ff'", "mysql": "x'00ff'", "postgresql": "'\\x00ff'"}
PLACES = [(engine, kind) for engine in ("postgresql", "mysql") for kind in ("pooled", "cloned")]


def script(engine: str) -> tuple[str, ...]:
    statements = (
        (
            "CREATE TABLE shelves (shelf_id INTEGER PRIMARY KEY, label VARCHAR(20) NOT NULL UNIQUE,"
            " CHECK (shelf_id < 90))"
        ),
        (
            "CREATE TABLE books (book_id INTEGER PRIMARY KEY, title VARCHAR(40) NOT NULL, shelf_id"
            " INTEGER,"
            f" price NUMERIC(8, 2), cover {BYTES[engine]}, FOREIGN KEY (shelf_id) REFERENCES"
            " shelves (shelf_id))"
        ),
        'CREATE TABLE "odd name" (a VARCHAR(9), "b%c" VARCHAR(9), ":d" VARCHAR(9))',
        "CREATE VIEW shelved AS SELECT title, label FROM books JOIN shelves USING (shelf_id)",
        "INSERT INTO shelves VALUES (1, 'low'), (2, 'high')",
        (
            f"INSERT INTO books VALUES (11, '100% wool', 1, 2.5, {LITERAL[engine]}), (12, ':id', 1, 3,"
            " NULL), (13, 'x%s', 2, NULL, NULL)"
        ),
        "INSERT INTO \"odd name\" VALUES ('1', '2', '3')",
    )
    return tuple(each.replace('"', "`") for each in statements) if engine == "mysql" else statements


def build(engine: str, kind: Any) -> Template:
    if engine == "sqlite":
        return SqliteTemplate.build(
            lambda connection: [connection.execute(each) for each in script(engine)]
        )
    url = server(engine)
    if engine == "mysql":
        return MariaDBTemplate.build(
            lambda connection: [connection.query(each) for each in script(engine)], url, kind
        )
    return PostgresTemplate.build(
        lambda connection: [connection.execute(each) for each in script(engine)], url, kind
    )


@pytest.fixture(scope="module", params=PLACES, ids="-".join)
def template(request: pytest.FixtureRequest) -> Iterator[Template]:
    with build(*request.param) as made:
        yield made


@pytest.fixture(scope="module")
def here() -> Iterator[Template]:
    with build("sqlite", None) as made:
        yield made


READS = [
    "SELECT title FROM books WHERE title LIKE '%x%'",
    "SELECT ':id' AS a, '100%' AS b, '%s' AS c, '%(a)s' AS d, '?' AS e, '{}' AS f",
    "SELECT book_id FROM books WHERE title = ':id'",
    "SELECT 'a;b' AS a -- and so on; ?\n;",
    "SELECT 7 % 4 AS a /* :x %s */",
    "WITH x AS (SELECT 1 AS a UNION SELECT 2) SELECT MAX(a) AS m FROM x",
    "SELECT 'O''Brien' AS a, 9223372036854775807 AS b",
    "SELECT book_id, title, shelf_id, cover FROM books ORDER BY book_id",
    "SELECT 1 AS a FROM books WHERE 1 = 0",
    "(SELECT label FROM shelves WHERE shelf_id = 2)",
]


def test_what_reads_gives_what_it_gives_on_sqlite(template: Template, here: Template):
    """Columns, values and digests of what is handed in; SQL reaches the server to the letter."""
    with Desk(template) as there, Desk(here) as desk:
        for sql in READS:
            plain = sql.strip("()")  # SQLite takes no parentheses around a query
            assert there.select(sql) == desk.select(plain)
            assert there.call("submit_sql", sql=sql) == desk.call("submit_sql", sql=plain)
        for table in ("odd name", "shelves"):
            assert there.call("sample_rows", table=table, limit=1) == desk.call(
                "sample_rows", table=table, limit=1
            )
        assert there.call("list_tables") == desk.call("list_tables")


FIGURES = [
    ("SELECT price FROM books ORDER BY book_id", [[2.5], [3], [None]]),
    ("SELECT SUM(price) AS a, AVG(price) AS b, COUNT(*) AS c FROM books", [[5.5, 2.75, 3]]),
    ("SELECT SUM(book_id) AS a, AVG(book_id) AS b FROM books WHERE shelf_id = 1", [[23, 11.5]]),
    (
        "SELECT 1.0 / 3 AS a, 7.0 * 4 AS b, 10.0 / 4 AS c",
        [[pytest.approx(1 / 3, abs=0, rel=1e-11), 28, 2.5]],
    ),
    ("SELECT ROUND(100.0 * 2 / 2, 1) AS a, ROUND(100.0 * 2 / 3, 1) AS b", [[100, 66.7]]),
    ("SELECT 9007199254740993 AS a, 9223372036854775807 AS b", [[2**53 + 1, 2**63 - 1]]),
]


def test_figures_are_numbers_of_one_form(template: Template, here: Template):
    """A figure reads alike whether an engine computes with decimals or doubles, and a whole one has
    no fraction.
    """
    with Desk(template) as there, Desk(here) as desk:
        for each in (there, desk):
            for sql, rows in FIGURES:
                shown = each.select(sql)["rows"]
                assert shown == rows, (each.engine, sql)
                assert not any(
                    isinstance(cell, float) and cell.is_integer() for row in shown for cell in row
                ), shown
            assert each.call("sample_rows", table="books").output["rows"][1][3] == 3
        for sql, _ in FIGURES[:3]:
            digests = [each.call("submit_sql", sql=sql).output["digest"] for each in (there, desk)]
            assert digests[0] == digests[1], sql


def test_a_table_is_described(template: Template):
    with Desk(template) as desk:
        told = desk.call("describe_table", table="BOOKS").output
        assert told["primary_key"] == ["book_id"]
        assert [(each["name"], each["nullable"]) for each in told["columns"]] == [
            ("book_id", False), ("title", False), ("shelf_id", True), ("price", True), ("cover", True),
        ]  # fmt: skip
        assert told["columns"][2]["references"] == "shelves.shelf_id"
        missing = desk.call("describe_table", table="boks")
        assert (missing.category, missing.advice) == ("table_not_found", "did you mean books?")


def test_writes_count_their_rows_and_are_in_the_diff(template: Template):
    with Desk(template, max_rows=1) as desk:
        changed = desk.call(
            "run_mutation_query", sql="UPDATE books SET price = 9 WHERE shelf_id = 1"
        )
        assert changed.output == {"row_count": 2}
        assert desk.call(
            "run_mutation_query", sql="DELETE FROM books WHERE title = 'nix'"
        ).output == {"row_count": 0}
        gone = desk.call(
            "run_mutation_query", sql="DELETE FROM books WHERE book_id > 11 RETURNING book_id"
        ).output
        assert (gone["row_count"], gone["columns"], len(gone["rows"]), gone["truncated"]) == (
            2,
            ["book_id"],
            1,
            True,
        )
        assert [(each.op, each.key["book_id"]) for each in desk.environment.diff().changes] == [
            ("update", 11), ("delete", 12), ("delete", 13),
        ]  # fmt: skip


def test_rows_above_the_cap_are_cut_or_refused(template: Template):
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900)"
        " SELECT i FROM n"
    )
    with Desk(template, Limits(max_rows=4)) as desk:
        found = desk.select(endless)
        assert (found["row_count"], found["rows"][-1], found["truncated"]) == (4, [4], True)
        assert desk.call("submit_sql", sql=endless).category == "limit_exceeded"
        assert desk.select("SELECT 1 AS a")["rows"] == [[1]]
    with Desk(template, max_result_bytes=100) as desk:
        assert (
            desk.call("run_select_query", sql="SELECT REPEAT('x', 200) AS x").category
            == "limit_exceeded"
        )
