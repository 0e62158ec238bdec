"""Attached databases with tables in several schemas, at a pinned time."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import DatabaseConfigError
from envs.sandboxes.attached.engine import AttachedOptions
from envs.sandboxes.attached.template import AttachedTemplate, attach
from envs.sandboxes.base import DatabaseTarget
from envs.tools.sql.tool_set import sql_tools
from envs.tools.toolbox import Toolbox
from envs.types import Limits, Pins, ToolCall
from envs.world.query import QueryResult, ask
from tests.unit.envs.sandboxes.attached.databases import on_server, run, sqlite_file

TABLES = (
    "CREATE SCHEMA sales",
    'CREATE SCHEMA "Old data"',
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT)",
    "CREATE TABLE sales.orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer (id))",
    "CREATE TABLE sales.customer (id INTEGER PRIMARY KEY)",
    'CREATE TABLE "Old data"."order.lines" (id INTEGER PRIMARY KEY)',
    "CREATE VIEW sales.busy AS SELECT customer FROM sales.orders",
    "INSERT INTO customer VALUES (1, 'Ada')",
    "INSERT INTO sales.orders VALUES (7, 1)",
    'INSERT INTO "Old data"."order.lines" VALUES (9)',
)
LIMITS = Limits(True, 5_000, 100, 100_000)


@contextmanager
def attached(url: str, *schemas: str) -> Generator[AttachedTemplate]:
    template = attach(DatabaseTarget(url=url), AttachedOptions(schemas=schemas))
    try:
        yield template
    finally:
        template.close()


def duckdb_of(folder: Path, *statements: str) -> str:
    with duckdb.connect(str(folder / "shop.duckdb")) as raw:
        for statement in statements:
            raw.execute(statement.replace(" REFERENCES customer (id)", ""))
    return f"duckdb:///{folder / 'shop.duckdb'}"


@pytest.fixture(params=["postgresql", "duckdb"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    if request.param == "duckdb":
        yield duckdb_of(tmp_path, *TABLES)
        return
    with on_server("postgresql") as url:
        run(url, *TABLES, "DROP VIEW writers", "DROP TABLE visit, book, author CASCADE")
        yield url


def called(template: AttachedTemplate, tool: str, **arguments: object) -> dict[str, object]:
    tools = Toolbox(sql_tools(["list_tables", "describe_table", "sample_rows", "run_select_query"]))
    with template.open(Pins()) as sandbox:
        environment = DatabaseExecutableEnvironment(tools, sandbox, template.tables, LIMITS)
        result = environment.call(ToolCall.of(tool, arguments)).result
    assert result.ok, result
    return result.output


def test_all_schemas_are_read(shop: str):
    with attached(shop) as template:
        listed = called(template, "list_tables")
        assert set(listed["tables"]) >= {
            "customer",
            "sales.orders",
            "sales.customer",
            "Old data.order.lines",
        }
        assert listed["views"] == ["sales.busy"]
        assert called(template, "sample_rows", table="sales.orders")["rows"] == [[7, 1]]
        assert called(template, "sample_rows", table="sales.busy")["rows"] == [[1]]
        assert called(template, "sample_rows", table="Old data.order.lines")["rows"] == [[9]]
        assert called(template, "describe_table", table="sales.busy")["columns"] == [
            {"name": "customer"}
        ]
        assert template.fingerprint["sales.orders"]["rows"] == 1
        if template.dialect == "postgresql":
            columns = called(template, "describe_table", table="sales.orders")["columns"]
            assert columns[1]["references"] == "customer.id"


def test_a_search_path_gives_plain_names():
    with on_server("postgresql") as url:
        run(url, *TABLES)
        with attached(url, "sales") as template:
            assert sorted(template.tables) == ["customer", "orders"]
            assert called(template, "run_select_query", sql="SELECT id FROM orders")["rows"] == [
                [7]
            ]
        with attached(f"{url}?options=-csearch_path%3Dsales,public") as template:
            assert {"orders", "customer", "public.customer"} <= set(template.tables)
            assert called(template, "sample_rows", table="orders")["rows"] == [[7, 1]]


def test_a_schema_without_tables_is_named():
    with (
        on_server("postgresql") as url,
        pytest.raises(DatabaseConfigError, match="in nowhere"),
        attached(url, "nowhere"),
    ):
        pass


CLOCKS = {
    "postgresql": [
        "SELECT CURRENT_DATE::text, EXTRACT(YEAR FROM now())::int, age(date '2031-01-01')::text",
        (
            "SELECT 'today'::date::text, date_part('year', localtimestamp)::int, age('2031-01-02',"
            " '2031-01-01'::date)::text"
        ),
    ],
    "duckdb": ["SELECT CURRENT_DATE::text, year(today()), '1 day'"],
    "mariadb": ["SELECT CAST(CURDATE() AS CHAR), YEAR(NOW()), '1 day'"],
    "sqlite": ["SELECT date('now'), CAST(strftime('%Y', 'now') AS INTEGER), '1 day'"],
}


@pytest.mark.parametrize("engine", sorted(CLOCKS))
def test_the_time_is_pinned(engine: str, tmp_path: Path):
    pins = Pins(now="2031-01-02T09:00:00")

    def told(url: str) -> None:
        with attached(url) as template, template.open(pins) as sandbox:
            for sql in CLOCKS[engine]:
                answer = ask(sandbox, template.tables, sql, LIMITS)
                assert isinstance(answer, QueryResult), answer
                assert answer.rows == (("2031-01-02", 2031, "1 day"),)

    if engine == "sqlite":
        told(sqlite_file(tmp_path))
    elif engine == "duckdb":
        told(duckdb_of(tmp_path, "CREATE TABLE t (a INTEGER)"))
    else:
        with on_server(engine) as url:
            told(url)


def test_words_that_are_no_clock_stay():
    with on_server("postgresql") as url:
        run(url, 'CREATE TABLE noted (word TEXT, "now" TEXT, "current_date" TEXT)')
        run(url, "INSERT INTO noted VALUES ('now()', 'CURRENT_DATE', 'today')")
        with attached(url) as template, template.open(Pins()) as sandbox:
            sql = """SELECT n."now", "current_date", $$now()$$, E'it\\'s now()' -- now()
                FROM noted n WHERE word = 'now()' /* CURRENT_DATE */"""
            answer = ask(sandbox, template.tables, sql, LIMITS)
            assert isinstance(answer, QueryResult), answer
            assert answer.rows == (("CURRENT_DATE", "today", "now()", "it's now()"),)


def test_a_type_that_sqlalchemy_does_not_know_is_told_without_a_warning():
    with on_server("postgresql") as url, warnings.catch_warnings():
        run(url, "CREATE TABLE shapes (id INTEGER PRIMARY KEY, outline box)")
        warnings.simplefilter("error")
        with attached(url) as template:
            types = {one.name: one.type for one in template.tables["shapes"].columns}
    assert types == {"id": "INTEGER", "outline": "unknown"}
