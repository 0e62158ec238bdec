"""Totals of a run: rows, rewards, tokens and money, summed over all its sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from synth.core.dataset.columns import PAYERS
from synth.core.dataset.store.counts import RetryTally
from synth.model import Completion

TOKENS = tuple(f"{payer}{kind}" for payer in PAYERS for kind in ("input_tokens", "output_tokens"))
COSTS = tuple(f"{payer}cost_usd" for payer in PAYERS)
STATS = (
    "family",
    "reward",
    "outcome",
    "stop_reason",
    "num_tool_calls",
    "num_tool_errors",
    "num_turns",
    "retries",
    *TOKENS,
    *COSTS,
)
"""The columns that totals and progress are made of."""


def stats_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a row that the totals of a run need."""
    return {name: row[name] for name in STATS}


def spent(completion: Completion) -> dict[str, Any]:
    """The cost of one completion, under the names of a row's columns."""
    usage = completion.usage
    known = {
        "num_turns": 1,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": completion.cost_usd,
    }
    return {**dict.fromkeys((*TOKENS, *COSTS)), **known}


@dataclass
class Totals:
    """Sums over the rows of a run, earlier sessions and all models included.

    Unknown costs are left out of the sum; if none is known, the sum is unknown.
    """

    rows: int = 0
    successes: int = 0
    scored: int = 0
    reward: float = 0.0
    failed: int = 0
    tokens: int = 0
    turns: int = 0
    cost_usd: float = 0.0
    cost_known: bool = False
    stop_reasons: Counter[str] = field(default_factory=Counter[str])
    retries: RetryTally = field(default_factory=RetryTally)

    def add(self, stats: Mapping[str, Any]) -> None:
        """Count one row."""
        self.rows += 1
        self.scored += stats["reward"] is not None
        self.reward += stats["reward"] or 0.0
        self.successes += stats["outcome"] == "success"
        self.stop_reasons[stats["stop_reason"]] += 1
        self.retries.add(stats["retries"])
        self._spend(stats)

    def fail(self, stats: Mapping[str, Any] | None) -> None:
        """Count a rollout that broke; ``stats`` says what it had cost by then, if known."""
        self.failed += 1
        if stats is not None:
            self.retries.add(stats.get("retries"))
            self._spend(stats)

    def charge(self, stats: Mapping[str, Any]) -> None:
        """Count a cost that belongs to no rollout."""
        self._spend(stats)

    def _spend(self, stats: Mapping[str, Any]) -> None:
        self.turns += stats["num_turns"] or 0
        self.tokens += sum(stats.get(name) or 0 for name in TOKENS)
        for name in COSTS:
            if (cost := stats.get(name)) is not None:
                self.cost_usd += cost
                self.cost_known = True

    def mean_reward(self) -> float | None:
        """The mean of the rewards there are; None without any."""
        return self.reward / self.scored if self.scored else None

    def cost(self) -> str:
        """The cost in words: dollars, or ``unknown``."""
        return f"${self.cost_usd:,.2f}" if self.cost_known else "unknown"
