"""A critic that refuses statements, and the dialect in the descriptions of free-SQL tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from envs.environments.database import DatabaseExecutableEnvironment
from envs.sandboxes.base import Template
from envs.tools.sql.tool_set import sql_tools
from envs.tools.tool_sets import OptionError, find_tool_set, make_tools
from envs.tools.toolbox import Toolbox
from envs.types import Pins, ToolCall, ToolResult
from tests.servers import template_of

SCHEMA = (
    "CREATE TABLE author (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL)",
    "CREATE TABLE book (id INTEGER PRIMARY KEY, author INTEGER NOT NULL, title VARCHAR(40))",
    "INSERT INTO author VALUES (1, 'Ann')",
    "INSERT INTO book VALUES (1, 1, 'One'), (2, 1, 'Two')",
)


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "mariadb"])
def template(request: pytest.FixtureRequest) -> Iterator[Template]:
    with template_of(request.param, SCHEMA) as built:
        yield built


def call(template: Template, sql: str, *, critic: Any, name: str) -> tuple[ToolResult, int]:
    """The result of one call, and the number of rows that it changed."""
    with DatabaseExecutableEnvironment(
        Toolbox(sql_tools(critic=critic)), template.open(Pins()), template.tables
    ) as environment:
        outcome = environment.call(ToolCall.of(name, {"sql": sql}))
        return outcome.result, len(outcome.changes)


CASES = [
    ("run_mutation_query", "DELETE FROM book", "whole_table", "permission_denied"),
    ("run_select_query", "SELECT titel FROM book", "missing_name", "column_not_found"),
    ("run_select_query", "SELECT title FROM boks", "missing_name", "table_not_found"),
    ("run_select_query", "SELECT x.title FROM book b", "missing_name", "table_not_found"),
    ("run_select_query", "SELECT title FROM WHERE", "refused_by_engine", "syntax_error"),
    ("run_mutation_query", "SELEC 1", "refused_by_engine", "syntax_error"),
    ("run_select_query", "SELECT titel FROM book", "refused_by_engine", "column_not_found"),
    ("run_select_query", "SELECT b.title FROM book b, author a", "unjoined_tables", "join_error"),
    ("run_select_query", "DELETE FROM book WHERE id = 1", "write_in_reader", "permission_denied"),
]


@pytest.mark.parametrize(("name", "sql", "kind", "category"), CASES)
def test_a_finding_that_is_blocked_refuses_the_statement(
    template: Template, name: str, sql: str, kind: str, category: str
) -> None:
    result, changed = call(template, sql, critic={"block": [kind]}, name=name)
    assert (result.status, result.error, result.category) == ("error", "BlockedByCritic", category)
    assert result.message is not None
    assert result.message.startswith("not executed: ")
    assert result.error_details is not None
    assert result.error_details["verdict"] == "block"
    [finding] = [item for item in result.error_details["findings"] if item["kind"] == kind]
    assert finding["verdict"] == "block"
    assert finding["reason"] in result.message
    assert changed == 0
    assert result.sql_state is None  # the database has not been asked


@pytest.mark.parametrize("critic", [True, {"block": []}, {"block": ["ungrouped_column"]}])
def test_nothing_is_blocked_unless_it_is_listed(template: Template, critic: Any) -> None:
    result, changed = call(template, "DELETE FROM book", critic=critic, name="run_mutation_query")
    assert result.ok
    assert changed == 2
    assert "without WHERE" in result.output["notes"][0]


def test_a_second_finding_that_is_not_blocked_is_advice(template: Template) -> None:
    sql = "DELETE FROM book WHERE titel = 'One'"
    result, _ = call(template, sql, critic={"block": ["write_in_reader"]}, name="run_select_query")
    assert result.error_details is not None
    verdicts = {item["kind"]: item["verdict"] for item in result.error_details["findings"]}
    assert verdicts == {"write_in_reader": "block", "missing_name": "advise"}
    assert "titel" in (result.advice or "")


@pytest.mark.parametrize("given", [{"block": ["everything"]}, {"blok": ["whole_table"]}, "yes", {}])
def test_another_form_is_refused_with_the_kinds(given: Any) -> None:
    with pytest.raises(
        OptionError, match=r"must be true, false or \{block: \[\.\.\.\]\} with any of"
    ):
        make_tools(find_tool_set("sql"), {"critic": given})


def test_tools_that_take_sql_say_which(template: Template) -> None:
    name = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "mysql": "MariaDB"}[template.dialect]
    with DatabaseExecutableEnvironment(
        Toolbox(sql_tools()), template.open(Pins()), template.tables
    ) as environment:
        said = {tool.name for tool in environment.tools if tool.description.endswith(f" {name}.")}
    assert said == {"run_select_query", "run_mutation_query", "submit_sql"}
