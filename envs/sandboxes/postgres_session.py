"""A session with PostgreSQL: psycopg's connection, spoken to one statement at a time.

What an agent's SQL says goes through :meth:`PostgresSession.run`: one statement by the extended protocol, whose first
word is on a list, row by row, so that rows and bytes are counted before they fill the memory. What the sandbox itself
says goes through :meth:`PostgresSession.ask`.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import errors, generators
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, TransactionStatus

from envs.errors import SandboxError
from envs.sandboxes.postgres_schema import UNREADABLE
from envs.sandboxes.postgres_verbs import refusal
from envs.sandboxes.sql_text import unsendable
from envs.sandboxes.watchdog import WATCHDOG
from envs.types import Limits

MAX_ROWS_BYTES = 64_000_000
"""Text and bytes that one statement may give, whatever the number of its rows."""

MEMORY_BYTES = 384 * 2**20
DISK_BYTES = 512 * 2**20
"""What one statement may take of the server: memory of its own, and growth of its database."""

DEAF_S = 1.0
"""How long after it was told to end a session may go on before it is left to itself."""

_DRAIN_ROWS = 100_000
"""Rows past the limit that are passed over before the statement is cancelled, which costs the call its transaction."""

_PREPARED_MAX = 200

_SCALARS = frozenset(
    {16, 17, 18, 19, 20, 21, 23, 25, 26, 700, 701, 705, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950}
)
"""Types of values that are about as large in Python as in PostgreSQL's text."""

_NESTED_COSTS = 4
"""What a character of any other one counts, of an array or JSON: in Python it is a list of objects."""

Description = tuple[tuple[str, int, None, None, None, None, None], ...]


@dataclass
class Answer:
    """What a statement gave: its rows up to the limit, and whether there were more."""

    description: Description | None = None
    rows: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    rowcount: int = -1
    more: bool = False


def row_limit_error(limit: int | None) -> psycopg.Error:
    return errors.ProgramLimitExceeded(f"the statement gives more than {limit} rows")


def too_large_error() -> psycopg.Error:
    return errors.ProgramLimitExceeded(f"the statement gives more than {MAX_ROWS_BYTES} bytes")


class PostgresSession:
    """One connection. Not for two threads at once, but :meth:`terminate`, which is the watchdog's."""

    def __init__(
        self,
        connect: Callable[[], psycopg.Connection[Any]],
        end: Callable[[int], None],
        weigh: Callable[[int], tuple[int, int]],
    ) -> None:
        self._connect = connect
        self._end = end
        self._weigh = weigh
        self.deadline: float | None = None
        self.terminated = False
        self.overweight = False
        self._ended_at = 0.0
        self._running: object | None = None  # a tool call's statement; None while the sandbox itself speaks
        self._disk: int | None = None
        self._prepared: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._seen: set[tuple[str, tuple[int, ...]]] = set()
        self.connection = connect()
        self._open()

    def _open(self) -> None:
        self.connection.autocommit = True
        self._pg = self.connection.pgconn
        self.pid = self.connection.info.backend_pid
        self._prepared.clear()
        self._seen.clear()
        WATCHDOG.watch(self)

    def reconnect(self) -> None:
        """A new connection in the place of a lost one."""
        self.connection.close()
        self.terminated = False
        self.connection = self._connect()
        self._open()

    def terminate(self) -> None:
        self.terminated = True
        self._ended_at = time.monotonic()
        self._end(self.pid)

    def _hang_up(self) -> None:
        """End the connection from this side: some steps of the server hear nothing until they are done."""
        try:
            with socket.socket(fileno=os.dup(self._pg.socket)) as line:
                line.shutdown(socket.SHUT_RDWR)
        except (OSError, psycopg.Error):  # it was closed meanwhile
            return

    def close(self) -> None:
        WATCHDOG.leave(self)
        self.connection.close()

    @property
    def lost(self) -> bool:
        return self.connection.closed or self.connection.broken

    @property
    def status(self) -> TransactionStatus:
        return TransactionStatus(self._pg.transaction_status)

    def ask(self, sql: str) -> list[Any]:
        """Execute statements of our own; their results, in order. psycopg.Error with the first that failed."""
        self._pg.send_query(sql.encode())
        return self._all()

    def rows(self, result: Any) -> list[tuple[Any, ...]]:
        transformer = Transformer(self.connection)
        transformer.set_pgresult(result)
        return transformer.load_rows(0, result.ntuples, tuple)

    def loader(self, oid: int) -> Callable[[bytes], Any]:
        """Reads a value of that type from its text."""
        return Transformer(self.connection).get_loader(oid, psycopg.pq.Format.TEXT).load

    def _all(self) -> list[Any]:
        wait, pg = self.connection.wait, self._pg
        wait(generators.send(pg))
        found: list[Any] = []
        failed: Exception | None = None
        while (result := self._next()) is not None:
            if result.status == ExecStatus.FATAL_ERROR:
                failed = failed or errors.error_from_result(result)
            found.append(result)
        if failed is not None:
            raise failed
        return found

    def _next(self) -> Any:
        pg = self._pg
        return self.connection.wait(generators.fetch(pg)) if pg.is_busy() else pg.get_result()

    def look(self) -> None:
        """End the session where its statement takes too much of the server: the watchdog asks, several times a second.

        A row comes here as one piece, so this bounds what this process takes in as well.
        """
        before = self._running
        if before is None:
            return
        if self.terminated:
            if time.monotonic() > self._ended_at + DEAF_S:
                self._hang_up()
            return
        memory, disk = self._weigh(self.pid)
        if self._disk is None:
            self._disk = disk
        if (memory > MEMORY_BYTES or disk - self._disk > DISK_BYTES) and self._running is before:
            self.overweight = True
            self.terminate()

    def run(self, sql: str, values: Sequence[Any], limits: Limits) -> Answer:
        """Execute one statement of a tool call. psycopg.Error where it is refused or fails."""
        unsent = unsendable(sql)
        if unsent is not None:
            raise errors.SyntaxError(unsent)
        words = refusal(sql)
        if words is not None:
            raise words
        timeout = limits.statement_timeout_ms
        self.deadline = None if timeout is None else time.monotonic() + timeout / 1000
        self._running, self._disk, self.overweight = object(), None, False
        try:
            self._send(sql, values)
            return self._answer(limits.max_rows)
        except psycopg.OperationalError:
            if self.overweight:
                raise errors.ProgramLimitExceeded("the statement takes more memory or disk than it may") from None
            if self.terminated:
                raise errors.QueryCanceled("canceling statement due to statement timeout") from None
            if self.lost:
                raise SandboxError("the connection to the sandbox was lost") from None
            raise
        finally:
            self.deadline = None
            self._running = None

    def _send(self, sql: str, values: Sequence[Any]) -> None:
        transformer = Transformer(self.connection)
        given = transformer.dump_sequence(values, [PyFormat.AUTO] * len(values)) if values else None
        types = tuple(transformer.types or ())
        formats = transformer.formats if values else None
        key = (sql, types)
        name = self._prepared.get(key)
        if name is None and key in self._seen and len(self._prepared) < _PREPARED_MAX:
            name = self._prepare(key)
        if name is None:
            if len(self._seen) > 10 * _PREPARED_MAX:
                self._seen.clear()
            self._pg.send_query_params(sql.encode(), given, param_types=types, param_formats=formats)
        else:
            self._pg.send_query_prepared(name, given, param_formats=formats)
        self._pg.set_single_row_mode()
        self.connection.wait(generators.send(self._pg))
        self._seen.add(key)

    def _prepare(self, key: tuple[str, tuple[int, ...]]) -> bytes:
        name = b"envs_%d" % len(self._prepared)
        self._pg.send_prepare(name, key[0].encode(), param_types=key[1])
        self._all()
        self._prepared[key] = name
        return name

    def _answer(self, max_rows: int | None) -> Answer:
        answer = Answer()
        transformer = Transformer(self.connection)
        passed = size = 0
        nested: Sequence[int] = ()
        failed: Exception | None = None
        while (result := self._next()) is not None:
            status = result.status
            if status == ExecStatus.SINGLE_TUPLE:
                if failed is not None:
                    continue
                if answer.description is None:
                    transformer.set_pgresult(result, set_loaders=True)
                    answer.description = _description(result)
                    nested = [at for at in range(result.nfields) if result.ftype(at) not in _SCALARS]
                if max_rows is not None and len(answer.rows) >= max_rows:
                    answer.more = True
                    passed += 1
                    if passed > _DRAIN_ROWS:
                        failed = row_limit_error(max_rows)
                        self.connection.cancel_safe()
                    continue
                transformer.set_pgresult(result, set_loaders=False)
                size += sum(_NESTED_COSTS * len(result.get_value(0, at) or b"") for at in nested)
                if size <= MAX_ROWS_BYTES:
                    row = _row(transformer, result)
                    size += sum(len(value) for value in row if value.__class__ is str or value.__class__ is bytes)
                    answer.rows.append(row)
                if size > MAX_ROWS_BYTES:
                    failed = too_large_error()
                    self.connection.cancel_safe()
            elif status == ExecStatus.TUPLES_OK:
                answer.description = answer.description or _description(result)
                answer.rowcount = len(answer.rows) + passed
                tuples = result.command_tuples
                answer.rowcount = tuples if tuples is not None else answer.rowcount
            elif status in (ExecStatus.COMMAND_OK, ExecStatus.EMPTY_QUERY):
                tuples = result.command_tuples
                answer.rowcount = -1 if tuples is None else tuples
            elif status == ExecStatus.FATAL_ERROR:
                failed = failed or errors.error_from_result(result)
            else:
                failed = failed or errors.FeatureNotSupported("COPY is not possible here")
                self.connection.close()
                break
        if failed is not None:
            raise failed
        return answer


def _row(transformer: Any, result: Any) -> tuple[Any, ...]:
    """The values of a row; the text of one that Python has no value for, as the changes of a row show it too."""
    try:
        row = transformer.load_row(0, tuple)
        assert row is not None
        return row
    except UNREADABLE:
        return tuple(_value(transformer, result, at) for at in range(result.nfields))


def _value(transformer: Any, result: Any, at: int) -> Any:
    raw: bytes | None = result.get_value(0, at)
    if raw is None:
        return None
    try:
        return transformer.get_loader(result.ftype(at), psycopg.pq.Format.TEXT).load(raw)
    except UNREADABLE:
        return raw.decode()


def _description(result: Any) -> Description:
    return tuple(
        ((result.fname(at) or b"").decode(), result.ftype(at), None, None, None, None, None)
        for at in range(result.nfields)
    )
