"""Events of a running rollout. They are ephemeral: the record is :attr:`AgentRun.events`.

Every event names its rollout and its step (the number of the completion, from 1; 0 before the
first).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, PlainSerializer, TypeAdapter

from envs import types as envs_types
from synth.core.foundation.credentials import redact
from synth.core.models.emission import completion_event, emitted_call
from synth.model import Completion, Delta
from synth.verdict import StopReason


@dataclass(frozen=True, slots=True)
class _ErrorForm:
    """The JSON form of an error."""

    type: str
    message: str


def _changed(change: envs_types.RowChange) -> Any:
    return change.to_json()


def _described(error: BaseException) -> _ErrorForm:
    return _ErrorForm(type(error).__name__, redact(str(error)))


_Completion = Annotated[Completion, PlainSerializer(completion_event)]
_Call = Annotated[envs_types.ToolCall, PlainSerializer(emitted_call)]
_Result = Annotated[envs_types.ToolResult, PlainSerializer(envs_types.ToolResult.payload)]
_Change = Annotated[envs_types.RowChange, PlainSerializer(_changed)]
_Error = Annotated[BaseException, PlainSerializer(_described)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvent:
    """Base of the events; ``event`` is the kind."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    event: str = ""
    rollout_id: str = ""
    step: int = 0

    def to_json(self) -> dict[str, Any]:
        """The JSON form: the fields under their names, without those that are None.

        A completion and a call have the form of the record (:mod:`synth.core.types.events`), a
        result is what the environment answered, and an error its type and message without secrets.
        """
        return _adapter(type(self)).dump_python(self, mode="json", exclude_none=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStart(AgentEvent):
    """The first event. ``tools`` names the tools that the model is offered."""

    event: Literal["agent_start"] = "agent_start"
    tools: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStart(AgentEvent):
    """A request to the model is about to be sent."""

    event: Literal["step_start"] = "step_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentDelta(AgentEvent):
    """A piece of the answer while it is written. The only event that a slow consumer may miss."""

    event: Literal["content_delta"] = "content_delta"
    delta: Delta


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentComplete(AgentEvent):
    """The whole answer, as the model emitted it."""

    event: Literal["content_complete"] = "content_complete"
    completion: _Completion


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(AgentEvent):
    """A call is about to be answered."""

    event: Literal["tool_call"] = "tool_call"
    call: _Call


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult(AgentEvent):
    """A call was answered, by the environment or by the middleware that ``by`` names.

    ``content`` is the text that the model gets.
    """

    event: Literal["tool_result"] = "tool_result"
    call: _Call
    result: _Result
    content: str
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChanges(AgentEvent):
    """The rows that a call has changed, each with its table, key and values before and after."""

    event: Literal["row_changes"] = "row_changes"
    call: _Call
    changes: Sequence[_Change]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurnRequest(AgentEvent):
    """The user has been given the agent's words, and is to answer."""

    event: Literal["user_turn_request"] = "user_turn_request"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserReply(AgentEvent):
    """The user has answered, or (``ends``) has ended the conversation."""

    event: Literal["user_reply"] = "user_reply"
    text: str
    ends: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction(AgentEvent):
    """The older turns were replaced by a summary; the counts are of messages that are sent."""

    event: Literal["compaction"] = "compaction"
    before: int
    after: int
    detail: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest(AgentEvent):
    """A decision about a call was requested; the answer is in the call's :class:`ToolResult`."""

    event: Literal["approval_request"] = "approval_request"
    call: _Call
    risk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnd(AgentEvent):
    """The completion's calls are answered, or the user has answered, or nothing remains to be
    done.
    """

    event: Literal["step_end"] = "step_end"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentError(AgentEvent):
    """The rollout is broken off: it becomes an error row and no row of the dataset."""

    event: Literal["agent_error"] = "agent_error"
    error: _Error


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFinish(AgentEvent):
    """The last event. ``stop_reason`` is None if the rollout was cancelled or a bug broke it
    off.
    """

    event: Literal["agent_finish"] = "agent_finish"
    stop_reason: StopReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutScore(AgentEvent):
    """The verdicts on the rollout and their reward, for whoever supervises it; the agent emits no
    such event.
    """

    event: Literal["score"] = "score"
    reward: float | None = None
    outcome: str
    verdicts: Sequence[Mapping[str, Any]]


AnyAgentEvent = Annotated[
    AgentStart
    | StepStart
    | ContentDelta
    | ContentComplete
    | ToolCall
    | ToolResult
    | RowChanges
    | UserTurnRequest
    | UserReply
    | Compaction
    | ApprovalRequest
    | StepEnd
    | AgentError
    | AgentFinish
    | RolloutScore,
    Field(discriminator="event"),
]


def agent_events_schema() -> dict[str, Any]:
    """The JSON Schema of one event of a running rollout."""
    schema = TypeAdapter[Any](AnyAgentEvent).json_schema(mode="serialization")
    schema["description"] = "One event of a running rollout."
    return schema


@cache
def _adapter(kind: type[AgentEvent]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
