"""An attached database as a template: its sandboxes are all the database itself, for reading, or
for writing in a transaction that is rolled back.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import sqlalchemy
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from envs.connection import driver_words
from envs.errors import DatabaseConfigError, SandboxError
from envs.processes import Pool, pool_of
from envs.sandboxes.attached.access import Access, Writer, access_of
from envs.sandboxes.attached.connection import ReadCall
from envs.sandboxes.attached.description import (
    Relations,
    differences,
    digest_of,
    fingerprint_of,
    read_relations,
)
from envs.sandboxes.attached.engine import AttachedOptions
from envs.sandboxes.attached.rollout import COMPARED_ROWS
from envs.sandboxes.attached.writing import RolloutSession, WriteCall
from envs.sandboxes.base import VIEWS, DatabaseTarget, Sandbox, Template, Transaction
from envs.sandboxes.contained import (
    ContainedConnection,
    ContainedTransactions,
    sandbox_engine,
    wrapped,
)
from envs.sandboxes.row_changes import state_digest
from envs.sql_errors.classify import classify
from envs.types import ErrorCategory, Limits, Pins, StateDiff, Table

SERVICE = "envs.sandboxes.attached.connection"

_ROLLOUTS_SERVICE = "envs.sandboxes.attached.rollout"

_MOST_ROLLOUTS = 1_000
"""Rollouts of a worker that write at once: one more waits for the end of another."""

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
    writer = _writer(access, engine, options, relations) if options.writes else None
    return AttachedTemplate(target, options, access, engine, relations, writer)


def _writer(
    access: Access, engine: sqlalchemy.Engine, options: AttachedOptions, relations: Relations
) -> Writer:
    """The rules for writing to the tables of the options. Raises :class:`DatabaseConfigError` where
    not all of it would be rolled back and compared.
    """
    key = "database.options.writes"
    tables: dict[str, Table] = {}
    for name in options.writes:
        table = relations.tables.get(name)
        if table is None:
            known = ", ".join(sorted(relations.tables))
            raise DatabaseConfigError(f"{key}: no table {name!r}; the tables are {known}")
        if not table.primary_key:
            raise DatabaseConfigError(
                f"{key}: the table {name} has no primary key, so its rows cannot be compared;"
                " declare one, or leave the table out"
            )
        tables[name] = table
    writer = access.writer(tables, options.idle_s)
    if writer is None:
        raise DatabaseConfigError(
            f"{key}: {engine.dialect.name} cannot roll a rollout back; only SQLite, PostgreSQL,"
            " MariaDB and MySQL can"
        )
    try:
        with engine.connect() as connection:
            problem = _cascades(connection, tables) or writer.problem(connection)
            quote = engine.dialect.identifier_preparer.quote
            rows = sum(
                connection.exec_driver_sql(
                    f"SELECT COUNT(*) FROM {table.written(quote)}"
                ).scalar_one()
                for table in tables.values()
            )
    except SQLAlchemyError as error:
        raise DatabaseConfigError(_unreachable(error, access.url)) from None
    if problem is None and rows > COMPARED_ROWS:
        problem = f"the tables have {rows} rows, and up to {COMPARED_ROWS} can be compared"
    if problem is not None:
        raise DatabaseConfigError(f"{key}: {problem}")
    return writer


def _cascades(connection: sqlalchemy.Connection, tables: Mapping[str, Table]) -> str | None:
    """The table that changes with one of ``tables`` and is none of them, in a sentence."""
    inspector = sqlalchemy.inspect(connection)
    for schema in {table.schema for table in tables.values()}:
        prefix = "" if schema is None else f"{schema}."
        for name in inspector.get_table_names(schema):
            for link in inspector.get_foreign_keys(name, schema):
                far = link.get("referred_schema")
                parent = (
                    link["referred_table"] if far is None else f"{far}.{link['referred_table']}"
                )
                acts = [
                    rule
                    for rule in link.get("options", {}).values()
                    if str(rule).upper() in {"CASCADE", "SET NULL", "SET DEFAULT"}
                ]
                if acts and parent in tables and prefix + name not in tables:
                    return (
                        f"a change of {parent} changes {prefix}{name} as well ({acts[0]}); name"
                        " that table, too"
                    )
    return None


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
        writer: Writer | None = None,
    ) -> None:
        self.writable = writer is not None
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
        self.pool = pool_of(SERVICE, (target.url, options.schemas), options.connections)
        self._closed = False
        self._rollouts: Pool | None = None
        self.calls = engine
        if writer is not None:
            start = (target.url, options.schemas, writer.tables, options.idle_s)
            self._rollouts = Pool(_ROLLOUTS_SERVICE, start, _MOST_ROLLOUTS)
            self.calls = sandbox_engine(_contained(dialect, writer.isolation), "sqlite://")
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

    def session(self) -> RolloutSession | None:
        """A transaction for one rollout, which has not begun; None where nothing is written."""
        return None if self._rollouts is None else RolloutSession(self._rollouts)

    def close(self) -> None:
        self._closed = True
        self.pool.rest()
        if self._rollouts is not None:
            self._rollouts.close()


def _contained(dialect: Any, isolation: str) -> Any:
    """A copy of a dialect, with the transactions of tool calls."""
    kind: Any = dialect.__class__
    own_words = {"isolation_level_of_calls": isolation, "supports_statement_cache": True}
    contained: Any = type(kind.__name__, (ContainedTransactions, kind), own_words)
    own = contained.__new__(contained)
    own.__dict__.update(dialect.__dict__)
    return own


class _AttachedSandbox(Sandbox):
    """The attached database as one rollout sees it. Its transaction begins with the first call that
    may write; until then each statement is a transaction that only reads.
    """

    in_place = False

    def __init__(self, template: AttachedTemplate, pins: Pins) -> None:
        self._template = template
        self._pins = pins
        self._closed = False
        self._session: RolloutSession | None = None
        self._diff = StateDiff()
        self.dialect = template.dialect
        self.sql_name = template.sql_name
        self.concurrent_reads = not template.writable

    @contextmanager
    def transaction(self, limits: Limits) -> Generator[Transaction]:
        """One tool call. In a rollout that writes it stands between savepoints."""
        self._alive()
        template = self._template
        driver, now = template.engine.dialect.loaded_dbapi, self._pins.moment
        if self._session is None and not limits.read_only:
            self._session = template.session()
        if self._session is None:
            call = ReadCall(template.pool, driver, template.dialect, limits, now)
        else:
            call = WriteCall(self._session, template.pool, driver, template.dialect, limits, now)
        proxied = ContainedConnection(call, {"now": now})
        connection = sqlalchemy.Connection(template.calls, connection=proxied)
        transaction = Transaction(connection.execution_options(**{VIEWS: template.views}))
        try:
            yield transaction
        except BaseException:
            call.ended = True
            if isinstance(call, WriteCall):
                with suppress(SandboxError):
                    call.end(keep=False)
            raise
        call.ended = True
        if isinstance(call, WriteCall):
            try:
                ended = call.end(keep=not transaction.undone)
            except driver.Error as error:
                raise wrapped(error, template.calls) from error
            if ended is not None:
                transaction.changes, self._diff = ended[0], StateDiff(ended[1])

    def diff(self) -> StateDiff:
        self._alive()
        return self._diff

    def state_hash(self) -> str:
        return state_digest(self._template.digest, self.diff())

    def fork(self) -> _AttachedSandbox:
        self._alive()
        if self._session is not None:
            raise SandboxError("a rollout that may have written to its database cannot be forked")
        return _AttachedSandbox(self._template, self._pins)

    def close(self) -> None:
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _alive(self) -> None:
        if self._closed:
            raise SandboxError("the sandbox is closed")
