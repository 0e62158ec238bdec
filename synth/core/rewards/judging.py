"""The verdicts on a rollout: the gates of its task in their order, then the world's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from synth.core.rewards.requests import combined, evidence_of_requests
from synth.core.rewards.world_rewards import WorldReward
from synth.errors import TaskError
from synth.evidence import Evidence, Verifier
from synth.plugins import REWARDS, PluginError
from synth.task import Task
from synth.verdict import Verdict


def judge(evidence: Evidence, rewards: Sequence[WorldReward] = ()) -> list[Verdict]:
    """Return the verdict of each gate of the task, in their order, then of each of ``rewards``,
    the world's own gates and scores, that applies to its family.

    Each request of a composed task is judged as the task that it is, on what was done and said from
    its coming to the next; a verdict is that on all of them.

    Raises :class:`~synth.errors.TaskError` if a query of the task's own fails, or a gate is an
    extension that is not installed.
    """
    if evidence.task.parts:
        judged = [
            None if request is None else judge(request, rewards)
            for request in evidence_of_requests(evidence)
        ]
        return combined(evidence, judged)
    verdicts: list[Verdict] = []
    for gate in evidence.task.gates:
        verifier = verifier_for(gate.name, evidence.task)
        verdicts.append(verifier.verify(evidence, verifier.parse_options(gate.options)))
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
