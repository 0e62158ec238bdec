"""What is told of a rollout while it goes on, and to whom. Ephemeral: the record is :attr:`AgentRun.events`.

Every event names its rollout and its step (the number of the completion, from 1; 0 before the first).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envs import types as envs_types
from synth.types import Completion, Delta, StopReason

Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvent:
    rollout_id: str = ""
    step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStart(AgentEvent):
    """The first event. ``tools`` are the names of those that the model is offered."""

    tools: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStart(AgentEvent):
    """The model is about to be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentDelta(AgentEvent):
    """A piece of the answer while it is written. The only event that a slow consumer may miss."""

    delta: Delta


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentComplete(AgentEvent):
    """The whole answer, as the model emitted it."""

    completion: Completion


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(AgentEvent):
    """A call is about to be answered."""

    call: envs_types.ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult(AgentEvent):
    """A call was answered, by the environment or (``by``) a middleware; ``content`` is what the model is told."""

    call: envs_types.ToolCall
    result: envs_types.ToolResult
    content: str
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction(AgentEvent):
    """The older turns were replaced by a summary; the counts are of messages that are sent."""

    before: int
    after: int
    detail: Mapping[str, Json] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest(AgentEvent):
    """Somebody is asked whether a call may be executed; the answer is in its :class:`ToolResult`."""

    call: envs_types.ToolCall
    risk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnd(AgentEvent):
    """The completion's calls are answered, or the user has spoken, or there is nothing more to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentError(AgentEvent):
    """The rollout breaks off: it will be no row of the dataset but an error row."""

    error: BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFinish(AgentEvent):
    """The last event. ``stop_reason`` is None where the rollout was cancelled or a bug broke it."""

    stop_reason: StopReason | None
