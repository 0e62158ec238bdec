"""The contract test of a set of tools (:mod:`envs.tools.tool_sets`)."""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from envs.plugins import TOOLS
from envs.tools.tool import Tool, lint
from envs.tools.tool_sets import make_tools, options_schema
from envs.tools.toolbox import Toolbox
from envs.types import ErrorCategory, ToolCall, ToolResult


class ToolConformance:
    """Subclass it in a test module as ``Test...``, and name the set in :attr:`tool_set`.

    ::

        class TestWeather(ToolConformance):
            tool_set = "acme.weather:weather_tools"

            def calls(self) -> Mapping[str, Mapping[str, object]]:
                return {"forecast": {"town": "Ulm"}}
    """

    tool_set: str = ""
    """The name of the set, as tools.yaml has it after ``builtin:``."""

    options: ClassVar[Mapping[str, object]] = {}
    """Options that the set requires; none by default."""

    @abstractmethod
    def calls(self) -> Mapping[str, Mapping[str, object]]:
        """Valid arguments for every tool of the set, by its name."""
        raise AssertionError("a contract test names valid arguments for every tool")

    def tools(self) -> list[Tool]:
        return make_tools(TOOLS.find(self.tool_set), self.options)

    def test_its_options_have_types(self) -> None:
        make = TOOLS.load(self.tool_set)
        schema = options_schema(make, self.tool_set)
        assert set(self.options) <= set(schema["properties"])
        assert set(schema["required"]) <= set(self.options), "`options` lacks a required one"

    def test_every_tool_is_portable_and_named_once(self) -> None:
        tools = self.tools()
        assert tools, "a set of tools has at least one"
        assert not [line for tool in tools for line in lint(tool)]
        names = [tool.name for tool in tools]
        assert len(set(names)) == len(names)
        assert set(self.calls()) == set(names), "`calls` has one entry for each tool"

    def test_it_makes_the_same_tools_each_time(self) -> None:
        """Workers and the driver make the set anew, and must show a model the same tools."""
        assert [tool.to_openai() for tool in self.tools()] == [
            tool.to_openai() for tool in self.tools()
        ]

    def test_tools_that_only_read_say_so_in_their_limits(self) -> None:
        for tool in self.tools():
            assert tool.read_only is tool.limits.read_only, tool.name
            if tool.risk is not None:
                assert (tool.risk == "read") is tool.read_only, tool.name

    def test_a_valid_call_reaches_its_tool(self) -> None:
        toolbox = Toolbox(self.tools())
        for name, arguments in self.calls().items():
            parsed = toolbox.parse(ToolCall.of(name, arguments))
            assert not isinstance(parsed, ToolResult), parsed
            assert parsed[0].name == name

    def test_an_unknown_argument_is_refused(self) -> None:
        toolbox = Toolbox(self.tools())
        for name, arguments in self.calls().items():
            extended: dict[str, Any] = {**arguments, "no_such_argument": 1}
            refused = toolbox.parse(ToolCall.of(name, extended))
            assert isinstance(refused, ToolResult), f"{name} accepts an unknown argument"
            assert refused.category == ErrorCategory.INVALID_ARGUMENTS

    def test_what_a_model_is_shown_travels(self) -> None:
        for tool in self.tools():
            shown = tool.to_openai()
            assert pickle.loads(pickle.dumps(shown)) == shown  # noqa: S301 - our own bytes
