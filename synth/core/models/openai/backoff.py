"""The wait before an endpoint is asked again."""

from __future__ import annotations

import random
from dataclasses import dataclass

_MOST_DOUBLINGS = 30  # keeps the power finite


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff with jitter, in seconds: between half and all of ``first_s *
    2**attempt``, at most ``longest_s``.

    A wait that the endpoint asks for counts in full, plus jitter, so that workers do not come back
    all at once. A requested wait above ``longest_asked_s`` is not made here: a rollout should not
    hold its sandbox that long.
    """

    first_s: float = 0.5
    longest_s: float = 20.0
    longest_asked_s: float = 60.0

    def wait_s(self, attempt: int, asked_s: float | None) -> float | None:
        """Return the wait after failed attempt number ``attempt`` (from 0); None if it is too
        long.
        """
        if asked_s is not None and asked_s > self.longest_asked_s:
            return None
        own = min(
            self.first_s * 2 ** min(attempt, _MOST_DOUBLINGS), self.longest_s
        ) * random.uniform(0.5, 1.0)
        return own if asked_s is None else asked_s + random.uniform(0.0, min(own, self.first_s))
