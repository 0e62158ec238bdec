"""Retries of a rollout's requests to its model, and, where that is asked for, of its tool calls.

With this middleware it alone decides when an endpoint is asked again: the model's own ``max_retries`` is 0 then, so that
attempts do not multiply. Beside a number of retries for each request it bounds the time that a rollout may spend waiting.
What the endpoint refuses for good, and waits longer than the rollout has left, end it as an error row, which a resume tries again.

A tool call that failed for a passing reason is the model's to repeat: that is what such data teaches. ``tools`` has it
repeated here instead, unseen by the model; the failed attempts stand in the call's event under ``retried``.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from envs.sql_errors import is_transient
from envs.types import ToolCall
from synth.agent.middleware.base import AgentMiddleware, Answered, Ask, Execute, Made, MiddlewareHome
from synth.agent.state import AgentState
from synth.errors import ModelError
from synth.types import Completion

Json = Any

_MOST_DOUBLINGS = 30  # keeps the power finite


@dataclass(frozen=True, slots=True)
class RetryOptions:
    """``max_retries`` further attempts of one request or call; between them up to ``first_s * 2**n`` seconds, at most
    ``longest_s``, drawn anew each time (full jitter). ``total_s`` bounds the waits of a rollout together.
    """

    max_retries: int
    first_s: float
    longest_s: float
    total_s: float
    tools: bool = False


class RetryMiddleware(AgentMiddleware):
    """The retries of one rollout."""

    name = "retry"

    def __init__(self, options: RetryOptions) -> None:
        self._options = options
        self._left_s = options.total_s

    async def around_llm_call(self, agent: AgentState, ask: Ask) -> Completion:
        """Ask until there is an answer. Raises the last :class:`ModelError` where there is none to be had."""
        attempt = 0
        while True:
            try:
                return await ask()
            except ModelError as error:
                problem = error
            if not problem.retryable or not await self._wait(attempt, problem.retry_after_s):
                raise problem
            attempt += 1

    async def around_tool_call(self, agent: AgentState, call: ToolCall, execute: Execute) -> Answered:
        failed: list[dict[str, Json]] = []
        while True:
            answered = await execute()
            result = answered.outcome.result
            passing = self._options.tools and not result.ok and is_transient(result.message or "")
            if not passing or not await self._wait(len(failed), None):
                break
            failed.append({"result": result.payload(), **answered.notes})
        return replace(answered, notes={**answered.notes, "retried": failed}) if failed else answered

    async def _wait(self, attempt: int, asked_s: float | None) -> bool:
        """Wait before another attempt; False, at once, where there is to be none."""
        options = self._options
        if attempt >= options.max_retries:
            return False
        most = min(options.first_s * 2 ** min(attempt, _MOST_DOUBLINGS), options.longest_s)
        wait = random.uniform(0.0, most) + (asked_s or 0.0)
        if wait > self._left_s:
            return False
        self._left_s -= wait
        await asyncio.sleep(wait)
        return True


def make(options: Mapping[str, Json], home: MiddlewareHome) -> Made:
    """The factory that ``retry`` names; ``options`` are the keys of ``agent.retry``."""
    chosen = RetryOptions(**options)
    return Made(lambda: RetryMiddleware(chosen))
