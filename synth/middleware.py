"""The contract of a middleware: code around a rollout's calls, to the model and to the tools.

A :class:`MiddlewareMaker` is a resident, one per worker: it owns whatever rollouts share (a store,
a log file). It starts an :class:`AgentMiddleware` for each rollout, which may keep state.

A middleware extension is a callable or class ``(options, home) -> MiddlewareMaker``, named in
``agent.middleware``. An optional attribute ``Options`` on it, a dataclass or pydantic model, types
its options: those under ``agent.options.NAME``, of which the extension gets an instance. Without
``Options`` it gets them as a mapping. :class:`synth.testing.MiddlewareConformance` tests the
contract.

``before_*`` and ``agent_start`` run in the configured order, ``after_*`` and ``agent_finish`` in
reverse, and ``around_*`` nest, the first configured outermost. An exception from a hook breaks the
rollout off as an error row: it is a bug, or broken infrastructure. The exception is
:class:`StopAgent`, by which a hook ends the rollout as data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envs.plugins import Contract
from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.core.agent.state import AgentState
from synth.core.foundation.credentials import redact
from synth.model import Completion, Model, Sampling
from synth.verdict import StopReason, Verdict


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer to one tool call: the outcome that is recorded, and the text (``content``) that
    the model gets.

    ``by`` names the middleware that answered in the environment's place (None: the environment
    executed the call). ``notes`` go into the call's ``tool_result`` event as they are.
    """

    outcome: ToolOutcome
    content: str
    by: str | None = None
    notes: Mapping[str, object] = field(default_factory=dict[str, object])


Ask = Callable[[], Awaitable[Completion]]
Execute = Callable[[], Awaitable[ToolAnswer]]


class StopAgent(Exception):
    """Raised by a hook to end the rollout."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool that a middleware brings. It is offered beside the environment's tools, and its calls
    are parsed and checked alike.

    ``run`` gets arguments that fit the schema; it changes nothing in the environment.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    run: Callable[[dict[str, object]], Awaitable[ToolResult]]


class AgentMiddleware(Contract):
    """Hooks around one rollout's calls. Every hook does nothing by default; a hook that is not
    overridden costs nothing.
    """

    name: str = ""
    """Name in the record of the calls that the middleware answers; the configured name if empty."""

    def on_register(self, agent: AgentState) -> Sequence[AgentTool]:
        """Return tools of its own; called before everything else."""
        return ()

    async def agent_start(self, agent: AgentState) -> None:
        """Run before the first turn."""

    async def before_llm_call(self, agent: AgentState) -> None:
        """Run before each completion; may set ``agent.memory.context`` to the messages to send."""

    async def around_llm_call(self, agent: AgentState, ask: Ask) -> Completion:
        """Wrap each completion. ``ask`` sends the current ``agent.memory.context``; it may be
        called again.

        Return the result of the last ``ask``, or another completion: only the returned one becomes
        a turn. Every other completion counts towards tokens and cost only.
        """
        return await ask()

    async def after_llm_call(self, agent: AgentState, completion: Completion) -> None:
        """Run after each completion, which is in the transcript already."""

    async def before_tool_call(self, agent: AgentState, call: ToolCall) -> ToolResult | None:
        """Run before each call, malformed ones included; a result answers it in the environment's
        place.
        """
        return None

    async def around_tool_call(
        self, agent: AgentState, call: ToolCall, execute: Execute
    ) -> ToolAnswer:
        """Wrap the execution of a call that no before hook has answered. Read-only calls may
        overlap.
        """
        return await execute()

    async def after_tool_call(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
        """Run after each call, in the order of the calls; may change ``content`` and ``notes``,
        never the outcome.
        """
        return answered

    async def agent_finish(self, agent: AgentState) -> None:
        """Run once at the end if ``agent_start`` was called, also after an error or a cancellation.

        ``agent.run.stop_reason`` is set, or ``agent.error`` is.
        """

    def rollout_scored(self, reward: float | None, verdicts: Sequence[Verdict]) -> None:
        """Run after ``agent_finish`` when the rollout was judged; nobody tells the agent."""


@dataclass(frozen=True)
class MiddlewareHome:
    """Facilities of a worker for the makers of its middlewares.

    ``scratch`` is a folder that is removed with the worker; ``run_dir`` is the run's directory if
    this process can reach it; ``keys`` are the values of the variables that options name
    (``*_env``), which must not be written anywhere. ``hide`` removes every secret that the run
    knows from a text. ``session`` is a random id of the driver's session, ``model`` the name of the
    agent's model, of the kind ``model_kind``, asked with ``sampling``. ``asked`` is the model that
    the middleware's own option ``model`` names.
    """

    scratch: Path
    run_id: str = ""
    worker: str = ""
    run_dir: Path | None = None
    engine: str = "sqlite"
    keys: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    hide: Callable[[str], str] = redact
    session: str = ""
    model: str = ""
    model_kind: str = ""
    sampling: Sampling = field(default_factory=Sampling)
    asked: Model | None = None


class MiddlewareMaker(ABC):
    """Factory of each rollout's middleware; holds whatever the rollouts share."""

    @abstractmethod
    def start(self) -> AgentMiddleware:
        """Return the middleware of one rollout; cheap."""

    async def aclose(self) -> None:
        """Release its resources. Safe to call twice."""
        return


class MiddlewareInstance(MiddlewareMaker):
    """Maker that shares nothing: it calls a function for each rollout."""

    def __init__(self, make: Callable[[], AgentMiddleware]) -> None:
        self._make = make

    def start(self) -> AgentMiddleware:
        return self._make()


def start(name: str, maker: MiddlewareMaker) -> AgentMiddleware:
    """Start the middleware of one rollout, under its configured name unless it has one of its
    own.
    """
    made = maker.start()
    made.name = made.name or name
    return made


Factory = Callable[[Any, MiddlewareHome], MiddlewareMaker]
"""A middleware extension; its first argument is an instance of its ``Options``, or a mapping."""
