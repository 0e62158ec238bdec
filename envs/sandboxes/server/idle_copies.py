"""The copies of a server's templates that no rollout uses, and how many of them are kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from envs.errors import NoRoomError

MAX_IDLE = 32
"""Copies that a process keeps on one server, all its templates together: each has a session, and a
server has only so many (PostgreSQL 100, MariaDB 151, unless configured).
"""

IDLE_S = 30.0
"""Seconds after which a copy that nobody took makes room for other processes."""

ROOM_S = 0.5
"""Seconds in which the session of a dropped copy ends on the server."""

_AGAIN_S = 0.05


class Droppable(Protocol):
    """A copy with a session."""

    def drop(self) -> None: ...


C = TypeVar("C")


class IdleCopies:
    """The unused copies on one server, by their template. Safe for threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: list[tuple[float, object, Droppable]] = []
        """When, of which template and what, the longest unused first."""

    def take(self, template: object) -> Any:
        """The copy of a template that was used last, or None."""
        with self._lock:
            places = range(len(self._kept) - 1, -1, -1)
            place = next((at for at in places if self._kept[at][1] is template), None)
            return None if place is None else self._kept.pop(place)[2]

    def keep(self, template: object, copy: Droppable, most: float) -> None:
        """Keep a copy, or drop it if the template has ``most`` of them. Also drop the longest
        unused copies beyond MAX_IDLE, and those that nobody took for IDLE_S.
        """
        now = self._clock()
        with self._lock:
            if sum(of is template for _, of, _ in self._kept) < most:
                self._kept.append((now, template, copy))
                gone: list[Droppable] = []
            else:
                gone = [copy]
            while self._kept and (len(self._kept) > MAX_IDLE or now - self._kept[0][0] > IDLE_S):
                gone.append(self._kept.pop(0)[2])
        for unused in gone:
            unused.drop()

    def forget(self, template: object) -> None:
        with self._lock:
            gone = [copy for _, of, copy in self._kept if of is template]
            self._kept = [entry for entry in self._kept if entry[1] is not template]
        for copy in gone:
            copy.drop()

    def make_room(self) -> bool:
        """Drop the longest unused copy; returns whether there was one."""
        with self._lock:
            gone = self._kept.pop(0)[2] if self._kept else None
        if gone is not None:
            gone.drop()
        return gone is not None

    def with_room(self, connect: Callable[[], C], seconds: float = 0) -> C:
        """Connect; where the server has no session left, unused copies are dropped, one by one.

        Raises NoRoomError once none is left to drop and ``seconds`` have passed. Waiting holds up
        all rollouts of the process.
        """
        until = self._clock() + seconds
        while True:
            try:
                return connect()
            except NoRoomError:
                if self.make_room():
                    until = max(until, self._clock() + ROOM_S)
                elif self._clock() >= until:
                    raise
            time.sleep(_AGAIN_S)
