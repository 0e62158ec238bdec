"""``retry``: repeats a rollout's failed requests to its model, and its failed tool calls if
configured.

With this middleware the model's own ``max_retries`` is 0, so that attempts do not multiply. Beside
the number of retries for each request it bounds the total time that a rollout may wait. Requests
that the endpoint refuses for good, and waits longer than the remaining time, end the rollout as an
error row, which a resume tries again.

A tool call that failed for a passing reason is normally repeated by the model, because recovery is
part of the training data. ``tools`` repeats it here instead, unseen by the model; the failed
attempts are recorded in the call's event under ``retried``.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from envs.sql_errors import is_transient
from envs.types import ToolCall
from synth.core.agent.state import AgentState
from synth.core.models.openai.endpoint import Backoff
from synth.errors import ModelError
from synth.ext.middlewares import RetryConfig
from synth.middleware import (
    AgentMiddleware,
    Ask,
    Execute,
    MiddlewareHome,
    MiddlewareInstance,
    ToolAnswer,
)
from synth.model import Completion
from synth.plugins import extension


class RetryMiddleware(AgentMiddleware):
    """The retries of one rollout."""

    name = "retry"

    def __init__(self, options: RetryConfig) -> None:
        self._options = options
        self._backoff = Backoff(options.first_s, options.longest_s, options.total_s)
        self._left_s = options.total_s

    async def around_llm_call(self, agent: AgentState, ask: Ask) -> Completion:
        """Ask until there is an answer. Raises the last :class:`ModelError` if there is none."""
        attempt = 0
        while True:
            try:
                return await ask()
            except ModelError as error:
                problem = error
            if not problem.retryable or not await self._wait(attempt, problem.retry_after_s):
                raise problem
            attempt += 1

    async def around_tool_call(
        self, agent: AgentState, call: ToolCall, execute: Execute
    ) -> ToolAnswer:
        failed: list[dict[str, object]] = []
        while True:
            answered = await execute()
            result = answered.outcome.result
            passing = self._options.tools and not result.ok and is_transient(result.message or "")
            if not passing or not await self._wait(len(failed), None):
                break
            failed.append({"result": result.payload(), **answered.notes})
        return (
            replace(answered, notes={**answered.notes, "retried": failed}) if failed else answered
        )

    async def _wait(self, attempt: int, asked_s: float | None) -> bool:
        """Wait before another attempt. Returns False at once if none is allowed."""
        wait = self._backoff.wait_s(attempt, asked_s)
        if attempt >= self._options.max_retries or wait is None or wait > self._left_s:
            return False
        self._left_s -= wait
        await asyncio.sleep(wait)
        return True


@extension(RetryConfig)
def make(options: RetryConfig, home: MiddlewareHome) -> MiddlewareInstance:
    """Build the middleware that ``retry`` names."""
    return MiddlewareInstance(lambda: RetryMiddleware(options))
