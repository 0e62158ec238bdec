"""The breaker of a run: it stops the flow of work when nearly nothing comes of it."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence

from synth.config import BudgetConfig
from synth.core.runner.totals import Totals
from synth.core.runner.worker_messages import Delivery

UNSEEN = 10
"""A family's first rollout is taken to cost so many times the dearest of all."""


class Budget:
    """The budget of one run.

    A rollout in flight is taken to cost as much as the dearest of its family so far. ``metered``
    says that the model's tokens should be known.
    """

    def __init__(self, config: BudgetConfig, totals: Totals, *, metered: bool = False) -> None:
        limits = {"usd": config.usd, "tokens": config.tokens, "turns": config.turns}
        self._limits = {key: limit for key, limit in limits.items() if limit is not None}
        self._totals = totals
        self._in_flight = Counter[str]()
        self._dearest: dict[str, Mapping[str, float]] = {}  # "": of all families
        self._full: set[str] = set()
        self._metered, self._unknown = metered, False

    @property
    def is_set(self) -> bool:
        return bool(self._limits)

    def reached(self) -> str | None:
        """The reason to spend no more; None while the budget lasts."""
        spent = _costs(self._totals)
        for key, limit in self._limits.items():
            name = f"the budget of {f'${limit:g}' if key == 'usd' else f'{limit:,} {key}'}"
            if self._unknown and key != "turns":
                return f"{name} cannot be kept: the endpoint reports no usage (use budget.turns)"
            if spent[key] >= limit:
                return f"{name} is spent"
            if key in self._full:
                return f"{name} has no room for another rollout"
        return None

    def higher(self) -> Sequence[str]:
        """Overrides with which a resume goes on: twice of each budget that is used up, or twice
        what was spent.
        """
        spent = _costs(self._totals)
        return [
            f"budget.{key}={2 * max(spent[key], limit):{'.6g' if key == 'usd' else '.0f'}}"
            for key, limit in self._limits.items()
            if spent[key] >= limit or key in self._full
        ]

    def begin(self, family: str) -> bool:
        """Count one more rollout as in flight, if it fits beside the others; return whether it
        does. Without others, and if none has ended, it always fits.
        """
        if not self._limits:
            return True
        alone = not self._in_flight
        if not (alone or self._dearest):
            return False
        spent = _costs(self._totals)
        full = {
            key
            for key, limit in self._limits.items()
            if spent[key]
            + self._forecast(family, key, 1 if alone else UNSEEN)
            + sum(n * self._forecast(one, key) for one, n in self._in_flight.items())
            > limit
        }
        if full:
            self._full = full if alone else set()
            return False
        self._in_flight[family] += 1
        return True

    def _forecast(self, family: str, key: str, unseen: int = UNSEEN) -> float:
        if (own := self._dearest.get(family)) is not None:
            return own[key]
        return unseen * self._dearest.get("", {}).get(key, 0)

    def end(self, family: str, stats: Mapping[str, object] | None) -> None:
        """Note that a rollout is no longer in flight, and what it cost; None if it broke."""
        self._in_flight -= Counter([family])
        if stats is not None:
            self.learn(family, stats)

    def learn(self, family: str, stats: Mapping[str, object]) -> None:
        """Note what a rollout cost."""
        if not self._limits:
            return
        unknown = stats["num_turns"] and stats["input_tokens"] is None
        self._unknown |= self._metered and bool(unknown)
        one = Totals()
        one.charge(stats)
        for name in (family, ""):
            known = self._dearest.get(name, {})
            costs = _costs(one).items()
            self._dearest[name] = {key: max(known.get(key, 0), cost) for key, cost in costs}


def _costs(totals: Totals) -> Mapping[str, float]:
    return {"usd": totals.cost_usd, "tokens": totals.tokens, "turns": totals.turns}


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
