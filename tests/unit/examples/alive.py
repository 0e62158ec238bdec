"""The shipped worlds as their tests look at them: alive, with calls by name, and as rows in a
database that everybody has.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from envs import ToolCall
from envs.environments.database import DatabaseExecutableEnvironment
from envs.types import ToolOutcome
from envs.world.loader import World


class Alive:
    """A world alive, with calls by name."""

    def __init__(self, environment: DatabaseExecutableEnvironment) -> None:
        self.environment = environment

    def outcome(self, tool: str, /, **arguments: Any) -> ToolOutcome:
        return self.environment.call(ToolCall.of(tool, arguments))

    def ok(self, tool: str, /, **arguments: Any) -> Any:
        outcome = self.outcome(tool, **arguments)
        assert outcome.result.ok, outcome.content
        return outcome.result.output

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """The category of a refusal that left nothing behind."""
        outcome = self.outcome(tool, **arguments)
        assert not outcome.result.ok
        assert not outcome.changes
        return str(outcome.result.category)


def plain_database(world: World, universe: int = 0) -> sqlite3.Connection:
    """Universe 0 from its script, another from its rows, without any loader of this project."""
    made = sqlite3.connect(":memory:")
    made.execute("PRAGMA foreign_keys = ON")
    made.executescript((world.path / "schema.sql").read_text("utf-8"))
    if universe == 0:
        made.executescript((world.path / "seed.sql").read_text("utf-8"))
    for row in world.seed_rows(universe) if universe else ():
        columns, marks = ", ".join(row.values), ", ".join("?" * len(row.values))
        made.execute(
            f"INSERT INTO {row.table} ({columns}) VALUES ({marks})", list(row.values.values())
        )
    return made
