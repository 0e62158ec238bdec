"""``error_details``: constraint, table, column and the shape of the value, on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, text

from envs.environments.database import DatabaseExecutableEnvironment
from envs.sandboxes.base import Template
from envs.tools.tool import tool
from envs.tools.toolbox import Toolbox
from envs.types import Pins, ToolCall
from tests.servers import template_of

SCHEMA = (
    """CREATE TABLE author (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL,
    email VARCHAR(40), age INTEGER,
    CONSTRAINT one_email UNIQUE (email), CONSTRAINT grown CHECK (age > 17))""",
    """CREATE TABLE book (id INTEGER PRIMARY KEY, author INTEGER,
    CONSTRAINT written FOREIGN KEY (author) REFERENCES author (id))""",
    "INSERT INTO author VALUES (1, 'Ann', 'ann@x.example', 30)",
)


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "mariadb"])
def template(request: pytest.FixtureRequest) -> Iterator[Template]:
    with template_of(request.param, SCHEMA) as built:
        yield built


@tool
def act(db: Connection, sql: str, values: dict) -> int:
    """Execute a statement.

    Args:
        sql: The statement.
        values: Its values.
    """
    return db.execute(text(sql), values).rowcount


INSERT = "INSERT INTO author (id, name, email, age) VALUES (:id, :name, :email, :age)"
ROW = {"id": 7, "name": "Bo", "email": "bo@x.example", "age": 40}
ENGINES = ("sqlite", "postgresql", "mysql")


@pytest.mark.parametrize(
    ("sql", "values", "known"),
    [
        (
            INSERT,
            {**ROW, "email": "ann@x.example"},
            {
                "sqlite": {"column": "email", "value": {"type": "str", "length": 13}},
                "postgresql": {
                    "constraint": "one_email",
                    "column": "email",
                    "value": {"type": "str", "length": 13},
                },
                "mysql": {"constraint": "one_email"},
            },
        ),
        (
            INSERT,
            {**ROW, "name": None},
            {engine: {"column": "name", "value": {"type": "null"}} for engine in ENGINES},
        ),
        (INSERT, {**ROW, "age": 3}, {engine: {"constraint": "grown"} for engine in ENGINES}),
        (
            "INSERT INTO book (id, author) VALUES (1, :author)",
            {"author": 99},
            {
                "sqlite": {},
                "postgresql": {
                    "constraint": "written",
                    "column": "author",
                    "value": {"type": "int"},
                },
                "mysql": {"constraint": "written", "column": "author", "value": {"type": "int"}},
            },
        ),
    ],
)
def test_what_was_broken_is_data(
    template: Template, sql: str, values: dict[str, Any], known: dict[str, dict[str, Any]]
) -> None:
    with DatabaseExecutableEnvironment(
        Toolbox([act]), template.open(Pins()), template.tables
    ) as environment:
        result = environment.call(ToolCall.of("act", {"sql": sql, "values": values})).result
    table = "book" if "book" in sql else "author"
    assert result.error_details == {"table": table, **known[template.dialect]}
    payload: Any = result.payload("advice")
    assert payload["error_details"] == result.error_details
    assert "error_details" not in str(result.payload("structured"))
    assert "ann@x" not in str(result.error_details)


def test_a_name_that_is_missing_is_data(template: Template) -> None:
    with DatabaseExecutableEnvironment(
        Toolbox([act]), template.open(Pins()), template.tables
    ) as environment:
        call = ToolCall.of("act", {"sql": "UPDATE author SET nmae = 'x'", "values": {}})
        details = environment.call(call).result.error_details
    assert details is not None
    assert details["column"] == "nmae"
