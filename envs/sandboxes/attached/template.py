"""An attached database as a template: its sandboxes are all the database itself, for reading."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import sqlalchemy
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from envs.connection import driver_words
from envs.errors import DatabaseConfigError, SandboxError
from envs.processes import Pool
from envs.sandboxes.attached.access import Access, access_of
from envs.sandboxes.attached.connection import ReadCall
from envs.sandboxes.attached.description import (
    Relations,
    differences,
    digest_of,
    fingerprint_of,
    read_relations,
)
from envs.sandboxes.attached.engine import AttachedOptions
from envs.sandboxes.base import VIEWS, DatabaseTarget, Sandbox, Template, Transaction
from envs.sandboxes.contained import ContainedConnection
from envs.sandboxes.row_changes import state_digest
from envs.sql_errors import classify
from envs.types import ErrorCategory, Limits, Pins, StateDiff

SERVICE = "envs.sandboxes.attached.connection"

COUNT_MS = 30_000
"""Time in which the rows of a table are counted, or are read."""


def attach(target: DatabaseTarget, options: AttachedOptions) -> AttachedTemplate:
    """Attach the database of the target's URL.

    A ``target`` with a fingerprint is taken by its word, as far as the columns of its tables are
    there. Raises :class:`DatabaseConfigError` for a database that cannot be read.
    """
    if target.url is None:
        raise DatabaseConfigError(
            "an attached database needs its URL: database.dsn_env_var names the variable that holds"
            " it"
        )
    access = access_of(target.url, options.schemas)
    engine = access.engine()
    try:
        with engine.connect() as connection:
            relations = read_relations(access, connection)
    except SQLAlchemyError as error:
        raise DatabaseConfigError(_unreachable(error, access.url)) from None
    finally:
        engine.dispose()
    if not relations.tables and not relations.views:
        for error in relations.unread.values():
            raise DatabaseConfigError(_unreachable(error, access.url))
        where = f" in {', '.join(options.schemas)}" if options.schemas else ""
        raise DatabaseConfigError(
            f"the database {_shown(engine.url)} has no table that this account may see{where}"
        )
    options = replace(options, sql=options.sql or access.sql_name)
    return AttachedTemplate(target, options, access, engine, relations)


def _shown(url: sqlalchemy.URL) -> str:
    """A URL without user, password and options."""
    return url.set(username=None, password=None, query={}).render_as_string()


def _unreachable(error: Exception, url: sqlalchemy.URL) -> str:
    return f"cannot read the database {_shown(url)}: {driver_words(error, url)}"


def _unread(sql: str, most: int) -> None:
    """No rows: the columns of a database are looked at, and nothing else."""


def _no_disconnect(*_: object) -> bool:
    """No error that a call meets is a lost connection to SQLAlchemy: connections are the affair of
    the processes that hold them.
    """
    return False


class AttachedTemplate(Template):
    """A database that exists, and the processes that read it."""

    def __init__(
        self,
        target: DatabaseTarget,
        options: AttachedOptions,
        access: Access,
        engine: sqlalchemy.Engine,
        relations: Relations,
    ) -> None:
        self._access = access
        self.engine = engine
        self.tables = relations.tables
        self.views = dict(sorted(relations.views.items()))
        self._unread = relations.unread
        dialect: Any = engine.dialect
        dialect.is_disconnect = _no_disconnect
        self.dialect = dialect.name
        other = self.dialect == "mysql" and not dialect.is_mariadb
        self.sql_name = options.sql or ("MySQL" if other else "")
        assert target.url is not None, "attach() refuses such a target"
        self.pool = Pool(SERVICE, (target.url, options.schemas), options.connections)
        self._closed = False
        try:
            fingerprint = self._recognised(target)
        except BaseException:
            self.close()
            raise
        self.fingerprint = fingerprint
        self.digest = digest_of(fingerprint)

    def _recognised(self, target: DatabaseTarget) -> Any:
        known = target.fingerprint
        if known is None:
            return fingerprint_of(self.tables, self.engine.dialect, self._read, self._unread)
        bare = fingerprint_of(self.tables, self.engine.dialect, _unread, {})
        if lines := differences(known, bare):
            raise DatabaseConfigError(
                f"the attached database changed since the tasks were planned: {'; '.join(lines)}"
            )
        return known

    def _read(self, sql: str, most: int) -> Sequence[Sequence[Any]] | None:
        limits = Limits(True, COUNT_MS, most, None)
        try:
            with self.open(Pins()) as sandbox, sandbox.transaction(limits) as transaction:
                return transaction.connection.exec_driver_sql(
                    sql, execution_options={"no_parameters": True}
                ).fetchall()
        except DBAPIError as error:
            if classify(error, self.dialect) in {
                ErrorCategory.TIMEOUT,
                ErrorCategory.LIMIT_EXCEEDED,
            }:
                return None
            raise
        except SandboxError as error:
            raise DatabaseConfigError(_unreachable(error, self.engine.url)) from None

    @property
    def unread(self) -> dict[str, str]:
        return {name: driver_words(why, self.engine.url) for name, why in self._unread.items()}

    def view_text(self, name: str) -> str | None:
        views = {view.lower(): view for view in self.views}
        name = name.lower()
        view = views.get(name) or views.get(name.rpartition(".")[2])
        if view is None:
            return None
        schema = self.views[view]
        own = view if schema is None else view.removeprefix(f"{schema}.")
        try:
            with self.engine.connect() as connection:
                return self._access.view_text(connection, own, schema)
        except SQLAlchemyError:
            return ""

    def open(self, pins: Pins, *, unordered: bool = False) -> _AttachedSandbox:
        """A sandbox that reads the database. No order of rows is reversed."""
        if self._closed:
            raise SandboxError("the template is closed")
        return _AttachedSandbox(self, pins)

    def close(self) -> None:
        self._closed = True
        self.pool.close()


class _AttachedSandbox(Sandbox):
    """The attached database as one rollout sees it: it has no change, ever."""

    in_place = False
    concurrent_reads = True

    def __init__(self, template: AttachedTemplate, pins: Pins) -> None:
        self._template = template
        self._pins = pins
        self._closed = False
        self.dialect = template.dialect
        self.sql_name = template.sql_name

    @contextmanager
    def transaction(self, limits: Limits) -> Generator[Transaction]:
        """One tool call; each of its statements is a transaction, and only reads."""
        self._alive()
        template = self._template
        driver = template.engine.dialect.loaded_dbapi
        now = self._pins.moment
        call = ReadCall(template.pool, driver, template.dialect, limits, now)
        proxied = ContainedConnection(call, {"now": now})
        connection = sqlalchemy.Connection(template.engine, connection=proxied)
        try:
            yield Transaction(connection.execution_options(**{VIEWS: template.views}))
        finally:
            call.ended = True

    def diff(self) -> StateDiff:
        self._alive()
        return StateDiff()

    def state_hash(self) -> str:
        return state_digest(self._template.digest, self.diff())

    def fork(self) -> _AttachedSandbox:
        self._alive()
        return _AttachedSandbox(self._template, self._pins)

    def close(self) -> None:
        self._closed = True

    def _alive(self) -> None:
        if self._closed:
            raise SandboxError("the sandbox is closed")
