"""A connection of our own to a server, which is opened again when it was lost.

Servers restart and fail over, and their administrators end sessions. What runs on a control
connection must go on after that: the operation that meets the loss fails with a
:class:`~envs.errors.SandboxError`, and the next one connects again, for a bounded time.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from envs.errors import DatabaseConfigError, SandboxError

RECONNECT_S = 30.0
"""Seconds in which a server that went away is expected back."""

_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 1.0

_ASYNCHRONOUS = b"NSA"
"""The first bytes of messages that PostgreSQL may send to a session that asked nothing: notices,
settings, notifications. Anything else that an idle session receives is its end.
"""

C = TypeVar("C")


@dataclass(frozen=True)
class Driver(Generic[C]):
    """The operations of a driver's connection that a control connection needs.

    ``fileno`` returns the descriptor of the socket, -1 where the connection is closed.
    """

    fileno: Callable[[C], int]
    close: Callable[[C], object]


class ControlConnection(Generic[C]):
    """A connection that one thread uses at a time.

    ``connect`` opens it; it is opened for the first time when it is first used. ``wait_s`` is how
    long a lost server is waited for.
    """

    def __init__(
        self, connect: Callable[[], C], driver: Driver[C], wait_s: float = RECONNECT_S
    ) -> None:
        self._connect = connect
        self._driver = driver
        self._wait_s = wait_s
        self._lock = threading.RLock()
        self._connection: C | None = None
        self._was_open = False
        self._refused_until = 0.0
        self._closed = False

    @contextmanager
    def use(self) -> Generator[C]:
        """Lend the connection; it is opened again where it was lost.

        Raises SandboxError where the server does not come back in time, and once closed.
        """
        with self._lock:
            yield self._ready()

    def lost(self, connection: C) -> bool:
        """Return True for a connection that is closed, or that the server has hung up."""
        fileno = self._driver.fileno(connection)
        return fileno < 0 or _hung_up(fileno)

    def _ready(self) -> C:
        if self._closed:
            raise SandboxError("the connection to the server is closed")
        if self._connection is not None and not self.lost(self._connection):
            return self._connection
        self.discard()
        self._connection = self._reconnect() if self._was_open else self._connect()
        self._was_open = True
        return self._connection

    def _reconnect(self) -> C:
        now = time.monotonic()
        # Whoever waited for the same server in vain leaves no second wait to the next.
        deadline = now if now < self._refused_until else now + self._wait_s
        pause = _PAUSE_S
        while True:
            try:
                return self._connect()
            except (DatabaseConfigError, SandboxError) as error:
                if time.monotonic() + pause > deadline:
                    self._refused_until = time.monotonic() + self._wait_s
                    raise SandboxError(
                        f"the connection to the server was lost, and the server does not take"
                        f" another one: {error}"
                    ) from error
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def discard(self) -> None:
        """Close the connection; the next use opens another."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                self._driver.close(connection)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self.discard()


def _hung_up(fileno: int) -> bool:
    """Return True where the other end of an idle session's socket has said that it is over."""
    poll = select.poll()
    poll.register(fileno, select.POLLIN)
    if not poll.poll(0):
        return False
    try:
        with socket.socket(fileno=os.dup(fileno)) as line:
            first = line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except OSError:
        return True
    return not first or first not in _ASYNCHRONOUS


def hang_up(fileno: int) -> None:
    """End a connection from this side, also while a thread waits for its answer: some steps of a
    server notice nothing until they are done.
    """
    try:
        with socket.socket(fileno=os.dup(fileno)) as line:
            line.shutdown(socket.SHUT_RDWR)
    except OSError:  # it was closed meanwhile
        return
