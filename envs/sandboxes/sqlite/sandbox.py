"""SQLite sandboxes in memory, in this process: opened over an image, used by one rollout, closed.

An executor gets a :class:`sqlalchemy.Connection` whose statements the guard watches
(:mod:`envs.sandboxes.sqlite.guard`), inside a transaction that it cannot end
(:mod:`envs.sandboxes.sqlite.dialect`), at a pinned time and with pinned randomness
(:mod:`envs.sandboxes.sqlite.pins`), with every changed row recorded
(:mod:`envs.sandboxes.sqlite.change_recorder`). Its pages are shared with the template until they
are written (:mod:`envs.sandboxes.sqlite.pages`). The schema is fixed once the template is built.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any

import apsw
import sqlalchemy

from envs.errors import SandboxError, WorldError
from envs.metrics import TRACE
from envs.plugins import resolve
from envs.sandboxes import load_bounds
from envs.sandboxes.base import Sandbox, Template, Transaction
from envs.sandboxes.contained import wrapped
from envs.sandboxes.row_changes import state_digest
from envs.sandboxes.sqlite import dbapi as apsw_dbapi
from envs.sandboxes.sqlite.bounded_functions import BoundedFunctions
from envs.sandboxes.sqlite.change_recorder import ChangeRecorder, Ends, net_changes
from envs.sandboxes.sqlite.dialect import CallConnection, make_engine
from envs.sandboxes.sqlite.guard import HEAP_BYTES, VALUE_BYTES, Interrupter, SqliteGuard
from envs.sandboxes.sqlite.pages import Base, Pages, connect, memory
from envs.sandboxes.sqlite.pins import NOW, RandomStream, julian_ms
from envs.sandboxes.sqlite.schema import (
    Plan,
    State,
    needs_loose_quotes,
    read_content,
    read_shapes,
    read_tables,
)
from envs.sandboxes.watchdog import WATCHDOG
from envs.types import Limits, Pins, RowChange, StateDiff, ToolCall, ToolOutcome

if TYPE_CHECKING:
    from envs.processes import Pool

GROWTH_BYTES = 256 * 2**20
"""How far a sandbox may grow beyond its template before SQLite says that the database is full."""


_numbers = itertools.count()
"""Templates and sandboxes by number: what another process knows them by."""


@functools.cache
def _shared_engine() -> sqlalchemy.Engine:
    return make_engine(apsw_dbapi.Session(memory(), SqliteGuard(), 0))


class _ScriptConnection:
    """The argument of ``load`` in :meth:`SqliteTemplate.build`.

    It has the methods of the standard library's connection that a loader uses. Statements commit by
    themselves unless a script begins a transaction.
    """

    Error = apsw_dbapi.Error
    isolation_level = None

    def __init__(self, raw: apsw.Connection, now: int) -> None:
        self._raw = raw
        self._now = now
        self._call = apsw_dbapi.Call(apsw_dbapi.Session(raw, SqliteGuard(), now), None, None)
        self._call.in_transaction = False

    @property
    def in_transaction(self) -> bool:
        return self._raw.in_transaction

    def cursor(self) -> apsw_dbapi.ApswCursor:
        self._call.cursors.clear()  # each holds its own; nobody ends a call here
        return apsw_dbapi.ApswCursor(self._call)

    def execute(
        self, operation: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
    ) -> apsw_dbapi.ApswCursor:
        return self.cursor().execute(operation, parameters)

    def executemany(self, operation: str, rows: Sequence[Sequence[Any]]) -> apsw_dbapi.ApswCursor:
        return self.cursor().executemany(operation, rows)

    def executescript(self, script: str) -> apsw_dbapi.ApswCursor:
        NOW.julian_ms = self._now
        try:
            self._raw.execute(script).fetchall()
        except apsw.Error as error:
            raise apsw_dbapi.translate(error) or error from error
        return self.cursor()

    def commit(self) -> None:
        if self._raw.in_transaction:
            self.execute("COMMIT")

    def rollback(self) -> None:
        if self._raw.in_transaction:
            self.execute("ROLLBACK")

    def close(self) -> None:
        self._raw.close(True)


class SqliteTemplate(Template):
    """An image of a database, and the facts about its tables."""

    dialect = "sqlite"

    def __init__(self, image: bytes, plan: Plan) -> None:
        self.digest = plan.digest
        self.tables = plan.tables
        self._plan = plan
        self._base: Base | None = Base(image)

    @property
    def image(self) -> bytes:
        """The database file; empty once the template is closed."""
        return b"" if self._base is None else bytes(self._base.image)

    @classmethod
    def build(cls, load: Callable[[Any], object]) -> SqliteTemplate:
        """Make a template from whatever ``load`` does to an empty database.

        ``load`` receives a DBAPI connection in autocommit mode without any guard. Its clock stands
        at the default :class:`~envs.types.Pins`, so that a script with ``CURRENT_TIMESTAMP`` builds
        the same rows each time.
        """
        pins = Pins()
        raw = memory()
        RandomStream(pins.seed).install(raw)
        connection = _ScriptConnection(raw, julian_ms(pins.now))
        raw.pragma("max_page_count", load_bounds.LOAD_BYTES // raw.pragma("page_size"))
        try:
            with load_bounds.bounded_load(lambda: 0, raw.interrupt):
                load(connection)
            connection.commit()
            return cls.from_image(raw.serialize("main"))
        finally:
            connection.close()

    @classmethod
    def from_image(cls, image: bytes, *, loose_quotes: bool = False) -> SqliteTemplate:
        """Make a template from the bytes of a database file. Raises WorldError for other bytes.

        ``loose_quotes`` allows a text in double quotes, also where the schema does not need it.
        """
        if image[18:20] == b"\2\2":  # write-ahead logging, which does not open in memory
            image = image[:18] + b"\1\1" + image[20:]
        raw = memory()
        try:
            raw.deserialize("main", image)
            shapes = read_shapes(raw)
            digest, largest = read_content(raw, shapes)
            plan = Plan(
                digest=digest,
                tables=read_tables(raw),
                shapes=shapes,
                loose_quotes=loose_quotes or needs_loose_quotes(raw),
                value_bytes=max(VALUE_BYTES, 2 * largest),
                number=next(_numbers),
            )
            return cls(image, plan)
        except (apsw.NotADBError, apsw.CorruptError) as error:
            raise WorldError(f"not a SQLite database: {error}") from error
        except apsw.Error as error:
            raise WorldError(f"SQLite cannot read it: {error}") from error
        except UnicodeDecodeError:
            raise WorldError("a name in it is not valid UTF-8") from None
        finally:
            raw.close()

    def open(self, pins: Pins, *, unordered: bool = False) -> SqliteSandbox:
        if self._base is None:
            raise SandboxError("the template is closed")
        return SqliteSandbox(Pages(self._base), self._plan, pins, unordered=unordered)

    def twin(self) -> SqliteTemplate | None:
        """The same database, closed apart; None once this one is closed."""
        return None if self._base is None else copy(self)

    def close(self) -> None:
        """Release the image; open sandboxes keep it for themselves."""
        self._base = None


class SqliteSandbox(Sandbox):
    """A private database in memory. Opened by :meth:`SqliteTemplate.open`.

    A copy gets ``recorder`` and ``position`` (of the random stream) from its original.
    :class:`~envs.sandboxes.sqlite.dbapi.Session` describes ``alarm``.
    """

    dialect = "sqlite"
    in_place = True
    out_of_process = True

    def __init__(
        self,
        pages: Pages,
        plan: Plan,
        pins: Pins,
        *,
        unordered: bool = False,
        position: int = 0,
        recorder: ChangeRecorder | None = None,
        alarm: Callable[[float], object] | None = None,
    ) -> None:
        self._pages = pages
        self._plan = plan
        self._pins = pins
        self._unordered = unordered
        self._alarm = alarm
        self._busy = False
        self._closed = False
        self._diff: StateDiff | None = None
        self._guard = SqliteGuard()
        self._random = RandomStream(pins.seed, position)
        self._recorder = recorder or ChangeRecorder(plan.shapes)
        self._now = julian_ms(pins.now)
        self._moment = pins.moment
        self._engine = _shared_engine()
        self._session: apsw_dbapi.Session | None = None
        self._interrupter: Interrupter | None = None
        self._number = next(_numbers)
        self._version = 0

    def _connected(self) -> apsw_dbapi.Session:
        if self._session is None:
            raw = connect(self._pages, GROWTH_BYTES)
            try:
                raw.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)
                raw.config(apsw.SQLITE_DBCONFIG_DQS_DML, int(self._plan.loose_quotes))
                # Or other parameters compile a statement anew.
                raw.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
                if self._unordered:
                    raw.execute("PRAGMA reverse_unordered_selects = ON")
                self._random.install(raw)
                self._recorder.install(raw)
                self._guard = SqliteGuard()
                self._guard.heap_bytes = HEAP_BYTES + self._pages.base.size
                self._guard.install(raw, self._plan.value_bytes)
                if self._alarm is None:  # nothing kills a step that takes too long
                    BoundedFunctions(self._guard.overdue, self._plan.value_bytes).install(raw)
                    self._interrupter = Interrupter(raw, self._guard)
                    WATCHDOG.watch(self._interrupter)
            except BaseException:
                raw.close(True)
                raise
            self._session = apsw_dbapi.Session(raw, self._guard, self._now, self._alarm)
        return self._session

    def _disconnect(self) -> None:
        session, self._session = self._session, None
        if self._interrupter is not None:
            WATCHDOG.leave(self._interrupter)
            self._interrupter = None
        if session is not None:
            session.raw.close(True)

    @contextmanager
    def transaction(self, limits: Limits) -> Generator[Transaction]:
        """See :meth:`Sandbox.transaction`. A commit that SQLite refuses (deferred foreign keys) and
        a statement that ended the whole transaction raise a :class:`sqlalchemy.exc.DBAPIError` when
        the block ends.
        """
        self._claim("a sandbox runs one call at a time")
        try:
            session = self._connected()
            position = self._random.position
            call = apsw_dbapi.Call(session, limits.statement_timeout_ms, limits.max_rows)
            proxied = CallConnection(call, {"now": self._moment})
            # The engine is ours, and nobody listens to its events: joining them is a quarter of a
            # call's overhead.
            connection = sqlalchemy.Connection(self._engine, connection=proxied, _has_events=False)
            committed = False
            try:
                self._guard.restrict(session.raw, read_only=limits.read_only)
                self._recorder.start()
                session.speak("BEGIN")
                transaction = Transaction(connection)
                yield transaction
                if not transaction.undone:
                    transaction.changes = self._commit(session, call)
                    committed = True
            finally:
                call.close_cursors()
                call.ended = True
                if not committed:
                    self._random.position = position
                    if session.raw.in_transaction:
                        session.speak("ROLLBACK")
        finally:
            self._busy = False

    def _commit(self, session: apsw_dbapi.Session, call: apsw_dbapi.Call) -> tuple[RowChange, ...]:
        recorder = self._recorder
        call.close_cursors()
        try:
            if call.broken is not None:
                raise call.broken
            if recorder.failed is not None:
                raise recorder.failed
            if not recorder.touched:
                session.speak("COMMIT")
                return ()
            ends, whole = recorder.ends(session.raw)
            changes = net_changes(self._plan.shapes, ends, recorder.found)
            session.speak("COMMIT")
        except (apsw_dbapi.Error, UnicodeError) as error:
            refused = error if isinstance(error, apsw_dbapi.Error) else apsw_dbapi.translate(error)
            if refused is None:
                raise
            raise wrapped(refused, self._engine) from error
        recorder.keep(ends, whole)
        self._diff = None
        return changes

    def subprocess_call(self, pool: Pool, call: ToolCall, limits: Limits) -> ToolOutcome:
        """See :meth:`Sandbox.subprocess_call`. A killed call has a result: too slow or large."""
        self._claim("a sandbox runs one call at a time")
        try:
            pages = self._pages
            if pages.written:
                pages.take_written()
                self._version += 1
            state = State(self._pins, self._unordered, pages.own, pages.size)
            trace = TRACE.get()
            place = (self._number, self._version, state, self._random.position, self._plan)
            question = resolve("envs.sandboxes.sqlite.subprocess_call:Question")
            asked = question(*place, call, limits, traced=trace is not None)
            answer = asked.asked(pool, pages.base)
            if isinstance(answer, ToolOutcome):
                return answer
            if self._closed:
                raise SandboxError("the sandbox was closed during a call")
            self._random.position = answer.position
            if trace is not None:
                trace.statements += answer.statements
            if answer.pages:
                self._disconnect()  # an open connection would not notice
                pages.put(answer.pages, answer.size)
                self._version += 1
            if answer.ends:
                self._recorder.keep(answer.ends, answer.whole)
                self._diff = None
            return answer.outcome
        finally:
            self._busy = False

    def draw_from(self, position: int) -> None:
        self._random.position = position

    def take_kept(self) -> tuple[dict[int, bytes], int, int, Ends, frozenset[str]]:
        """Return and forget, for the process that owns the sandbox: the pages written since the
        last call, the file's size, the position of the random stream, and both ends of the rows
        changed since.
        """
        ends, self._recorder.total = self._recorder.total, {}
        whole, self._recorder.whole = self._recorder.whole, frozenset()
        self._recorder.found.clear()
        return self._pages.take_written(), self._pages.size, self._random.position, ends, whole

    def diff(self) -> StateDiff:
        self._idle("a sandbox's diff is read between its calls")
        if self._diff is None:
            recorder = self._recorder
            self._diff = StateDiff(net_changes(self._plan.shapes, recorder.total, recorder.found))
        return self._diff

    def state_hash(self) -> str:
        return state_digest(self._plan.digest, self.diff())

    def fork(self) -> SqliteSandbox:
        self._idle("a sandbox is forked between its calls")
        return SqliteSandbox(
            self._pages.copy(),
            self._plan,
            self._pins,
            unordered=self._unordered,
            position=self._random.position,
            recorder=self._recorder.copy(),
        )

    def close(self) -> None:
        self._closed = True
        self._disconnect()

    def _idle(self, otherwise: str) -> None:
        if self._closed:
            raise SandboxError("the sandbox is closed")
        if self._busy:
            raise SandboxError(otherwise)

    def _claim(self, otherwise: str) -> None:
        self._idle(otherwise)
        self._busy = True
