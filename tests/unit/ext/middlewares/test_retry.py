"""The retries of a rollout's requests: what is asked again, how often, how long is waited, and who
decides.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from synth.config import from_dict
from synth.core.models.openai.endpoint import Endpoint
from synth.errors import ModelAuthError, ModelError
from synth.ext.middlewares import RetryConfig
from synth.ext.middlewares.retry import RetryMiddleware
from synth.model import Completion
from synth.prepare import prepare
from tests.unit.agent.test_react import DONE, Lines
from tests.unit.agent.test_stack import play

DOWN = ModelError("overloaded", True, 503)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was waited for; no time passes."""
    waited: list[float] = []
    pause = asyncio.sleep

    async def sleep(seconds: float, *_: Any) -> None:
        waited.append(seconds)
        await pause(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return waited


def retrying(**options: Any) -> RetryMiddleware:
    given: dict[str, Any] = {
        "max_retries": 3,
        "first_s": 1.0,
        "longest_s": 4.0,
        "total_s": 100.0,
    } | options
    return RetryMiddleware(RetryConfig(**given))


async def test_a_passing_failure_is_asked_again_until_there_is_an_answer(waits: list[float]):
    lines = Lines(DOWN, DOWN, DONE)
    run = await play(lines, retrying())
    assert len(lines.shown) == 3
    assert run.completions == [DONE]
    assert len(waits) == 2


async def test_it_gives_up_after_so_many_and_each_request_starts_anew(waits: list[float]):
    lines = Lines(DOWN)
    with pytest.raises(ModelError, match="overloaded"):
        await play(lines, retrying())
    assert len(lines.shown) == 4
    for wait, most in zip(waits, (1.0, 2.0, 4.0), strict=True):
        assert most / 2 <= wait <= most
    lines = Lines(*[DOWN] * 3, Completion(content="", tool_calls=[], refusal=None), DONE)
    await play(lines, retrying())


@pytest.mark.parametrize("error", [ModelError("no", False, 400), ModelAuthError("key", False, 401)])
async def test_what_no_retry_heals_is_raised_at_once(error: ModelError, waits: list[float]):
    lines = Lines(error, DONE)
    with pytest.raises(type(error)):
        await play(lines, retrying())
    assert (len(lines.shown), waits) == (1, [])


async def test_a_wait_that_the_endpoint_asks_for_counts_in_full(waits: list[float]):
    await play(Lines(ModelError("slow", True, 429, 7.0), DONE), retrying())
    assert 7.0 <= waits[0] <= 8.0


async def test_a_rollout_waits_no_longer_than_it_may_in_all(waits: list[float]):
    """Three waits of seven seconds fit into 25, the fourth does not: no more time is lost on it."""
    with pytest.raises(ModelError):
        await play(Lines(ModelError("slow", True, 429, 7.0)), retrying(max_retries=9, total_s=25.0))
    assert len(waits) == 3


@pytest.mark.parametrize(("listed", "retries"), [([], 5), (["retry"], 0), (["faults", "retry"], 0)])
def test_with_it_the_model_itself_asks_once(listed: list[str], retries: int):
    """Attempts do not multiply: one of the two decides."""
    config = from_dict(
        {
            "env": {"name": "library"},
            "model": {"kind": "openai", "name": "m", "api_key_env": None},
            "agent": {"middleware": listed},
            "tasks": {"count": 4},
        }
    )
    options = prepare(config).spec.model.options
    assert isinstance(options, Endpoint)
    assert options.max_retries == retries
