"""The layer between agent and environment: shown names outside, the world's own inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from envs.tools.toolbox import Toolbox
from envs.types import ErrorCategory, ToolCall, ToolOutcome, ToolResult
from synth.core.renaming.translator import Translator, added_tools, translator_of
from synth.core.types.renaming import Renaming


class RenamingLayer:
    """The tools of one task as its renaming shows them, and the way of each call through it.

    ``boxes`` hold the environment's tools and the episode's.
    """

    def __init__(self, renaming: Renaming, boxes: Sequence[Toolbox]) -> None:
        self._translator = translator_of(renaming)
        self._added = {tool.name: tool for tool in renaming.added}
        self.toolbox = _shown(self._translator, tuple(boxes))
        """What the model is offered."""

    def own_text(self, text: str) -> str:
        return self._translator.own_text(text)

    def own_name(self, call: ToolCall) -> str | None:
        """The world's name of the tool that is called; None if the world has none."""
        return self._translator.own_tool(call.name) if call.name in self.toolbox else None

    def enter(self, call: ToolCall) -> ToolCall | ToolOutcome:
        """The call by the world's names, or its outcome if it does not get to the world."""
        parsed = self.toolbox.parse(call)
        if isinstance(parsed, ToolResult):
            return ToolOutcome(call, parsed, parsed.content())
        if call.name in self._added:
            return self._answered(call, parsed[1])
        own = self._translator.own_tool(call.name)
        assert own is not None, "a tool that is shown is the world's or an added one"
        return ToolCall.of(own, self._translator.own_arguments(parsed[1]), call.id)

    def leave(self, call: ToolCall, outcome: ToolOutcome) -> ToolOutcome:
        """The outcome of a call as the model is shown it."""
        result = self._translator.show_result(outcome.result)
        arguments = outcome.arguments
        return replace(
            outcome,
            call=call,
            result=result,
            content=result.content(),
            arguments=None if arguments is None else self._translator.show_arguments(arguments),
        )

    def inside(self, outcome: ToolOutcome) -> ToolOutcome:
        """A shown outcome by the world's names. Its texts stay as they were shown."""
        own, arguments, result = self.own_name(outcome.call), outcome.arguments, outcome.result
        if own is None:
            return outcome
        if result.ok:
            result = replace(result, output=self._translator.own_output(result.output))
        return replace(
            outcome,
            call=replace(outcome.call, name=own),
            result=result,
            arguments=None if arguments is None else self._translator.own_arguments(arguments),
        )

    def _answered(self, call: ToolCall, arguments: dict[str, object]) -> ToolOutcome:
        tool = self._added[call.name]
        result = ToolResult(tool.output)
        if tool.refusal is not None:
            result = ToolResult.failure(tool.refusal, category=ErrorCategory.PERMISSION_DENIED)
        return ToolOutcome(call, result, result.content(), arguments)


@lru_cache(maxsize=256)
def _shown(translator: Translator, boxes: tuple[Toolbox, ...]) -> Toolbox:
    """The toolbox of the tools that a renaming shows; its validators are compiled once."""
    renaming = translator.renaming
    own = [tool for box in boxes for tool in box.tools if tool.name not in renaming.left_out]
    return Toolbox([*map(translator.show_tool, own), *added_tools(renaming)])
