"""The sessions of one sandbox on PostgreSQL: its own, and further ones while calls that only read overlap."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from envs.errors import SandboxError
from envs.sandboxes.postgres_session import PostgresSession

SPARE = 8
"""Further sessions that a process has on one server at most, all its sandboxes together."""


class Sessions:
    """Hands out one sandbox's sessions: its own to a call that writes, alone, and one each to calls that only read.

    A call for which there is no further session, here or on the server, waits until another one has ended. Further
    sessions end with the rollout: nothing of them is found by the next one. What a session keeps for itself, ``currval``
    of a sequence, is seen in the sandbox's own session only. Safe for threads.
    """

    def __init__(
        self, own: PostgresSession, connect: Callable[[], PostgresSession], spare: threading.Semaphore
    ) -> None:
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
        """A session for one call. Raises SandboxError where a call that writes would meet another one."""
        with self._changed:
            if self._writing or (self._reading and not read_only):
                raise SandboxError("a sandbox runs one call at a time, unless all of them only read")
            self._writing, self._reading = not read_only, self._reading + read_only
        session: PostgresSession | None = None
        try:
            session = self._take()
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

    def _give_back(self, session: PostgresSession) -> None:
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
