"""Ends the statements that a server's own timeout did not end.

A server's timeout is an offer: SQL can catch the cancellation, or sit where no interrupt is looked for. One thread per
process looks at the sessions that are at work and, past their time and a moment of grace, has each of them
terminated from outside.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import Protocol

GRACE_S = 1.0
"""How long after its time a statement may still end by the server's own timeout."""

_LOOK_S = 0.25


class Watched(Protocol):
    """A session as the watchdog sees it."""

    deadline: float | None
    """``time.monotonic()`` of the running statement's end; None while nothing runs."""

    def terminate(self) -> None:
        """End the session from outside; called from the watchdog's thread."""

    def look(self) -> None:
        """See what the session takes of its server, from outside too. May end it, may find nothing to see."""


class Watchdog:
    """Starts its thread with the first session, and ends it with the last."""

    def __init__(self) -> None:
        self._sessions: weakref.WeakSet[Watched] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, session: Watched) -> None:
        with self._lock:
            self._sessions.add(session)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="envs-watchdog", daemon=True)
                self._thread.start()

    def leave(self, session: Watched) -> None:
        with self._lock:
            self._sessions.discard(session)

    def _run(self) -> None:
        while True:
            time.sleep(_LOOK_S)
            with self._lock:
                if not self._sessions:
                    self._thread = None
                    return
                late = [
                    each
                    for each in self._sessions
                    if each.deadline is not None and time.monotonic() > each.deadline + GRACE_S
                ]
                watched = list(self._sessions)
            for each in late:
                each.deadline = None
                each.terminate()
            for each in watched:
                each.look()
            watched.clear()


WATCHDOG = Watchdog()
