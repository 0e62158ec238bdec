"""The parts of SQLAlchemy that keep an executor's transactions inside its tool call.

A tool call is one real transaction, begun and ended by the sandbox. ``db.commit()`` keeps the work
so far against a later ``db.rollback()``, ``db.rollback()`` undoes the work since the last commit or
the beginning of the call, ``begin_nested()`` is a savepoint. None of them ends the real
transaction: an error after ``db.commit()`` still undoes the whole call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import sqlalchemy
from sqlalchemy.engine import Dialect, make_url
from sqlalchemy.exc import DBAPIError, InvalidRequestError, ResourceClosedError
from sqlalchemy.pool import NullPool, PoolProxiedConnection

from envs.quoting import quoted

UNIT = "envs_unit"
"""The savepoint that holds the work after an executor's commit."""


ENDED = "the tool call is over; its connection cannot be used any more"


class ContainedCall(ABC):
    """One tool call as its connection needs it: an engine's way to speak to its database."""

    broken: BaseException | None = None
    """The error that ended the call's transaction, or left it fit for nothing but its end: the
    driver's, or a SandboxError where the session was lost.
    """

    ended = False

    @abstractmethod
    def cursor(self) -> Any:
        """A PEP 249 cursor whose statements obey the limits of the call."""

    @abstractmethod
    def check(self) -> None:
        """Raise the driver's error where no statement may run any more."""

    @abstractmethod
    def speak(self, sql: str) -> None:
        """Execute a statement of our own, past the guards."""

    @abstractmethod
    def restart(self) -> None:
        """Roll the call's transaction back and begin it anew, with its counters where they were."""

    def rollback_to(self, savepoint: str) -> None:
        """Go back to a savepoint, by its quoted name; a broken transaction has none left."""
        if self.broken is None:
            self.speak(f"ROLLBACK TO SAVEPOINT {savepoint}")

    def quoted(self, name: str) -> str:
        """The name as the database's SQL quotes it."""
        return quoted(name)


class ContainedConnection(PoolProxiedConnection):
    """The DBAPI connection of one tool call, which is its own pool.

    A pool costs 100 microseconds per checkout and would hand the connection on; this one ends with
    its call, and cannot be detached or invalidated.
    """

    def __init__(self, call: ContainedCall, info: dict[str, Any] | None = None) -> None:
        self.call = call
        self._info = {} if info is None else info
        self._committed = False  # the executor called commit(): a rollback stops there
        self._unit = False  # a savepoint holds what came after that commit

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
        return not self.call.ended

    @property
    def is_detached(self) -> bool:
        return False

    def cursor(self, *args: Any, **kwargs: Any) -> Any:
        return self.call.cursor()

    def close(self) -> None:
        """Release, in a pool's sense: undo the work that was not committed."""
        self.rollback()

    def _close_special(self, transaction_reset: bool = False) -> None:
        """``Connection.close()`` calls this where its transaction was rolled back already."""

    def detach(self) -> NoReturn:
        raise InvalidRequestError(
            "a tool call's connection belongs to its sandbox and cannot be detached"
        )

    def invalidate(self, e: BaseException | None = None, soft: bool = False) -> NoReturn:
        raise InvalidRequestError(
            "a tool call's connection belongs to its sandbox and cannot be invalidated"
        )

    def fetch(
        self, sql: str, binds: Mapping[str, object]
    ) -> tuple[Sequence[str], Sequence[tuple[Any, ...]]] | None:
        """Columns and rows of a statement; None without ``:name`` parameters. No columns: it gives
        no rows. See :func:`fetched`.
        """
        return None

    def begin(self) -> None:
        if self._committed and not self._unit:
            self.savepoint(UNIT)
            self._unit = True

    def commit(self) -> None:
        self.call.check()
        if self._unit:
            self.release(UNIT)
            self._unit = False
        self._committed = True

    def rollback(self) -> None:
        """Undo back to the executor's last commit.

        After an error that ended the whole transaction, it begins again where nothing had been
        committed before; otherwise the call is lost.
        """
        if self.call.ended:
            return
        if self._unit:
            self.rollback_to(UNIT)
            if self.call.broken is None:
                self.release(UNIT)
            self._unit = False
        elif not self._committed:
            self.call.restart()

    def savepoint(self, name: str) -> None:
        self.call.check()
        self.call.speak(f"SAVEPOINT {self.call.quoted(name)}")

    def release(self, name: str) -> None:
        self.call.check()
        self.call.speak(f"RELEASE SAVEPOINT {self.call.quoted(name)}")

    def rollback_to(self, name: str) -> None:
        if not self.call.ended:
            self.call.rollback_to(self.call.quoted(name))


class ContainedCursor(ABC):
    """PEP 249 in the cursors of all engines."""

    arraysize = 1

    @abstractmethod
    def _take(self, wanted: int | None) -> list[tuple[Any, ...]]:
        """The next rows, at most ``wanted``; all where it is None."""

    @abstractmethod
    def fetchone(self) -> tuple[Any, ...] | None: ...

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        return self._take(self.arraysize if size is None else size)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._take(None)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchone, None)

    def setinputsizes(self, sizes: object) -> None:  # noqa: B027
        """Part of PEP 249, without effect here."""

    def setoutputsize(self, size: object, column: object = None) -> None:  # noqa: B027
        """Part of PEP 249, without effect here."""


class ContainedTransactions:
    """Dialect mixin, before SQLAlchemy's class: every transaction is the call's connection's."""

    isolation_level_of_calls: str

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:
        return self.isolation_level_of_calls

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        return self.isolation_level_of_calls

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> NoReturn:
        raise InvalidRequestError("a tool call is one transaction; its isolation level is fixed")

    def detect_autocommit_setting(self, dbapi_conn: Any) -> bool:
        return False

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


def _of(connection: sqlalchemy.Connection) -> ContainedConnection:
    proxied = connection.connection
    assert isinstance(proxied, ContainedConnection)
    return proxied


def sandbox_engine(dialect: Dialect, url: str) -> sqlalchemy.Engine:
    """Make an engine that keeps the cache of compiled statements, and never connects by itself."""
    pool = NullPool(_refuse_to_connect, dialect=dialect)
    return sqlalchemy.Engine(pool, dialect, make_url(url), hide_parameters=True)


def _refuse_to_connect() -> NoReturn:
    raise InvalidRequestError("an executor works on the connection it is given and opens no other")


def fetched(
    db: sqlalchemy.Connection, sql: str, binds: Mapping[str, object]
) -> tuple[Sequence[str], Sequence[Sequence[Any]]] | None:
    """The columns and rows of a query with parameters such as ``:name``, asked of the driver of a
    tool call: SQLAlchemy's own way costs more than a small query does. None where only that leads
    there.
    """
    found = _driven(db, sql, binds)
    if found is not None and not found[0]:
        raise ResourceClosedError("the statement gives no rows")
    return found


def executed(db: sqlalchemy.Connection, sql: str, binds: Mapping[str, object]) -> bool:
    """Execute a statement as :func:`fetched` does, without its rows. False where SQLAlchemy has to:
    it has forms of its own for dates and decimals.
    """
    plain = all(value is None or isinstance(value, _PLAIN) for value in binds.values())
    return plain and _driven(db, sql, binds) is not None


_PLAIN = (str, int, float, bytes)


def _driven(
    db: sqlalchemy.Connection, sql: str, binds: Mapping[str, object]
) -> tuple[Sequence[str], Sequence[Sequence[Any]]] | None:
    driver: object = db.connection
    if not isinstance(driver, ContainedConnection):
        return None
    if not db.in_transaction():
        db.begin()
    try:
        return driver.fetch(sql, binds)
    except db.dialect.loaded_dbapi.Error as error:
        raise wrapped(error, db.engine, sql, binds) from error


def wrapped(
    error: Exception,
    engine: sqlalchemy.Engine,
    sql: str | None = None,
    binds: Mapping[str, object] | None = None,
) -> BaseException:
    """A driver's error as SQLAlchemy raises it, of a statement and its parameters, if any."""
    driver: Any = engine.dialect.loaded_dbapi
    given = None if binds is None else dict(binds)
    return DBAPIError.instance(
        sql, given, error, driver.Error, hide_parameters=True, dialect=engine.dialect
    )
