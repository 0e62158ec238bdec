"""Summary of a dataset in numbers, as plain JSON: one pass over the necessary columns."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from synth.core.dataset.columns import PAYERS
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.counts import RetryTally, RunCounts, Statistics, ToolExecutions
from synth.core.dataset.variety import Variety
from synth.core.report.rates import PassTally, histogram_of
from synth.core.screen.transcript import tool_uses
from synth.core.types.phrasings import HeldOutPhrasings, folded

_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
_PAID = ("input_tokens", "output_tokens", "cost_usd")
_SUMS = (*_TOKENS, "cost_usd", *(f"{payer}{name}" for payer in PAYERS[1:] for name in _PAID))
_COLUMNS = [
    *("trajectory_id", "task_id", "family", "split", "env", "model", "user_model"),
    *("outcome", "stop_reason", "reward", "verdicts"),
    *("num_turns", "num_tool_calls", "num_tool_errors", "error_categories"),
    *("messages", "events", "latency_s", "executions", "retries", "renaming", "renaming_names"),
    "phrasing",
    *_SUMS,
]
_PERCENTILES = (50, 90, 99)
_SPREADS = {
    "rewards": "reward",
    "turns": "num_turns",
    "tool calls": "num_tool_calls",
    "output tokens": "output_tokens",
    "costs in $": "cost_usd",
}
"""Columns whose distribution is shown, by its name."""


@dataclass(slots=True)
class _Sum:
    """A sum with possibly unknown parts; without any known part it is unknown, never 0."""

    total: float = 0
    known: int = 0

    def add(self, value: float | None) -> None:
        if value is not None:
            self.total += value
            self.known += 1

    def mean(self) -> float | None:
        return self.total / self.known if self.known else None

    def to_json(self) -> dict[str, object]:
        return {"total": self.total if self.known else None, "known_rows": self.known}


@dataclass(slots=True)
class _SummaryPart:
    """Rows of one family or split."""

    rows: int = 0
    success: int = 0
    unscored: int = 0
    tool_errors: int = 0
    infrastructure_errors: int = 0
    reward: _Sum = field(default_factory=_Sum)
    turns: _Sum = field(default_factory=_Sum)
    tool_calls: _Sum = field(default_factory=_Sum)
    passes: PassTally = field(default_factory=PassTally)

    def add(self, row: Mapping[str, Any]) -> None:
        self.rows += 1
        if row["reward"] is not None:
            self.passes.add(row["task_id"], row["outcome"] == "success")
        self.success += row["outcome"] == "success"
        self.unscored += row["reward"] is None
        self.tool_errors += row["num_tool_errors"]
        self.reward.add(row["reward"])
        self.turns.add(row["num_turns"])
        self.tool_calls.add(row["num_tool_calls"])

    def to_json(self) -> dict[str, object]:
        return {
            "rows": self.rows,
            "success": self.success,
            "unscored": self.unscored,
            "mean_reward": self.reward.mean(),
            "pass": self.passes.to_json(),
            "mean_turns": self.turns.mean(),
            "mean_tool_calls": self.tool_calls.mean(),
            "tool_errors": self.tool_errors,
            "infrastructure_errors": self.infrastructure_errors,
        }


class _SummaryTally:
    def __init__(self, variety: Variety, held_out: HeldOutPhrasings | None) -> None:
        self.variety, self.held_out = variety, held_out
        self.counts = {name: Counter[str]() for name in ("outcome", "stop_reason", "env", "model")}
        self.user_models: Counter[str] = Counter()
        self.whole = _SummaryPart()
        self.families = defaultdict[str, _SummaryPart](_SummaryPart)
        self.splits = defaultdict[str, _SummaryPart](_SummaryPart)
        self.renamings = defaultdict[int, _SummaryPart](_SummaryPart)
        self.phrasings = defaultdict[str, _SummaryPart](_SummaryPart)
        self.statistics = Statistics()
        self.executed = ToolExecutions()
        self.retries = RetryTally()
        self.calls: Counter[str] = Counter()
        self.failed_calls: Counter[str] = Counter()
        self.error_categories: Counter[str] = Counter()
        self.sums = {name: _Sum() for name in _SUMS}
        self.latencies = array("d")
        self.spreads = {name: array("d") for name in _SPREADS}
        self.first: str | None = None
        self.first_failed: str | None = None

    def add(self, row: Mapping[str, Any]) -> None:
        self.whole.add(row)
        self.first = self.first or row["trajectory_id"]
        if row["outcome"] != "success":
            self.first_failed = self.first_failed or row["trajectory_id"]
        for name, counter in self.counts.items():
            counter[row[name]] += 1
        if row["user_model"] is not None:
            self.user_models[row["user_model"]] += 1
        self.error_categories.update(row["error_categories"])
        self.latencies.append(row["latency_s"])
        for name, column in _SPREADS.items():
            if row[column] is not None:
                self.spreads[name].append(row[column])
        for name, part in self.sums.items():
            part.add(row[name])
        self.statistics.add(row)
        self.executed.add(row["executions"])
        self.retries.add(row["retries"])
        self.variety.add(row["task_id"], row["messages"], row["family"], row["env"])
        self.families[folded(row["family"])].add(row)
        self.splits[row["split"]].add(row)
        self.renamings[row["renaming"] or 0].add(row)
        kind = phrasing_kind(self.held_out, row["family"], row["phrasing"])
        if kind is not None:
            self.phrasings[kind].add(row)
        names: Mapping[str, Any] | None = row["renaming_names"]
        own = {} if names is None else {shown: name for name, shown in names["tools"].items()}
        for use in tool_uses(row["messages"], row["events"]):
            name = own.get(use.name, use.name)
            self.calls[name] += 1
            self.failed_calls[name] += use.category is not None


def _listed(kind: str, parts: Iterable[tuple[object, _SummaryPart]]) -> list[dict[str, object]]:
    """The figures of parts with their names, which are of one kind: families, splits."""
    return [{kind: str(name), **part.to_json()} for name, part in parts]


def held_out_of(dataset: Dataset) -> HeldOutPhrasings | None:
    """The wordings that a run holds out of its first split; None if it holds none out."""
    return None if dataset.info is None else HeldOutPhrasings.of(dataset.info.identity.more)


def phrasing_kind(
    held_out: HeldOutPhrasings | None, family: str, phrasing: str | None
) -> str | None:
    """The kind of a wording: ``held out``, or ``in all splits``; None where none is held out."""
    if held_out is None:
        return None
    return "held out" if held_out.hold(family, phrasing) else "in all splits"


def summarize(dataset: Dataset) -> dict[str, Any]:
    """Return everything that ``synth inspect`` prints about a dataset, as JSON.

    Unknown values are null, shares are in [0, 1].
    """
    tally = _SummaryTally(Variety(dataset.paths), held_out_of(dataset))
    for row in dataset.rows(_COLUMNS):
        tally.add(row)
    errors = dataset.errors()
    for error in errors:
        tally.families[folded(error["family"])].infrastructure_errors += 1
        tally.retries.add(error["retries"])
    for split, count in dataset.errors_by_split().items():
        tally.splits[split].infrastructure_errors += count
    whole = tally.whole
    return {
        "path": dataset.name,
        "paths": [str(path) for path in dataset.paths],
        "status": dataset.status,
        "rows": whole.rows,
        "jobs": dataset.jobs,
        "sealed": dataset.sealed,
        "resumable": dataset.resumable,
        "warnings": [
            *dataset.warnings,
            *RunCounts.warnings(dataset.manifest),
            *tally.executed.warnings(whole.rows, whole.success, tally.counts["stop_reason"]),
        ],
        "envs": _sorted(tally.counts["env"]),
        "models": _sorted(tally.counts["model"]),
        "user_models": _sorted(tally.user_models),
        "splits": _listed("split", tally.splits.items()),
        "renamings": _listed("renaming", sorted(tally.renamings.items())),
        "phrasings": _listed("phrasing", sorted(tally.phrasings.items())),
        "rewards": {
            "mean": whole.reward.mean(),
            "scored": whole.reward.known,
            "unscored": whole.unscored,
            "successes": whole.success,
        },
        "pass": whole.passes.to_json(),
        "outcomes": _sorted(tally.counts["outcome"]),
        "stop_reasons": _sorted(tally.counts["stop_reason"]),
        "families": _listed("family", sorted(tally.families.items())),
        **tally.statistics.to_json(),
        "tools": [
            {
                "tool": name,
                "calls": calls,
                "errors": (bad := tally.failed_calls[name]),
                "error_rate": bad / calls,
            }
            for name, calls in _sorted(tally.calls).items()
        ],
        "executions": tally.executed.to_json(),
        "retries": tally.retries.to_json(),
        "reviews": dataset.reviews.summary(),
        "variety": tally.variety.to_json(),
        "error_categories": _sorted(tally.error_categories),
        "infrastructure_errors": _error_types(errors),
        "tokens": {name.removesuffix("_tokens"): tally.sums[name].to_json() for name in _TOKENS},
        "cost_usd": tally.sums["cost_usd"].to_json(),
        **{
            payer: {name: tally.sums[f"{payer}_{name}"].to_json() for name in _PAID}
            for payer in ("user", "approver")
        },
        "latency_s": _percentiles(tally.latencies),
        "distributions": {
            name: {**(_percentiles(values) or {}), **histogram_of(values).to_json()}
            for name, values in tally.spreads.items()
            if values
        },
        "example": tally.first,
        "failed_example": tally.first_failed,
    }


def _sorted(counter: Counter[str]) -> dict[str, int]:
    """Sort by frequency, then by name."""
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _error_types(errors: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Group infrastructure errors by type: their number, the number of jobs given up, and an
    example message.
    """
    types: dict[str, dict[str, Any]] = {}
    for error in errors:
        entry = types.setdefault(
            error["error_type"],
            {"type": error["error_type"], "count": 0, "terminal": 0, "message": error["message"]},
        )
        entry["count"] += 1
        entry["terminal"] += bool(error["terminal"])
    return sorted(types.values(), key=lambda entry: (-entry["count"], entry["type"]))


def _percentiles(values: Iterable[float]) -> dict[str, float] | None:
    """Return nearest-rank percentiles and the maximum; None without values."""
    ordered = sorted(values)
    if not ordered:
        return None
    ranks = {f"p{p}": ordered[math.ceil(p / 100 * len(ordered)) - 1] for p in _PERCENTILES}
    return {**ranks, "max": ordered[-1]}
