"""The SQL tools that any world can switch on: what they give, that SQL reaches the database to the
letter, and what is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import WorldError
from envs.sandboxes.base import Template
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.tools.sql import BUILTIN
from envs.tools.sql.tool_set import sql_tools
from envs.tools.toolbox import Toolbox
from envs.types import Limits, Pins, ToolCall, ToolResult
from envs.world.loader import load_world

SCHEMA = """\
CREATE TABLE shelves (shelf_id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE);
CREATE TABLE books (
  book_id INTEGER PRIMARY KEY, title TEXT NOT NULL, shelf_id INTEGER REFERENCES shelves (shelf_id), price NUMERIC, cover BLOB
);
CREATE TABLE "odd name" (a TEXT, "b%c" TEXT, ":d" TEXT);
CREATE VIEW shelved AS SELECT title, label FROM books JOIN shelves USING (shelf_id);
INSERT INTO shelves VALUES (1, 'low'), (2, 'high');
INSERT INTO books VALUES (11, '100% wool', 1, 2.5, x'00ff'), (12, ':id', 1, 3, NULL), (13, 'x%s', 2, NULL, NULL);
INSERT INTO "odd name" VALUES ('1', '2', '3');
"""


@pytest.fixture(scope="module")
def template() -> Iterator[Template]:
    def load(connection: Any) -> None:
        for statement in SCHEMA.split(";\n"):
            connection.cursor().execute(statement)

    with SqliteTemplate.build(load) as template:
        yield template


class Desk:
    """The tools over one sandbox of a template."""

    def __init__(self, template: Template, limits: Limits | None = None, **options: Any) -> None:
        self.engine = template.dialect
        tools = Toolbox(sql_tools(**options))
        self.environment = DatabaseExecutableEnvironment(
            tools, template.open(Pins()), template.tables, limits
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.environment.close()

    def call(self, tool: str, **arguments: Any) -> ToolResult:
        return self.environment.call(ToolCall.of(tool, arguments)).result

    def select(self, sql: str) -> Any:
        result = self.call("run_select_query", sql=sql)
        assert result.ok, result
        return result.output


@pytest.fixture
def desk(template: Template) -> Iterator[Desk]:
    with Desk(template) as desk:
        yield desk


def test_what_there_is(desk: Desk):
    assert desk.call("list_tables").output == {
        "tables": ["books", "odd name", "shelves"],
        "views": ["shelved"],
    }
    assert desk.call("describe_table", table="BOOKS").output == {
        "table": "books",
        "columns": [
            {"name": "book_id", "type": "INTEGER", "nullable": False},
            {"name": "title", "type": "TEXT", "nullable": False},
            {
                "name": "shelf_id",
                "type": "INTEGER",
                "nullable": True,
                "references": "shelves.shelf_id",
            },
            {"name": "price", "type": "NUMERIC", "nullable": True},
            {"name": "cover", "type": "BLOB", "nullable": True},
        ],
        "primary_key": ["book_id"],
    }
    view = desk.call("describe_table", table="shelved").output
    assert view == {"view": "shelved", "columns": [{"name": "title"}, {"name": "label"}]}


def test_a_table_that_is_not_there(desk: Desk):
    for tool in ("describe_table", "sample_rows"):
        result = desk.call(tool, table="boks")
        assert (result.category, result.advice) == ("table_not_found", "did you mean books?")


def test_sample_rows(desk: Desk):
    sample = desk.call("sample_rows", table="books", limit=2).output
    assert sample["columns"] == ["book_id", "title", "shelf_id", "price", "cover"]
    assert sample["rows"] == [
        [11, "100% wool", 1, 2.5, {"$bytes": "AP8="}],
        [12, ":id", 1, 3, None],
    ]
    assert desk.call("sample_rows", table="odd name").output == {
        "table": "odd name",
        "columns": ["a", "b%c", ":d"],
        "rows": [["1", "2", "3"]],
    }
    assert desk.call("sample_rows", table="books", limit=21).category == "invalid_arguments"


def test_sample_rows_does_not_depend_on_the_order_that_an_engine_likes(template: Template):
    tools = Toolbox(sql_tools())
    with DatabaseExecutableEnvironment(
        tools, template.open(Pins(), unordered=True), template.tables
    ) as environment:
        result = environment.call(ToolCall.of("sample_rows", {"table": "books", "limit": 1})).result
    assert result.output["rows"][0][0] == 11


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT title FROM books WHERE title LIKE '%x%'", [["x%s"]]),
        (("SELECT ':id', '100%', '%s', '%(a)s', '?', '{}'"), [[":id", "100%", "%s", "%(a)s", "?", "{}"]]),
        ("SELECT book_id FROM books WHERE title = ':id'", [[12]]),
        ("SELECT 'a;b' -- and so on; ?\n;", [["a;b"]]),
        ("/* :x %s */ SELECT 7 % 4", [[3]]),
        ('SELECT "b%c", ":d" FROM "odd name"', [["2", "3"]]),
        ("WITH x AS (SELECT 1 AS a UNION SELECT 2) SELECT sum(a) FROM x", [[3]]),
        ("VALUES (1, 'a'), (2, NULL)", [[1, "a"], [2, None]]),
        (("SELECT 'O''Brien', x'00ff', 9e999, 9223372036854775807"), [["O'Brien", {"$bytes": "AP8="}, {"$float": "Infinity"}, 2**63 - 1]]),
    ],
)  # fmt: skip
def test_sql_reaches_the_database_to_the_letter(desk: Desk, sql: str, rows: list[Any]):
    assert desk.select(sql)["rows"] == rows


def test_a_select_tells_its_columns_and_whether_there_is_more(template: Template):
    desk = Desk(template, max_rows=2)
    all_three = desk.select("SELECT book_id AS id, book_id AS id FROM books ORDER BY 1")
    assert all_three == {
        "columns": ["id", "id"],
        "rows": [[11, 11], [12, 12]],
        "row_count": 2,
        "truncated": True,
    }
    assert desk.select("SELECT 1 FROM books LIMIT 2")["truncated"] is False
    assert desk.select("SELECT 1 FROM books WHERE 0") == {
        "columns": ["1"],
        "rows": [],
        "row_count": 0,
        "truncated": False,
    }


def test_the_row_cap_of_a_call_truncates_too(template: Template):
    """An environment that lets a call fetch fewer rows than the tool would show."""
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    found = Desk(template, Limits(max_rows=4)).select(endless)
    assert (found["row_count"], found["rows"][-1], found["truncated"]) == (4, [4], True)
    assert Desk(template, Limits(max_rows=3)).select("SELECT 1 FROM books")["truncated"] is False
    assert (
        Desk(template, Limits(max_rows=3)).call("submit_sql", sql=endless).category
        == "limit_exceeded"
    )
    assert Desk(template).select(endless)["row_count"] == 100


def test_what_is_too_large_is_an_error(template: Template):
    wide = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 90) SELECT"
        " hex(zeroblob(50000)) FROM n"
    )
    assert Desk(template).call("run_select_query", sql=wide).category == "limit_exceeded"
    assert Desk(template, max_result_bytes=100).call(
        "run_select_query", sql="SELECT hex(zeroblob(60))"
    ).category == ("limit_exceeded")


@pytest.mark.parametrize(
    ("sql", "category"),
    [
        ("SELECT 1; SELECT 2", None),
        ("SELECT 1; DELETE FROM books", None),
        ("", "syntax_error"),
        (" \n", "syntax_error"),
        ("-- nothing", "syntax_error"),
        ("SELEC 1", "syntax_error"),
        ("SELECT '\ud800'", "malformed_call"),
        ("SELECT CAST(x'ff' AS TEXT)", "type_mismatch"),
        ("SELECT nix FROM books", "column_not_found"),
        ("DELETE FROM books", "permission_denied"),
        ("INSERT INTO shelves VALUES (3, 'new') RETURNING *", "permission_denied"),
        ("WITH x AS (SELECT 1) UPDATE books SET title = 'x' RETURNING *", "permission_denied"),
        ("EXPLAIN DELETE FROM books", "permission_denied"),
        ("PRAGMA user_version = 3", "permission_denied"),
        ("CREATE TABLE t AS SELECT 1", "permission_denied"),
        ("BEGIN", "permission_denied"),
        ("SELECT load_extension('x')", "permission_denied"),
    ],
)
def test_what_a_reading_tool_refuses(desk: Desk, sql: str, category: str | None):
    """The database's own guard decides, whatever the text looks like; two statements are one too
    many.
    """
    before = desk.environment.state_hash()
    for tool in ("run_select_query", "submit_sql"):
        result = desk.call(tool, sql=sql)
        assert not result.ok, result
        assert category in {None, result.category}
    assert desk.environment.state_hash() == before


def test_explain_is_a_read(desk: Desk):
    assert desk.select("EXPLAIN QUERY PLAN SELECT * FROM books WHERE book_id = 1")["row_count"] == 1


def test_a_mutation_counts_its_rows(desk: Desk):
    assert desk.call(
        "run_mutation_query", sql="UPDATE books SET price = 9 WHERE shelf_id = 1"
    ).output == {"row_count": 2}
    assert desk.call("run_mutation_query", sql="DELETE FROM books WHERE title = 'nix'").output == {
        "row_count": 0
    }
    deleted = desk.call(
        "run_mutation_query", sql="DELETE FROM books WHERE price IS NULL RETURNING book_id"
    ).output
    assert deleted == {"row_count": 1, "columns": ["book_id"], "rows": [[13]], "truncated": False}
    assert [(each.op, each.key["book_id"]) for each in desk.environment.diff().changes] == [
        ("update", 11),
        ("update", 12),
        ("delete", 13),
    ]


def test_a_mutation_that_returns_many_rows_is_done_whole(template: Template):
    """Rows past the cap are changed as well, and constraints that SQLite checks at the end are
    checked.
    """
    desk = Desk(template, max_rows=1)
    output = desk.call(
        "run_mutation_query", sql="UPDATE books SET title = 'same' RETURNING book_id"
    ).output
    assert (output["row_count"], output["rows"], output["truncated"]) == (3, [[11]], True)
    assert len(desk.environment.diff().changes) == 3
    failed = desk.call("run_mutation_query", sql="DELETE FROM shelves RETURNING label")
    assert failed.category == "fk_violation"
    assert len(desk.environment.diff().changes) == 3


def test_a_submitted_query_is_known_by_its_rows(desk: Desk):
    def digest(sql: str) -> str:
        return desk.call("submit_sql", sql=sql).output["digest"]

    handed_in = desk.call(
        "submit_sql", sql="SELECT book_id, price FROM books WHERE shelf_id = 1"
    ).output
    assert handed_in == {
        "columns": ["book_id", "price"],
        "rows": [[11, 2.5], [12, 3]],
        "row_count": 2,
        "truncated": False,
        "digest": handed_in["digest"],
    }
    assert (
        digest("SELECT 12, 3.0 UNION ALL SELECT 11, 2.5") == handed_in["digest"]
    )  # names and order do not count
    others = [
        "SELECT 11, 2.5",
        "VALUES (11, 2.5), (12, 3), (12, 3)",
        "VALUES (11, 2.5), (12, '3')",
        "SELECT 1 WHERE 0",
    ]
    assert len({digest(each) for each in others} | {handed_in["digest"]}) == 5


def test_an_error_has_the_usual_form(desk: Desk):
    result = desk.call(
        "run_select_query", sql="SELECT titel FROM books WHERE title = 'secret %s :x'"
    )
    assert result.payload() == {
        "status": "error",
        "error": result.error,
        "category": "column_not_found",
        "message": "no such column: titel",
        "sql_state": "SQLITE_ERROR",
        "advice": "no column `titel` in `books`; did you mean title?",
        "error_details": {"column": "titel"},
    }


def test_notes_stand_beside_the_result(template: Template):
    desk = Desk(template, critic=True)
    assert "notes" not in desk.select("SELECT title FROM shelved")
    assert len(desk.select("SELECT b.title FROM books b, shelves s")["notes"]) == 1
    failed = desk.call("run_select_query", sql="SELECT valeu, count(*), titel FROM books")
    assert str(failed.advice).split("; ") == [
        "no column `valeu` in `books`",
        "it has book_id, title, shelf_id, price, cover",
        "no column `titel` in `books`",
        "did you mean title?",
    ]


TOOLS_YAML = """\
- builtin: [list_tables, run_select_query]
  critic: true
  max_rows: 20
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "schema.sql").write_text("CREATE TABLE t (a INTEGER);", "utf-8")
    (tmp_path / "seed.sql").write_text("INSERT INTO t VALUES (1);", "utf-8")
    (tmp_path / "tools.yaml").write_text(TOOLS_YAML, "utf-8")
    return tmp_path


def test_a_world_switches_them_on(folder: Path):
    world = load_world(folder)
    assert [each.name for each in world.tools] == ["list_tables", "run_select_query"]
    (folder / "tools.yaml").write_text("tools:\n- builtin: submit_sql\n", "utf-8")
    assert [(each.name, each.read_only) for each in load_world(folder).tools] == [
        ("submit_sql", True)
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (
            "run_select_query",
            "run_select",
            1,
            "'run_select' is not an SQL tool; did you mean run_select_query",
        ),
        (
            "[list_tables, run_select_query]",
            "[]",
            1,
            "`builtin` must be a set of tools or a list of SQL tools, and None is not an SQL tool",
        ),
        (
            "[list_tables, run_select_query]",
            "{a: 1}",
            1,
            "`builtin` must be a set of tools or a list of SQL tools, and {'a': 1} is not an SQL tool",
        ),
        ("run_select_query", "list_tables", 1, "`builtin` lists list_tables twice"),
        ("critic: true", "critic: 1", 2, "`critic` must be true, false or {block"),
        (
            "critic: true",
            "critc: true",
            2,
            "unknown key 'critc' beside `builtin`; did you mean critic?",
        ),
        ("critic: true", "name: x", 2, "unknown key 'name' beside `builtin`"),
        ("max_rows: 20", "max_rows: 0", 3, "`max_rows` must be a whole number above 0, not 0"),
        (
            "max_rows: 20",
            "statement_timeout_ms: 1.5",
            3,
            "`statement_timeout_ms` must be a whole number above 0",
        ),
        (
            "max_rows: 20\n",
            "max_rows: 20\n- builtin: list_tables\n",
            4,
            "two tools are named 'list_tables'",
        ),
    ],
)
def test_each_mistake_in_the_entry(folder: Path, old: str, new: str, line: int | None, words: str):
    assert TOOLS_YAML.count(old) == 1
    (folder / "tools.yaml").write_text(TOOLS_YAML.replace(old, new), "utf-8")
    with pytest.raises(WorldError) as caught:
        load_world(folder)
    assert words in caught.value.message
    assert caught.value.line == line


def test_all_of_them_are_portable():
    assert [each.name for each in sql_tools()] == list(BUILTIN)
    assert [each.name for each in sql_tools() if not each.read_only] == ["run_mutation_query"]
    Toolbox(sql_tools())  # refuses names and schemas that an endpoint would not take
