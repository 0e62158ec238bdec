"""What an executor may give back, and what becomes of an executor that breaks its word."""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import signal
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest

from envs import Tool, ToolError, ToolResult
from envs.environments.executable import ExecutableEnvironment, ExecutionContext
from envs.errors import ExecutorError
from envs.tools.toolbox import Toolbox
from envs.types import ToolCall, ToolOutcome

NUMBERS = {
    "type": "object",
    "properties": {
        "one": {"type": "integer"},
        "many": {"type": "array", "items": {"type": "integer"}},
        "inner": {
            "type": "object",
            "properties": {"deep": {"type": "integer"}, "free": {"type": "number"}},
        },
    },
}


class Plain(ExecutableEnvironment):
    """Executors without any resource."""

    @contextmanager
    def _build_execution_context(self, tool: Tool) -> Generator[ExecutionContext]:
        yield ExecutionContext()

    def close(self) -> None:
        pass


class Colour(StrEnum):
    RED = "red"


def run(executor: Callable[..., Any], arguments: str = "{}") -> ToolOutcome:
    tool = Tool("work", "Do it.", NUMBERS, executor)
    with Plain(Toolbox([tool])) as environment:
        return environment.call(ToolCall("call_0", "work", arguments))


def fails(error: BaseException) -> Callable[..., Any]:
    def executor(arguments: Any, db: Any) -> Any:
        raise error

    return executor


@pytest.mark.parametrize(
    ("output", "recorded"),
    [
        ({5: "a", None: 2, True: 3}, {"5": "a", "null": 2, "true": 3}),
        ((1, (2,)), [1, [2]]),
        ({"colour": Colour.RED}, {"colour": "red"}),
        (None, None),
        ("as it is", "as it is"),
    ],
)
def test_what_is_recorded_is_what_the_model_was_shown(output: Any, recorded: Any):
    """Not an object that the executor still holds, with keys and types that JSON does not know."""
    outcome = run(lambda arguments, db: ToolResult(output))
    assert outcome.result.output == recorded
    assert type(outcome.result.output) is type(recorded)
    shown = outcome.content if isinstance(recorded, str) else json.loads(outcome.content)
    assert shown == recorded


def test_an_output_that_changes_later_is_recorded_as_it_was():
    kept: list[int] = [1]
    outcome = run(lambda arguments, db: ToolResult(kept))
    kept.append(2)
    assert outcome.result.output == [1]


@pytest.mark.parametrize(
    ("output", "recorded"),
    [
        (dt.date(2026, 1, 1), "2026-01-01"),
        ({"price": Decimal("1.50"), "n": 1}, {"price": "1.50", "n": 1}),
        ((b"x", uuid.UUID(int=1)), [{"$bytes": "eA=="}, str(uuid.UUID(int=1))]),
        ({"at": ipaddress.ip_interface("10.0.0.1/8")}, {"at": "10.0.0.1/8"}),
    ],
)
def test_values_of_a_database_are_written_as_in_a_rows_changes(output: Any, recorded: Any):
    assert run(lambda arguments, db: ToolResult(output)).result.output == recorded


@pytest.mark.parametrize("output", [{1}, {(1, 2): 3}, object()])
def test_what_is_no_json_is_the_authors_error(output: Any):
    with pytest.raises(ExecutorError, match="tool work must return JSON"):
        run(lambda arguments, db: ToolResult(output))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({}, "returned dict, not a ToolResult"),
        (ToolResult({}, updated_state={"a": 1}), "returned updated_state"),
        (ToolResult({}, status="success"), "returned the status 'success'"),  # type: ignore[arg-type]
        (ToolResult(status="error", message="No."), "failed with the category None"),
        (ToolResult(status="error", message="No.", category=5), "failed with the category 5"),  # type: ignore[arg-type]
        (ToolResult(status="error", category="x"), "failed with the message None"),
        (
            ToolResult(status="error", message="No.", category="x", advice={1}),
            "failed with the advice {1}",
        ),  # type: ignore[arg-type]
    ],
)
def test_a_result_that_is_none_is_the_authors_error(result: Any, words: str):
    with pytest.raises(ExecutorError) as caught:
        run(lambda arguments, db: result)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ToolError("No.", category=None), "the category None"),  # type: ignore[arg-type]
        (ToolError("No.", category=5), "the category 5"),  # type: ignore[arg-type]
        (ToolError("No.", category=" "), "the category ' '"),
        (ToolError({1}, category="refused"), "the message {1}"),  # type: ignore[arg-type]
        (ToolError("", category="refused"), "the message ''"),
        (ValueError("boom"), "raised ValueError: boom"),
        (SystemExit(3), "raised SystemExit: 3"),
        (RecursionError("deep"), "raised RecursionError: deep"),
    ],
)
def test_an_error_that_tells_the_model_nothing_is_the_authors(error: BaseException, words: str):
    """A category that is no text would break the record; sys.exit() would end the worker."""
    with pytest.raises(ExecutorError) as caught:
        run(fails(error))
    assert words in str(caught.value)


def test_an_output_off_its_schema_is_the_authors_error():
    schema = {"type": "object", "properties": {"one": {"type": "integer"}}}
    work = Tool(
        "work", "Do it.", NUMBERS, lambda _, db: ToolResult({"one": "1"}), output_schema=schema
    )
    with Plain(Toolbox([work])) as environment, pytest.raises(ExecutorError, match="output_schema"):
        environment.call(ToolCall("call_0", "work", "{}"))


def test_a_number_that_json_lacks_is_written_as_in_the_changes_of_a_row():
    outcome = run(lambda arguments, db: ToolResult({"a": [float("nan"), float("-inf"), 1.5]}))
    assert outcome.content == '{"a":[{"$float":"NaN"},{"$float":"-Infinity"},1.5]}'
    assert outcome.result.output == json.loads(outcome.content)


def test_the_user_may_still_interrupt():
    def interrupted(arguments: Any, db: Any) -> ToolResult:
        signal.raise_signal(signal.SIGINT)
        return ToolResult({})

    with pytest.raises(KeyboardInterrupt):
        run(interrupted)


def test_a_whole_number_reaches_the_executor_as_one():
    """5.0 is an integer to JSON Schema, and range(5.0) a TypeError to the author's code."""
    outcome = run(
        lambda arguments, db: ToolResult(
            [list(range(arguments["one"])), arguments["many"], arguments["inner"]]
        ),
        '{"one": 2.0, "many": [1.0, 2], "inner": {"deep": 3.0, "free": 4.0}}',
    )
    assert outcome.content == '[[0,1],[1,2],{"deep":3,"free":4.0}]'


def test_each_call_that_came_to_a_result_is_timed_and_counted_once():
    def work(arguments: Any, db: Any) -> ToolResult:
        if arguments.get("one") == 1:
            raise ToolError("No.", category="conflict")
        return (
            ToolResult({}, category="ignored")
            if arguments
            else fails(ZeroDivisionError())(arguments, db)
        )

    with Plain(Toolbox([Tool("work", "Do it.", NUMBERS, work)])) as environment:
        for at, (name, arguments) in enumerate(
            [("work", '{"one": 2}'), ("work", '{"one": 1}'), ("work", "{"), ("wrk", "{}")]
        ):
            environment.call(ToolCall(f"call_{at}", name, arguments))
        with pytest.raises(ExecutorError):
            environment.call(ToolCall("call_4", "work", "{}"))
        said = [(each.call_id, each.tool, each.category) for each in environment.executions]
        assert said == [
            ("call_0", "work", None),
            ("call_1", "work", "conflict"),
            ("call_2", "work", "malformed_call"),
            ("call_3", None, "unknown_tool"),
        ]
        assert all(each.ms > 0 for each in environment.executions)
        metrics = environment.metrics
        assert (metrics["work"].count, metrics["work"].failed, metrics[None].count) == (3, 2, 1)
