"""The leasing loop: work goes to workers in plan order, what comes back goes to one sink.

A worker that dies is replaced, and only what it had not delivered is leased again: together at first, in halves
when another worker dies of it, so that a job that kills its workers is soon alone. Alone it is tried
``max_attempts`` times and ends as an error, not as a loop. A job that was seen to hold its worker is an error at once.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from synth.errors import SynthError, WorkerHeld, WorkerLost
from synth.limits import Governor
from synth.runtime.base import Runtime, WorkerHandle
from synth.worker import Assignment, Delivery

COLLECT_S = 0.25
"""Longest wait for news of a worker: what has finished is in the journal within half a second."""

PATIENCE_S = 30.0
"""How long workers may take to start before somebody is told that they do."""


@dataclass
class Valve:
    """Stops the flow. ``reason`` says why no more work is leased; ``now`` gives up what is in flight, too."""

    reason: str | None = None
    now: bool = False

    def shut(self, reason: str) -> None:
        """Lease nothing more; the first reason stays."""
        self.reason = self.reason or reason


class Dispatcher:
    """Feeds one sequence of assignments through the workers of a runtime. ``governor`` leases them the endpoint, if any."""

    def __init__(
        self, runtime: Runtime, workers: int, concurrency: int, max_attempts: int, governor: Governor | None = None
    ) -> None:
        self._runtime = runtime
        self._workers = workers
        self._depth = concurrency * 2
        self._max_attempts = max_attempts
        self._governor = governor
        self._handles: list[WorkerHandle] = []
        self._starting: dict[int, asyncio.Task[list[str]]] = {}
        self._deaths: Counter[int] = Counter()
        self._suspected: set[int] = set()
        self.warnings: list[str] = []

    async def open(self, valve: Valve, waiting: Callable[[], None] = lambda: None) -> None:
        """Start all workers and return when the first is ready, or the valve is shut; raises what a start raises.

        The others join :meth:`run` as they come: on a busy cluster some may have to wait for room. ``waiting`` is called
        once, where even the first takes long.
        """
        self._handles = [await self._runtime.spawn() for _ in range(self._workers)]
        self._starting = {at: asyncio.create_task(each.start()) for at, each in enumerate(self._handles)}
        looks = 0
        while valve.reason is None:
            done, _ = await asyncio.wait(
                self._starting.values(), timeout=COLLECT_S, return_when=asyncio.FIRST_COMPLETED
            )
            for each in done:
                self._warn(each.result())
            if done:
                return
            looks += 1
            if looks == PATIENCE_S // COLLECT_S:
                waiting()

    def _warn(self, warnings: list[str]) -> None:
        self.warnings += [each for each in warnings if each not in self.warnings]

    async def run(
        self,
        work: Iterator[Assignment],
        sink: Callable[[Delivery], None],
        valve: Valve,
        room: Callable[[int], bool] = lambda _: True,
    ) -> None:
        """Until the work is done or the valve is shut and nothing is in flight.

        ``room(index)`` says whether an assignment may start yet: it bounds what a slow one holds open.
        """
        feed = _Feed(work, room)
        self._deaths.clear()
        self._suspected.clear()
        loops = [asyncio.create_task(self._serve(at, feed, sink, valve)) for at in range(len(self._handles))]
        try:
            await asyncio.gather(*loops)
        finally:
            for each in loops:
                each.cancel()
            await asyncio.gather(*loops, return_exceptions=True)

    async def _serve(self, at: int, feed: _Feed, sink: Callable[[Delivery], None], valve: Valve) -> None:
        """One worker's loop: keep it supplied, pass on what it delivers, replace it when it dies."""
        held: dict[int, Assignment] = {}
        suspects: list[Assignment] = []
        while not valve.now:
            handle = self._handles[at]
            try:
                if at in self._starting:
                    await asyncio.wait({self._starting[at]}, timeout=COLLECT_S)
                    if self._starting[at].done():
                        self._warn(self._starting.pop(at).result())
                    elif valve.reason is not None or feed.over:
                        return
                    continue
                if valve.reason is not None and held:
                    for index in await handle.withdraw():
                        held.pop(index, None)
                elif valve.reason is None and not suspects and len(held) <= self._depth // 2:
                    suspects = [] if held else feed.suspects()
                    fresh = suspects or feed.take(self._depth - len(held))
                    held |= {each.index: each for each in fresh}
                    if fresh:
                        await handle.lease(fresh)
                if not held:
                    suspects = []
                    if valve.reason is not None or feed.over:
                        return
                    await asyncio.sleep(COLLECT_S / 5)
                    continue
                for each in await self._collect(at):
                    held.pop(each.index, None)
                    feed.settled(each.index)
                    sink(each)
            except WorkerLost as error:
                if self._governor is not None:
                    self._governor.forget(at)
                self._bury(held, feed, sink, error)
                held, suspects = {}, []
                if valve.reason is not None:
                    return  # a new worker would have nothing to do
                await self._replace(at)

    async def _collect(self, at: int) -> Sequence[Delivery]:
        """What a worker has finished. Its lease of the endpoint goes along, and what became of the last one comes back."""
        grant = None if self._governor is None else self._governor.grant(at)
        collected = await self._handles[at].collect(COLLECT_S, grant)
        if self._governor is not None and collected.report is not None:
            self._governor.hear(at, collected.report)
        return collected.deliveries

    def _bury(
        self, held: dict[int, Assignment], feed: _Feed, sink: Callable[[Delivery], None], error: WorkerLost
    ) -> None:
        """Give back what a lost worker held: in halves where it died of suspects, as an error what died too often."""
        if isinstance(error, WorkerHeld) and error.index in held:
            del held[error.index]
            feed.settled(error.index)
            sink(Delivery(error.index, "error", error_type="WorkerHeld", message=error.message, retryable=True))
            feed.suspect([list(held.values())] if held else [])  # innocent: they were kept from running
            return
        group = list(held.values())
        if len(group) == 1:
            index = group[0].index
            self._deaths[index] += 1
            if self._deaths[index] >= self._max_attempts:
                feed.settled(index)
                message = f"{error} (with this job alone on it, {self._deaths[index]} times)"
                sink(Delivery(index, "error", error_type="WorkerLost", message=message, retryable=True))
                return
        known = any(each.index in self._suspected for each in group)
        self._suspected |= {each.index for each in group}
        middle = len(group) // 2 if known and len(group) > 1 else len(group)
        feed.suspect([part for part in (group[:middle], group[middle:]) if part])

    async def _replace(self, at: int) -> None:
        await self._handles[at].close()
        for attempt in range(self._max_attempts):
            self._handles[at] = await self._runtime.spawn()
            try:
                await self._handles[at].start()
                return
            except WorkerLost:
                await asyncio.sleep(2**attempt)
        raise SynthError("workers die as soon as they start; look at Ray's own logs")

    async def close(self) -> None:
        """End all workers."""
        for each in self._starting.values():
            each.cancel()
        await asyncio.gather(*self._starting.values(), return_exceptions=True)
        self._starting = {}
        await asyncio.gather(*(each.close() for each in self._handles), return_exceptions=True)
        self._handles = []


class _Feed:
    """Assignments in order, and the groups that a worker died of."""

    def __init__(self, work: Iterator[Assignment], room: Callable[[int], bool]) -> None:
        self._work = work
        self._room = room
        self._groups: list[list[Assignment]] = []
        self._next: Assignment | None = next(work, None)
        self._out: set[int] = set()

    @property
    def over(self) -> bool:
        """Nothing left to hand out, and nothing out that could come back."""
        return self._next is None and not self._groups and not self._out

    def take(self, count: int) -> list[Assignment]:
        """Up to ``count`` fresh assignments, as far as there is room for them."""
        out: list[Assignment] = []
        while len(out) < count and self._next is not None and self._room(self._next.index):
            out.append(self._next)
            self._next = next(self._work, None)
        self._out |= {each.index for each in out}
        return out

    def suspects(self) -> list[Assignment]:
        """A group to run with nothing else beside it, or an empty list."""
        group = self._groups.pop(0) if self._groups else []
        self._out |= {each.index for each in group}
        return group

    def suspect(self, groups: list[list[Assignment]]) -> None:
        self._groups += groups
        self._out -= {each.index for group in groups for each in group}

    def settled(self, index: int) -> None:
        self._out.discard(index)
