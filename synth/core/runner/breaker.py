"""The breaker of a run: it stops the flow of work when nearly nothing comes of it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping

from synth.core.runner.worker_messages import Delivery

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
