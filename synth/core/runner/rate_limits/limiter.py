"""The rate limiter of a worker: attempts begin as the run's lease allows, first come
first served.

It is a :class:`synth.model.RateLimiter`. Not thread-safe: all calls come from one event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from itertools import islice
from typing import Any

from synth.core.runner.worker_messages import Grant, UsageReport
from synth.core.types.events import Usage
from synth.errors import ModelAuthError, ModelError, ModelRefusedRequest

OVERLOAD = frozenset({None, 408, 425, 429, 502, 503, 504, 529})
"""The statuses by which an endpoint, or the proxy before it, says that it has too much to do; None:
no complete answer came.
"""

LONGEST_PAUSE_S = 60.0
"""The longest wait that one answer can impose on the run."""

MOST_WANTED = 512
"""So many waiting attempts are named in a report; the others follow in the next."""

GATHER_S = 0.01
"""Seconds between the first attempt that needs a lease and the call for one: those that follow at
once come along.
"""


LEASE_S = 1.0
"""Seconds after which a lease that was not renewed expires. The driver renews it four times a
second, so the worker of a driver that was killed soon asks for nothing more.
"""


class LeasedRateLimiter:
    """``call`` is called when a report should be fetched soon: attempts wait, or are refused, and
    the driver does not know.
    """

    def __init__(
        self, call: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._call = call
        self._clock = clock
        self._concurrency = 0
        self._epoch = 0
        self._rated = False
        self._permits: deque[int] = deque()
        self._waiting: deque[_Slot] = deque()
        self._open: dict[asyncio.Task[Any], _Slot] = {}
        self._paused_until = self._renewed_at = clock()
        self._timer: asyncio.TimerHandle | None = None
        self._called = self._alarmed = False
        self._told_until = 0.0
        self._answered = self._overloaded = self._corrected = 0
        self._failed = Counter[str]()

    def slot(self, tokens_estimate: int) -> _Slot:
        """See :meth:`synth.model.RateLimiter.slot`."""
        return _Slot(self, max(0, tokens_estimate))

    def report(
        self, error: ModelError | None, retry_after_s: float | None, usage: Usage | None = None
    ) -> None:
        """See :meth:`synth.model.RateLimiter.report`. An attempt without known usage has
        used what was estimated.
        """
        if error is not None and error.retryable:
            self._failed[error.reason] += 1
        task = asyncio.current_task()
        slot = None if task is None else self._open.get(task)
        if slot is not None:
            current = slot.epoch == self._epoch
            if _says_overload(error):
                self._overloaded += current
                if not self._alarmed:
                    self._alarmed = True
                    asyncio.get_running_loop().call_later(GATHER_S, self._call)
            elif error is None:
                self._answered += current
            if usage is not None and slot.charged is not None and usage.input_tokens is not None:
                self._corrected += usage.input_tokens + (usage.output_tokens or 0) - slot.charged
        if retry_after_s is not None and retry_after_s > 0:
            wait = min(retry_after_s, LONGEST_PAUSE_S)
            self._told_until = max(self._told_until, self._clock() + wait)
            self._pause(wait)

    def apply_lease(self, grant: Grant) -> None:
        """Apply a grant from now on, for LEASE_S."""
        self._renewed_at = self._clock()
        if grant.epoch != self._epoch:
            self._epoch, self._answered, self._overloaded = grant.epoch, 0, 0
        self._concurrency = grant.concurrency
        self._rated = grant.permits is not None
        self._permits.extend(grant.permits or ())
        self._pause(grant.pause_s)
        self._go_on()
        self._called = bool(self._waiting)

    def report_usage(self) -> UsageReport:
        """Report the use of the lease; a worker without waiting requests returns all permits."""
        returned: tuple[int, ...] = ()
        surplus = len(self._permits) - len(self._waiting)
        if surplus > 0:
            returned = tuple(self._permits.pop() for _ in range(surplus))
        places = min(self._concurrency - len(self._open), MOST_WANTED)
        wanted = (
            [item.tokens for item in islice(self._waiting, len(self._permits), max(0, places))]
            if self._rated
            else []
        )
        report = UsageReport(
            self._epoch,
            len(self._open),
            len(self._waiting),
            tuple(wanted),
            self._answered,
            self._overloaded,
            self._corrected,
            returned,
            max(0.0, self._told_until - self._clock()),
            self._failed,
        )
        self._failed = Counter[str]()
        self._alarmed, self._told_until = False, 0.0
        self._answered = self._overloaded = self._corrected = 0
        self._called = bool(self._waiting)
        if not self._waiting and not self._open:
            self._concurrency = 0
        return report

    def _pause(self, seconds: float) -> None:
        until = self._clock() + seconds
        if seconds > 0 and until > self._paused_until:
            self._paused_until = until
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(seconds, self._go_on)

    def _is_valid(self) -> bool:
        return self._concurrency > 0 and self._clock() - self._renewed_at < LEASE_S

    def _may_begin(self) -> bool:
        return (
            self._is_valid()
            and len(self._open) < self._concurrency
            and (not self._rated or bool(self._permits))
            and self._clock() >= self._paused_until
        )

    def _go_on(self) -> None:
        """Let in who may begin, in order."""
        while self._waiting and self._may_begin():
            slot = self._waiting.popleft()
            if slot.admitted is not None and not slot.admitted.done():
                self._begin(slot)
                slot.admitted.set_result(None)

    def _begin(self, slot: _Slot) -> None:
        slot.epoch = self._epoch
        slot.charged = self._permits.popleft() if self._rated else None
        self._open[slot.task] = slot

    async def enter(self, slot: _Slot) -> None:
        """Wait until the slot may be used."""
        if not self._waiting and self._may_begin():
            self._begin(slot)
            return
        loop = asyncio.get_running_loop()
        slot.admitted = loop.create_future()
        self._waiting.append(slot)
        if self._rated or not self._is_valid():
            self._ask_for_grant()
        try:
            await slot.admitted
        except asyncio.CancelledError:
            if self._open.get(slot.task) is slot:  # let in and cancelled at once: it was never used
                self.leave(slot)
            elif slot in self._waiting:  # or it was passed over already
                self._waiting.remove(slot)
            raise

    def _ask_for_grant(self) -> None:
        """Have a report fetched soon, unless the driver knows already that this worker waits."""
        if not self._called:
            self._called = True
            asyncio.get_running_loop().call_later(GATHER_S, self._call)

    def leave(self, slot: _Slot) -> None:
        """The attempt is over; the next may begin."""
        self._open.pop(slot.task, None)
        self._go_on()


class _Slot:
    """The right to make one attempt, as a context."""

    __slots__ = ("_gate", "admitted", "charged", "epoch", "task", "tokens")

    def __init__(self, gate: LeasedRateLimiter, tokens: int) -> None:
        self._gate = gate
        self.tokens = tokens
        self.admitted: asyncio.Future[None] | None = None
        self.epoch = 0
        self.charged: int | None = None
        self.task: asyncio.Task[Any]

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None, "an attempt is made by a task"
        self.task = task
        await self._gate.enter(self)

    async def __aexit__(self, *_: object) -> None:
        self._gate.leave(self)


def _says_overload(error: ModelError | None) -> bool:
    if error is None or isinstance(error, ModelAuthError | ModelRefusedRequest):
        return False
    return error.retryable and error.status in OVERLOAD
