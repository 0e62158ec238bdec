"""Brings the events of rollouts to whoever listens, without the loop ever waiting for them."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Self

from synth.agent.events import AgentEvent, ContentDelta

ROOM = 1_024
"""Deltas that may wait for a slow consumer; what does not fit is dropped and counted. Other events are never dropped."""

Listener = Callable[[AgentEvent], Awaitable[None] | None]

_log = logging.getLogger(__name__)


class Subscription:
    """One consumer's events, as an async iterator; it ends when the bus is closed and all is read."""

    def __init__(self, deltas: bool, room: int) -> None:
        self.deltas = deltas
        self.dropped = 0
        """Deltas that were not delivered: their text is in the :class:`~synth.agent.events.ContentComplete`."""
        self._room = room
        self._waiting_deltas = 0
        self._events: deque[AgentEvent] = deque()
        self._news = asyncio.Event()
        self.ended = False

    def put(self, event: AgentEvent) -> None:
        if self.ended:
            return
        if isinstance(event, ContentDelta):
            if not self.deltas:
                return
            if self._waiting_deltas >= self._room:
                self.dropped += 1
                return
            self._waiting_deltas += 1
        self._events.append(event)
        self._news.set()

    def end(self) -> None:
        """No more events come; those that wait can still be read."""
        self.ended = True
        self._news.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AgentEvent:
        while not self._events:
            if self.ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        event = self._events.popleft()
        self._waiting_deltas -= isinstance(event, ContentDelta)
        return event


class EventBus:
    """Takes events from any number of rollouts on one event loop."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def deltas(self) -> bool:
        """Whether anybody wants answers while they are written: a model need not stream otherwise."""
        return any(each.deltas for each in self._subscriptions)

    def subscribe(self, *, deltas: bool = True, room: int = ROOM) -> Subscription:
        """Events from now on, to be iterated over."""
        subscription = Subscription(deltas, room)
        self._subscriptions.append(subscription)
        return subscription

    def listen(self, listener: Listener, *, deltas: bool = False, room: int = ROOM) -> Subscription:
        """Call a function with each event from now on, one after the other: a coroutine function on the event loop, any other
        in a thread of its own. One that raises is logged and called no more.
        """
        subscription = self.subscribe(deltas=deltas, room=room)
        self._tasks.append(asyncio.create_task(self._call(listener, subscription)))
        return subscription

    async def _call(self, listener: Listener, subscription: Subscription) -> None:
        apart = not inspect.iscoroutinefunction(listener)
        try:
            async for event in subscription:
                called = await asyncio.to_thread(listener, event) if apart else listener(event)
                if called is not None:
                    await called
        except Exception:
            _log.exception("a listener of the agent's events failed and hears no more")
            subscription.end()

    def emit(self, event: AgentEvent) -> None:
        """Hand an event to every consumer; never waits."""
        for each in self._subscriptions:
            each.put(event)

    async def aclose(self) -> None:
        """End all subscriptions, and wait until every listener has heard what was emitted."""
        for each in self._subscriptions:
            each.end()
        await asyncio.gather(*self._tasks)
        self._tasks.clear()
