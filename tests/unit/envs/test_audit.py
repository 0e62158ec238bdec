"""What an audit tells of a call, and that it tells no value: not of an argument, a statement, an
error or a name.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from envs import ToolError, ToolResult, tool
from envs.audit import Audit, digest_of
from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import ExecutorError, WorldError
from envs.metrics import TRACE
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.tools.sql.critic.masked import LONGEST, masked
from envs.tools.toolbox import Toolbox
from envs.types import Pins, ToolCall
from envs.world.loader import load_world

SECRET = "hunter2"
NAMES = frozenset({"people", "name", "pin"})


@tool(secret="pin")
def set_pin(db: Any, name: str, pin: str) -> dict:
    """Set a pin.

    Args:
        name: Whose.
        pin: The pin.
    """
    if name == "nobody":
        raise ToolError(f"{pin} is not for {name}.", category="not_found")
    if name == "bug":
        raise ZeroDivisionError(pin)
    db.execute(text(f"UPDATE people SET pin = '{pin}' WHERE name = :n -- {pin}"), {"n": name})
    cursor = db.connection.cursor()
    cursor.execute("SELECT name FROM people WHERE pin = ?", (pin,))
    return {"names": [row[0] for row in cursor]}


@pytest.fixture
def heard() -> Iterator[tuple[logging.Logger, list[dict[str, Any]]]]:
    logger, lines = logging.getLogger("test.audit"), list[dict[str, Any]]()

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            assert SECRET not in record.getMessage()
            lines.append(json.loads(record.getMessage()) | {"level": record.levelname})

    handler = Keep()
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield logger, lines
    logger.removeHandler(handler)


@pytest.fixture
def template() -> SqliteTemplate:
    def load(connection: Any) -> None:
        connection.execute("CREATE TABLE people (name TEXT PRIMARY KEY, pin TEXT)")
        connection.execute("INSERT INTO people VALUES ('Ada', '1'), ('Ben', '2')")

    return SqliteTemplate.build(load)


def opened(template: SqliteTemplate, audit: Audit | None) -> DatabaseExecutableEnvironment:
    return DatabaseExecutableEnvironment(
        Toolbox([set_pin]), template.open(Pins()), template.tables, audit=audit
    )  # pyright: ignore[reportArgumentType]


def test_a_call_has_one_line_and_its_statements_one_each(template, heard):
    logger, lines = heard
    with opened(template, Audit(logger, {"job": 7}, lambda: 3)) as environment:
        environment.call(ToolCall.of("set_pin", {"name": "Ada", "pin": SECRET}, "c1"))
    first, second, call = lines
    assert {**call, "at": "", "ms": 0} == {
        "at": "", "level": "INFO", "event": "tool_call", "job": 7, "step": 3, "id": "c1", "tool": "set_pin",
        "arguments": digest_of(ToolCall("", "", ""), {"name": "Ada", "pin": "other"}, {"pin"}),
        "ms": 0, "rows_read": 1, "rows_changed": 1, "ok": True, "outcome": "ok",
    }  # fmt: skip
    assert (first["event"], first["level"], first["sql"]) == (
        "statement", "DEBUG", "UPDATE people SET pin = ? WHERE name = ?")  # fmt: skip
    assert (
        first["rows_changed"],
        first["rows_read"],
        second["rows_changed"],
        second["rows_read"],
    ) == (1, 0, 0, 1)
    assert call["ms"] >= first["ms"] + second["ms"] > 0


def test_what_fails_has_a_line_too_and_no_line_a_value(template, heard):
    logger, lines = heard
    with opened(template, Audit(logger)) as environment:
        for call in (
            ToolCall.of("set_pin", {"name": "nobody", "pin": SECRET}),
            ToolCall("c", "set_pin", f'{{"name": "Ada", "pin": "{SECRET}"'),
            ToolCall.of("set_pin", {"name": "Ada", "pin": "x", SECRET: 1}),
            ToolCall.of(f"set_{SECRET}", {"pin": SECRET}),
        ):
            environment.call(call)
        with pytest.raises(ExecutorError):
            environment.call(ToolCall.of("set_pin", {"name": "bug", "pin": SECRET}))
        assert environment.executions[0].category == "not_found"
    calls = [
        (each["tool"], each["outcome"], each["ok"])
        for each in lines
        if each["event"] == "tool_call"
    ]
    assert calls == [
        ("set_pin", "not_found", False),
        ("set_pin", "malformed_call", False),
        ("set_pin", "invalid_arguments", False),
        (None, "unknown_tool", False),
        ("set_pin", "ExecutorError", False),
    ]
    assert [each["arguments"] is None for each in lines if each["event"] == "tool_call"] == [
        False,
        True,
        True,
        True,
        True,
    ]


def test_at_info_no_statement_is_told(template, heard):
    logger, lines = heard
    logger.setLevel(logging.INFO)
    with opened(template, Audit(logger)) as environment:
        environment.call(ToolCall.of("set_pin", {"name": "Ada", "pin": SECRET}))
    assert [(each["event"], each["rows_read"]) for each in lines] == [("tool_call", 1)]


def test_off_nobody_listens(template, heard):
    _, lines = heard
    with opened(template, None) as environment:
        assert environment.call(ToolCall.of("set_pin", {"name": "Ada", "pin": SECRET})).result.ok
    assert not lines
    assert TRACE.get() is None


@pytest.mark.parametrize(
    ("dialect", "sql", "shown"),
    [
        ("sqlite", ("SELECT p.name, count(*) FROM people p WHERE pin='hunter2' -- hunter2"), "SELECT n1.name, count(*) FROM people n1 WHERE pin=?"),
        ("sqlite", 'UPDATE people SET pin = "hunter2"', "UPDATE people SET pin = n1"),
        ("sqlite", "SELECT hunter2, hunter2(1) FROM [hunter2]", "SELECT n1, n1(?) FROM n1"),
        ("sqlite", "EXPLAIN SELECT 'hunter2'", "EXPLAIN ?"),
        ("sqlite", "SELECT X'68756e74657232', 0x41, 1e3 /* hunter2 */", "SELECT ?, ?, ?"),
        ("sqlite", "SELECT name FROM people WHERE pin = 'hunter2", None),
        ("sqlite", "SELECT name FROM people " + " " * LONGEST, None),
        ("postgresql", "SELECT $1::text, $$hunter2$$, E'hunter2\\'', U&'hunter2'", None),
        ("postgresql", "SELECT $hunter2$hunter2$hunter2$ FROM people", "SELECT ? FROM people"),
        ("mysql", "CALL hunter2('hunter2')", "CALL ?"),
        ("mysql", ('SELECT name, "hunter2", _utf8\'hunter2\', @hunter2 FROM people # hunter2'), "SELECT name, ?, _utf8?, @n1 FROM people"),
        ("mysql", ("SELECT name FROM people WHERE pin = %(hunter2)s AND name = %s"), "SELECT name FROM people WHERE pin = ? AND name = ?"),
    ],
)  # fmt: skip
def test_a_statement_is_shown_without_values(dialect: str, sql: str, shown: str | None):
    found = masked(sql, dialect, NAMES)
    assert SECRET not in str(found)
    if shown is not None or len(sql) > LONGEST:
        assert found == shown


def test_equal_arguments_have_equal_digests_and_secrets_none():
    call = ToolCall("c", "t", "not json")
    assert digest_of(call, {"a": 1, "b": [2]}, ()) == digest_of(call, {"b": [2], "a": 1}, ())
    assert digest_of(call, {"a": 1}, ()) != digest_of(call, {"a": 2}, ())
    assert digest_of(call, {"a": 1, "b": 1}, {"a"}) == digest_of(call, {"a": 2, "b": 1}, {"a"})
    assert digest_of(call, None, ()) is not None
    assert digest_of(call, None, {"a"}) is None


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        ("pim", "secret: unknown parameter 'pim'; known are name, pin"),
        ("[pin, pim]", "secret: unknown parameter 'pim'"),
        ("5", "`secret` must be the name of a parameter or a list of them, not 5"),
        ("[5]", "`secret` must be the name of a parameter or a list of them"),
    ],
)
def test_a_world_names_secret_parameters_in_tools_yaml(tmp_path: Path, secret: str, words: str):
    def write(value: str) -> None:
        (tmp_path / "schema.sql").write_text("CREATE TABLE t (a int)")
        (tmp_path / "seed.sql").write_text("INSERT INTO t VALUES (1)")
        (tmp_path / "work.py").write_text("def go(arguments, db): ...")
        (tmp_path / "tools.yaml").write_text(
            "- name: go\n  description: Go.\n  executor: work.go\n  parameters: {type: object,"
            " properties: "
            f"{{name: {{type: string}}, pin: {{type: string}}}}}}\n  secret: {value}\n"
        )

    write("pin")
    assert load_world(tmp_path).tools[0].secret == {"pin"}
    write(secret)
    with pytest.raises(WorldError, match=r"tools\.yaml:5") as error:
        load_world(tmp_path)
    assert words in str(error.value)


def test_a_decorated_tool_names_its_secrets_rightly():
    with pytest.raises(WorldError, match="secret: unknown parameter 'pim'"):

        @tool(secret=["pim"])
        def go(db: Any, pin: str) -> ToolResult:
            """Go.

            Args:
                pin: The pin.
            """
            return ToolResult(pin)
