"""Contract tests of a :class:`envs.environments.executable.BaseEnvironment`."""

from __future__ import annotations

import json
import pickle
from abc import abstractmethod

from envs.environments.executable import BaseEnvironment
from envs.errors import ExecutorError
from envs.tools.tool import lint
from envs.types import ErrorCategory, ToolCall, ToolOutcome


class EnvironmentContract:
    """Contract tests of an environment: subclass it, open an environment with the three tools
    below, and let pytest collect.

    ``remember(key: str, value: int)`` keeps a value and returns it as ``{"value": ...}``; it raises
    ``ToolError(category="refused")`` for a negative value, after it has kept it. ``recall(key:
    str)``, read-only, returns ``{"value": ...}``, null where nothing was kept. ``broken()`` raises
    ZeroDivisionError.
    """

    @abstractmethod
    def environment(self) -> BaseEnvironment:
        """A fresh environment."""
        raise AssertionError("a contract test must open its environment")

    def ask(self, environment: BaseEnvironment, name: str, arguments: str) -> ToolOutcome:
        return environment.call(ToolCall("call_7", name, arguments))

    def test_tools_are_portable_and_named_once(self) -> None:
        with self.environment() as environment:
            names = [tool.name for tool in environment.tools]
            assert {"remember", "recall", "broken"} <= set(names)
            assert len(set(names)) == len(names)
            assert not [line for tool in environment.tools for line in lint(tool)]

    def test_a_call_is_answered_under_its_own_id_with_json(self) -> None:
        with self.environment() as environment:
            outcome = self.ask(environment, "remember", '{"key": "a", "value": 5}')
            assert outcome.result.ok
            assert outcome.call.id == "call_7"
            assert json.loads(outcome.content) == {"value": 5}
            assert outcome.arguments == {"key": "a", "value": 5}

    def test_effects_last_from_call_to_call_and_not_from_one_environment_to_the_next(self) -> None:
        with self.environment() as environment:
            self.ask(environment, "remember", '{"key": "a", "value": 5}')
            assert json.loads(self.ask(environment, "recall", '{"key": "a"}').content) == {
                "value": 5
            }
        with self.environment() as environment:
            assert json.loads(self.ask(environment, "recall", '{"key": "a"}').content) == {
                "value": None
            }

    def test_a_refusal_is_a_result_and_leaves_nothing_behind(self) -> None:
        with self.environment() as environment:
            outcome = self.ask(environment, "remember", '{"key": "a", "value": -1}')
            assert (outcome.result.status, outcome.result.category) == ("error", "refused")
            assert json.loads(outcome.content)["status"] == "error"
            assert not outcome.changes
            assert json.loads(self.ask(environment, "recall", '{"key": "a"}').content) == {
                "value": None
            }

    def test_what_a_model_gets_wrong_is_a_typed_result(self) -> None:
        wrong = (
            ("remembr", '{"key": "a", "value": 1}', ErrorCategory.UNKNOWN_TOOL),
            ("remember", '{"key": "a", "value": 1', ErrorCategory.MALFORMED_CALL),
            ("remember", "['a', 1]", ErrorCategory.MALFORMED_CALL),
            ("remember", '"{}"', ErrorCategory.MALFORMED_CALL),
            ("remember", '{"key": "a", "value": NaN}', ErrorCategory.MALFORMED_CALL),
            ("remember", '{"key": "a", "key": "b", "value": 1}', ErrorCategory.MALFORMED_CALL),
            ("remember", '{"key": "a", "value": "1"}', ErrorCategory.INVALID_ARGUMENTS),
            ("remember", '{"key": "a"}', ErrorCategory.INVALID_ARGUMENTS),
            ("remember", '{"key": "a", "value": 1, "more": 2}', ErrorCategory.INVALID_ARGUMENTS),
        )
        with self.environment() as environment:
            for name, arguments, category in wrong:
                outcome = self.ask(environment, name, arguments)
                assert outcome.result.category == category, arguments
                assert outcome.result.message, arguments
            assert json.loads(self.ask(environment, "recall", '{"key": "a"}').content) == {
                "value": None
            }

    def test_a_bug_of_the_author_is_raised_and_survives_pickling(self) -> None:
        with self.environment() as environment:
            raised: ExecutorError | None = None
            try:
                self.ask(environment, "broken", "{}")
            except ExecutorError as error:
                raised = error
            assert raised is not None, "a bug of the author became a result"
            assert "ZeroDivisionError" in str(raised)
            travelled = pickle.loads(pickle.dumps(raised))
            assert str(travelled) == str(raised)

    def test_an_outcome_travels(self) -> None:
        with self.environment() as environment:
            outcome = self.ask(environment, "remember", '{"key": "a", "value": 5}')
            assert pickle.loads(pickle.dumps(outcome)) == outcome

    def test_closing_twice_is_safe(self) -> None:
        environment = self.environment()
        environment.close()
        environment.close()
