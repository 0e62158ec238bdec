"""The connection of one tool call on a server: the executor's transactions stay inside the call's own.

A tool call is one real transaction, begun and ended by the sandbox. ``db.commit()`` keeps the work so far against a
later ``db.rollback()``, ``db.rollback()`` undoes what came after the last commit or the call's beginning,
``begin_nested()`` is a savepoint. None of them ends the real transaction: an error after ``db.commit()`` still undoes
the whole call. (The same rules as :mod:`envs.sandboxes.apsw_dialect` keeps on SQLite.)
"""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from typing import Any, NoReturn

import sqlalchemy
from sqlalchemy.exc import InvalidRequestError
from sqlalchemy.pool import PoolProxiedConnection

from envs.types import Limits

_UNIT = "envs_unit"


class CallSession(ABC):
    """What one tool call needs of a server's session."""

    broken: BaseException | None
    """The driver's error that ended the call's transaction (or left it fit for nothing but its end)."""

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
    def quoted(self, name: str) -> str: ...

    @abstractmethod
    def ended_error(self) -> BaseException:
        """What a cursor raises when its call is over."""


class ContainedConnection(PoolProxiedConnection):
    """Plays its own pool: it ends with its call and cannot be detached, invalidated or handed on."""

    def __init__(self, session: CallSession, limits: Limits, now: dt.datetime | None = None) -> None:
        self._session = session
        self._limits = limits
        self._committed = False  # the executor called commit(): a rollback stops there
        self._unit = False  # a savepoint holds what came after that commit
        self._info: dict[str, Any] = {} if now is None else {"now": now}
        self.ended = False

    @property
    def info(self) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._info

    @property
    def dbapi_connection(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self

    @property
    def driver_connection(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self

    @property
    def is_valid(self) -> bool:
        return not self.ended

    @property
    def is_detached(self) -> bool:
        return False

    def cursor(self, *args: Any, **kwargs: Any) -> Any:
        self._check()
        return self._session.cursor(self._limits)

    def close(self) -> None:
        """Release, in a pool's sense: what was not committed is undone."""
        self.rollback()

    def _close_special(self, transaction_reset: bool = False) -> None:
        """What ``Connection.close()`` calls where its transaction was rolled back already."""

    def detach(self) -> NoReturn:
        raise InvalidRequestError("a tool call's connection belongs to its sandbox and cannot be detached")

    def invalidate(self, e: BaseException | None = None, soft: bool = False) -> NoReturn:
        raise InvalidRequestError("a tool call's connection belongs to its sandbox and cannot be invalidated")

    def _check(self) -> None:
        if self.ended:
            raise self._session.ended_error()

    def begin(self) -> None:
        self._check()
        if self._committed and not self._unit:
            self.savepoint(_UNIT)
            self._unit = True

    def commit(self) -> None:
        self._check()
        if self._unit:
            self.release(_UNIT)
            self._unit = False
        self._committed = True

    def rollback(self) -> None:
        """Undo back to the executor's last commit."""
        if self.ended:
            return
        if self._unit:
            self.rollback_to(_UNIT)
            self.release(_UNIT)
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
        if not self.ended:
            self._session.speak(f"ROLLBACK TO SAVEPOINT {self._session.quoted(name)}")
            self._session.broken = None


class ContainedTransactions:
    """Mixed into a dialect, before SQLAlchemy's own class: every transaction goes to the call's connection."""

    def do_begin(self, dbapi_connection: Any) -> None:
        dbapi_connection.begin()

    def do_commit(self, dbapi_connection: Any) -> None:
        dbapi_connection.commit()

    def do_rollback(self, dbapi_connection: Any) -> None:
        dbapi_connection.rollback()

    def do_savepoint(self, connection: sqlalchemy.Connection, name: str) -> None:
        _of(connection).savepoint(name)

    def do_rollback_to_savepoint(self, connection: sqlalchemy.Connection, name: str) -> None:
        _of(connection).rollback_to(name)

    def do_release_savepoint(self, connection: sqlalchemy.Connection, name: str) -> None:
        _of(connection).release(name)

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        return False  # a session that is lost is the sandbox's affair

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> NoReturn:
        raise InvalidRequestError("a tool call is one transaction; its isolation level is fixed")


def _of(connection: sqlalchemy.Connection) -> ContainedConnection:
    proxied = connection.connection
    assert isinstance(proxied, ContainedConnection)
    return proxied


def refuse_to_connect() -> NoReturn:
    """The creator of a sandbox's engine, which never connects by itself."""
    raise InvalidRequestError("an executor works on the connection it is given and opens no other")
