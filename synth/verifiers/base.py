"""The contract of a verifier: evidence in, one verdict out. Frozen evidence, no database, no side effect."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envs.types import RowChange, Table
from synth.types import Task, Verdict

Json = Any


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One executed call as a verifier sees it: what was asked, how it went, which rows it changed."""

    name: str
    arguments: Mapping[str, Json] | None
    ok: bool
    category: str | None
    read_only: bool
    changes: Sequence[RowChange] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rollout left behind. ``changes`` is the net difference from the template."""

    task: Task
    changes: Sequence[RowChange]
    calls: Sequence[CallRecord]
    submitted: Mapping[str, Json] | None
    tables: Mapping[str, Table] = field(default_factory=dict[str, Table])


class Verifier(ABC):
    """Judges one aspect of a rollout. ``option`` is what the gate's entry in tasks.yaml says."""

    name: str

    @abstractmethod
    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        """The finding; its score is 1.0 or 0.0 for a gate, anything between for a weighted score."""


def reward(verdicts: Sequence[Verdict]) -> float | None:
    """Product of the gates times the weighted mean of the scores; None as soon as one verdict could not judge."""
    if not verdicts or any(each.score is None for each in verdicts):
        return None
    gates = math.prod(each.score for each in verdicts if each.gate and each.score is not None)
    scores = [(each.score or 0.0, each.weight) for each in verdicts if not each.gate]
    total = sum(weight for _, weight in scores)
    return gates * (sum(score * weight for score, weight in scores) / total if total else 1.0)
