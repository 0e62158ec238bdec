"""How good answers to questions are, by difficulty: execution accuracy and BIRD's soft F1, from the verdicts of rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Json = Any

SQL: Final = "sql"
"""The verifier whose verdicts hold the scores."""

UNRATED: Final = "unrated"
_ORDER: Final = ("simple", "moderate", "challenging")


@dataclass(slots=True)
class _Level:
    questions: int = 0
    execution: int = 0
    right: int = 0
    f1: float = 0.0

    def to_json(self) -> dict[str, Json]:
        return {
            "questions": self.questions,
            "execution_accuracy": self.execution / self.questions,
            "suite_accuracy": self.right / self.questions,
            "f1": self.f1 / self.questions,
        }


@dataclass(slots=True)
class SqlScores:
    """``execution_accuracy`` is of answers on the tasks' own databases, ``suite_accuracy`` of those that are right on the
    further ones too; ``f1`` is the mean. Rows that could not be judged are not counted.
    """

    levels: dict[str, _Level] = field(default_factory=dict[str, _Level])

    def add(self, verdicts: Iterable[Mapping[str, Json] | str]) -> None:
        """Count a row by its verdicts, as values or as JSON."""
        for each in verdicts:
            if isinstance(each, str) and '"sql"' not in each:
                continue
            verdict = json.loads(each) if isinstance(each, str) else each
            detail: Mapping[str, Json] = verdict.get("detail") or {}
            if verdict["verifier"] != SQL or verdict["score"] is None or "execution" not in detail:
                continue
            for name in ("all", detail.get("difficulty") or UNRATED):
                level = self.levels.setdefault(name, _Level())
                level.questions += 1
                level.execution += bool(detail["execution"])
                level.right += verdict["score"] == 1.0
                level.f1 += detail["f1"]

    def to_json(self) -> list[dict[str, Json]]:
        """Easiest first, all together last; empty where no row answers a question."""
        order = [*_ORDER, UNRATED, "all"]
        return [{"difficulty": name, **self.levels[name].to_json()} for name in order if name in self.levels]
