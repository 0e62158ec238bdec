"""The run's quotas, leased by the driver to its workers with the calls by which it collects their
work.

Nothing is sent for its own sake: a grant goes along with each collecting, a report comes back with
what was collected. What a lost worker held of the concurrency is free again; permits that it had
count as used.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from synth.core.runner.rate_limits.bucket import BURST_S, Bucket
from synth.core.runner.rate_limits.capacity import Capacity
from synth.core.runner.rate_limits.leases import Grant, Quota, UsageReport

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
    """Hands out rates and concurrency of one run. ``clock`` gives seconds."""

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
        if (
            self._paused_until > account.told_until
        ):  # once: told again, it would grow by what telling takes
            account.told_until, pause = (
                self._paused_until,
                max(0.0, self._paused_until - self._clock()),
            )
        return Grant(account.given, self._capacity.epoch, self._permits(account), pause)

    def hear(self, worker: int, report: UsageReport) -> None:
        """Take a worker's report in."""
        account = self._accounts[worker]
        if report.wanted and not account.wanted:  # what it did not want before is not owed to it
            account.served = max([account.served, *self._least_served(account)])
        account.in_flight, account.waiting, account.wanted = (
            report.in_flight,
            report.waiting,
            report.wanted,
        )
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

    def _least_served(self, account: _Account) -> list[int]:
        return sorted(
            item.served for item in self._accounts if item is not account and item.wanted
        )[:1]

    def _owed(self, account: _Account) -> list[int]:
        """Requests that other workers want and have had less of than this one: they come first."""
        return [
            tokens
            for item in self._accounts
            if item is not account and item.wanted and item.served < account.served
            for tokens in item.wanted[: account.served - item.served]
        ]


def _bucket(per_minute: int | None, least: float, clock: Callable[[], float]) -> Bucket | None:
    """``least`` is saved up beside what flows in between two reports, so that slow rates lose
    nothing to their grain.
    """
    return (
        None
        if per_minute is None
        else Bucket(per_minute, least + per_minute / 60.0 * BURST_S, clock)
    )
