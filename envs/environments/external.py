"""An environment whose state is outside of the database: a service, a look-up table, a simulator.

The world's schema describes the state as tables, and its seed is the state that a rollout begins
with. A subclass starts from rows and gives its rows back::

    class LookUpTable(ExternalExecutableEnvironment):
        def start(self, rows):
            self.meanings = {row["word"]: row["meaning"] for row in rows["entry"]}

        def snapshot(self):
            return {"entry": [{"word": w, "meaning": m} for w, m in self.meanings.items()]}

After each call the rows that differ are written into the rollout's sandbox. Row changes, gates,
queries of tasks.yaml, hashes and replays are then the same as for a database.
"""

from __future__ import annotations

import http.client
import threading
import time
from abc import abstractmethod
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import isfinite
from typing import Any, ClassVar, cast

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from envs.audit import Audit
from envs.clock import now
from envs.environments.database import DatabaseExecutableEnvironment
from envs.environments.executable import ExecutionContext
from envs.errors import EnvsError, ExecutorError, SandboxError, ToolError, WorldError
from envs.processes import Pool
from envs.quoting import quoted
from envs.sandboxes.base import Sandbox
from envs.sandboxes.row_changes import INT64
from envs.sandboxes.watchdog import WATCHDOG
from envs.tools.sql import BUILTIN
from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import ErrorCategory, Limits, RowChange, Table, ToolResult

Row = Mapping[str, Any]
Rows = dict[str, dict[tuple[Any, ...], Row]]
"""Rows by table and primary key."""

_LATE = "it was ended for its time"

_ALL = Limits(False, None, None, None)


class _Call(ExecutionContext):
    def __init__(self, resource: Any) -> None:
        self.resource = resource
        self.kept: tuple[RowChange, ...] = ()
        self.undone = False

    @property
    def changes(self) -> tuple[RowChange, ...]:
        return self.kept

    def rollback(self) -> None:
        self.undone = True


class _Timer:
    """The time of one step, which the watchdog ends by ``stop`` in a thread of its own."""

    def __init__(self, environment: ExternalExecutableEnvironment) -> None:
        self._environment = environment
        self._lock = threading.Lock()
        self._ending: threading.Thread | None = None
        self.deadline: float | None = None

    def begin(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds

    def end(self) -> bool:
        """End the step; returns True if it was late."""
        with self._lock:
            self.deadline = None
            ending, self._ending = self._ending, None
        if ending is not None:  # or it would stop what is started next
            ending.join()
        return ending is not None

    def terminate(self) -> None:
        with self._lock:
            if self.deadline is None:
                return
            self.deadline = None
            self._ending = threading.Thread(target=self._environment.stop, daemon=True)
            self._ending.start()

    def look(self) -> None:
        """The load on a service is its own affair."""


class ExternalExecutableEnvironment(DatabaseExecutableEnvironment):
    """Executors get the :attr:`resource`. A subclass has :meth:`start`, :meth:`snapshot` and, where
    something has to be ended, :meth:`stop`.

    It starts with the first call. A call that fails, or takes longer than it may, leaves nothing
    behind: what it changed is undone by a new start from the rows before it. Tools of SQL read the
    rows as the last call left them.
    """

    dialects = frozenset({"sqlite"})

    start_timeout_s: ClassVar[float] = 60.0
    """Seconds that :meth:`start` may take."""

    slow: ClassVar[tuple[type[Exception], ...]] = ()
    """Errors of a client that waited long enough, beside TimeoutError: the model reads that the
    call timed out.
    """

    lost: ClassVar[tuple[type[Exception], ...]] = ()
    """Errors of a client whose service is gone, beside OSError, EOFError and HTTPException of
    :mod:`http.client`: the rollout is played again.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        sandbox: Sandbox,
        tables: Mapping[str, Table],
        limits: Limits | None = None,
        subprocess_pool: Pool | None = None,
        audit: Audit | None = None,
    ) -> None:
        given = limits or Limits()
        reading = replace(given, read_only=True)
        super().__init__(toolbox, sandbox, tables, reading, subprocess_pool, audit)
        self.in_place = self.concurrent_reads = False
        self.timeout_s = (given.statement_timeout_ms or 30_000) / 1000
        """Seconds that a call or a snapshot may take: what a client should wait at most."""
        self._read_only = given.read_only
        self._timer = _Timer(self)
        self._running = False
        self._kept: Rows | None = None

    @abstractmethod
    def start(self, rows: Mapping[str, list[dict[str, Any]]]) -> None:
        """Begin in the state of these rows, by table: the seed's, or as a call left them.

        ``self.now`` is the rollout's time. The order of the rows means nothing.
        """

    @abstractmethod
    def snapshot(self) -> Mapping[str, Iterable[Mapping[str, Any]]]:
        """All rows of all tables of schema.sql, in any order. A value is a text, a number, bytes,
        true, false or None.
        """

    def stop(self) -> None:
        """End what :meth:`start` began, and a call that waits for it in another thread. Safe to
        call twice.
        """

    @property
    def resource(self) -> Any:
        """The first argument of executors: the environment itself unless a subclass has another."""
        return self

    def close(self) -> None:
        WATCHDOG.leave(self._timer)
        try:
            self._drop()
        finally:
            super().close()

    @property
    def _rows(self) -> Rows:
        """The rows as the last call left them; at first the sandbox's."""
        if self._kept is None:
            for table in self._tables.values():
                if not table.primary_key:
                    raise WorldError(
                        f"table {table.name} needs a primary key: {type(self).__name__} tells its"
                        " rows apart by it"
                    )
            with self.sandbox.transaction(replace(_ALL, read_only=True)) as transaction:
                self.now = now(transaction.connection)
                self._kept = self._mirrored(transaction.connection)
        return self._kept

    def _mirrored(self, db: Connection) -> Rows:
        rows: Rows = {}
        for name, table in self._tables.items():
            columns = [column.name for column in table.columns]
            listed = ", ".join(map(quoted, columns))
            found = db.exec_driver_sql(f"SELECT {listed} FROM {quoted(name)}").fetchall()
            each = [dict(zip(columns, row, strict=True)) for row in found]
            rows[name] = {_key(table, row): row for row in each}
        return rows

    @contextmanager
    def _build_execution_context(self, tool: Tool) -> Generator[ExecutionContext]:
        if tool.free_sql or tool.name in BUILTIN:
            with super()._build_execution_context(tool) as context:
                yield context
            return
        self.begin()
        call = _Call(self.resource)
        try:
            own = tool.limits.statement_timeout_ms
            with self._bounded(min(self.timeout_s, own / 1000) if own else self.timeout_s):
                yield call
            if call.undone:
                self._undo()
            else:
                call.kept = self._keep(tool, self._snapshot())
        except ToolError:
            self._undo()
            raise
        except BaseException as error:
            self._drop()
            if isinstance(error, self._all_lost) and not self._is_slow(error):
                raise self._unanswered(f"tool {tool.name}", error) from error
            raise

    def _error_result(self, error: Exception) -> ToolResult | None:
        if not self._is_slow(error):
            return super()._error_result(error)
        return ToolResult.failure(
            "The call took longer than it may. Nothing of it was kept.",
            category=ErrorCategory.TIMEOUT,
            error="Timeout",
        )

    def _is_slow(self, error: BaseException) -> bool:
        slow = (TimeoutError, *self.slow)
        return isinstance(error, slow) or isinstance(getattr(error, "reason", None), slow)

    @property
    def _all_lost(self) -> tuple[type[Exception], ...]:
        return (OSError, EOFError, http.client.HTTPException, *self.lost, *self.slow)

    @contextmanager
    def _bounded(self, seconds: float) -> Generator[None]:
        """A step that the watchdog ends. Raises TimeoutError where it did."""
        self._timer.begin(seconds)
        try:
            yield
        except Exception as error:
            if self._timer.end():
                raise TimeoutError(_LATE) from error
            raise
        finally:
            late = self._timer.end()
        if late:
            raise TimeoutError(_LATE)

    @contextmanager
    def _own(self, method: str) -> Generator[None]:
        """A method of the subclass, whose errors are its author's or the service's."""
        try:
            yield
        except EnvsError:
            raise
        except self._all_lost as error:
            raise self._unanswered(method, error) from error
        except Exception as error:
            message = f"{method} of {type(self).__name__} raised {type(error).__name__}: {error}"
            raise ExecutorError(message, *self.toolbox.scene(error)) from error

    def _unanswered(self, what: str, error: Exception) -> SandboxError:
        words = f"{type(error).__name__}: {error}".rstrip(": ")
        return SandboxError(f"{type(self).__name__} does not answer: {what}: {words}")

    def begin(self) -> None:
        """Start, unless it runs: the first call does so.

        Raises :class:`SandboxError` where the service does not answer, and :class:`ExecutorError`
        where it does not begin in the rows that it was given.
        """
        if self._running:
            return
        WATCHDOG.watch(self._timer)
        self._running = True
        try:
            rows = self._rows
            given = {name: [dict(row) for row in own.values()] for name, own in rows.items()}
            with self._own("start()"), self._bounded(self.start_timeout_s):
                self.start(given)
            if place := _difference(rows, self._snapshot(), self._tables):
                raise ExecutorError(
                    f"snapshot() of {type(self).__name__} after start(rows): {place}"
                )
        except BaseException:
            self._drop()
            raise

    def _undo(self) -> None:
        """Forget what a call has changed; a service that cannot say begins anew."""
        try:
            changed = self._snapshot() != self._rows
        except EnvsError:
            changed = True
        if changed:
            self._drop()

    def _drop(self) -> None:
        if self._running:
            self._running = False
            with suppress(SandboxError), self._own("stop()"):  # it is gone already
                self.stop()

    def _snapshot(self) -> Rows:
        with self._own("snapshot()"), self._bounded(self.timeout_s):
            given = self.snapshot()
            try:
                return _checked(given, self._tables)
            except _NotRowsError as error:
                raise ExecutorError(f"snapshot() of {type(self).__name__}: {error}") from None

    def _keep(self, tool: Tool, rows: Rows) -> tuple[RowChange, ...]:
        """Write the rows that differ into the sandbox; returns the changes."""
        if not (place := _difference(self._rows, rows, self._tables)):
            return ()
        if tool.read_only or self._read_only:
            raise ToolError(
                f"This call may only read, and it changed {place.partition(':')[0]}.",
                category=ErrorCategory.PERMISSION_DENIED,
            )
        try:
            with self.sandbox.transaction(_ALL) as transaction:
                _write(transaction.connection, self._rows, rows, self._tables)
                kept = self._mirrored(transaction.connection)
                if place := _difference(rows, kept, self._tables):
                    raise ExecutorError(
                        f"after tool {tool.name}, schema.sql keeps other rows than snapshot() of"
                        f" {type(self).__name__} returns: {place}"
                    )
        except (DBAPIError, UnicodeError) as error:
            raise ExecutorError(
                f"after tool {tool.name}, the rows of snapshot() of {type(self).__name__} do not"
                f" fit schema.sql: {getattr(error, 'orig', error)}"
            ) from error
        self._kept = rows
        return transaction.changes


class _NotRowsError(Exception):
    """A state that is not rows."""


def _key(table: Table, row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in table.primary_key)


def _checked(found: object, tables: Mapping[str, Table]) -> Rows:
    """A snapshot by table and key. Raises :class:`_NotRowsError` that names table and row."""
    if not isinstance(found, Mapping):
        raise _NotRowsError(
            f"it returned {type(found).__name__}, not rows by table: {{table: [{{column: value}}]}}"
        )
    given = cast("Mapping[str, object]", found)
    if wrong := set(given) ^ set(tables):
        raise _NotRowsError(
            f"it must return the tables {', '.join(tables)}; lacking or unknown:"
            f" {', '.join(sorted(map(str, wrong)))}"
        )
    return {name: _checked_table(table, given[name]) for name, table in tables.items()}


def _checked_table(table: Table, found: object) -> dict[tuple[Any, ...], Row]:
    kind = type(found).__name__
    if not isinstance(found, Iterable) or isinstance(found, str | bytes | Mapping):
        raise _NotRowsError(f"table {table.name} is {kind}, not a list of rows")
    columns = {column.name for column in table.columns}
    rows: dict[tuple[Any, ...], Row] = {}
    for place, item in enumerate(cast("Iterable[object]", found), 1):
        where = f"table {table.name}, row {place}"
        if not isinstance(item, Mapping):
            raise _NotRowsError(f"{where} is {type(item).__name__}, not {{column: value}}")
        row = dict(cast("Row", item))
        if wrong := set(row) ^ columns:
            raise _NotRowsError(
                f"{where}: lacking or unknown columns: {', '.join(sorted(map(str, wrong)))}"
            )
        for column, value in row.items():
            if not _plain(value):
                raise _NotRowsError(
                    f"{where}: {column} is {value!r:.80}; a value is a text, a number of 64 bits,"
                    " bytes, true, false or None"
                )
        if (key := _key(table, row)) in rows:
            raise _NotRowsError(f"{where}: another row has the key {_shown(table, key)}")
        rows[key] = row
    return rows


def _plain(value: object) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, int):
        return value in INT64
    return value is None or isinstance(value, str | bytes)


def _shown(table: Table, key: tuple[Any, ...]) -> str:
    return ", ".join(
        f"{name}={value!r}" for name, value in zip(table.primary_key, key, strict=True)
    )


def _difference(expected: Rows, found: Rows, tables: Mapping[str, Table]) -> str:
    """The first row that differs, as ``table, key: what``; empty if none does."""
    for name, table in tables.items():
        want, have = expected[name], found[name]
        for key in [*want, *(key for key in have if key not in want)]:
            if (one := want.get(key)) == (other := have.get(key)):
                continue
            where = f"{name}, {_shown(table, key)}"
            if one is None or other is None:
                return f"{where}: the row is {'new' if one is None else 'missing'}"
            column = next(column for column in one if one[column] != other[column])
            return f"{where}: {column} is {other[column]!r:.80}, not {one[column]!r:.80}"
    return ""


def _write(db: Connection, old: Rows, new: Rows, tables: Mapping[str, Table]) -> None:
    """Make the tables' rows the new ones. A statement that another must precede (a foreign key, a
    unique value) is tried again after the others.
    """
    waiting = [
        statement
        for name, table in tables.items()
        for key in dict.fromkeys([*old[name], *new[name]])
        if (statement := _statement(table, key, old[name].get(key), new[name].get(key)))
    ]
    while waiting:
        refused: list[tuple[str, tuple[Any, ...]]] = []
        for sql, values in waiting:
            try:
                with db.begin_nested():
                    db.exec_driver_sql(sql, values)
            except IntegrityError:
                if len(refused) + 1 == len(waiting):
                    raise
                refused.append((sql, values))
        waiting = refused


def _statement(
    table: Table, key: tuple[Any, ...], old: Row | None, new: Row | None
) -> tuple[str, tuple[Any, ...]] | None:
    name = quoted(table.name)
    where = " AND ".join(f"{quoted(column)} = ?" for column in table.primary_key)
    if new is None:
        return f"DELETE FROM {name} WHERE {where}", key
    if old is None:
        listed, marks = ", ".join(map(quoted, new)), ", ".join("?" * len(new))
        return f"INSERT INTO {name} ({listed}) VALUES ({marks})", tuple(new.values())
    changed = [column for column in new if new[column] != old[column]]
    if not changed:
        return None
    assigned = ", ".join(f"{quoted(column)} = ?" for column in changed)
    values = (*(new[column] for column in changed), *key)
    return f"UPDATE {name} SET {assigned} WHERE {where}", values
