"""The leasing loop: work goes to workers in plan order, and deliveries go to one sink.

A worker that dies is replaced, and only what it had not delivered is leased again: together at
first, in halves if another worker dies of it, so that a job that kills its workers is soon alone.
Alone it is tried ``max_attempts`` times and then ends as an error. A job that was seen to occupy
its worker is an error at once. While a new worker waits for room, as after the loss of a node, the
others go on.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from synth.core.runner.runtimes.base import Runtime, WorkerHandle
from synth.core.runner.worker_messages import Assignment, Delivery, broken
from synth.errors import SynthError, WorkerHeld, WorkerLost

if TYPE_CHECKING:
    from synth.core.runner.rate_limits.governor import Governor

COLLECT_S = 0.25
"""Longest wait for news of a worker: what has finished is in the journal within half a second."""

PATIENCE_S = 30.0
"""Seconds that workers may take to start before the operator is told that they do."""

ROOM_S = 10.0
"""Seconds that the replacement of a lost worker may take before the operator is told."""


Sink = Callable[[Delivery], Assignment | None]
"""Takes what a worker delivered; returns what is to be done in its place, if anything."""


def _silent(_: str) -> None:
    """Say nothing."""


@dataclass
class StopSignal:
    """Stops the flow of work.

    ``reason`` says why no more work is leased; ``now`` gives up rollouts in flight as well.
    """

    reason: str | None = None
    now: bool = False

    def request(self, reason: str) -> None:
        """Lease nothing more; the first reason stays."""
        self.reason = self.reason or reason


@dataclass
class _Load:
    """The assignments on one worker.

    ``quarantined`` is true while they are a group that a worker died of, which runs alone.
    """

    held: dict[int, Assignment] = field(default_factory=dict[int, Assignment])
    quarantined: bool = False


class Dispatcher:
    """Feeds one sequence of assignments through the workers of a runtime.

    ``governor`` leases the endpoint to them, if there is one. ``say`` tells the operator that
    workers are missing, and that they are back.
    """

    def __init__(
        self,
        runtime: Runtime,
        workers: int,
        concurrency: int,
        max_attempts: int,
        governor: Governor | None = None,
        say: Callable[[str], None] = _silent,
    ) -> None:
        self._say = say
        self._runtime = runtime
        self._workers = workers
        self._depth = concurrency * 2
        self._max_attempts = max_attempts
        self._governor = governor
        self._handles: list[WorkerHandle] = []
        self._starting: dict[int, asyncio.Task[list[str]]] = {}
        self._lost_at: dict[int, float] = {}
        self._missing: set[int] = set()
        self._stillborn: Counter[int] = Counter()
        self._deaths: Counter[int] = Counter()
        self._suspected: set[int] = set()
        self.warnings: list[str] = []

    async def open(self, stop: StopSignal, waiting: Callable[[], None] = lambda: None) -> None:
        """Start all workers; return when the first is ready or ``stop`` is requested.

        The others join :meth:`run` as they start: on a busy cluster some may have to wait for room.
        ``waiting`` is called once if even the first takes long. Raises what a start raises.
        """
        self._handles = [await self._runtime.spawn() for _ in range(self._workers)]
        self._starting = {
            worker: asyncio.create_task(handle.start())
            for worker, handle in enumerate(self._handles)
        }
        waits = 0
        while stop.reason is None:
            done, _ = await asyncio.wait(
                self._starting.values(), timeout=COLLECT_S, return_when=asyncio.FIRST_COMPLETED
            )
            for start in done:
                self._warn(start.result())
            if done:
                return
            waits += 1
            if waits == PATIENCE_S // COLLECT_S:
                waiting()

    def _warn(self, warnings: list[str]) -> None:
        self.warnings += [warning for warning in warnings if warning not in self.warnings]

    async def run(
        self,
        work: Iterator[Assignment],
        sink: Sink,
        stop: StopSignal,
        has_room: Callable[[Assignment], bool] = lambda _: True,
    ) -> None:
        """Return when the work is done, or when ``stop`` is requested and nothing is in flight.

        ``has_room(work)`` says if an assignment may start yet: it limits what a slow one keeps
        open. What ``sink`` returns is done next.
        """
        feed = _Feed(work, has_room)
        self._deaths.clear()
        self._suspected.clear()
        loops = [
            asyncio.create_task(self._serve(worker, feed, sink, stop))
            for worker in range(len(self._handles))
        ]
        try:
            await asyncio.gather(*loops)
        finally:
            for loop in loops:
                loop.cancel()
            await asyncio.gather(*loops, return_exceptions=True)

    async def _serve(self, worker: int, feed: _Feed, sink: Sink, stop: StopSignal) -> None:
        """One worker's loop: supply it, pass on what it delivers, replace it when it dies."""
        load = _Load()
        while not stop.now:
            try:
                if worker in self._starting:
                    if not await self._started(worker) and (stop.reason is not None or feed.over):
                        return
                    continue
                await self._supply(worker, load, feed, stop)
                if not load.held:
                    load.quarantined = False
                    if stop.reason is not None or feed.over:
                        return
                    await asyncio.sleep(COLLECT_S / 5)
                    continue
                for delivery in await self._collect(worker):
                    load.held.pop(delivery.index, None)
                    feed.settle(delivery.index)
                    if (again := sink(delivery)) is not None:
                        feed.put(again)
            except WorkerLost as error:
                if self._governor is not None:
                    self._governor.forget(worker)
                self._requeue_after_crash(load.held, feed, sink, error)
                load = _Load()
                if stop.reason is not None:
                    return  # a new worker would have nothing to do
                await self._replace(worker)

    async def _started(self, worker: int) -> bool:
        """Wait a little for a worker that is starting; True once it is ready."""
        await asyncio.wait({self._starting[worker]}, timeout=COLLECT_S)
        if not self._starting[worker].done():
            if time.monotonic() - self._lost_at.get(worker, math.inf) >= ROOM_S:
                self._tell_missing(worker)
            return False
        self._warn(self._starting[worker].result())
        del self._starting[worker]
        del self._stillborn[worker]
        self._lost_at.pop(worker, None)
        if worker in self._missing:
            self._missing.discard(worker)
            self._say(f"A new worker has started: {self._count_ready()} are at work.")
        return True

    def _tell_missing(self, worker: int) -> None:
        if worker in self._missing:
            return
        self._missing.add(worker)
        left = self._count_ready()
        going = f"{left} go on; a new one joins" if left else "none is left; the run goes on"
        self._say(
            f"A worker was lost and cannot be replaced yet: {going} as soon as there is"
            " room. Ctrl-C finishes what is in flight and seals the run."
        )

    def _count_ready(self) -> int:
        return len(self._handles) - len(self._starting)

    async def _supply(self, worker: int, load: _Load, feed: _Feed, stop: StopSignal) -> None:
        """Lease more work to a worker that runs low; take back the rest once ``stop`` is set."""
        handle, held = self._handles[worker], load.held
        if stop.reason is not None:
            if held:
                for index in await handle.withdraw():
                    held.pop(index, None)
        elif not load.quarantined and len(held) <= self._depth // 2:
            group = [] if held else feed.take_quarantined()
            load.quarantined = bool(group)
            fresh = group or feed.take(self._depth - len(held))
            held |= {work.index: work for work in fresh}
            if fresh:
                await handle.lease(fresh)

    async def _collect(self, worker: int) -> Sequence[Delivery]:
        """Fetch what a worker has finished; grant its lease of the endpoint, hear its usage."""
        grant = None if self._governor is None else self._governor.grant(worker)
        collected = await self._handles[worker].collect(COLLECT_S, grant)
        if self._governor is not None and collected.report is not None:
            self._governor.hear(worker, collected.report)
        return collected.deliveries

    def _requeue_after_crash(
        self, held: dict[int, Assignment], feed: _Feed, sink: Sink, error: WorkerLost
    ) -> None:
        """Give back what a lost worker held: suspects in halves, repeat offenders as errors."""
        if isinstance(error, WorkerHeld) and error.index in held:
            del held[error.index]
            feed.settle(error.index)
            sink(broken(error.index, "WorkerHeld", error.message))
            feed.quarantine([list(held.values())] if held else [])  # innocent: they never ran
            return
        group = list(held.values())
        if len(group) == 1:
            index = group[0].index
            self._deaths[index] += 1
            if self._deaths[index] >= self._max_attempts:
                feed.settle(index)
                message = f"{error} (with this job alone on it, {self._deaths[index]} times)"
                sink(broken(index, "WorkerLost", message))
                return
        known = any(work.index in self._suspected for work in group)
        self._suspected |= {work.index for work in group}
        middle = len(group) // 2 if known and len(group) > 1 else len(group)
        feed.quarantine([part for part in (group[:middle], group[middle:]) if part])

    async def _replace(self, worker: int) -> None:
        """Begin to start a new worker in the place of a lost one.

        Raises SynthError for one that has died ``max_attempts`` times before it was ready.
        """
        if self._starting.pop(worker, None) is not None:
            self._stillborn[worker] += 1
            if self._stillborn[worker] >= self._max_attempts:
                raise SynthError("workers die as soon as they start; look at Ray's own logs")
            await asyncio.sleep(2 ** (self._stillborn[worker] - 1))
        await self._handles[worker].close()
        handle = self._handles[worker] = await self._runtime.spawn()
        self._lost_at.setdefault(worker, time.monotonic())
        self._starting[worker] = asyncio.create_task(handle.start())

    async def close(self) -> None:
        """End all workers."""
        for start in self._starting.values():
            start.cancel()
        await asyncio.gather(*self._starting.values(), return_exceptions=True)
        self._starting = {}
        await asyncio.gather(*(handle.close() for handle in self._handles), return_exceptions=True)
        self._handles = []


class _Feed:
    """Assignments in order, and the groups that a worker died of."""

    def __init__(self, work: Iterator[Assignment], has_room: Callable[[Assignment], bool]) -> None:
        self._work = work
        self._has_room = has_room
        self._groups: list[list[Assignment]] = []
        self._returned: list[Assignment] = []
        self._next: Assignment | None = next(work, None)
        self._leased: set[int] = set()

    @property
    def over(self) -> bool:
        """True if nothing is left to lease, and nothing is leased that could come back."""
        waiting = self._next is not None or self._groups or self._returned
        return not waiting and not self._leased

    def take(self, count: int) -> list[Assignment]:
        """Up to ``count`` fresh assignments, as far as there is room for them."""
        fresh, self._returned = self._returned[:count], self._returned[count:]
        while len(fresh) < count and self._next is not None and self._has_room(self._next):
            fresh.append(self._next)
            self._next = next(self._work, None)
        self._leased |= {work.index for work in fresh}
        return fresh

    def take_quarantined(self) -> list[Assignment]:
        """A group to run with nothing else beside it, or an empty list."""
        group = self._groups.pop(0) if self._groups else []
        self._leased |= {work.index for work in group}
        return group

    def quarantine(self, groups: list[list[Assignment]]) -> None:
        """Set groups aside that are to run alone."""
        self._groups += groups
        self._leased -= {work.index for group in groups for work in group}

    def put(self, work: Assignment) -> None:
        """Add an assignment that comes before all fresh ones."""
        self._returned.append(work)

    def settle(self, index: int) -> None:
        """Forget an assignment that has been delivered."""
        self._leased.discard(index)
