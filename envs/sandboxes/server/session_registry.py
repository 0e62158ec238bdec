"""The process's one administrator's session on each server, shared by all templates there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import sqlalchemy

from envs.sandboxes.server.admin_session import AdminSession

A = TypeVar("A", bound=AdminSession)


class SharedSessions(Generic[A]):
    """The process's session on each server, shared by its borrowers and closed with the last. Safe
    for threads.
    """

    def __init__(self, connect: Callable[[sqlalchemy.URL], A]) -> None:
        self._connect = connect
        self._lent: dict[str, tuple[A, int]] = {}
        self._lock = threading.Lock()

    def borrow(self, url: sqlalchemy.URL) -> A:
        """The session on that server; :meth:`give_back` it."""
        key = url.render_as_string(hide_password=False)
        with self._lock:
            server, users = self._lent.get(key, (None, 0))
            server = server or self._connect(url)
            self._lent[key] = (server, users + 1)
            return server

    def give_back(self, server: A) -> None:
        """Return a borrowed session."""
        key = server.url.render_as_string(hide_password=False)
        with self._lock:
            known, users = self._lent[key]
            if users > 1:
                self._lent[key] = (known, users - 1)
                return
            del self._lent[key]
        server.close()
