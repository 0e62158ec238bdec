"""The report of the proofs of a family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import cast


@dataclass
class FamilyReport:
    """The report of the proofs of one family, over all universes that were checked.

    ``capacity`` is for universe 0, which a run uses by default. ``other_ends`` are mutants that
    reach another right end, one that the family's ``alternatives`` allows. ``gold_scores`` are the
    lowest scores of gold by the world's ``@reward`` functions; they need not be full.
    ``known_answers`` counts the tasks in which a fixed answer earns the full reward.
    ``honest_played`` counts the tasks that each honest agent played, ``honest_won`` those that it
    won; ``honest_excepted`` are agents that lose and may, with the reason. ``notes`` are what the
    author should know, ``example`` is the first agent that is a finding. The family may be used if
    ``problems``, ``surviving`` and ``honest_lost`` are empty.
    """

    family: str
    capacity: int = 0
    tasks: int = 0
    agents: Counter[str] = field(default_factory=Counter[str])
    killed: Counter[str] = field(default_factory=Counter[str])
    equivalent: Counter[str] = field(default_factory=Counter[str])
    left_out: int = 0
    other_ends: list[str] = field(default_factory=list[str])
    surviving: list[str] = field(default_factory=list[str])
    known_answers: int = 0
    problems: list[str] = field(default_factory=list[str])
    cached: bool = False
    gold_scores: dict[str, float] = field(default_factory=dict[str, float])
    honest_played: Counter[str] = field(default_factory=Counter[str])
    honest_won: Counter[str] = field(default_factory=Counter[str])
    honest_excepted: dict[str, str] = field(default_factory=dict[str, str])
    honest_lost: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    example: str = ""

    @property
    def ok(self) -> bool:
        return not (self.problems or self.surviving or self.honest_lost)

    @property
    def honest_winners(self) -> list[str]:
        """The honest agents that won each task that they played."""
        return [
            name for name, count in self.honest_played.items() if count == self.honest_won[name]
        ]

    def add_gold_scores(self, scores: Mapping[str, float]) -> None:
        """Keep the lowest of gold's scores by each of the world's ``@reward`` functions."""
        for name, score in scores.items():
            self.gold_scores[name] = min(score, self.gold_scores.get(name, score))

    def add(self, other: FamilyReport) -> None:
        """Add the report of another universe, or of another part of the proofs."""
        for name in _ADDED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.cached = self.cached and other.cached
        self.example = self.example or other.example
        self.honest_excepted |= other.honest_excepted
        self.add_gold_scores(other.gold_scores)

    def to_json(self) -> dict[str, object]:
        named: dict[str, object] = {"family": self.family, "ok": self.ok}
        for one in fields(self):
            value: object = getattr(self, one.name)
            plain = dict(cast("Counter[str]", value)) if isinstance(value, Counter) else value
            named[_JSON_NAMES.get(one.name, one.name)] = plain
        return named


_JSON_NAMES: Mapping[str, str] = {
    "tasks": "tasks_proved",
    "agents": "lazy_agents_caught",
    "killed": "mutants_killed",
    "equivalent": "mutants_equivalent",
    "left_out": "mutants_left_out",
    "other_ends": "mutants_other_right_ends",
    "surviving": "mutants_surviving",
    "known_answers": "known_answer_possible",
}
"""The names of fields in JSON, where they differ."""

_ADDED = (
    *("tasks", "agents", "killed", "equivalent", "left_out", "other_ends", "surviving"),
    *("known_answers", "problems", "honest_played", "honest_won", "honest_lost", "notes"),
)
"""The fields that are summed over the parts of the proofs."""
