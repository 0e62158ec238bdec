"""The judgement of rollouts: verifiers by the names that ``gates`` uses, a world's own gates and
scores, and the reward that their verdicts make.
"""

from __future__ import annotations

from synth.core.rewards.blame import blame
from synth.core.rewards.judging import asks_databases, judge, verifier_for, verifier_of
from synth.core.rewards.requests import shared_row
from synth.core.rewards.total import solved, total_reward
from synth.core.rewards.world_rewards import (
    WorldReward,
    author_error,
    check_reward_families,
    gate,
    reward,
    world_rewards,
)
from synth.evidence import (
    CallRecord,
    Databases,
    Evidence,
    Query,
    TurnRecord,
    Utterance,
    Verifier,
)

__all__ = [
    "CallRecord",
    "Databases",
    "Evidence",
    "Query",
    "TurnRecord",
    "Utterance",
    "Verifier",
    "WorldReward",
    "asks_databases",
    "author_error",
    "blame",
    "check_reward_families",
    "gate",
    "judge",
    "reward",
    "shared_row",
    "solved",
    "total_reward",
    "verifier_for",
    "verifier_of",
    "world_rewards",
]
