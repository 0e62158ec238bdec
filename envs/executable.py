"""Environments whose tools are Python functions: validation around them, and the lifecycle."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from envs.base import BaseEnvironment
from envs.errors import EnvsError, ExecutorError, ToolError
from envs.tool import Tool
from envs.toolbox import Toolbox
from envs.types import ErrorCategory, Json, RowChange, ToolCall, ToolOutcome, ToolResult


class ExecutionContext:
    """What surrounds one execution: the second argument of the executor, and what the call changed."""

    resource: Any = None

    @property
    def changes(self) -> tuple[RowChange, ...]:
        """The rows that the call changed, known once its effects are kept."""
        return ()

    def rollback(self) -> None:
        """Undo what the executor did, at the end of the call."""


class ExecutableEnvironment(BaseEnvironment):
    """Runs executors between two validations. Subclasses say what an executor is given.

    A subclass implements :meth:`_build_execution_context`, a context manager around one call, and may
    translate its resource's own errors into results by :meth:`_error_result`.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox

    @property
    def tools(self) -> Sequence[Tool]:
        return self.toolbox.tools

    @abstractmethod
    def _build_execution_context(self, tool: Tool) -> AbstractContextManager[ExecutionContext]:
        """What surrounds one execution; leaving it normally keeps the call's effects."""

    def _error_result(self, error: Exception) -> ToolResult | None:
        """The result that stands for an error of the resource, or None where the error is a bug."""
        return None

    def call(self, call: ToolCall) -> ToolOutcome:
        parsed = self.toolbox.parse(call)
        if isinstance(parsed, ToolResult):
            return ToolOutcome(call, parsed, parsed.content())
        found, arguments = parsed
        context: ExecutionContext | None = None
        try:
            with self._build_execution_context(found) as context:
                result = self._checked(found, found.executor(arguments, context.resource))
                content = result.content()
                limit = self._max_result_bytes(found)
                if result.ok and limit is not None and len(content.encode("utf-8", "surrogatepass")) > limit:
                    result = ToolResult.failure(
                        f"The result is larger than {limit} bytes; ask for less.",
                        category=ErrorCategory.LIMIT_EXCEEDED,
                        error="ResultTooLarge",
                    )
                    content = result.content()
                if not result.ok:
                    context.rollback()
        except ToolError as error:
            result = ToolResult.failure(error.message, category=error.category)
            return ToolOutcome(call, result, result.content(), arguments)
        except EnvsError:
            raise
        except Exception as error:
            translated = self._error_result(error)
            if translated is None:
                raise ExecutorError(f"tool {found.name} raised {type(error).__name__}: {error}") from error
            return ToolOutcome(call, translated, translated.content(), arguments)
        return ToolOutcome(call, result, content, arguments, context.changes)

    def _max_result_bytes(self, tool: Tool) -> int | None:
        return tool.limits.max_result_bytes

    def _checked(self, tool: Tool, result: Json) -> ToolResult:
        """The result as promised; ExecutorError where the author's code broke its word."""
        if not isinstance(result, ToolResult):
            raise ExecutorError(f"tool {tool.name} returned {type(result).__name__}, not a ToolResult")
        if result.updated_state is not None:
            raise ExecutorError(f"tool {tool.name} returned updated_state: the database is the state")
        if result.ok:
            try:
                result.content()
            except (TypeError, ValueError) as error:
                raise ExecutorError(f"tool {tool.name} returned what is no JSON: {error}") from None
            if problem := self.toolbox.output_problem(tool.name, result.output):
                raise ExecutorError(f"tool {tool.name} returned what its output_schema forbids: {problem}")
        return result
