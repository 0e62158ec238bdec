"""The connection of one tool call on a server (see :mod:`envs.sandboxes.contained`)."""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from typing import Any

from envs.errors import SandboxError
from envs.sandboxes.contained import UNIT, ContainedConnection, ContainedTransactions
from envs.types import Limits


class CallSession(ABC):
    """The part of a server's session that one tool call needs."""

    broken: BaseException | None
    """The error that ended the call's transaction (or left it fit for nothing but its end): the
    driver's, or a SandboxError where the session was lost.
    """

    @abstractmethod
    def cursor(self, limits: Limits) -> Any:
        """A PEP 249 cursor whose statements obey the limits."""

    @abstractmethod
    def speak(self, sql: str) -> None:
        """Execute a statement of our own, past the guards."""

    @abstractmethod
    def restart(self) -> None:
        """Roll the call's transaction back and begin it anew, with its counters where they were."""

    @abstractmethod
    def quoted(self, name: str) -> str:
        """The name as the server's SQL quotes it."""

    @abstractmethod
    def ended_error(self) -> BaseException:
        """The error of a cursor whose call is over."""


class ServerCallConnection(ContainedConnection):
    """The connection of one tool call over a session with a server."""

    def __init__(
        self, session: CallSession, limits: Limits, now: dt.datetime | None = None
    ) -> None:
        super().__init__({} if now is None else {"now": now})
        self._session = session
        self._limits = limits
        self.ended = False

    @property
    def is_valid(self) -> bool:
        return not self.ended

    def cursor(self, *args: Any, **kwargs: Any) -> Any:
        self._check()
        return self._session.cursor(self._limits)

    def _check(self) -> None:
        if self.ended:
            raise self._session.ended_error()

    def begin(self) -> None:
        self._check()
        if self._committed and not self._unit:
            self.savepoint(UNIT)
            self._unit = True

    def commit(self) -> None:
        self._check()
        if self._unit:
            self.release(UNIT)
            self._unit = False
        self._committed = True

    def rollback(self) -> None:
        """Undo back to the executor's last commit."""
        if self.ended:
            return
        if self._unit:
            self.rollback_to(UNIT)
            self.release(UNIT)
            self._unit = False
        elif not self._committed:
            self._session.restart()

    def savepoint(self, name: str) -> None:
        self._check()
        self._session.speak(f"SAVEPOINT {self._session.quoted(name)}")

    def release(self, name: str) -> None:
        self._check()
        self._session.speak(f"RELEASE SAVEPOINT {self._session.quoted(name)}")

    def rollback_to(self, name: str) -> None:
        if not self.ended and not isinstance(self._session.broken, SandboxError):
            self._session.speak(f"ROLLBACK TO SAVEPOINT {self._session.quoted(name)}")
            self._session.broken = None


class ServerTransactions(ContainedTransactions):
    """Dialect mixin for a server: its transactions, and no opinion about lost connections."""

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        return False  # a session that is lost is the sandbox's affair
