"""SQLAlchemy over a sandbox: one shared engine, and transactions that stay inside the call's own.

A tool call is one real transaction, begun and ended by the sandbox. What an executor does through
SQLAlchemy is contained in it: ``db.commit()`` keeps the work so far against a later ``db.rollback()``,
``db.rollback()`` undoes what came after the last commit or the call's beginning, ``begin_nested()`` is a
savepoint. None of them ends the real transaction, so an error after ``db.commit()`` still undoes the whole call.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NoReturn

import sqlalchemy
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, InvalidRequestError
from sqlalchemy.pool import NullPool, PoolProxiedConnection

from envs.sandboxes import apsw_dbapi
from envs.sandboxes.apsw_dbapi import Call, Cursor, Error, Session
from envs.sandboxes.apsw_results import SandboxContext

_UNIT = "envs_unit"


class CallConnection(PoolProxiedConnection):
    """The DBAPI connection of one tool call, which plays its own pool.

    A pool costs 100 microseconds per checkout and would hand the connection on; this one ends with its call.
    """

    def __init__(
        self,
        session: Session,
        timeout_ms: int | None = None,
        max_rows: int | None = None,
        info: dict[str, Any] | None = None,
    ) -> None:
        self.call = Call(session, timeout_ms, max_rows)
        self._session = session
        self._info = {} if info is None else info
        self._committed = False  # the executor called commit(): a rollback stops there
        self._unit = False  # a savepoint holds what came after that commit

    # What SQLAlchemy asks of a pooled connection.

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
        return Cursor(self.call)

    def close(self) -> None:
        """Release, in a pool's sense: what was not committed is undone."""
        self.rollback()

    def _close_special(self, transaction_reset: bool = False) -> None:
        """What ``Connection.close()`` calls where its transaction was rolled back already."""

    def detach(self) -> NoReturn:
        raise InvalidRequestError("a tool call's connection belongs to its sandbox and cannot be detached")

    def invalidate(self, e: BaseException | None = None, soft: bool = False) -> NoReturn:
        raise InvalidRequestError("a tool call's connection belongs to its sandbox and cannot be invalidated")

    # Transactions, contained.

    def begin(self) -> None:
        if self._committed and not self._unit:
            self.savepoint(_UNIT)
            self._unit = True

    def commit(self) -> None:
        self.call.check()
        if self._unit:
            self.release(_UNIT)
            self._unit = False
        self._committed = True

    def rollback(self) -> None:
        """Undo back to the executor's last commit. After an error that took the whole transaction with it,
        this starts afresh where nothing had been committed before; otherwise the call is lost.
        """
        if self.call.ended:
            return
        self.close_cursors()
        if self._unit:
            self.rollback_to(_UNIT)
            if self.call.broken is None:
                self.release(_UNIT)
            self._unit = False
        elif not self._committed:
            if self._session.raw.in_transaction:
                self._session.speak("ROLLBACK")
            self._session.speak("BEGIN")
            self.call.broken = None

    def savepoint(self, name: str) -> None:
        self.call.check()
        self._session.speak(f"SAVEPOINT {_quoted(name)}")

    def release(self, name: str) -> None:
        self.call.check()
        self._session.speak(f"RELEASE {_quoted(name)}")

    def rollback_to(self, name: str) -> None:
        if not self.call.ended and self.call.broken is None:  # a broken transaction took its savepoints with it
            self._session.speak(f"ROLLBACK TO {_quoted(name)}")

    def close_cursors(self) -> None:
        """A statement that still has rows to give keeps a transaction from ending."""
        for cursor in self.call.cursors:
            cursor.close(True)
        self.call.cursors.clear()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class SandboxDialect(SQLiteDialect_pysqlite):
    """SQLAlchemy's SQLite dialect over :mod:`envs.sandboxes.apsw_dbapi`."""

    driver = "apsw"
    execution_ctx_cls = SandboxContext
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> ModuleType:  # pyright: ignore[reportIncompatibleMethodOverride]
        return apsw_dbapi

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:
        return "SERIALIZABLE"

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        return "SERIALIZABLE"

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> NoReturn:
        raise InvalidRequestError("a tool call is one serializable transaction; its isolation level is fixed")

    def detect_autocommit_setting(self, dbapi_conn: Any) -> bool:
        return False

    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        return ["main"]

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


def _of(connection: sqlalchemy.Connection) -> CallConnection:
    proxied = connection.connection
    assert isinstance(proxied, CallConnection)
    return proxied


def _refuse() -> NoReturn:
    raise InvalidRequestError("an executor works on the connection it is given and opens no other")


def make_engine(probe: Session) -> sqlalchemy.Engine:
    """An engine for every sandbox of the process: it keeps the cache of compiled statements, and no connection.

    ``probe`` is asked for the features of its SQLite, once.
    """
    dialect = SandboxDialect(dbapi=apsw_dbapi)
    pool = NullPool(_refuse, dialect=dialect)
    engine = sqlalchemy.Engine(pool, dialect, make_url("sqlite://"), hide_parameters=True)
    dialect.initialize(sqlalchemy.Connection(engine, connection=CallConnection(probe)))
    return engine


def wrapped(error: Error, engine: sqlalchemy.Engine) -> BaseException:
    """A driver's error as SQLAlchemy raises it, for those that no statement of the executor raised."""
    return DBAPIError.instance(None, None, error, apsw_dbapi.Error, hide_parameters=True, dialect=engine.dialect)
