"""What one rollout may use, and what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from envs.types import ErrorStyle, ToolOutcome
from synth.models.emission import spent
from synth.types import Completion, Message, StopReason, Usage, UserTurn

Json = Any


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """What one rollout may use, and how strictly it is taken at its word; None does not limit.

    ``max_total_tokens`` counts input and output of all that the model was asked, side questions included, and
    ``max_cost_usd`` what that cost, as far as it is known. With ``count_user`` both count the user's model too.

    A call that a model writes as text is answered with what is wrong with it (``refuse``), executed (``parse``), or text
    like any other (``off``). ``repair`` mends arguments that are almost JSON. What either changes, the record says.
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


@dataclass
class AgentRun:
    """What a rollout did. ``events`` are the raw emissions, results and user's turns in order, without times.

    ``completions`` are the turns, ``side`` is what else the model was asked: side questions of a middleware, and answers
    that one threw away, and ``policy`` what the model that approves its calls was asked. A ``stop_reason`` of None: it has not
    stopped.
    """

    messages: list[Message]
    stop_reason: StopReason | None = None
    events: list[Json] = field(default_factory=list[Any])
    outcomes: list[ToolOutcome] = field(default_factory=list[ToolOutcome])
    completions: list[Completion] = field(default_factory=list[Completion])
    turns: list[UserTurn] = field(default_factory=list[UserTurn])
    side: list[Completion] = field(default_factory=list[Completion])
    policy: list[Completion] = field(default_factory=list[Completion])

    @property
    def said(self) -> str:
        """The assistant's last words: those of its last turn without tool calls."""
        return next((each.content for each in reversed(self.completions) if not each.tool_calls), "")

    @property
    def usage(self) -> Usage:
        """Of the model; the user's and the policy's are apart."""
        return _sum([*self.completions, *self.side])

    @property
    def cost_usd(self) -> float | None:
        """The sum where every completion's price is known, else None."""
        return _cost([*self.completions, *self.side])

    @property
    def user_usage(self) -> Usage:
        return _sum(self.turns)

    @property
    def user_cost_usd(self) -> float | None:
        return _cost(self.turns)

    @property
    def policy_usage(self) -> Usage:
        return _sum(self.policy)

    @property
    def policy_cost_usd(self) -> float | None:
        return _cost(self.policy)

    def beyond(self, limits: AgentLimits) -> StopReason | None:
        """The budget of tokens or money that is spent, if one is. What is unknown counts nothing."""
        if limits.max_total_tokens is None and limits.max_cost_usd is None:
            return None
        counted: list[Completion | UserTurn] = [*self.completions, *self.side]
        if limits.count_user:
            counted += self.turns
        used = _sum(counted)
        tokens = (used.input_tokens or 0) + (used.output_tokens or 0)
        if limits.max_total_tokens is not None and tokens >= limits.max_total_tokens:
            return StopReason.TOKEN_BUDGET
        cost = sum(each.cost_usd or 0.0 for each in counted)
        if limits.max_cost_usd is not None and cost >= limits.max_cost_usd:
            return StopReason.COST_BUDGET
        return None


def _sum(spent: Sequence[Completion | UserTurn]) -> Usage:
    total = Usage()
    for each in spent:
        total += each.usage
    return total


def _cost(spent: Sequence[Completion | UserTurn]) -> float | None:
    costs = [each.cost_usd for each in spent]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def user_event(turn: UserTurn) -> dict[str, Json]:
    """What the user did, for the record; it stands after the completion that it answers."""
    out: dict[str, Json] = {
        "event": "user_turn",
        "text": turn.text,
        "told": list(turn.told),
        "consents": turn.consents,
        "declines": turn.declines,
        "ends": turn.ends,
        "fault": turn.fault,
    }
    if turn.discarded:
        out |= {"discarded": [dict(each) for each in turn.discarded], "by_rule": turn.by_rule}
    return out | spent(turn.usage, turn.cost_usd)
