"""The part of a session with a server that its watchdog sees, whatever the driver."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager

from envs.errors import EnvsError
from envs.sandboxes.server.control_connection import hang_up
from envs.sandboxes.watchdog import DEAF_S, WATCHDOG


def unsendable(sql: str) -> str | None:
    """The reason why a text cannot be sent as it is, or None. A null character would end the
    statement early, without an error.
    """
    if "\0" in sql:
        return "a statement cannot hold a null character"
    if not sql.isascii():
        try:
            sql.encode()
        except UnicodeEncodeError:
            return "a statement must not hold a lone surrogate"
    return None


class ServerSession(ABC):
    """One connection, for one thread, but :meth:`terminate` and :meth:`look`: the watchdog's."""

    def __init__(self) -> None:
        self.deadline: float | None = None
        self.terminated = False
        """True where a statement of a tool call was ended, and its session with it."""
        self._own = False
        """True while a statement of the sandbox's own runs."""
        self._silent = False
        """True where the server did not answer a statement of the sandbox's own."""
        self._running: object | None = None
        """The statement that runs; None where none does."""
        self._ended_at = 0.0
        WATCHDOG.watch(self)

    @property
    @abstractmethod
    def lost(self) -> bool:
        """True where the connection is of no use any more."""

    @abstractmethod
    def _end(self) -> None:
        """End the session from outside. EnvsError where the server answers nobody."""

    @abstractmethod
    def _fileno(self) -> int:
        """The descriptor of the socket, -1 where the connection is closed."""

    @abstractmethod
    def _close(self) -> None: ...

    def _weigh(self, running: object) -> None:  # noqa: B027 - not every server can be asked
        """End the session where its statement takes too much of the server."""

    def terminate(self) -> None:
        self.deadline = None
        self.terminated = not self._own
        self._silent = self._own
        self._ended_at = time.monotonic()
        try:
            self._end()
        except EnvsError:
            self._hang_up()

    def look(self) -> None:
        """Cut the line if the server does not end a statement; see what it takes of the server."""
        running = self._running
        if running is None:
            return
        if self.terminated or self._silent:
            if time.monotonic() > self._ended_at + DEAF_S:
                self._hang_up()
        elif not self._own:
            self._weigh(running)

    def _hang_up(self) -> None:
        if (fileno := self._fileno()) >= 0:
            hang_up(fileno)

    def close(self) -> None:
        WATCHDOG.leave(self)
        self._close()

    @contextmanager
    def _watched(self, seconds: float | None, *, own: bool = False) -> Generator[None]:
        """Context in which the server is at work, for so long at most."""
        self._own, self._running = own, object()
        self.deadline = None if seconds is None else time.monotonic() + seconds
        try:
            yield
        finally:
            self.deadline = self._running = None
            self._own = False
