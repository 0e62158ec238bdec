"""Verifiers by the names that ``gates`` uses, and the reward that they make together."""

from __future__ import annotations

from collections.abc import Mapping

from synth.types import Verdict
from synth.verifiers.answer import AnswerVerifier
from synth.verifiers.base import CallRecord, Databases, Evidence, Query, TurnRecord, Verifier, reward
from synth.verifiers.blame import blame
from synth.verifiers.process import ForbiddenCalls, NoWriteBefore, RequiredCalls
from synth.verifiers.says import SaysVerifier
from synth.verifiers.sql import SqlVerifier
from synth.verifiers.state import StateVerifier

VERIFIERS: Mapping[str, Verifier] = {
    each.name: each
    for each in (
        StateVerifier(),
        AnswerVerifier(),
        NoWriteBefore(),
        RequiredCalls(),
        ForbiddenCalls(),
        SaysVerifier(),
        SqlVerifier(),
    )
}


def judge(evidence: Evidence) -> list[Verdict]:
    """The verdicts of a task's gates, in their order.

    Raises :class:`synth.errors.TaskError` where a query of the task's own fails.
    """
    verdicts: list[Verdict] = []
    for gate in evidence.task.gates:
        name, option = (gate, None) if isinstance(gate, str) else next(iter(gate.items()))
        verdicts.append(VERIFIERS[name].verify(evidence, option))
    return verdicts


__all__ = [
    "VERIFIERS",
    "CallRecord",
    "Databases",
    "Evidence",
    "Query",
    "TurnRecord",
    "Verifier",
    "blame",
    "judge",
    "reward",
]
