"""What the proofs of a family came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Any


@dataclass
class FamilyReport:
    """What the proofs of one family came to, over all universes that were looked at.

    ``capacity`` is of universe 0, the one that a run asks by default; ``other_ends`` are mutants that reach another right
    end, one that the family's ``accept`` allows. The family may be used when ``problems`` and ``surviving`` are empty.
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
    problems: list[str] = field(default_factory=list[str])
    cached: bool = False

    @property
    def ok(self) -> bool:
        return not self.problems and not self.surviving

    def add(self, other: FamilyReport) -> None:
        """Take in what another universe, or another part of the proofs, came to."""
        self.tasks += other.tasks
        self.left_out += other.left_out
        self.agents += other.agents
        self.killed += other.killed
        self.equivalent += other.equivalent
        self.other_ends += other.other_ends
        self.surviving += other.surviving
        self.problems += other.problems
        self.cached = self.cached and other.cached

    def to_json(self) -> dict[str, Json]:
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
            "problems": self.problems,
            "cached": self.cached,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> FamilyReport:
        """The report that :meth:`to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        return cls(
            family=str(raw["family"]),
            capacity=int(raw["capacity"]),
            tasks=int(raw["tasks_proved"]),
            agents=_counter(raw["lazy_agents_caught"]),
            killed=_counter(raw["mutants_killed"]),
            equivalent=_counter(raw["mutants_equivalent"]),
            left_out=int(raw["mutants_left_out"]),
            other_ends=_lines(raw["mutants_other_right_ends"]),
            surviving=_lines(raw["mutants_surviving"]),
            problems=_lines(raw["problems"]),
            cached=bool(raw["cached"]),
        )


def _counter(raw: Mapping[str, Json]) -> Counter[str]:
    return Counter({str(name): int(count) for name, count in raw.items()})


def _lines(raw: Sequence[Json]) -> list[str]:
    return [str(each) for each in raw]
