"""A call that does not return is interrupted, and what comes after it is not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NoReturn

import pytest

from envs import Tool
from envs.environments import deadline
from envs.environments.deadline import CallTimeoutError, Deadline
from envs.errors import ExecutorError
from envs.tools.toolbox import Toolbox
from envs.types import Limits, ToolCall
from tests.unit.envs.environments.test_executable import NUMBERS, Plain

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "POLL_S", 0.02)
    monkeypatch.setattr(deadline, "LEAST_S", 0.1)


def endless() -> NoReturn:
    while True:
        pass


def stubborn() -> None:
    """Catch the first interruption."""
    try:
        endless()
    except CallTimeoutError:
        endless()


def in_c() -> None:
    """Return late from code that cannot be interrupted."""
    time.sleep(0.3)


@pytest.mark.parametrize("work", [endless, stubborn, in_c])
def test_a_call_is_interrupted_and_nothing_after_it(work: Callable[[], None]) -> None:
    calls = Deadline()
    with pytest.raises(CallTimeoutError):
        calls.call(1, work)
    assert calls.call(60_000, sum, range(1_000_000)) == 499999500000
    time.sleep(0.1)


def test_a_call_within_a_call_keeps_the_outer_deadline() -> None:
    calls = Deadline()

    def outer() -> None:
        calls.call(60_000, max, 1, 2)
        endless()

    with pytest.raises(CallTimeoutError):
        calls.call(1, outer)


def test_only_the_thread_that_is_late_is_interrupted() -> None:
    calls = Deadline()
    ended: list[int] = []

    def work() -> None:
        ended.append(calls.call(60_000, sum, range(20_000_000)))

    other = threading.Thread(target=work)
    other.start()
    with pytest.raises(CallTimeoutError):
        calls.call(1, endless)
    other.join()
    assert ended == [199999990000000]


def test_a_call_has_four_times_the_limit_of_a_statement() -> None:
    assert Deadline().call(100, in_c) is None
    assert Deadline().call(None, in_c) is None
    with pytest.raises(CallTimeoutError):
        Deadline().call(1, in_c)


def test_the_tool_is_named() -> None:
    limits = Limits(statement_timeout_ms=1)
    late = Tool("work", "Do it.", NUMBERS, lambda arguments, db: endless(), limits=limits)
    words = r"tool work has not returned after \d+ s"
    with Plain(Toolbox([late])) as environment, pytest.raises(ExecutorError, match=words):
        environment.call(ToolCall("call_0", "work", "{}"))
