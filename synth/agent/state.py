"""What a middleware sees of the rollout that it wraps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from envs.types import ToolCall, ToolResult
from synth.agent.events import AgentEvent
from synth.agent.memory import ConversationMemory
from synth.agent.run import AgentLimits, AgentRun
from synth.types import Completion, Message

Json = Any
Risk = Literal["read", "write", "destructive"]


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """What is known of a tool beside its schema. An ``own`` one is a middleware's: the environment does not know it."""

    name: str
    read_only: bool = False
    destructive: bool = False
    own: bool = False

    @property
    def risk(self) -> Risk:
        return "read" if self.read_only or self.own else "destructive" if self.destructive else "write"


@dataclass(frozen=True, slots=True)
class Identity:
    """Which rollout it is. ``seed`` is the job's: derive others from it with :func:`synth.canonical.derive_seed`."""

    rollout_id: str = ""
    job_index: int = 0
    seed: int = 0
    task_key: str = ""


@dataclass(slots=True)
class AgentState:
    """One rollout, as the middlewares around it see it. A resident.

    ``memory.messages`` is the conversation, ``memory.context`` what is sent of it: the same list unless a middleware set
    another. ``error`` is what breaks the rollout off, for :meth:`AgentMiddleware.agent_finish`.
    """

    rollout_id: str
    job_index: int
    seed: int
    task_key: str
    limits: AgentLimits
    memory: ConversationMemory
    run: AgentRun
    tools: Mapping[str, ToolInfo]
    check: Callable[[ToolCall], ToolResult | None]
    """What is wrong with a call itself (no JSON, no such tool, arguments off its schema); None for a sound one."""
    _ask: Callable[[Sequence[Message], Sequence[Json]], Awaitable[Completion]]
    _emit: Callable[[AgentEvent], None] | None = None
    error: BaseException | None = None
    notes: dict[str, Json] = field(default_factory=dict[str, Any])
    """For middlewares that tell each other something; not recorded."""

    @property
    def step(self) -> int:
        """Completions so far."""
        return len(self.run.completions)

    def record(self, event: Mapping[str, Json]) -> None:
        """Keep an event with the trajectory: JSON with a key ``event``, and no times in it (runs are compared)."""
        self.run.events.append(dict(event))

    @property
    def heard(self) -> bool:
        """Whether anybody listens to events: none need be made where nobody does."""
        return self._emit is not None

    def emit(self, event: AgentEvent) -> None:
        """Tell whoever listens; never waits."""
        if self._emit is not None:
            self._emit(event)

    async def ask(self, messages: Sequence[Message], tools: Sequence[Json] = ()) -> Completion:
        """Ask the same model something beside the conversation. It counts towards the rollout's tokens and cost.

        Raises :class:`synth.errors.ModelError` where the model cannot be asked.
        """
        return await self._ask(messages, tools)
