"""The sessions of one PostgreSQL sandbox: its own, and further ones for overlapping calls that only
read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from envs.errors import SandboxError
from envs.sandboxes.postgres.session import PostgresSession
from envs.sandboxes.watchdog import wait_for_the_end

SPARE = 8
"""Further sessions that a process has on one server at most, all its sandboxes together."""


class Sessions:
    """Lends the sessions of one sandbox: its own to a call that writes, alone, and one each to
    calls that only read.

    A call without a free session, here or on the server, waits until another one has ended. Further
    sessions end with the rollout, so that the next one finds nothing of them. The state that a
    session keeps for itself, ``currval`` of a sequence, is seen in the sandbox's own session only.
    Safe for threads.
    """

    def __init__(
        self,
        own: PostgresSession,
        connect: Callable[[], PostgresSession],
        spare: threading.Semaphore,
        alive: Callable[[int], bool],
    ) -> None:
        self._alive = alive
        self._strays: list[int] = []
        self._connect = connect
        self._spare = spare
        self._changed = threading.Condition()
        self._idle = [own]
        self._further: list[PostgresSession] = []
        self._reading = 0
        self._writing = False

    @property
    def busy(self) -> bool:
        return self._writing or self._reading > 0

    @contextmanager
    def lend(self, *, read_only: bool) -> Generator[PostgresSession]:
        """Lend a session for one call. Raises SandboxError where a call that writes would overlap
        another one, or the session was lost, SandboxBusyError while the server still computes what
        was ended.
        """
        with self._changed:
            if self._writing or (self._reading and not read_only):
                raise SandboxError(
                    "a sandbox runs one call at a time, unless all of them only read"
                )
            self._writing, self._reading = not read_only, self._reading + read_only
        session: PostgresSession | None = None
        try:
            if self._strays:
                wait_for_the_end(self._strays, self._alive)
                self._strays.clear()
            session = self._take()
            if session.lost:
                if not session.terminated:
                    raise SandboxError("the connection to the sandbox was lost")
                session.reconnect()
            yield session
        finally:
            with self._changed:
                self._writing, self._reading = False, self._reading - read_only
                if session is not None:
                    self._give_back(session)
                self._changed.notify()

    def _take(self) -> PostgresSession:
        with self._changed:
            if self._idle:
                return self._idle.pop(0)
        if (further := self._open()) is not None:
            return further
        with self._changed:
            self._changed.wait_for(lambda: self._idle)
            return self._idle.pop(0)

    @property
    def clean(self) -> bool:
        """True where no session holds anything any more, one that was ended included."""
        return not self.busy and not any(map(self._alive, self._strays))

    def _give_back(self, session: PostgresSession) -> None:
        if session.lost and session.terminated:
            self._strays.append(session.pid)
        if session in self._further:
            self._idle.append(session)
        else:
            self._idle.insert(0, session)  # a call by itself always has the sandbox's own

    def _open(self) -> PostgresSession | None:
        """One more session, or None where there is no room for it."""
        if not self._spare.acquire(blocking=False):
            return None
        try:
            further = self._connect()
        except SandboxError:
            self._spare.release()
            return None
        except BaseException:
            self._spare.release()
            raise
        with self._changed:
            self._further.append(further)
        return further

    def close(self) -> None:
        """End the further sessions; the sandbox's own is not ended here. Safe to call twice."""
        while self._further:
            self._further.pop().close()
            self._spare.release()
