"""The breaker of a run: it stops the flow of work when nearly nothing comes of it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from synth.config import BudgetConfig
from synth.core.runner.totals import Totals
from synth.core.runner.worker_messages import Delivery

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

    @property
    def is_set(self) -> bool:
        return any(self._spent())

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
            return in_flight < FIRST or not self.is_set
        return all(
            spent + (in_flight + 1) * spent / done <= limit for spent, limit, *_ in self._spent()
        )


EQUAL_REFUSALS = 5
"""Equal refusals after which a run pauses of which no rollout has come to an end."""

_NUMBER = re.compile(r"\d+")


class Breaker:
    """Looks at what comes of rollouts: ``rate`` of the last ``window`` may fail, no more.

    ``accepted`` is true once the endpoint has given any rollout of the run, also in an earlier
    session, a completion; until then its refusals say nothing about a job.
    """

    def __init__(self, window: int, rate: float, *, accepted: bool) -> None:
        self.accepted = self._ended = accepted
        self._rate = rate
        self._failed: deque[bool] = deque(maxlen=window)
        self._refusal = ""
        self._refusals = 0

    def hear(self, delivery: Delivery) -> str | None:
        """Count a rollout; return the reason to pause the run, if there is one now."""
        answered = _turns(delivery.stats) > 0
        self.accepted = self.accepted or answered
        self._ended = self._ended or (answered and delivery.kind != "error")
        failed = delivery.kind == "error" or not answered
        self._failed.append(failed)
        return self._refused(delivery) or (self._broken(delivery) if failed else None)

    def counts(self, delivery: Delivery) -> bool:
        """Tell whether an error is an attempt at its job: an endpoint that never accepted anything
        has tried none.
        """
        return self.accepted or delivery.fault == ""

    def _broken(self, delivery: Delivery) -> str | None:
        broken, count = sum(self._failed), len(self._failed)
        if count < (self._failed.maxlen or 0) or broken < self._rate * count:
            return None
        return f"{broken} of the last {count} rollouts failed; the last: {_words(delivery)}"

    def _refused(self, delivery: Delivery) -> str | None:
        if self._ended or delivery.fault != "refused":
            self._refusals = 0
            return None
        refusal = _NUMBER.sub("#", delivery.message)
        self._refusals = self._refusals + 1 if refusal == self._refusal else 1
        self._refusal = refusal
        if self._refusals < EQUAL_REFUSALS:
            return None
        return (
            f"the endpoint has let no rollout come to an end; it refuses each: {delivery.message}"
        )


def _turns(stats: Mapping[str, object] | None) -> int:
    turns = (stats or {}).get("num_turns")
    return turns if isinstance(turns, int) else 0


def _words(delivery: Delivery) -> str:
    if delivery.kind == "error":
        return delivery.message
    stopped = (delivery.stats or {}).get("stop_reason")
    return f"no completion, stopped by {stopped}"
