"""What a run may spend, and whether another rollout may be leased on it.

What is out is not paid for yet. So work is leased against what rollouts have cost on average: as the budget nears its end,
fewer and fewer are out, at last one. A run spends more than its budget by what its last rollouts cost beyond the average; at
worst, where nothing was known of it, by what was in flight: ``runtime.workers * runtime.concurrency`` rollouts.
"""

from __future__ import annotations

from collections.abc import Iterator

from synth.config import BudgetConfig
from synth.progress import Totals


class Budget:
    """Of one run. ``at_once`` is the number of rollouts in flight that the run is made for."""

    def __init__(self, config: BudgetConfig, totals: Totals, at_once: int) -> None:
        self._config, self._totals, self._at_once = config, totals, at_once

    def _spent(self) -> Iterator[tuple[float, float, str]]:
        """Of each budget that is set: what is spent, what there is, and how it is called."""
        config, totals = self._config, self._totals
        if config.usd is not None:
            yield totals.cost_usd, config.usd, f"${config.usd:g}"
        if config.tokens is not None:
            yield totals.tokens, config.tokens, f"{config.tokens:,} tokens"
        if config.turns is not None:
            yield totals.turns, config.turns, f"{config.turns:,} turns"

    def reached(self) -> str | None:
        """Why no more may be spent; None while it may."""
        return next((f"the budget of {name} is spent" for spent, most, name in self._spent() if spent >= most), None)

    def room(self, out: int) -> bool:
        """Whether one more rollout may be leased while so many are out. One always may: the end is found by reaching it."""
        if out == 0:
            return True
        done = self._totals.rows + self._totals.failed
        if not done:
            return out < self._at_once or not any(self._spent())
        return all(spent + (out + 1) * spent / done <= most for spent, most, _ in self._spent())
