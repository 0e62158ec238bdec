"""Whose fault a reward below 1 is, by rule. The first of these that fits:

- ``user``: a turn of the user had a fault (a leak, a broken role); such a rollout is unscored.
- nobody: the full reward.
- ``infrastructure``: the model could not be asked, or the environment broke; unscored as well.
- nobody: a verifier could not judge.
- ``tool``: a call of a tool that gold calls failed for a reason that lies in no argument, gold does not fail so, and
  no call like it succeeded afterwards. A slow query that only the agent thought of is the agent's own.
- ``agent``: all else, running out of turns or tokens included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from envs.types import ErrorCategory
from synth.types import StopReason, Verdict
from synth.verifiers.base import CallRecord, Evidence, reward

Json = Any

BROKEN = frozenset({StopReason.MODEL_ERROR, StopReason.ENVIRONMENT_ERROR})

NO_ARGUMENTS_FAULT = frozenset(
    {
        ErrorCategory.TIMEOUT,
        ErrorCategory.DEADLOCK,
        ErrorCategory.CONNECTION_ERROR,
        ErrorCategory.LIMIT_EXCEEDED,
    }
)


def blame(evidence: Evidence, verdicts: Sequence[Verdict], stop_reason: str) -> str | None:
    """``user``, ``infrastructure``, ``tool``, ``agent``, or None where there is nobody to blame."""
    if any(turn.fault for turn in evidence.turns):
        return "user"
    earned = reward(verdicts)
    if earned == 1.0:
        return None
    if stop_reason in BROKEN:
        return "infrastructure"
    if earned is None:
        return None
    return "tool" if _a_tool_failed(evidence) else "agent"


def _a_tool_failed(evidence: Evidence) -> bool:
    gold = list(_gold_calls(evidence.task.gold))
    for at, call in enumerate(evidence.calls):
        if call.category not in NO_ARGUMENTS_FAULT:
            continue
        fails = [step.get("fails") for step in gold if step["tool"] == call.name]
        if fails and call.category not in fails and not any(_like(call, each) for each in evidence.calls[at + 1 :]):
            return True
    return False


def _like(failed: CallRecord, later: CallRecord) -> bool:
    return later.ok and later.name == failed.name and later.arguments == failed.arguments


def _gold_calls(steps: Sequence[Json]) -> Iterator[Json]:
    for step in steps:
        if step["do"] == "call":
            yield step
        yield from _gold_calls(step.get("steps", ()))
