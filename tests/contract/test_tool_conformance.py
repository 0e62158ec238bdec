"""The contract of sets of tools: the built-in SQL tools, and a small set of a stranger's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import pytest
from sqlalchemy import Connection

from envs import Tool, tool
from envs.testing import ToolConformance
from envs.tools.tool import PositiveInt


def weather_tools(*, unit: Literal["C", "F"], days: PositiveInt = 7) -> list[Tool]:
    @tool(read_only=True)
    def forecast(db: Connection, town: str) -> dict[str, object]:
        """Say what the weather will be.

        Args:
            town: The town.
        """
        return {"town": town, "unit": unit, "days": days}

    @tool
    def report(db: Connection, town: str, degrees: float) -> dict[str, object]:
        """Report what the weather is.

        Args:
            town: The town.
            degrees: The temperature.
        """
        return {"town": town, "degrees": degrees}

    return [forecast, report]


class TestSqlTools(ToolConformance):
    tool_set = "sql"

    def calls(self) -> Mapping[str, Mapping[str, object]]:
        return {
            "list_tables": {},
            "describe_table": {"table": "t"},
            "sample_rows": {"table": "t", "limit": 3},
            "run_select_query": {"sql": "SELECT 1"},
            "run_mutation_query": {"sql": "DELETE FROM t"},
            "submit_sql": {"sql": "SELECT 1"},
        }


class TestSqlToolsWithTheCritic(TestSqlTools):
    options: ClassVar[Mapping[str, object]] = {
        "critic": True,
        "max_rows": 5,
        "tools": ["run_select_query"],
    }

    def calls(self) -> Mapping[str, Mapping[str, object]]:
        return {"run_select_query": {"sql": "SELECT 1"}}


class TestWeather(ToolConformance):
    tool_set = f"{__name__}:weather_tools"
    options: ClassVar[Mapping[str, object]] = {"unit": "C"}

    def calls(self) -> Mapping[str, Mapping[str, object]]:
        return {"forecast": {"town": "Ulm"}, "report": {"town": "Ulm", "degrees": 21.5}}


def loose_tools(*, unit: str = "C") -> list[Tool]:
    """A set that breaks the contract: its tool takes arguments that it does not declare."""
    made = weather_tools(unit="C")[0]
    schema = {"type": "object", "properties": {"town": {"type": "string"}}}
    return [Tool(made.name, made.description, schema, made.executor, read_only=True)]


class LooseWeather(ToolConformance):
    tool_set = f"{__name__}:loose_tools"

    def calls(self) -> Mapping[str, Mapping[str, object]]:
        return {"forecast": {"town": "Ulm"}}


@pytest.mark.parametrize(
    "question",
    ["test_an_unknown_argument_is_refused", "test_tools_that_only_read_say_so_in_their_limits"],
)
def test_the_contract_test_catches_a_set_that_breaks_it(question: str):
    with pytest.raises(AssertionError):
        getattr(LooseWeather(), question)()
