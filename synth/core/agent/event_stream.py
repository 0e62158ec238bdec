"""Delivery of the events of rollouts to subscribers; the agent's loop never waits for them."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Self

from synth.core.agent.events import AgentEvent, ContentDelta

ROOM = 1_024
"""Number of deltas that may wait for a slow consumer; further ones are dropped and counted. Other
events are never dropped.
"""

Listener = Callable[[AgentEvent], Awaitable[None] | None]

_log = logging.getLogger(__name__)


class Subscription:
    """The events of one consumer, as an async iterator.

    It ends when the stream is closed and every event is read.
    """

    def __init__(self, deltas: bool, room: int) -> None:
        self.deltas = deltas
        self.dropped = 0
        """Number of deltas not delivered; their text is in the
        :class:`~synth.core.agent.events.ContentComplete`.
        """
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
        """Accept no more events; those that wait can still be read."""
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


class EventStream:
    """Distributes the events of any number of rollouts on one event loop."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def deltas(self) -> bool:
        """True if a subscriber wants answers while they are written; otherwise a model need not
        stream.
        """
        return any(subscription.deltas for subscription in self._subscriptions)

    def subscribe(self, *, deltas: bool = True, room: int = ROOM) -> Subscription:
        """Return an iterator over the events from now on."""
        subscription = Subscription(deltas, room)
        self._subscriptions.append(subscription)
        return subscription

    def listen(self, listener: Listener, *, deltas: bool = False, room: int = ROOM) -> Subscription:
        """Call a function with each event from now on, one call at a time.

        A coroutine function runs on the event loop, any other function in a thread. A listener that
        raises is logged and not called again.
        """
        subscription = self.subscribe(deltas=deltas, room=room)
        self._tasks.append(asyncio.create_task(self._call(listener, subscription)))
        return subscription

    async def _call(self, listener: Listener, subscription: Subscription) -> None:
        in_thread = not inspect.iscoroutinefunction(listener)
        try:
            async for event in subscription:
                called = await asyncio.to_thread(listener, event) if in_thread else listener(event)
                if called is not None:
                    await called
        except Exception:  # a stranger's code, whose fault must not end the rollout
            _log.exception("a listener of the agent's events failed and hears no more")
            subscription.end()

    def emit(self, event: AgentEvent) -> None:
        """Hand an event to every subscriber; never waits."""
        for subscription in self._subscriptions:
            subscription.put(event)

    async def aclose(self) -> None:
        """End all subscriptions and wait until every listener has processed the events emitted."""
        for subscription in self._subscriptions:
            subscription.end()
        await asyncio.gather(*self._tasks)
        self._tasks.clear()
