"""The number of requests that an endpoint can take at once, found by trial.

TCP's way: the limit doubles with each round of answers until the endpoint is overloaded, is then
cut, and grows by a little a round. What made it fail is remembered as a wall: one below it the
limit holds, and only after many quiet rounds one more is tried, after twice as many where that
failed again. So an endpoint with a sharp limit refuses few requests.
"""

from __future__ import annotations

CUT = 0.75
"""The share of the limit that an overload leaves; half while it still doubles, which overshoots
further.
"""

TOLERATED = 0.02
"""The share of attempts that may fail without a cut: single failures are not sign of an endpoint's
capacity.
"""

WINDOW = 200
"""It is counted among so many attempts at least, or two rounds of them."""

QUIET_ROUNDS = 50
LONGEST_QUIET = 400
FEWEST_QUIET = 200
"""How long a limit is held below the wall: so many rounds, and so many answers at least."""

STEP = 16
"""A round adds the limit's sixteenth, and one at least."""


class Capacity:
    """The limit on requests at once, between ``least`` and ``most``. ``epoch`` changes with each
    cut: what was asked before it says nothing about the limit after it.
    """

    def __init__(self, least: int, most: int, start: int) -> None:
        self._least, self._most = least, max(least, most)
        self._limit = float(min(max(start, self._least), self._most))
        self._doubling = True
        self._wall: int | None = None
        self._quiet = QUIET_ROUNDS
        self._calm = 0
        self._answered = self._failed = 0
        self.epoch = 0

    @property
    def limit(self) -> int:
        return int(self._limit)

    def hear(self, answered: int, overloaded: int, *, full: bool) -> None:
        """Take in the results of attempts of this epoch; ``full``: the limit was in use, so that
        answers say
        something about it.
        """
        self._answered += answered
        self._failed += overloaded
        window = max(2 * self.limit, WINDOW)
        if self._failed > TOLERATED * window:
            self._cut()
            return
        if self._answered + self._failed >= window:
            self._answered = self._failed = 0
        if full and answered:
            self._grow(answered)

    def _cut(self) -> None:
        probed = self._wall is not None and self.limit >= self._wall
        self._quiet = min(self._quiet * 2, LONGEST_QUIET) if probed else QUIET_ROUNDS
        self._wall = self.limit
        self._limit = max(float(self._least), self._limit * (0.5 if self._doubling else CUT))
        self._doubling = False
        self._answered = self._failed = self._calm = 0
        self.epoch += 1

    def _grow(self, answered: int) -> None:
        if self._doubling:
            self._limit = min(self._limit + answered, float(self._most))
            return
        if self._wall is not None and self.limit >= self._wall - 1:
            self._calm += answered
            if self.limit < self._wall and self._calm >= max(
                self._quiet * self.limit, FEWEST_QUIET
            ):
                self._limit, self._calm = (
                    min(float(self._wall), float(self._most)),
                    0,
                )  # one more, as a trial
            elif self.limit >= self._wall and self._calm >= 2 * self.limit:
                self._wall, self._calm, self._quiet = None, 0, QUIET_ROUNDS  # the wall has moved
            return
        grown = self._limit + answered / self._limit * max(1.0, self._limit / STEP)
        most = self._most if self._wall is None else max(self._wall - 1, self._least)
        self._limit = min(grown, float(most), float(self._most))
