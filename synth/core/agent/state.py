"""The state of a rollout, as its middlewares see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from envs.types import ToolCall, ToolResult
from synth.core.agent.events import AgentEvent
from synth.core.agent.memory import ConversationMemory
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.types.events import RecordedEvent, event_from_json
from synth.model import Completion
from synth.task import Message

Risk = Literal["read", "write", "destructive"]


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """Traits of a tool beside its schema. An ``own`` tool belongs to a middleware and not to the
    environment.
    """

    name: str
    read_only: bool = False
    destructive: bool = False
    own: bool = False

    @property
    def risk(self) -> Risk:
        return (
            "read" if self.read_only or self.own else "destructive" if self.destructive else "write"
        )


@dataclass(frozen=True, slots=True)
class RolloutIdentity:
    """Identity of a rollout. ``seed`` is the job's: derive others from it with
    :func:`synth.core.foundation.hashing.derive_seed`.
    """

    rollout_id: str = ""
    job_index: int = 0
    seed: int = 0
    task_key: str = ""


@dataclass(slots=True)
class AgentState:
    """One rollout, as the middlewares around it see it. A resident.

    ``memory.messages`` is the conversation, ``memory.context`` the list that is sent: the same list
    unless a middleware set another. ``error`` is the exception that breaks the rollout off, for
    :meth:`AgentMiddleware.agent_finish`.
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
    """Returns the problem of an invalid call (no JSON, no such tool, arguments off its schema);
    None for a valid one.
    """
    _ask: Callable[[Sequence[Message], Sequence[object]], Awaitable[Completion]]
    _emit: Callable[[AgentEvent], None] | None = None
    error: BaseException | None = None
    notes: dict[str, object] = field(default_factory=dict[str, object])
    """Values that middlewares share with each other; not recorded."""

    @property
    def step(self) -> int:
        """Number of completions so far."""
        return len(self.run.completions)

    def record(self, event: RecordedEvent | Mapping[str, object]) -> None:
        """Keep an event with the trajectory. A middleware's own is JSON with a key ``event``, and
        no times in it (runs are compared).
        """
        known = isinstance(event, RecordedEvent)
        self.run.events.append(event if known else event_from_json(event))

    @property
    def has_subscribers(self) -> bool:
        """True if events are delivered to anybody; otherwise none need be made."""
        return self._emit is not None

    def emit(self, event: AgentEvent) -> None:
        """Send an event to the subscribers, as one of this rollout and, unless it names its step,
        of the present one; never waits.
        """
        if self._emit is not None:
            step = event.step or self.step
            self._emit(replace(event, rollout_id=self.rollout_id, step=step))

    async def ask(self, messages: Sequence[Message], tools: Sequence[object] = ()) -> Completion:
        """Ask the same model a side question. It counts towards the rollout's tokens and cost.

        Raises :class:`synth.errors.ModelError` if the model cannot be asked.
        """
        return await self._ask(messages, tools)
