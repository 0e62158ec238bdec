"""Counts of a dataset for its manifest, taken from the files themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from envs.metrics import ExecutionMetrics
from envs.types import ErrorCategory
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.variety import Variety
from synth.core.types.events import ASKED
from synth.core.types.phrasings import folded
from synth.plugins import STATISTICS
from synth.verdict import StopReason

NO_TOOL: Final = "(no such tool)"
"""Name for calls of tools that do not exist; no tool can have it."""

_LONGER: Final = "raise model.max_tokens or the server's limit; a thinking model needs more"
_PARSER: Final = (
    "start the server with its tool parser (vLLM, SGLang: --tool-call-parser NAME, llama.cpp:"
    " --jinja), or set agent.text_calls=parse"
)


@dataclass(slots=True)
class ToolExecutions:
    """Metrics per tool. Rows written before executions were recorded, and calls that never reached
    the world, do not count.
    """

    tools: dict[str, ExecutionMetrics] = field(default_factory=dict[str, ExecutionMetrics])

    def add(self, executions: Iterable[Mapping[str, Any] | str] | None) -> None:
        """Count the calls of a row, given as values or as JSON."""
        for item in executions or ():
            call = json.loads(item) if isinstance(item, str) else item
            tool = call["tool"] or NO_TOOL
            self.tools.setdefault(tool, ExecutionMetrics()).record(call["ms"], call["category"])

    def total(self) -> ExecutionMetrics:
        """Return the metrics of all tools together."""
        out = ExecutionMetrics()
        for metrics in self.tools.values():
            out.merge(metrics)
        return out

    def warnings(self, rows: int, successes: int, stop_reasons: Mapping[str, int]) -> Iterator[str]:
        """Warnings about faults of most rollouts that a setting of the server fixes."""
        calls, cut = self.total(), stop_reasons.get(StopReason.TRUNCATED, 0)
        unread = calls.errors[ErrorCategory.MALFORMED_CALL]
        if 2 * cut > rows:
            yield f"{cut:,} of {rows:,} rollouts ended in an answer that was cut off: {_LONGER}"
        elif 2 * unread > calls.count:
            yield f"{unread:,} of {calls.count:,} calls could not be read: {_PARSER}"
        elif rows and not (successes or calls.count):
            yield f"no rollout called a tool: {_PARSER}"

    def to_json(self) -> dict[str, object]:
        """Return the metrics by tool, in the order of their names; see
        :meth:`envs.metrics.ExecutionMetrics.to_json`.
        """
        return {name: self.tools[name].to_json() for name in sorted(self.tools)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> ToolExecutions:
        """The inverse of :meth:`to_json`."""
        return cls({name: ExecutionMetrics.from_json(metrics) for name, metrics in raw.items()})


@dataclass(slots=True)
class RetryTally:
    """Requests that an endpoint refused or left unanswered, and that were made again."""

    reasons: Counter[str] = field(default_factory=Counter[str])
    waited_s: float = 0.0

    def add(self, retries: Iterable[Mapping[str, Any] | str] | None) -> None:
        """Count the retries of a row, given as values or as JSON."""
        for item in retries or ():
            retry = json.loads(item) if isinstance(item, str) else item
            self.reasons[retry["reason"]] += 1
            self.waited_s += retry["waited_s"]

    def to_json(self) -> dict[str, Any]:
        return {
            "count": self.reasons.total(),
            "reasons": dict(self.reasons.most_common()),
            "waited_s": round(self.waited_s, 3),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> RetryTally:
        """The inverse of :meth:`to_json`."""
        return cls(Counter(raw["reasons"]), raw["waited_s"])

    def __str__(self) -> str:
        """A phrase such as ``104 (100 HTTP 429, 4 HTTP 500), 31 s waited``."""
        why = ", ".join(f"{count:,} {reason}" for reason, count in self.reasons.most_common())
        return f"{self.reasons.total():,} ({why}), {self.waited_s:,.1f} s waited"


class _RowStatistics(Protocol):
    """Figures of rows. Constructed without arguments."""

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row, whose ``verdicts`` are values."""
        ...

    def to_json(self) -> list[dict[str, object]]:
        """Return the figures; empty if no row has any."""
        ...


@dataclass(slots=True)
class Statistics:
    """The figures that ship. One whose name is a verifier's is loaded with its first verdict."""

    found: dict[str, _RowStatistics] = field(
        default_factory=lambda: {name: STATISTICS.load(name)() for name in ("gates", "apart")}
    )

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row, whose verdicts are values or JSON."""
        read = [json.loads(one) if isinstance(one, str) else one for one in row["verdicts"]]
        if new := {one["verifier"] for one in read} & STATISTICS.builtin.keys() - self.found.keys():
            self.found |= {
                one.name: one.load()() for one in STATISTICS.shipped() if one.name in new
            }
        row = {**row, "verdicts": read}
        for statistics in self.found.values():
            statistics.add(row)

    def to_json(self) -> dict[str, list[dict[str, object]]]:
        """The figures by name; an empty list where no row has any."""
        names = sorted(STATISTICS.builtin)
        return {name: self.found[name].to_json() if name in self.found else [] for name in names}


_SUMS: Final = (
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "user_cost_usd",
    "approver_cost_usd",
    "judge_cost_usd",
)

COUNTED_COLUMNS: Final = (
    "job_index",
    "task_id",
    "messages",
    "family",
    "outcome",
    "stop_reason",
    "reward",
    "verdicts",
    *_SUMS,
    "num_tool_calls",
    "latency_s",
    "executions",
    "retries",
    "provider_fields",
)
"""The columns that :meth:`RunCounts.add_row` reads."""


@dataclass(slots=True)
class _Tally:
    rows: int = 0
    errors: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    scored: int = 0
    reward: float = 0.0
    sums: dict[str, float] = field(default_factory=dict[str, float])

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "errors": self.errors,
            "outcomes": dict(sorted(self.outcomes.items())),
            "mean_reward": self.reward / self.scored if self.scored else None,
            **{name: self.sums.get(name) for name in _SUMS},
        }


@dataclass(slots=True)
class RunCounts:
    """Counts of rows and errors. A sum covers the rows in which the number is known; it is null if
    there are none. Composed tasks are one family for each number of requests.
    """

    layout: Layout
    total: _Tally = field(default_factory=_Tally)
    splits: dict[str, _Tally] = field(default_factory=dict[str, _Tally])
    families: dict[str, _Tally] = field(default_factory=dict[str, _Tally])
    stop_reasons: Counter[str] = field(default_factory=Counter[str])
    error_types: Counter[str] = field(default_factory=Counter[str])
    terminal_errors: int = 0
    statistics: Statistics = field(default_factory=Statistics)
    executed: ToolExecutions = field(default_factory=ToolExecutions)
    retries: RetryTally = field(default_factory=RetryTally)
    provider_fields: Counter[str] = field(default_factory=Counter[str])
    left_out: Counter[str] = field(default_factory=Counter[str])
    other_models: Counter[str] = field(default_factory=Counter[str])
    variety: Variety = field(default_factory=Variety)

    @staticmethod
    def warnings(manifest: Mapping[str, Any] | None) -> list[str]:
        """Warnings about models that answered where another one was asked."""
        counts: Mapping[str, Any] = {} if manifest is None else manifest["counts"]
        found: Mapping[str, int] = counts.get("other_models", {})
        return [
            f"the endpoint answered with the model {which} (requests: {count:,})"
            for which, count in found.items()
        ]

    def add_row(self, row: dict[str, Any]) -> None:
        self.stop_reasons[row["stop_reason"]] += 1
        self.statistics.add(row)
        self.executed.add(row["executions"])
        self.retries.add(row["retries"])
        for text in row["provider_fields"] or ():
            turn: dict[str, Any] = json.loads(text)
            self.provider_fields.update(turn.keys() - {"left_out", ASKED})
            if ASKED in turn:
                self.other_models[f"{turn.get('model')} instead of {turn[ASKED]}"] += 1
            self.left_out.update(turn.get("left_out", ()))
        self.variety.add(row["task_id"], row["messages"], row["family"])
        for tally in self._parts(row):
            tally.rows += 1
            tally.outcomes[row["outcome"]] += 1
            if row["reward"] is not None:
                tally.scored += 1
                tally.reward += row["reward"]
            for name in _SUMS:
                if row[name] is not None:
                    tally.sums[name] = tally.sums.get(name, 0) + row[name]

    def add_error(self, row: dict[str, Any]) -> None:
        self.error_types[row["error_type"]] += 1
        self.terminal_errors += bool(row["terminal"])
        self.retries.add(row["retries"])
        for tally in self._parts(row):
            tally.errors += 1

    def _parts(self, row: dict[str, Any]) -> tuple[_Tally, ...]:
        split = self.splits.setdefault(self.layout.split_of(row["job_index"]), _Tally())
        return self.total, split, self.families.setdefault(folded(row["family"]), _Tally())

    def to_json(self) -> dict[str, Any]:
        """Return ``counts`` of the manifest; ``missing`` jobs have neither a row nor an error."""
        total, jobs = self.total.to_json(), self.layout.jobs
        sizes = self.layout.splits
        return {
            "jobs": jobs,
            **total,
            "terminal_errors": self.terminal_errors,
            "missing": jobs - self.total.rows - self.total.errors,
            "stop_reasons": dict(sorted(self.stop_reasons.items())),
            "error_types": dict(sorted(self.error_types.items())),
            "splits": {
                name: {"jobs": size, **self.splits.get(name, _Tally()).to_json()}
                for name, size in sizes
            },
            "families": {name: tally.to_json() for name, tally in sorted(self.families.items())},
            "tools": self.executed.to_json(),
            "retries": self.retries.to_json(),
            "provider_fields": {
                "kept": dict(sorted(self.provider_fields.items())),
                "left_out": dict(sorted(self.left_out.items())),
            },
            "other_models": dict(self.other_models.most_common()),
            **{name: figures for name, figures in self.statistics.to_json().items() if figures},
        }
