"""The contract of a middleware: what wraps the calls of a rollout, to the model and to the tools.

A :class:`MiddlewareMaker` is a resident, one per worker: what rollouts share (a store, a log file) is its own. It starts
an :class:`AgentMiddleware` for each rollout, which may keep state. A factory ``(options, home) -> MiddlewareMaker`` is named
in :data:`synth.agent.middleware.MIDDLEWARE` or by ``package.module:attribute``.

``before_*`` and ``agent_start`` run in the configured order, ``after_*`` and ``agent_finish`` in reverse, and ``around_*``
nest, the first configured outermost. What a hook raises breaks the rollout off as an error row: it is a bug, or broken
infrastructure. :class:`StopAgent` is the exception: by it a hook ends the rollout, as data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.agent.state import AgentState
from synth.types import Completion, StopReason

Json = Any


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of one tool call: what is recorded, and what the model is told (``content``).

    ``by`` names the middleware that answered in the environment's place; None: the environment executed the call.
    ``notes`` go into the call's ``tool_result`` event as they are.
    """

    outcome: ToolOutcome
    content: str
    by: str | None = None
    notes: Mapping[str, Json] = field(default_factory=dict[str, Any])


Ask = Callable[[], Awaitable[Completion]]
Execute = Callable[[], Awaitable[Answered]]


class StopAgent(Exception):
    """Raised by a hook to end the rollout."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool of a middleware's own. It is offered beside the environment's, and its calls are parsed and checked alike.

    ``run`` gets arguments that fit the schema; it changes nothing in the environment.
    """

    name: str
    description: str
    parameters: Mapping[str, Json]
    run: Callable[[dict[str, Json]], Awaitable[ToolResult]]


class AgentMiddleware:
    """Wraps the calls of one rollout. Every hook does nothing by default; a hook that is not overridden costs nothing."""

    name: str = ""
    """As it stands in the record, where the middleware answers a call. Filled in with the configured name where empty."""

    def on_register(self, agent: AgentState) -> Sequence[AgentTool]:
        """Before everything: tools of its own."""
        return ()

    async def agent_start(self, agent: AgentState) -> None:
        """Before the first turn."""

    async def before_llm_call(self, agent: AgentState) -> None:
        """Before each completion; may set ``agent.memory.context`` to what is to be sent."""

    async def around_llm_call(self, agent: AgentState, ask: Ask) -> Completion:
        """Around each completion. ``ask`` sends ``agent.memory.context`` as it is at that moment; it may be called again.

        Return what the last ``ask`` gave, or a completion of your own: only what is returned is a turn. All that was asked
        and not returned counts towards tokens and cost.
        """
        return await ask()

    async def after_llm_call(self, agent: AgentState, completion: Completion) -> None:
        """After each completion, which is in the transcript already."""

    async def before_tool_call(self, agent: AgentState, call: ToolCall) -> ToolResult | None:
        """Before each call, malformed ones included; a result answers it in the environment's place."""
        return None

    async def around_tool_call(self, agent: AgentState, call: ToolCall, execute: Execute) -> Answered:
        """Around the execution itself; not of calls that a before hook has answered. Calls that only read may overlap."""
        return await execute()

    async def after_tool_call(self, agent: AgentState, answered: Answered) -> Answered:
        """After each call, in the order of the calls: may change ``content`` and ``notes``, never the outcome."""
        return answered

    async def agent_finish(self, agent: AgentState) -> None:
        """At the end: called once wherever ``agent_start`` was called, whatever happened, cancellation included.

        ``agent.run.stop_reason`` is set, or ``agent.error`` is.
        """


@dataclass(frozen=True)
class MiddlewareHome:
    """What a worker offers to the makers of its middlewares.

    ``scratch`` is a folder that is removed with the worker; ``run_dir`` the run's directory where this process can reach
    it; ``keys`` are the values of the variables that options name (``*_env``), and go into nothing that is kept.
    """

    scratch: Path
    run_id: str = ""
    worker: str = ""
    run_dir: Path | None = None
    engine: str = "sqlite"
    keys: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


class MiddlewareMaker(ABC):
    """Makes the middleware of each rollout; holds what they share."""

    @abstractmethod
    def start(self) -> AgentMiddleware:
        """The middleware of one rollout; cheap."""

    async def aclose(self) -> None:
        """Release what it holds. Safe to call twice."""
        return


class Made(MiddlewareMaker):
    """A maker that shares nothing: it calls a function for each rollout."""

    def __init__(self, make: Callable[[], AgentMiddleware]) -> None:
        self._make = make

    def start(self) -> AgentMiddleware:
        return self._make()


def start(name: str, maker: MiddlewareMaker) -> AgentMiddleware:
    """The middleware of one rollout under its name in the config, where it has none of its own."""
    made = maker.start()
    made.name = made.name or name
    return made


Factory = Callable[[Mapping[str, Json], MiddlewareHome], MiddlewareMaker]
