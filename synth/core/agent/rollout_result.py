"""Limits of a rollout, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from envs.types import ErrorStyle, ToolOutcome
from synth.core.models.emission import emitted_call, known_usage
from synth.core.types.events import RecordedEvent, Usage, UserTurnEvent
from synth.model import Completion, Retry
from synth.task import Message
from synth.user import UserTurn
from synth.verdict import StopReason


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Limits of one rollout, and the handling of malformed calls; None does not limit.

    Turns and tool calls are counted per request of a composed task, see :meth:`for_requests`.

    ``max_total_tokens`` counts input and output of all requests to the model, side questions
    included, and ``max_cost_usd`` their cost as far as it is known. With ``count_user`` both
    include the user's model.

    ``text_calls``: a call written as text is answered with an explanation (``refuse``), executed
    (``parse``), or text like any other (``off``). ``repair`` mends arguments that are almost JSON.
    The record names both kinds of changes.
    """

    max_turns: int = 30
    max_tool_calls: int = 100
    max_total_tokens: int | None = None
    timeout_s: float | None = None
    error_style: ErrorStyle = "structured"
    max_cost_usd: float | None = None
    count_user: bool = False
    text_calls: Literal["off", "refuse", "parse"] = "refuse"
    repair: bool = False

    def for_requests(self, count: int) -> AgentLimits:
        """The limits of a conversation with so many requests."""
        return replace(
            self, max_turns=self.max_turns * count, max_tool_calls=self.max_tool_calls * count
        )


@dataclass
class AgentRun:
    """Result of a rollout. ``events`` holds the raw emissions, results and user's turns in order,
    without times.

    ``completions`` are the turns; ``side`` holds the other completions: side questions of a
    middleware, and answers that one discarded; ``approver`` the approving model's.
    A ``stop_reason`` of None means that the rollout has not stopped.
    """

    messages: list[Message]
    stop_reason: StopReason | None = None
    events: list[RecordedEvent] = field(default_factory=list[RecordedEvent])
    outcomes: list[ToolOutcome] = field(default_factory=list[ToolOutcome])
    completions: list[Completion] = field(default_factory=list[Completion])
    turns: list[UserTurn] = field(default_factory=list[UserTurn])
    side: list[Completion] = field(default_factory=list[Completion])
    approver: list[Completion] = field(default_factory=list[Completion])

    @property
    def recorded_events(self) -> list[dict[str, Any]]:
        """The events as the column ``events`` holds them."""
        return [event.to_json() for event in self.events]

    @property
    def said(self) -> str:
        """The assistant's words in its last turn without tool calls."""
        return next(
            (
                completion.content
                for completion in reversed(self.completions)
                if not completion.tool_calls
            ),
            "",
        )

    @property
    def usage(self) -> Usage:
        """Tokens of the model; user and approver are counted separately."""
        return _sum([*self.completions, *self.side])

    @property
    def cost_usd(self) -> float | None:
        """Cost in US dollars if the price of every completion is known, else None."""
        return _cost([*self.completions, *self.side])

    @property
    def retries(self) -> list[Retry]:
        """Failed attempts at requests to the models that were made again."""
        answers = [*self.completions, *self.side, *self.approver]
        return [retry for completion in answers for retry in completion.retries]

    @property
    def user_usage(self) -> Usage:
        return _sum(self.turns)

    @property
    def user_cost_usd(self) -> float | None:
        return _cost(self.turns)

    @property
    def approver_usage(self) -> Usage:
        return _sum(self.approver)

    @property
    def approver_cost_usd(self) -> float | None:
        return _cost(self.approver)

    def beyond(self, limits: AgentLimits) -> StopReason | None:
        """Return the budget of tokens or money that is spent, if one is. Unknown amounts count as
        zero.
        """
        if limits.max_total_tokens is None and limits.max_cost_usd is None:
            return None
        counted: list[Completion | UserTurn] = [*self.completions, *self.side]
        if limits.count_user:
            counted += self.turns
        used = _sum(counted)
        tokens = (used.input_tokens or 0) + (used.output_tokens or 0)
        if limits.max_total_tokens is not None and tokens >= limits.max_total_tokens:
            return StopReason.TOKEN_BUDGET
        cost = sum(completion.cost_usd or 0.0 for completion in counted)
        if limits.max_cost_usd is not None and cost >= limits.max_cost_usd:
            return StopReason.COST_BUDGET
        return None


def _sum(spent: Sequence[Completion | UserTurn]) -> Usage:
    nothing = Usage()
    return sum([one.usage for one in spent if one.usage != nothing], nothing)


def _cost(spent: Sequence[Completion | UserTurn]) -> float | None:
    costs = [completion.cost_usd for completion in spent]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def user_event(turn: UserTurn) -> UserTurnEvent:
    """Return the record of the user's turn; it follows the completion that it answers."""
    discarded = [dict(draft) for draft in turn.discarded]
    return UserTurnEvent(
        text=turn.text,
        told=list(turn.told),
        consents=turn.consents,
        declines=turn.declines,
        ends=turn.ends,
        fault=turn.fault,
        covers=list(turn.covers) or None,
        corrects=turn.corrects or None,
        then=turn.then,
        discarded=discarded or None,
        by_rule=turn.by_rule if discarded else None,
        calls=tuple(map(emitted_call, turn.calls)) or None,
        usage=known_usage(turn.usage),
        cost_usd=turn.cost_usd,
    )
