"""Scores of answers to questions by difficulty and family, from the verdicts of rows: execution
accuracy and the soft F1 of BIRD.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

SQL: Final = "sql"
"""Name of the verifier whose verdicts hold the scores."""

UNRATED: Final = "unrated"
_ORDER: Final = ("simple", "moderate", "challenging")
_EFFORT: Final = {"steps": "num_tool_calls", "tokens": "output_tokens", "seconds": "latency_s"}
"""The means of columns that a level has."""


@dataclass(slots=True)
class _Level:
    questions: int = 0
    validated: int = 0
    execution: int = 0
    right: int = 0
    f1: float = 0.0
    effort: dict[str, float | None] = field(default_factory=lambda: dict.fromkeys(_EFFORT, 0.0))

    def to_json(self) -> dict[str, object]:
        effort = {
            name: None if spent is None else spent / self.questions
            for name, spent in self.effort.items()
        }
        return {
            "questions": self.questions,
            **effort,
            "validated": self.validated / self.questions,
            "execution_accuracy": self.execution / self.questions,
            "suite_accuracy": self.right / self.questions,
            "f1": self.f1 / self.questions,
        }


@dataclass(slots=True)
class SqlScores:
    """Scores per difficulty and per family, which is the database in a published set.

    ``validated`` is the share of answers whose query the database executed, ``execution_accuracy``
    the share that is right on the task's own database, ``suite_accuracy`` the share
    that is right on the additional databases as well, ``f1`` the mean. ``steps`` (tool calls),
    ``tokens`` (generated) and ``seconds`` are means; null where a row's is unknown.
    Rows that could not be judged are not counted.
    """

    levels: dict[tuple[str, str], _Level] = field(default_factory=dict[tuple[str, str], _Level])
    """By ``difficulty`` or ``family`` and its name."""

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row by its verdict, with its steps, tokens and seconds."""
        for verdict in row["verdicts"]:
            detail: Mapping[str, Any] = verdict.get("detail") or {}
            if verdict["verifier"] != SQL or verdict["score"] is None or "execution" not in detail:
                continue
            names = [("difficulty", "all"), ("difficulty", detail.get("difficulty") or UNRATED)]
            names += [("family", detail["family"])] if detail.get("family") else []
            for name in names:
                level = self.levels.setdefault(name, _Level())
                level.questions += 1
                level.validated += bool(detail.get("agrees"))
                level.execution += bool(detail["execution"])
                level.right += verdict["score"] == 1.0
                level.f1 += detail["f1"]
                for figure, column in _EFFORT.items():
                    spent, one = level.effort[figure], row[column]
                    level.effort[figure] = None if None in (spent, one) else spent + one

    def to_json(self) -> list[dict[str, object]]:
        """The scores from easy to hard, by family if there are several, and of all."""
        families = sorted(name for name in self.levels if name[0] == "family")
        order = [
            *(("difficulty", name) for name in (*_ORDER, UNRATED)),
            *(families if len(families) > 1 else ()),
            ("difficulty", "all"),
        ]
        return [
            {kind: name, **self.levels[kind, name].to_json()}
            for kind, name in order
            if (kind, name) in self.levels
        ]
