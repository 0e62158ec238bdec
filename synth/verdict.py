"""The end of a rollout, and the finding of one verifier about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class StopReason(StrEnum):
    """The reason for which a rollout ended."""

    FINISHED = "finished"
    MAX_TURNS = "max_turns"
    MAX_TOOL_CALLS = "max_tool_calls"
    TOKEN_BUDGET = "token_budget"  # noqa: S105 - not a password
    TIME_BUDGET = "time_budget"
    COST_BUDGET = "cost_budget"
    TRUNCATED = "truncated"
    CONTEXT_OVERFLOW = "context_overflow"
    EMPTY_REPLY = "empty_reply"
    REFUSED = "refused"
    USER_ENDED = "user_ended"
    MODEL_ERROR = "model_error"
    ENVIRONMENT_ERROR = "environment_error"


class Outcome(StrEnum):
    """The result of a rollout; ``unscored`` goes with a null reward."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verifier's finding. ``score`` is in [0, 1], or None where it could not judge; a ``gate``
    multiplies. Reports count the rollouts apart under each name in ``detail["apart"]``.
    """

    verifier: str
    score: float | None
    reason: str
    gate: bool = True
    weight: float = 1.0
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Any]:
        return {
            "verifier": self.verifier,
            "score": self.score,
            "reason": self.reason,
            "gate": self.gate,
            "weight": self.weight,
            "detail": dict(self.detail),
        }
