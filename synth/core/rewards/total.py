"""The reward of a rollout from its verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from synth.verdict import Verdict


def total_reward(verdicts: Sequence[Verdict]) -> float | None:
    """Product of the gates times ``(1 + sum of w*s) / (1 + sum of w)`` over the weighted scores.

    None if there is no verdict, or if one of them has no score. The 1 stands for the work itself,
    so that scores shade a reward and never replace the gates.
    """
    if not verdicts or any(verdict.score is None for verdict in verdicts):
        return None
    gates = math.prod(verdict.score or 0.0 for verdict in verdicts if verdict.gate)
    scores = [(verdict.score or 0.0, verdict.weight) for verdict in verdicts if not verdict.gate]
    weights = sum(weight for _, weight in scores)
    return gates * (1 + sum(score * weight for score, weight in scores)) / (1 + weights)


def solved(verdicts: Sequence[Verdict]) -> bool:
    """True if the rollout has a reward and passes every gate: the work is right.

    Weighted scores, which a world's ``@reward`` functions give, do not count. Without them this is
    the same as a reward of 1.
    """
    return total_reward(verdicts) is not None and all(
        verdict.score == 1.0 for verdict in verdicts if verdict.gate
    )
