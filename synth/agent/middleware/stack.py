"""The middlewares of one rollout, asked in their order. Hooks that nobody overrides are not in the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from envs.types import ToolCall
from synth.agent.middleware.base import AgentMiddleware, AgentTool, Answered, Ask, Execute
from synth.agent.state import AgentState
from synth.types import Completion

FINISH_S = 10.0
"""Seconds that one ``agent_finish`` may take: it runs outside of the rollout's own time."""


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
        return [each for each in self.middlewares if getattr(type(each), hook) is not default]

    def register(self, agent: AgentState) -> list[tuple[AgentMiddleware, AgentTool]]:
        """The tools of the middlewares' own, each with its owner."""
        return [(each, tool) for each in self.middlewares for tool in each.on_register(agent)]

    async def start(self, agent: AgentState) -> None:
        for each in self.middlewares:
            self._started.append(each)
            await each.agent_start(agent)

    async def finish(self, agent: AgentState) -> None:
        """Let every middleware that was started finish, whatever the others do, and also while the rollout is cancelled.

        Raises CancelledError where it was cancelled meanwhile, else what the first raised, TimeoutError for one that hangs.
        """
        raised: list[BaseException] = []
        while self._started:
            each = self._started.pop()
            work = asyncio.ensure_future(each.agent_finish(agent))
            while not work.done():
                try:
                    await asyncio.wait([work], timeout=FINISH_S)
                except asyncio.CancelledError as error:
                    raised.insert(0, error)
                    continue
                if not work.done():
                    work.cancel()
                    raised.append(TimeoutError(f"middleware {each.name}: agent_finish took over {FINISH_S:g} s"))
                    break
            else:
                error = asyncio.CancelledError() if work.cancelled() else work.exception()
                raised += [] if error is None else [error]
        if raised:
            raise raised[0]

    async def ask(self, agent: AgentState, ask: Ask) -> Completion:
        """A completion, with all that goes before it and around it."""
        for each in self._before_llm:
            await each.before_llm_call(agent)
        for each in self._around_llm:
            ask = partial(each.around_llm_call, agent, ask)
        return await ask()

    async def asked(self, agent: AgentState, completion: Completion) -> None:
        for each in self._after_llm:
            await each.after_llm_call(agent, completion)

    async def before_tool(self, agent: AgentState, call: ToolCall, deny: Callable[..., Answered]) -> Answered | None:
        """What the first before hook that has a result answers; None: the call is to be executed."""
        for each in self._before_tool:
            result = await each.before_tool_call(agent, call)
            if result is not None:
                return deny(call, result, each.name)
        return None

    async def execute(self, agent: AgentState, call: ToolCall, execute: Execute) -> Answered:
        """The answer to a call, with all that is around its execution."""
        for each in self._around_tool:
            execute = partial(_around_tool, each, agent, call, execute)
        return await execute()

    async def after_tool(self, agent: AgentState, answered: Answered) -> Answered:
        """What the model is told and what is recorded. Raises TypeError where a hook exchanged the outcome."""
        for each in self._after_tool:
            changed = await each.after_tool_call(agent, answered)
            if changed.outcome is not answered.outcome:
                raise TypeError(f"middleware {each.name}: after_tool_call may not change the outcome of a call")
            answered = changed
        return answered


async def _around_tool(middleware: AgentMiddleware, agent: AgentState, call: ToolCall, execute: Execute) -> Answered:
    """One wrap. Raises TypeError where it answers by itself and does not say so, or answers another call."""
    executed = False

    async def inner() -> Answered:
        nonlocal executed
        executed = True
        return await execute()

    answered = await middleware.around_tool_call(agent, call, inner)
    if not executed and answered.by is None:
        raise TypeError(f"middleware {middleware.name}: an answer without execution must say who gave it (by)")
    if answered.outcome.call.id != call.id:
        raise TypeError(f"middleware {middleware.name}: it answered another call")
    return answered
