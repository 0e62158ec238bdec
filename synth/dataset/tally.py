"""Counting what a dataset holds, for the manifest: from the files themselves, so that the counts are true."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from synth.dataset.executed import Executed
from synth.dataset.layout import Layout
from synth.dataset.sql_scores import SqlScores

Json = Any

TALLIED: Final = (
    "job_index",
    "family",
    "outcome",
    "stop_reason",
    "reward",
    "verdicts",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "user_cost_usd",
    "policy_cost_usd",
    "executions",
)
"""The columns that :meth:`Census.add_row` looks at."""

_SUMS: Final = ("input_tokens", "output_tokens", "cost_usd", "user_cost_usd", "policy_cost_usd")


@dataclass(slots=True)
class _Part:
    rows: int = 0
    errors: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    scored: int = 0
    reward: float = 0.0
    sums: dict[str, float] = field(default_factory=dict[str, float])

    def to_json(self) -> dict[str, Json]:
        return {
            "rows": self.rows,
            "errors": self.errors,
            "outcomes": dict(sorted(self.outcomes.items())),
            "mean_reward": self.reward / self.scored if self.scored else None,
            **{name: self.sums.get(name) for name in _SUMS},
        }


@dataclass(slots=True)
class Census:
    """Counts of rows and errors. Sums are over the rows where the number is known, and null where it never is."""

    layout: Layout
    total: _Part = field(default_factory=_Part)
    splits: dict[str, _Part] = field(default_factory=dict[str, _Part])
    families: dict[str, _Part] = field(default_factory=dict[str, _Part])
    stop_reasons: Counter[str] = field(default_factory=Counter[str])
    error_types: Counter[str] = field(default_factory=Counter[str])
    terminal_errors: int = 0
    sql: SqlScores = field(default_factory=SqlScores)
    executed: Executed = field(default_factory=Executed)

    def add_row(self, row: dict[str, Json]) -> None:
        self.stop_reasons[row["stop_reason"]] += 1
        self.sql.add(row["verdicts"])
        self.executed.add(row["executions"])
        for tally in self._parts(row):
            tally.rows += 1
            tally.outcomes[row["outcome"]] += 1
            if row["reward"] is not None:
                tally.scored += 1
                tally.reward += row["reward"]
            for name in _SUMS:
                if row[name] is not None:
                    tally.sums[name] = tally.sums.get(name, 0) + row[name]

    def add_error(self, row: dict[str, Json]) -> None:
        self.error_types[row["error_type"]] += 1
        self.terminal_errors += bool(row["terminal"])
        for tally in self._parts(row):
            tally.errors += 1

    def _parts(self, row: dict[str, Json]) -> tuple[_Part, ...]:
        split = self.splits.setdefault(self.layout.split_of(row["job_index"]), _Part())
        return self.total, split, self.families.setdefault(row["family"], _Part())

    def to_json(self) -> dict[str, Json]:
        """The manifest's ``counts``; ``missing`` are jobs without a row or an error."""
        total, jobs = self.total.to_json(), self.layout.jobs
        sizes = self.layout.splits
        return {
            "jobs": jobs,
            **total,
            "terminal_errors": self.terminal_errors,
            "missing": jobs - self.total.rows - self.total.errors,
            "stop_reasons": dict(sorted(self.stop_reasons.items())),
            "error_types": dict(sorted(self.error_types.items())),
            "splits": {name: {"jobs": size, **self.splits.get(name, _Part()).to_json()} for name, size in sizes},
            "families": {name: tally.to_json() for name, tally in sorted(self.families.items())},
            "tools": self.executed.to_json(),
            **({"sql": self.sql.to_json()} if self.sql.levels else {}),
        }
