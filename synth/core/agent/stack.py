"""The middlewares of one rollout, called in their order. Hooks that are not overridden are
skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from envs.types import ToolCall
from synth.core.agent.state import AgentState
from synth.middleware import AgentMiddleware, AgentTool, Ask, Execute, ToolAnswer
from synth.model import Completion

FINISH_S = 10.0
"""Seconds that one ``agent_finish`` may take; they do not count in the rollout's own time."""


class Stack:
    """Runs the hooks of middlewares around one rollout."""

    def __init__(self, middlewares: Sequence[AgentMiddleware]) -> None:
        self.middlewares = middlewares
        self._before_llm: Sequence[AgentMiddleware] = self._with("before_llm_call")
        self._around_llm: Sequence[AgentMiddleware] = self._with("around_llm_call")[::-1]
        self._after_llm: Sequence[AgentMiddleware] = self._with("after_llm_call")[::-1]
        self._before_tool: Sequence[AgentMiddleware] = self._with("before_tool_call")
        self._around_tool: Sequence[AgentMiddleware] = self._with("around_tool_call")[::-1]
        self._after_tool: Sequence[AgentMiddleware] = self._with("after_tool_call")[::-1]
        self._started: list[AgentMiddleware] = []

    def _with(self, hook: str) -> list[AgentMiddleware]:
        default = getattr(AgentMiddleware, hook)
        return [
            middleware
            for middleware in self.middlewares
            if getattr(type(middleware), hook) is not default
        ]

    def register(self, agent: AgentState) -> list[tuple[AgentMiddleware, AgentTool]]:
        """Return the tools of the middlewares, each with its owner."""
        return [
            (middleware, tool)
            for middleware in self.middlewares
            for tool in middleware.on_register(agent)
        ]

    async def start(self, agent: AgentState) -> None:
        for middleware in self.middlewares:
            self._started.append(middleware)
            await middleware.agent_start(agent)

    async def finish(self, agent: AgentState) -> None:
        """Let every started middleware finish, whatever the others do, also while the rollout is
        cancelled.

        Raises CancelledError if it was cancelled meanwhile, else the first exception raised;
        TimeoutError for a middleware that hangs.
        """
        raised: list[BaseException] = []
        while self._started:
            middleware = self._started.pop()
            work = asyncio.ensure_future(middleware.agent_finish(agent))
            while not work.done():
                try:
                    await asyncio.wait([work], timeout=FINISH_S)
                except asyncio.CancelledError as error:
                    raised.insert(0, error)
                    continue
                if not work.done():
                    work.cancel()
                    raised.append(
                        TimeoutError(
                            f"middleware {middleware.name}: agent_finish took over {FINISH_S:g} s"
                        )
                    )
                    break
            else:
                error = asyncio.CancelledError() if work.cancelled() else work.exception()
                raised += [] if error is None else [error]
        if raised:
            raise raised[0]

    async def ask(self, agent: AgentState, ask: Ask) -> Completion:
        """Return a completion, with all hooks before and around it."""
        for middleware in self._before_llm:
            await middleware.before_llm_call(agent)
        for middleware in self._around_llm:
            ask = partial(middleware.around_llm_call, agent, ask)
        return await ask()

    async def asked(self, agent: AgentState, completion: Completion) -> None:
        for middleware in self._after_llm:
            await middleware.after_llm_call(agent, completion)

    async def before_tool(
        self, agent: AgentState, call: ToolCall, deny: Callable[..., ToolAnswer]
    ) -> ToolAnswer | None:
        """Return the answer of the first before hook that has one; None if the call is to be
        executed.
        """
        for middleware in self._before_tool:
            result = await middleware.before_tool_call(agent, call)
            if result is not None:
                return deny(call, result, middleware.name)
        return None

    async def execute(self, agent: AgentState, call: ToolCall, execute: Execute) -> ToolAnswer:
        """Return the answer to a call, with all hooks around its execution."""
        for middleware in self._around_tool:
            execute = partial(_around_tool, middleware, agent, call, execute)
        return await execute()

    async def after_tool(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
        """Return the answer after all after hooks. Raises TypeError if a hook replaced the
        outcome.
        """
        for middleware in self._after_tool:
            changed = await middleware.after_tool_call(agent, answered)
            if changed.outcome is not answered.outcome:
                raise TypeError(
                    f"middleware {middleware.name}: after_tool_call must not change the outcome of"
                    " a call"
                )
            answered = changed
        return answered


async def _around_tool(
    middleware: AgentMiddleware, agent: AgentState, call: ToolCall, execute: Execute
) -> ToolAnswer:
    """Run one around hook.

    Raises TypeError if it answers by itself without naming itself, or answers another call.
    """
    executed = False

    async def inner() -> ToolAnswer:
        nonlocal executed
        executed = True
        return await execute()

    answered = await middleware.around_tool_call(agent, call, inner)
    if not executed and answered.by is None:
        raise TypeError(
            f"middleware {middleware.name}: an answer without execution must say who gave it (by)"
        )
    if answered.outcome.call.id != call.id:
        raise TypeError(f"middleware {middleware.name}: it answered another call")
    return answered
