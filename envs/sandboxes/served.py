"""What sandboxes on a server share, whichever engine it is: the process's one session there, and a call's transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import sqlalchemy

from envs.sandboxes.base import Transaction
from envs.types import RowChange


class Server(Protocol):
    """A session that makes, grants and drops."""

    @property
    def url(self) -> sqlalchemy.URL: ...

    def close(self) -> None: ...


S = TypeVar("S", bound=Server)


class Lent(Generic[S]):
    """The process's session on each server, shared by who borrows it and closed with the last. Safe for threads."""

    def __init__(self, connect: Callable[[sqlalchemy.URL], S]) -> None:
        self._connect = connect
        self._lent: dict[str, tuple[S, int]] = {}
        self._lock = threading.Lock()

    def borrow(self, url: sqlalchemy.URL) -> S:
        """The session on that server; :meth:`give_back` it."""
        key = url.render_as_string(hide_password=False)
        with self._lock:
            server, users = self._lent.get(key, (None, 0))
            server = server or self._connect(url)
            self._lent[key] = (server, users + 1)
            return server

    def give_back(self, server: S) -> None:
        key = server.url.render_as_string(hide_password=False)
        with self._lock:
            known, users = self._lent[key]
            if users > 1:
                self._lent[key] = (known, users - 1)
                return
            del self._lent[key]
        server.close()


class ServedTransaction(Transaction):
    """One tool call on a server's sandbox."""

    def __init__(self, connection: sqlalchemy.Connection) -> None:
        self.connection = connection
        self.changes: tuple[RowChange, ...] = ()
        self.undone = False

    def rollback(self) -> None:
        self.undone = True
