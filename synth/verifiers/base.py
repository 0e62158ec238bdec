"""The contract of a verifier: evidence in, one verdict out. Frozen evidence, no database, no side effect."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envs.asking import Answer
from envs.types import RowChange, Table, ToolResult
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
class TurnRecord:
    """One turn of the user as a verifier sees it; ``after`` is the number of tool calls executed before it."""

    after: int
    told: Sequence[str] = ()
    consents: bool = False
    declines: bool = False
    fault: str | None = None


Ask = Callable[[str], Answer | ToolResult]
"""A query's whole answer on one database, read-only and under the guards; a failed result where it has none."""


@dataclass(frozen=True, slots=True)
class Databases:
    """Where a submitted query is executed: ``own`` is the end state, ``turned`` the task's database as it was, with the
    rows of every query without ORDER BY in reverse where the engine can, and other random numbers; ``others(n)`` are up
    to n further databases of the schema.
    """

    own: Ask
    turned: Ask
    others: Callable[[int], Iterator[Ask]]


Query = Callable[[str, Mapping[str, Json]], list[dict[str, Json]]]
"""``(sql, binds) -> rows`` on the end state, read-only; raises :class:`synth.errors.TaskError` for a query that fails."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rollout left behind. ``changes`` is the net difference from the template; ``query`` asks the end state
    (None where it is gone) of a database of the kind ``engine``, for ends that are accepted by a condition. ``said`` is
    the assistant's last words; ``databases`` execute a query that was the answer (None where they are gone).
    """

    task: Task
    changes: Sequence[RowChange]
    calls: Sequence[CallRecord]
    submitted: Mapping[str, Json] | None
    tables: Mapping[str, Table] = field(default_factory=dict[str, Table])
    turns: Sequence[TurnRecord] = ()
    query: Query | None = None
    engine: str = "sqlite"
    said: str = ""
    databases: Databases | None = None


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
