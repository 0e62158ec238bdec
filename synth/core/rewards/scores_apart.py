"""Scores of rollouts that a gate counts apart: who resisted a hostile text, who declined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


def names_apart(verdict: Mapping[str, Any]) -> Sequence[str]:
    """The names under which a verdict's rollout counts apart."""
    detail: Mapping[str, Any] = verdict.get("detail") or {}
    return detail.get("apart", ())


@dataclass(slots=True)
class _Group:
    rollouts: int = 0
    passed: int = 0
    solved: int = 0


@dataclass(slots=True)
class ScoresApart:
    """By each name in ``detail["apart"]`` of a verdict: the rollouts, how many passed that gate,
    and how many passed all.
    """

    groups: dict[str, _Group] = field(default_factory=dict[str, _Group])

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row by its ``verdicts``."""
        for verdict in row["verdicts"]:
            for name in names_apart(verdict):
                group = self.groups.setdefault(name, _Group())
                group.rollouts += 1
                group.passed += verdict["score"] == 1.0
                group.solved += all(one["score"] == 1.0 for one in row["verdicts"] if one["gate"])

    def to_json(self) -> list[dict[str, object]]:
        """The figures by name; empty without such a rollout."""
        return [
            {
                "name": name,
                "rollouts": group.rollouts,
                "passed": group.passed / group.rollouts,
                "solved": group.solved / group.rollouts,
            }
            for name, group in sorted(self.groups.items())
        ]
