"""The judgement of rollouts: verifiers by the names that ``gates`` uses, a world's own gates and
scores, and the reward that their verdicts make.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from envs.types import ErrorCategory
from synth.core.rewards.requests import combined, evidence_of_requests, shared_row
from synth.core.rewards.world_rewards import (
    WorldReward,
    author_error,
    check_reward_families,
    gate,
    reward,
    world_rewards,
)
from synth.core.types.steps import CallStep, every_step
from synth.errors import TaskError
from synth.evidence import CallRecord, Databases, Evidence, Query, TurnRecord, Utterance, Verifier
from synth.plugins import REWARDS, PluginError
from synth.task import Task
from synth.verdict import StopReason, Verdict


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


def judge(evidence: Evidence, rewards: Sequence[WorldReward] = ()) -> list[Verdict]:
    """Return the verdict of each gate of the task, in their order, then of each of ``rewards``,
    the world's own gates and scores, that applies to its family. A fault of the user comes first,
    as a verdict ``user`` without a score.

    Each request of a composed task is judged as the task that it is, on what was done and said from
    its coming to the next; a verdict is that on all of them.

    Raises :class:`~synth.errors.TaskError` if a query of the task's own fails, or a gate is an
    extension that is not installed.
    """
    fault = next((turn.fault for turn in evidence.turns if turn.fault), None)
    found = [] if fault is None else [Verdict("user", None, f"the user is at fault: {fault}")]
    return [*found, *_judged(evidence, rewards)]


def _judged(evidence: Evidence, rewards: Sequence[WorldReward]) -> list[Verdict]:
    if evidence.task.parts:
        judged = [
            None if request is None else _judged(request, rewards)
            for request in evidence_of_requests(evidence)
        ]
        return combined(evidence, judged)
    verdicts: list[Verdict] = []
    for named in evidence.task.gates:
        verifier = verifier_for(named.name, evidence.task)
        verdict = verifier.verify(evidence, verifier.parse_options(named.options))
        if not isinstance(cast("object", verdict), Verdict):
            what = f"gates: {named.name}: verify returned {verdict!r:.80}, not a Verdict"
            raise TaskError(what, family=evidence.task.family)
        verdicts.append(verdict)
    family = evidence.task.family
    return verdicts + [item.verify(evidence) for item in rewards if item.applies_to(family)]


def verifier_of(name: str) -> Verifier:
    """The verifier that ``gates`` names so. Raises :class:`~envs.plugins.PluginError`."""
    return _instance(REWARDS.builtin.get(name) or _target(name))


def verifier_for(name: str, task: Task) -> Verifier:
    """As :func:`verifier_of`; raises :class:`~synth.errors.TaskError` about the task's family."""
    try:
        return verifier_of(name)
    except PluginError as error:
        raise TaskError(f"gates: {error}", family=task.family) from None


def asks_databases(task: Task) -> bool:
    """True if a gate of the task executes queries that the agent wrote."""
    return any(verifier_for(name, task).asks_databases for name in task.gate_names)


@lru_cache(maxsize=64)
def _target(name: str) -> str:
    return REWARDS.find(name).target


@lru_cache(maxsize=64)
def _instance(target: str) -> Verifier:
    made = REWARDS.load(target)
    verifier = made() if callable(made) else made
    if not isinstance(verifier, Verifier):
        raise PluginError(
            f"{target} is not a gate: it must be a subclass of synth.rewards.Verifier, or a"
            " function that returns one"
        )
    return verifier


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
    """Return ``user``, ``infrastructure``, ``tool``, ``agent``, or None for nobody.

    Attribution of a reward below 1, by rule. The first of these that applies:

    - ``user``: a turn of the user had a fault (a leak, a broken role); such a rollout is unscored.
    - nobody: every gate passed.
    - ``infrastructure``: the model could not be asked, or the environment broke; unscored as well.
    - nobody: a verifier could not judge.
    - ``tool``: a call of a tool that gold calls failed for a reason that no argument causes, gold
      does not expect that failure, and no equal call succeeded afterwards. A slow query of the
      agent's own is the agent's fault.
    - ``agent``: everything else, running out of turns or tokens included.
    """
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
            and not any(
                later.ok and (later.name, later.arguments) == (call.name, call.arguments)
                for later in evidence.calls[index + 1 :]
            )
        ):
            return True
    return False


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
