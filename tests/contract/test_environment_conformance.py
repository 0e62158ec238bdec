"""Environments keep their contract: the database one, and the smallest one that the base class
allows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, text

from envs import Tool, ToolError, ToolResult, tool
from envs.environments.database import DatabaseExecutableEnvironment
from envs.environments.executable import BaseEnvironment, ExecutableEnvironment, ExecutionContext
from envs.errors import ExecutorError
from envs.processes import close_pools
from envs.sandboxes.base import Template
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.tools.toolbox import Toolbox
from envs.types import Pins, ToolCall
from envs.world.loader import World, load_world
from tests.contract.environment_contract import EnvironmentContract


@tool
def remember(db: Connection, key: str, value: int) -> dict:
    """Keep a value.

    Args:
        key: Its name.
        value: The value.
    """
    db.execute(
        text("INSERT OR REPLACE INTO kept (name, value) VALUES (:k, :v)"), {"k": key, "v": value}
    )
    if value < 0:
        raise ToolError("No negative values.", category="refused")
    return {"value": value}


@tool(read_only=True)
def recall(db: Connection, key: str) -> dict:
    """Give a value back.

    Args:
        key: Its name.
    """
    return {
        "value": db.execute(text("SELECT value FROM kept WHERE name = :k"), {"k": key}).scalar()
    }


@tool
def broken(db: Connection) -> dict:
    """Fail."""
    return {"value": 1 // 0}


TEMPLATE = SqliteTemplate.build(
    lambda db: db.execute("CREATE TABLE kept (name TEXT PRIMARY KEY, value INTEGER)")
)


class TestDatabase(EnvironmentContract):
    def environment(self) -> BaseEnvironment:
        box = Toolbox([remember, recall, broken])
        return DatabaseExecutableEnvironment(box, TEMPLATE.open(Pins()), TEMPLATE.tables)

    def test_changes_are_told_per_call_and_in_total(self):
        with self.environment() as environment:
            assert isinstance(environment, DatabaseExecutableEnvironment)
            before = environment.state_hash()
            first = self.ask(environment, "remember", '{"key": "a", "value": 5}')
            second = self.ask(environment, "remember", '{"key": "a", "value": 6}')
            assert [each.op for each in first.changes] == ["insert"]
            assert [each.op for each in second.changes] == ["update"]
            assert [dict(each.after or {}) for each in environment.diff().changes] == [
                {"name": "a", "value": 6}
            ]
            assert environment.state_hash() != before


APART = """
from sqlalchemy import Connection, text
from envs import ToolError, tool

@tool(free_sql=True)
def remember(db: Connection, key: str, value: int) -> dict:
    \"\"\"Keep a value.

    Args:
        key: Its name.
        value: The value.
    \"\"\"
    db.execute(text("INSERT OR REPLACE INTO kept (name, value) VALUES (:k, :v)"), {"k": key, "v": value})
    if value < 0:
        raise ToolError("No negative values.", category="refused")
    return {"value": value}

@tool(read_only=True, free_sql=True)
def recall(db: Connection, key: str) -> dict:
    \"\"\"Give a value back.

    Args:
        key: Its name.
    \"\"\"
    return {"value": db.execute(text("SELECT value FROM kept WHERE name = :k"), {"k": key}).scalar()}

@tool(free_sql=True)
def broken(db: Connection) -> dict:
    \"\"\"Fail.\"\"\"
    return {"value": 1 // 0}
"""


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Template]]:
    folder = tmp_path_factory.mktemp("apart") / "notes"
    folder.mkdir()
    (folder / "schema.sql").write_text("CREATE TABLE kept (name TEXT PRIMARY KEY, value INTEGER);")
    (folder / "seed.sql").write_text("")
    (folder / "executors.py").write_text(APART)
    world = load_world(folder)
    with world.template() as template:
        yield world, template
    close_pools()


class TestApart(EnvironmentContract):
    """All calls in processes that may be killed."""

    @pytest.fixture(autouse=True)
    def _notes(self, notes: tuple[World, Template]):
        self.world, self.made = notes

    def environment(self) -> BaseEnvironment:
        environment = self.world.environment(self.made, Pins())
        assert not any(environment.inline(each.name) for each in environment.tools)
        return environment


class _Notes(ExecutionContext):
    def __init__(self, kept: dict[str, int]) -> None:
        self.resource = kept
        self.saved = dict(kept)

    def rollback(self) -> None:
        self.resource.clear()
        self.resource.update(self.saved)


class NotesEnvironment(ExecutableEnvironment):
    """State in a dict: what a subclass for something other than a database looks like."""

    def __init__(self) -> None:
        def keep(arguments: dict, kept: dict) -> ToolResult:
            kept[arguments["key"]] = arguments["value"]
            if arguments["value"] < 0:
                raise ToolError("No negative values.", category="refused")
            return ToolResult({"value": arguments["value"]})

        def give(arguments: dict, kept: dict) -> ToolResult:
            return ToolResult({"value": kept.get(arguments["key"])})

        tools = [
            Tool("remember", "Keep a value.", remember.parameters, keep),
            Tool("recall", "Give a value back.", recall.parameters, give, read_only=True),
            Tool("broken", "Fail.", broken.parameters, lambda arguments, kept: ToolResult(1 // 0)),
        ]
        super().__init__(Toolbox(tools))
        self.kept: dict[str, int] = {}

    @contextmanager
    def _build_execution_context(self, tool: Tool) -> Generator[ExecutionContext]:
        notes = _Notes(self.kept)
        try:
            yield notes
        except BaseException:
            notes.rollback()
            raise

    def close(self) -> None:
        self.kept.clear()


class TestNotes(EnvironmentContract):
    def environment(self) -> BaseEnvironment:
        return NotesEnvironment()


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"value": 1}, "not a ToolResult"),
        (ToolResult({"value": 1}, updated_state={"value": 1}), "the database is the state"),
        (ToolResult({"value": {1, 2}}), "must return JSON"),
        (ToolResult({"value": float("nan")}), "output_schema"),
        (ToolResult({"value": "text"}), "output_schema"),
    ],
)
def test_an_executor_that_breaks_its_word_is_the_authors_error(result: object, words: str):
    schema = {"type": "object", "properties": {"value": {"type": "integer"}}}
    item = Tool(
        "odd",
        "Odd.",
        {"type": "object", "properties": {}},
        lambda a, db: result,
        output_schema=schema,
    )  # type: ignore[return-value]
    with (
        DatabaseExecutableEnvironment(
            Toolbox([item]), TEMPLATE.open(Pins()), TEMPLATE.tables
        ) as environment,
        pytest.raises(ExecutorError, match=words),
    ):
        environment.call(ToolCall("call_0", "odd", "{}"))
