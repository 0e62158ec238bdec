"""A dataset in numbers: one pass over the columns that are needed, plain JSON out."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from synth.dataset.executed import Executed
from synth.dataset.reader import Dataset
from synth.dataset.sql_scores import SqlScores
from synth.report.tool_use import tool_uses

Json = Any

_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
_USER = ("user_input_tokens", "user_output_tokens", "user_cost_usd")
_POLICY = ("policy_input_tokens", "policy_output_tokens", "policy_cost_usd")
_SUMS = (*_TOKENS, "cost_usd", *_USER, *_POLICY)
_COLUMNS = [
    *("trajectory_id", "family", "split", "env", "model", "user_model", "outcome", "stop_reason", "reward"),
    *("num_turns", "num_tool_calls", "num_tool_errors", "error_categories", "messages", "events", "latency_s"),
    *("verdicts", "executions"),
    *_SUMS,
]
_PERCENTILES = (50, 90, 99)


@dataclass(slots=True)
class _Sum:
    """A sum of which some parts may be unknown: without any known part it is unknown, never 0."""

    total: float = 0
    known: int = 0

    def add(self, value: float | None) -> None:
        if value is not None:
            self.total += value
            self.known += 1

    def mean(self) -> float | None:
        return self.total / self.known if self.known else None

    def to_json(self) -> Json:
        return {"total": self.total if self.known else None, "known_rows": self.known}


@dataclass(slots=True)
class _Part:
    """The rows of a family or a split."""

    rows: int = 0
    success: int = 0
    unscored: int = 0
    tool_errors: int = 0
    infrastructure_errors: int = 0
    reward: _Sum = field(default_factory=_Sum)
    turns: _Sum = field(default_factory=_Sum)
    tool_calls: _Sum = field(default_factory=_Sum)

    def add(self, row: Mapping[str, Json]) -> None:
        self.rows += 1
        self.success += row["outcome"] == "success"
        self.unscored += row["reward"] is None
        self.tool_errors += row["num_tool_errors"]
        self.reward.add(row["reward"])
        self.turns.add(row["num_turns"])
        self.tool_calls.add(row["num_tool_calls"])

    def to_json(self) -> Json:
        return {
            "rows": self.rows,
            "success": self.success,
            "unscored": self.unscored,
            "mean_reward": self.reward.mean(),
            "mean_turns": self.turns.mean(),
            "mean_tool_calls": self.tool_calls.mean(),
            "tool_errors": self.tool_errors,
            "infrastructure_errors": self.infrastructure_errors,
        }


class _Tally:
    def __init__(self) -> None:
        self.counts = {name: Counter[str]() for name in ("outcome", "stop_reason", "env", "model")}
        self.user_models: Counter[str] = Counter()
        self.families: dict[str, _Part] = {}
        self.splits: dict[str, _Part] = {}
        self.sql = SqlScores()
        self.executed = Executed()
        self.calls: Counter[str] = Counter()
        self.failed_calls: Counter[str] = Counter()
        self.error_categories: Counter[str] = Counter()
        self.sums = {name: _Sum() for name in _SUMS}
        self.latencies = array("d")
        self.reward = _Sum()
        self.full_reward = 0
        self.rows = 0
        self.first: str | None = None
        self.first_failed: str | None = None

    def family(self, name: str) -> _Part:
        return self.families.setdefault(name, _Part())

    def split(self, name: str) -> _Part:
        return self.splits.setdefault(name, _Part())

    def add(self, row: Mapping[str, Json]) -> None:
        self.rows += 1
        self.first = self.first or row["trajectory_id"]
        if row["outcome"] == "failure":
            self.first_failed = self.first_failed or row["trajectory_id"]
        for name, counter in self.counts.items():
            counter[row[name]] += 1
        if row["user_model"] is not None:
            self.user_models[row["user_model"]] += 1
        self.reward.add(row["reward"])
        self.full_reward += row["reward"] == 1.0
        self.error_categories.update(row["error_categories"])
        self.latencies.append(row["latency_s"])
        for name, part in self.sums.items():
            part.add(row[name])
        self.sql.add(row["verdicts"])
        self.executed.add(row["executions"])
        self.family(row["family"]).add(row)
        self.split(row["split"]).add(row)
        for use in tool_uses(row["messages"], row["events"]):
            self.calls[use.name] += 1
            self.failed_calls[use.name] += use.category is not None


def summarize(dataset: Dataset) -> dict[str, Json]:
    """Everything that ``synth inspect`` says of a dataset, as JSON; what is unknown is null, shares are in [0, 1]."""
    tally = _Tally()
    for row in dataset.rows(_COLUMNS):
        tally.add(row)
    errors = dataset.errors()
    for error in errors:
        tally.family(error["family"]).infrastructure_errors += 1
        if dataset.info is not None:
            tally.split(dataset.info.layout.split_of(error["job_index"])).infrastructure_errors += 1
    return {
        "path": str(dataset.path),
        "status": dataset.status,
        "rows": tally.rows,
        "jobs": dataset.info.layout.jobs if dataset.info else None,
        "sealed": dataset.manifest is not None,
        "warnings": dataset.warnings,
        "envs": _sorted(tally.counts["env"]),
        "models": _sorted(tally.counts["model"]),
        "user_models": _sorted(tally.user_models),
        "splits": [{"split": name, **split.to_json()} for name, split in tally.splits.items()],
        "rewards": {
            "mean": tally.reward.mean(),
            "scored": tally.reward.known,
            "unscored": tally.rows - tally.reward.known,
            "full": tally.full_reward,
        },
        "outcomes": _sorted(tally.counts["outcome"]),
        "stop_reasons": _sorted(tally.counts["stop_reason"]),
        "families": [{"family": name, **family.to_json()} for name, family in sorted(tally.families.items())],
        "sql": tally.sql.to_json(),
        "tools": [
            {"tool": name, "calls": calls, "errors": (bad := tally.failed_calls[name]), "error_rate": bad / calls}
            for name, calls in _sorted(tally.calls).items()
        ],
        "executions": tally.executed.to_json(),
        "error_categories": _sorted(tally.error_categories),
        "infrastructure_errors": _error_types(errors),
        "tokens": {name.removesuffix("_tokens"): tally.sums[name].to_json() for name in _TOKENS},
        "cost_usd": tally.sums["cost_usd"].to_json(),
        "user": {name.removeprefix("user_"): tally.sums[name].to_json() for name in _USER},
        "policy": {name.removeprefix("policy_"): tally.sums[name].to_json() for name in _POLICY},
        "latency_s": _percentiles(tally.latencies),
        "example": tally.first,
        "failed_example": tally.first_failed,
    }


def _sorted(counter: Counter[str]) -> dict[str, int]:
    """Most frequent first, equal ones by name."""
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _error_types(errors: Iterable[Mapping[str, Json]]) -> list[Json]:
    """Infrastructure errors by type: how many, how many are given up, and one message to go on."""
    types: dict[str, dict[str, Json]] = {}
    for error in errors:
        entry = types.setdefault(
            error["error_type"],
            {"type": error["error_type"], "count": 0, "terminal": 0, "message": error["message"]},
        )
        entry["count"] += 1
        entry["terminal"] += bool(error["terminal"])
    return sorted(types.values(), key=lambda entry: (-entry["count"], entry["type"]))


def _percentiles(values: Iterable[float]) -> dict[str, float] | None:
    """Nearest-rank percentiles and the greatest value; None without values."""
    ordered = sorted(values)
    if not ordered:
        return None
    ranks = {f"p{p}": ordered[math.ceil(p / 100 * len(ordered)) - 1] for p in _PERCENTILES}
    return {**ranks, "max": ordered[-1]}
