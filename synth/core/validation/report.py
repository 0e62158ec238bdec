"""The report of the proofs of a family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class FamilyReport:
    """The report of the proofs of one family, over all universes that were checked.

    ``capacity`` is for universe 0, which a run uses by default. ``other_ends`` are mutants that
    reach another right end, one that the family's ``alternatives`` allows. ``gold_scores`` are the
    lowest scores of gold by the world's ``@reward`` functions; they need not be full.
    ``known_answers`` counts the tasks in which a fixed answer earns the full reward.
    ``honest_played`` counts the tasks that each honest agent played, ``honest_won`` those that it
    won; ``honest_excepted`` are agents that lose and may, with the reason. ``notes`` are what the
    author should know. The family may be used if ``problems``, ``surviving`` and ``honest_lost``
    are empty.
    """

    family: str
    capacity: int = 0
    tasks: int = 0
    agents: Counter[str] = field(default_factory=Counter[str])
    killed: Counter[str] = field(default_factory=Counter[str])
    equivalent: Counter[str] = field(default_factory=Counter[str])
    left_out: int = 0
    known_answers: int = 0
    other_ends: list[str] = field(default_factory=list[str])
    surviving: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])
    cached: bool = False
    gold_scores: dict[str, float] = field(default_factory=dict[str, float])
    honest_played: Counter[str] = field(default_factory=Counter[str])
    honest_won: Counter[str] = field(default_factory=Counter[str])
    honest_excepted: dict[str, str] = field(default_factory=dict[str, str])
    honest_lost: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

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
        self.tasks += other.tasks
        self.left_out += other.left_out
        self.known_answers += other.known_answers
        self.agents += other.agents
        self.killed += other.killed
        self.equivalent += other.equivalent
        self.other_ends += other.other_ends
        self.surviving += other.surviving
        self.problems += other.problems
        self.cached = self.cached and other.cached
        self.add_gold_scores(other.gold_scores)
        self.honest_played += other.honest_played
        self.honest_won += other.honest_won
        self.honest_excepted |= other.honest_excepted
        self.honest_lost += other.honest_lost
        self.notes += other.notes

    def to_json(self) -> dict[str, object]:
        return {
            "family": self.family,
            "ok": self.ok,
            "capacity": self.capacity,
            "tasks_proved": self.tasks,
            "lazy_agents_caught": dict(self.agents),
            "mutants_killed": dict(self.killed),
            "mutants_equivalent": dict(self.equivalent),
            "mutants_left_out": self.left_out,
            "mutants_other_right_ends": self.other_ends,
            "mutants_surviving": self.surviving,
            "known_answer_possible": self.known_answers,
            "problems": self.problems,
            "cached": self.cached,
            "gold_scores": self.gold_scores,
            "honest_played": dict(self.honest_played),
            "honest_won": dict(self.honest_won),
            "honest_excepted": self.honest_excepted,
            "honest_lost": self.honest_lost,
            "notes": self.notes,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> FamilyReport:
        """The report that :meth:`to_json` wrote. Raises KeyError, TypeError or ValueError for
        anything else.
        """
        return cls(
            family=str(raw["family"]),
            capacity=int(raw["capacity"]),
            tasks=int(raw["tasks_proved"]),
            agents=_counter(raw["lazy_agents_caught"]),
            killed=_counter(raw["mutants_killed"]),
            equivalent=_counter(raw["mutants_equivalent"]),
            left_out=int(raw["mutants_left_out"]),
            known_answers=int(raw["known_answer_possible"]),
            other_ends=_lines(raw["mutants_other_right_ends"]),
            surviving=_lines(raw["mutants_surviving"]),
            problems=_lines(raw["problems"]),
            cached=bool(raw["cached"]),
            gold_scores={str(name): float(score) for name, score in raw["gold_scores"].items()},
            honest_played=_counter(raw["honest_played"]),
            honest_won=_counter(raw["honest_won"]),
            honest_excepted={str(name): str(why) for name, why in raw["honest_excepted"].items()},
            honest_lost=_lines(raw["honest_lost"]),
            notes=_lines(raw["notes"]),
        )


def _counter(raw: Mapping[str, Any]) -> Counter[str]:
    return Counter({str(name): int(count) for name, count in raw.items()})


def _lines(raw: Sequence[object]) -> list[str]:
    return [str(line) for line in raw]
