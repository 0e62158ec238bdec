"""The run's quotas, leased by the driver to its workers with the calls by which it collects their
work.

Nothing is sent for its own sake: a grant goes along with each collecting, a report comes back with
what was collected. What a lost worker held of the concurrency is free again; permits that it had
count as used.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from synth.core.runner.setup import RunSpec
from synth.core.runner.worker_messages import Grant, Quota, UsageReport

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
                self._limit = min(float(self._wall), float(self._most))  # one more, as a trial
                self._calm = 0
            elif self.limit >= self._wall and self._calm >= 2 * self.limit:
                self._wall, self._calm, self._quiet = None, 0, QUIET_ROUNDS  # the wall has moved
            return
        grown = self._limit + answered / self._limit * max(1.0, self._limit / STEP)
        most = self._most if self._wall is None else max(self._wall - 1, self._least)
        self._limit = min(grown, float(most), float(self._most))


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


TURN_S = 2.0
"""Where there is less than one place for each worker, the places go round after so many seconds."""


@dataclass
class _Account:
    """Account of a worker: what it was given last, what it said last, and how many permits it has
    had.
    """

    given: int = 0
    in_flight: int = 0
    waiting: int = 1
    wanted: tuple[int, ...] = ()
    served: int = 0
    told_until: float = -math.inf

    @property
    def demand(self) -> int:
        return self.in_flight + self.waiting

    @property
    def holds(self) -> int:
        """The places that are out with it for sure: it may use what it was given, and end what it
        began before.
        """
        return max(self.given, self.in_flight)


class Governor:
    """Hands out rates and concurrency of one run. ``clock`` gives seconds; ``failed`` counts
    attempts that failed, by reason.
    """

    def __init__(
        self, quota: Quota, workers: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._capacity = Capacity(quota.least, quota.most, quota.start)
        self._accounts = [_Account() for _ in range(workers)]
        self._rated = quota.rated
        self._requests = _bucket(quota.requests_per_minute, 1.0, clock)
        self._tokens = _bucket(quota.tokens_per_minute, 0.0, clock)
        self._paused_until = clock()
        self.failed = Counter[str]()

    @property
    def limit(self) -> int:
        """Requests at once, as far as is known now."""
        return self._capacity.limit

    def grant(self, worker: int) -> Grant:
        """A worker's next lease."""
        account = self._accounts[worker]
        others = sum(item.holds for item in self._accounts if item is not account)
        account.given = max(0, min(self._share(worker), self.limit - others))
        pause = 0.0
        # Once: told again, it would grow by what telling takes.
        if self._paused_until > account.told_until:
            account.told_until = self._paused_until
            pause = max(0.0, self._paused_until - self._clock())
        return Grant(account.given, self._capacity.epoch, self._permits(account), pause)

    def hear(self, worker: int, report: UsageReport) -> None:
        """Take a worker's report in."""
        self.failed.update(report.failed)
        account = self._accounts[worker]
        if report.wanted and not account.wanted:  # what it did not want before is not owed to it
            others = [one.served for one in self._accounts if one is not account and one.wanted]
            account.served = max(account.served, min(others, default=account.served))
        account.in_flight, account.waiting = report.in_flight, report.waiting
        account.wanted = report.wanted
        if not account.demand:
            account.given = 0
        if self._requests is not None:
            self._requests.take(-len(report.returned))
        if self._tokens is not None:
            self._tokens.take(report.corrected - sum(report.returned))
        self._paused_until = max(self._paused_until, self._clock() + report.pause_s)
        if report.epoch == self._capacity.epoch:
            full = sum(item.demand for item in self._accounts) >= self.limit
            self._capacity.hear(report.answered, report.overloaded, full=full)

    def forget(self, worker: int) -> None:
        """A worker is gone, and all that it had in flight with it."""
        self._accounts[worker] = _Account()

    def _share(self, worker: int) -> int:
        """Its fair share: nobody gets more than it wants while another wants; what is left goes to
        all alike.
        """
        wants = [account.demand for account in self._accounts]
        first = int(self._clock() / TURN_S) % len(wants)
        order = sorted(
            range(len(wants)), key=lambda index: (wants[index], (index - first) % len(wants))
        )
        left, shares = self.limit, dict.fromkeys(order, 0)
        # Those that want least first: each gets an equal part of what is left, rounded in favour of
        # the later, who want more; where that gives nobody anything, whose turn it is goes first.
        if left < sum(want > 0 for want in wants):
            for index in sorted(
                (index for index in order if wants[index]),
                key=lambda index: (index - first) % len(wants),
            )[:left]:
                shares[index] = 1
            return shares[worker]
        for place, index in enumerate(order):
            shares[index] = min(wants[index], left // (len(order) - place))
            left -= shares[index]
        return shares[worker] + left // len(order)

    def _permits(self, account: _Account) -> tuple[int, ...] | None:
        if not self._rated:
            return None
        out: list[int] = []
        for tokens in account.wanted:
            owed = self._owed(account)
            if self._requests is not None and not self._requests.has(1.0, len(owed)):
                break
            if self._tokens is not None and not self._tokens.has(tokens, sum(owed)):
                break
            account.served += 1
            if self._requests is not None:
                self._requests.take(1.0)
            if self._tokens is not None:
                self._tokens.take(tokens)
            out.append(tokens)
        account.wanted = account.wanted[len(out) :]
        return tuple(out)

    def _owed(self, account: _Account) -> list[int]:
        """Requests that other workers want and have had less of than this one: they come first."""
        return [
            tokens
            for item in self._accounts
            if item is not account and item.wanted and item.served < account.served
            for tokens in item.wanted[: account.served - item.served]
        ]


def make_governor(spec: RunSpec, workers: int) -> Governor:
    """The governor of the run's endpoint, for so many workers."""
    model = spec.endpoint
    most = model.max_concurrency or max(workers * spec.runtime.concurrency, model.min_concurrency)
    rates = model.requests_per_minute, model.tokens_per_minute
    return Governor(Quota(most, model.min_concurrency, model.start_concurrency, *rates), workers)


def _bucket(per_minute: int | None, least: float, clock: Callable[[], float]) -> Bucket | None:
    """``least`` is saved up beside what flows in between two reports, so that slow rates lose
    nothing to their grain.
    """
    return (
        None
        if per_minute is None
        else Bucket(per_minute, least + per_minute / 60.0 * BURST_S, clock)
    )
