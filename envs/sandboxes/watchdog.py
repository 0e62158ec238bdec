"""Ends statements that a database's own timeout did not end.

SQL can catch a server's cancellation, or run where no interrupt is checked. One thread per process
looks at the sessions that are at work and terminates each, from outside, that is past its time and
a second of grace.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Protocol

from envs.errors import SandboxBusyError

GRACE_S = 1.0
"""Seconds past its time in which a statement may still end by the server's own timeout."""

DEAF_S = 1.0
"""Seconds that a session may go on after its end was asked for, before the line is cut."""

OWN_S = 120.0
"""Seconds for a statement of the sandbox's own: a silent server never answers it."""

STRAY_S = 2.0
"""Seconds that a call waits for the end of an earlier one's statement that was ended."""

_LOOK_S = 0.25
_PAUSE_S = 0.02


def wait_for_the_end(strays: Sequence[int], alive: Callable[[int], bool]) -> None:
    """Wait until none of the server's processes of ended sessions is alive: they hold locks.

    Raises SandboxBusyError where one of them goes on.
    """
    deadline = time.monotonic() + STRAY_S
    while any(alive(stray) for stray in strays):
        if time.monotonic() > deadline:
            raise SandboxBusyError(
                "the database is still at work on an earlier statement that took longer than it may"
            )
        time.sleep(_PAUSE_S)


class _Watched(Protocol):
    """A session as the watchdog sees it."""

    @property
    def deadline(self) -> float | None:
        """``time.monotonic()`` of the running statement's end; None while nothing runs."""
        ...

    def terminate(self) -> None:
        """End session or statement from outside, forget the deadline; on the watchdog's thread."""

    def look(self) -> None:
        """Check the load that the session puts on its server, from outside; may end it."""


class _Watchdog:
    """Starts its thread with the first session, and ends it with the last."""

    def __init__(self) -> None:
        self._sessions: weakref.WeakSet[_Watched] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, session: _Watched) -> None:
        with self._lock:
            self._sessions.add(session)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="envs-watchdog", daemon=True)
                self._thread.start()

    def leave(self, session: _Watched) -> None:
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
                    session
                    for session in self._sessions
                    if session.deadline is not None
                    and time.monotonic() > session.deadline + GRACE_S
                ]
                watched = list(self._sessions)
            for session in late:
                session.terminate()
            for session in watched:
                session.look()
            late.clear()
            watched.clear()
            session = None  # only the set above may keep a session alive


WATCHDOG = _Watchdog()
