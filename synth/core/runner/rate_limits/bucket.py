"""A token bucket: so much per minute, and a little saved up."""

from __future__ import annotations

from collections.abc import Callable

BURST_S = 1.0
"""A bucket saves up what flows in within so many seconds: enough to bridge the time between two
reports of a worker, and under two percent of a minute.
"""


class Bucket:
    """In any span of ``t`` minutes no more than ``per_minute * t + burst`` is taken, and the last
    taking's excess.

    A taking larger than ``burst`` waits for a full bucket, and leaves a debt that the flow pays
    off. ``clock`` gives seconds.
    """

    def __init__(self, per_minute: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate = per_minute / 60.0
        self.burst = burst
        self._clock = clock
        self._level = min(burst, 1.0)
        self._at = clock()

    @property
    def level(self) -> float:
        """Amount that could be taken now; below zero: a debt."""
        now = self._clock()
        self._level = min(self._level + (now - self._at) * self._rate, self.burst)
        self._at = now
        return self._level

    def has(self, amount: float, kept: float = 0.0) -> bool:
        """True if so much may be taken, and so much is left for others (half of the burst at most:
        they may be slow).
        """
        return self.level >= min(amount + min(kept, self.burst / 2), self.burst)

    def take(self, amount: float) -> None:
        """Take, whether it is there or not; a negative amount gives back."""
        self._level = min(self.level - amount, self.burst)
