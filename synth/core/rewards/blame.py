"""Attribution of a reward below 1, by rule. The first of these that applies:

- ``user``: a turn of the user had a fault (a leak, a broken role); such a rollout is unscored.
- nobody: every gate passed.
- ``infrastructure``: the model could not be asked, or the environment broke; unscored as well.
- nobody: a verifier could not judge.
- ``tool``: a call of a tool that gold calls failed for a reason that no argument causes, gold does
  not expect that failure, and no equal call succeeded afterwards. A slow query of the agent's own
  is the agent's fault.
- ``agent``: everything else, running out of turns or tokens included.
"""

from __future__ import annotations

from collections.abc import Sequence

from envs.types import ErrorCategory
from synth.core.rewards.total import solved, total_reward
from synth.core.types.steps import CallStep, every_step
from synth.evidence import CallRecord, Evidence
from synth.verdict import StopReason, Verdict

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
    """Return ``user``, ``infrastructure``, ``tool``, ``agent``, or None for nobody."""
    if any(turn.fault for turn in evidence.turns):
        return "user"
    if solved(verdicts):
        return None
    if stop_reason in BROKEN:
        return "infrastructure"
    if total_reward(verdicts) is None:
        return None
    return "tool" if _a_tool_failed(evidence) else "agent"


def _a_tool_failed(evidence: Evidence) -> bool:
    gold = [step for step in every_step(evidence.task.gold) if isinstance(step, CallStep)]
    for index, call in enumerate(evidence.calls):
        if call.category not in NO_ARGUMENTS_FAULT:
            continue
        expected = [step.fails for step in gold if step.tool == call.name]
        if (
            expected
            and call.category not in expected
            and not any(_succeeded(call, later) for later in evidence.calls[index + 1 :])
        ):
            return True
    return False


def _succeeded(failed: CallRecord, later: CallRecord) -> bool:
    return later.ok and later.name == failed.name and later.arguments == failed.arguments
