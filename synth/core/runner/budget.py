"""The budget of a run, and the leases that it allows.

Rollouts in flight are not paid for yet. So work is leased against the average cost of the rollouts
that have finished: as the budget nears its end, fewer and fewer are in flight, at last one. A run
exceeds its budget by what its last rollouts cost beyond the average. As long as nothing is known of
the cost, :data:`FIRST` rollouts are in flight at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synth.config import BudgetConfig
from synth.core.runner.totals import Totals

FIRST = 4
"""Rollouts that find out what one costs."""


class Budget:
    """The budget of one run."""

    def __init__(self, config: BudgetConfig, totals: Totals) -> None:
        self._config, self._totals = config, totals

    def _spent(self) -> Iterator[tuple[float, float, str, str]]:
        """Each budget that is set: what is spent, its limit, its name in messages, and its key."""
        config, totals = self._config, self._totals
        if config.usd is not None:
            yield totals.cost_usd, config.usd, f"${config.usd:g}", "usd"
        if config.tokens is not None:
            yield totals.tokens, config.tokens, f"{config.tokens:,} tokens", "tokens"
        if config.turns is not None:
            yield totals.turns, config.turns, f"{config.turns:,} turns", "turns"

    def reached(self) -> str | None:
        """The reason to spend no more; None while the budget lasts."""
        return next(
            (
                f"the budget of {name} is spent"
                for spent, limit, name, _ in self._spent()
                if spent >= limit
            ),
            None,
        )

    def higher(self) -> Sequence[str]:
        """Overrides with which a resume goes on: twice of each budget that is spent, or twice what
        was spent.
        """
        return [
            f"budget.{key}={2 * max(spent, limit):.6g}"
            if key == "usd"
            else f"budget.{key}={2 * max(spent, limit):.0f}"
            for spent, limit, _, key in self._spent()
            if spent >= limit
        ]

    def has_room(self, in_flight: int) -> bool:
        """True if one more rollout may be leased beside those in flight.

        One rollout always may: only spending finds the end of the budget.
        """
        if in_flight == 0:
            return True
        done = self._totals.rows + self._totals.failed
        if not done:
            return in_flight < FIRST or not any(self._spent())
        return all(
            spent + (in_flight + 1) * spent / done <= limit for spent, limit, *_ in self._spent()
        )
