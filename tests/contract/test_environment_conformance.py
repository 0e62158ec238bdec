"""Environments keep their contract: the database one, and the smallest one that the base class
allows.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import Connection, text

from envs import Tool, ToolError, ToolResult, tool
from envs.environments.database import DatabaseExecutableEnvironment
from envs.environments.executable import BaseEnvironment, ExecutableEnvironment, ExecutionContext
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.tools.toolbox import Toolbox
from envs.types import Pins
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
