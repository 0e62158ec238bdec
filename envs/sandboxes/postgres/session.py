"""A session with PostgreSQL: psycopg's connection, used for one statement at a time.

An agent's SQL goes through :meth:`PostgresSession.run`: one statement by the extended protocol,
whose first word must be on a list, row by row, so that rows and bytes are counted before they fill
the memory. The sandbox's own statements go through :meth:`PostgresSession.ask`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from psycopg import errors, generators
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.types.string import TextLoader

from envs.errors import SandboxError
from envs.sandboxes.postgres.clock import pinned
from envs.sandboxes.postgres.schema import UNREADABLE, shallow
from envs.sandboxes.postgres.statement_guard import refusal
from envs.sandboxes.server.cursor import DRAIN_ROWS, MAX_ROWS_BYTES, StatementResult, text_size
from envs.sandboxes.server.session import ServerSession, unsendable
from envs.sandboxes.watchdog import OWN_S
from envs.types import Limits

MEMORY_BYTES = 384 * 2**20
DISK_BYTES = 512 * 2**20
"""Limits of one statement on the server: memory of its own, and growth of its database."""

_PREPARED_MAX = 200

_SCALARS = frozenset(
    {16, 17, 18, 19, 20, 21, 23, 25, 26, 700, 701, 705, 1042, 1043, 1082, 1083, 1114,
     1184, 1186, 1266, 1700, 2950}
)  # fmt: skip
"""Types of values that are about as large in Python as in PostgreSQL's text."""

_NESTED_COSTS = 4
"""Bytes that a character of another type (array, JSON) counts: Python has a list of objects."""

_AS_TEXT = tuple(
    f"{of}{kind}"
    for of in ("int4", "int8", "num", "ts", "tstz", "date")
    for kind in ("range", "multirange")
)
"""Types that an executor gets as PostgreSQL's text, as they stand in the changes of a row."""

_LAST_WORDS = ("08003", "08006", "57P", "58", "53100", "XX001", "XX002")
"""SQLSTATEs, or how they begin, of a session that was ended, a server that goes down, its disk that
is full or broken, and data that is damaged.
"""

_TIMEOUT = "canceling statement due to statement timeout"
_CANCELLED = "canceling statement due to user request"
"""The words for a statement that somebody else has ended."""

_ENDS = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK, ExecStatus.EMPTY_QUERY)
"""The results that end a statement without an error."""

Description = tuple[tuple[str, int, None, None, None, None, None], ...]


def row_limit_error(limit: int | None) -> psycopg.Error:
    return errors.ProgramLimitExceeded(f"the statement gives more than {limit} rows")


def too_large_error() -> psycopg.Error:
    return errors.ProgramLimitExceeded(f"the statement gives more than {MAX_ROWS_BYTES} bytes")


class PostgresSession(ServerSession):
    """One connection of psycopg."""

    def __init__(
        self,
        connect: Callable[[], psycopg.Connection[Any]],
        end: Callable[[int], None],
        weigh: Callable[[int], tuple[int, int]],
    ) -> None:
        self._connect = connect
        self._end_process = end
        self._weigh_process = weigh
        self.overweight = False
        self._disk: int | None = None
        self._prepared: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._seen: set[tuple[str, tuple[int, ...]]] = set()
        self.connection = connect()
        self._open()
        super().__init__()

    def _open(self) -> None:
        self.connection.autocommit = True
        for kind in _AS_TEXT:
            self.connection.adapters.register_loader(kind, TextLoader)
        self._pg = self.connection.pgconn
        self.pid = self.connection.info.backend_pid
        self._prepared.clear()
        self._seen.clear()

    def reconnect(self) -> None:
        self.connection.close()
        self.terminated = False
        self.connection = self._connect()
        self._open()

    def _end(self) -> None:
        self._end_process(self.pid)

    def _fileno(self) -> int:
        try:
            return self._pg.socket
        except psycopg.Error:  # it was closed meanwhile
            return -1

    def _close(self) -> None:
        self.connection.close()

    @property
    def lost(self) -> bool:
        return self.connection.closed or self.connection.broken

    @property
    def status(self) -> TransactionStatus:
        return TransactionStatus(self._pg.transaction_status)

    def ask(self, sql: str) -> list[Any]:
        """Execute statements of our own; their results, in order. psycopg.Error with the first that
        failed, SandboxError where the connection was lost.
        """
        try:
            with self._watched(OWN_S, own=True):
                self._pg.send_query(sql.encode())
                return self._all()
        except psycopg.Error as error:
            if self.terminated:
                raise errors.QueryCanceled(_TIMEOUT) from None
            if self._is_lost(error):
                raise self._lost_error() from error
            raise

    def _is_lost(self, error: psycopg.Error) -> bool:
        """Return True for an error after which the session is of no use, though the driver may not
        know it yet: the server's last words come before it hangs up, and a socket that closes
        while the driver waits for it has words of the driver's own, without a code.
        """
        if error.sqlstate is not None and error.sqlstate.startswith(_LAST_WORDS):
            return True
        return isinstance(error, psycopg.OperationalError) and (self.lost or error.sqlstate is None)

    def _lost_error(self) -> SandboxError:
        self.connection.close()
        return SandboxError("the connection to the sandbox was lost")

    def rows(self, result: Any) -> list[tuple[Any, ...]]:
        transformer = Transformer(self.connection)
        transformer.set_pgresult(result)
        return transformer.load_rows(0, result.ntuples, tuple)

    def loader(self, oid: int) -> Callable[[bytes], Any]:
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

    def _weigh(self, running: object) -> None:
        """See :meth:`ServerSession._weigh`. A row comes here as one piece, so this bounds the
        memory of this process as well.
        """
        memory, disk = self._weigh_process(self.pid)
        if self._disk is None:
            self._disk = disk
        if (memory > MEMORY_BYTES or disk - self._disk > DISK_BYTES) and self._running is running:
            self.overweight = True
            self.terminate()

    def run(self, sql: str, values: Sequence[Any], limits: Limits) -> StatementResult:
        """Execute one statement of a tool call. psycopg.Error where it is refused or fails,
        SandboxError where the connection was lost.
        """
        unsent = unsendable(sql)
        if unsent is not None:
            raise errors.SyntaxError(unsent)
        words = refusal(sql)
        if words is not None:
            raise words
        sql = pinned(sql)
        timeout = limits.statement_timeout_ms
        self.overweight, self._disk = False, None
        try:
            with self._watched(None if timeout is None else timeout / 1000):
                self._send(sql, values)
                return self._answer(limits)
        except psycopg.Error as error:
            if self.overweight:
                raise errors.ProgramLimitExceeded(
                    "the statement takes more memory or disk than it may"
                ) from None
            if self.terminated:
                raise errors.QueryCanceled(_TIMEOUT) from None
            if self._is_lost(error) or _CANCELLED in str(error):
                raise self._lost_error() from error
            raise

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
            self._pg.send_query_params(
                sql.encode(), given, param_types=types, param_formats=formats
            )
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

    def _answer(self, limits: Limits) -> StatementResult:
        reader = _ResultReader(self.connection, limits)
        while (piece := self._next()) is not None:
            status = piece.status
            if status == ExecStatus.SINGLE_TUPLE:
                reader.row(piece)
            elif status == ExecStatus.FATAL_ERROR:
                reader.end_by(errors.error_from_result(piece))
            elif status in _ENDS:
                reader.end(piece)
            else:
                reader.failed = reader.failed or errors.FeatureNotSupported(
                    "COPY is not possible here"
                )
                self.connection.close()
                break
        if reader.failed is not None:
            raise reader.failed
        return reader.result


class _ResultReader:
    """Collects the rows of one statement up to the limits of rows and bytes.

    Past a limit ``failed`` is the error, the statement is cancelled, and further rows are dropped;
    a call that only reads keeps the rows up to its limit, since nothing else is lost.
    """

    def __init__(self, connection: psycopg.Connection[Any], limits: Limits) -> None:
        self.result = StatementResult()
        self.failed: Exception | None = None
        self._connection = connection
        self._max_rows = limits.max_rows
        self._reads = limits.read_only
        self._cut = False
        self._transformer = Transformer(connection)
        self._nested: Sequence[int] = ()
        self._passed = self._size = 0

    def row(self, piece: Any) -> None:
        if self.failed is not None:
            return
        result = self.result
        if result.description is None:
            self._transformer.set_pgresult(piece, set_loaders=True)
            result.description = _description(piece)
            self._nested = [
                column for column in range(piece.nfields) if piece.ftype(column) not in _SCALARS
            ]
        if self._max_rows is not None and len(result.rows) >= self._max_rows:
            result.more = True
            self._passed += 1
            if self._passed > DRAIN_ROWS and not self._cut:
                self._cut = self._reads
                self._cancel(None if self._reads else row_limit_error(self._max_rows))
            return
        self._transformer.set_pgresult(piece, set_loaders=False)
        self._size += sum(
            _NESTED_COSTS * len(piece.get_value(0, column) or b"") for column in self._nested
        )
        if self._size <= MAX_ROWS_BYTES:
            row = _row(self._transformer, piece)
            self._size += text_size(row)
            result.rows.append(row)
        if self._size > MAX_ROWS_BYTES:
            self._cancel(too_large_error())

    def end(self, piece: Any) -> None:
        """Note the number of rows that the server counted."""
        counted = piece.command_tuples
        if piece.status == ExecStatus.TUPLES_OK:
            self.result.description = self.result.description or _description(piece)
            seen = len(self.result.rows) + self._passed
            self.result.rowcount = seen if counted is None else counted
        else:
            self.result.rowcount = -1 if counted is None else counted

    def end_by(self, error: Exception) -> None:
        """Note the statement's error, unless the statement was cut."""
        if not (self._cut and isinstance(error, errors.QueryCanceled)):
            self.failed = self.failed or error

    def _cancel(self, error: Exception | None) -> None:
        self.failed = error
        self._connection.cancel_safe()


def _row(transformer: Any, result: Any) -> tuple[Any, ...]:
    """The values of a row; what Python cannot represent is its text, as in a row's changes."""
    try:
        row = transformer.load_row(0, tuple)
        assert row is not None
        return shallow(row)
    except UNREADABLE:
        return tuple(_value(transformer, result, column) for column in range(result.nfields))


def _value(transformer: Any, result: Any, column: int) -> Any:
    raw: bytes | None = result.get_value(0, column)
    if raw is None:
        return None
    try:
        loader = transformer.get_loader(result.ftype(column), psycopg.pq.Format.TEXT)
        return shallow(loader.load(raw))
    except UNREADABLE:
        return raw.decode()


def _description(result: Any) -> Description:
    return tuple(
        ((result.fname(column) or b"").decode(), result.ftype(column), None, None, None, None, None)
        for column in range(result.nfields)
    )
