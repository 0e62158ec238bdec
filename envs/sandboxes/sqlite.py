"""SQLite sandboxes in memory, in this process: copied from an image, used by one rollout, closed.

What an executor gets is a :class:`sqlalchemy.Connection` whose statements the guard watches
(:mod:`envs.guard`), inside a transaction that it cannot end (:mod:`envs.sandboxes.apsw_dialect`), at a time and with
a randomness that are pinned (:mod:`envs.sandboxes.sqlite_pins`), with every changed row on record
(:mod:`envs.sandboxes.sqlite_changes`). The schema is fixed once the template is built.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# apsw's stubs leave the type of buffers unknown.

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import apsw
import sqlalchemy

from envs.errors import SandboxError, WorldError
from envs.guard import SqliteGuard
from envs.sandboxes import apsw_dbapi
from envs.sandboxes.apsw_dialect import CallConnection, make_engine, wrapped
from envs.sandboxes.base import Place, Sandbox, Template, Transaction
from envs.sandboxes.sqlite_changes import ChangeRecorder, Images
from envs.sandboxes.sqlite_pins import VFS_NAME, RandomStream, julian_ms
from envs.sandboxes.sqlite_schema import Shape, content_digest, needs_loose_quotes, read_shapes, read_tables
from envs.sandboxes.sqlite_script import ScriptConnection
from envs.state import state_digest
from envs.types import Limits, Pins, RowChange, StateDiff, Table

ENGINE = "sqlite"

GROWTH_BYTES = 256 * 2**20
"""How far a sandbox may grow beyond its template before SQLite says that the database is full."""


def provision(image: bytes) -> apsw.Connection:
    """A private copy of an image: the technique, and nothing else. Always a new connection: one that held
    another database would read the wrong tables where the schema cookies agree.
    """
    raw = apsw.Connection(":memory:", vfs=VFS_NAME)
    raw.deserialize("main", image)
    return raw


@functools.cache
def shared_engine() -> sqlalchemy.Engine:
    """The process's one engine for SQLite sandboxes."""
    return make_engine(apsw_dbapi.Session(apsw.Connection(":memory:", vfs=VFS_NAME), SqliteGuard(), 0))


class SqliteTemplate(Template):
    """An image of a database, with what is known about its tables."""

    engine = ENGINE

    def __init__(
        self,
        image: bytes,
        digest: str,
        tables: Mapping[str, Table],
        shapes: Mapping[str, Shape],
        *,
        loose_quotes: bool,
    ) -> None:
        self.image = image
        self.digest = digest
        self.tables = tables
        self._shapes = shapes
        self._loose_quotes = loose_quotes
        self._closed = False

    @classmethod
    def build(cls, load: Callable[[Any], object]) -> SqliteTemplate:
        """Make a template from whatever ``load`` does to an empty database.

        ``load`` receives a DBAPI connection in autocommit mode without any guard. Its clock stands at the default
        :class:`~envs.types.Pins`, so that a script with ``CURRENT_TIMESTAMP`` builds the same rows each time.
        """
        pins = Pins()
        raw = apsw.Connection(":memory:", vfs=VFS_NAME)
        RandomStream(pins.seed).install(raw)
        connection = ScriptConnection(raw, julian_ms(pins.now))
        try:
            load(connection)
            connection.commit()
            return cls.from_image(raw.serialize("main"))
        finally:
            connection.close()

    @classmethod
    def from_image(cls, image: bytes) -> SqliteTemplate:
        """Make a template from the bytes of a database file. WorldError where they are no such thing."""
        if image[18:20] == b"\2\2":  # write-ahead logging has no place in memory, and such an image does not open
            image = image[:18] + b"\1\1" + image[20:]
        raw = provision(image)
        try:
            shapes = read_shapes(raw)
            digest = content_digest(raw, shapes)
            tables = read_tables(raw)
            return cls(image, digest, tables, shapes, loose_quotes=needs_loose_quotes(raw))
        except (apsw.NotADBError, apsw.CorruptError) as error:
            raise WorldError(f"this is no SQLite database: {error}") from error
        finally:
            raw.close()

    def open(self, pins: Pins, *, unordered: bool = False) -> SqliteSandbox:
        if self._closed:
            raise SandboxError("the template is closed")
        return SqliteSandbox(
            self.image, self.digest, self._shapes, pins, unordered=unordered, loose_quotes=self._loose_quotes
        )

    def close(self) -> None:
        """Let go of the image; sandboxes that are open keep their own copies."""
        self.image = b""
        self._closed = True


class SqliteTransaction(Transaction):
    """One tool call on a SQLite sandbox."""

    def __init__(self, connection: sqlalchemy.Connection) -> None:
        self.connection = connection
        self.changes: tuple[RowChange, ...] = ()
        self.undone = False

    def rollback(self) -> None:
        self.undone = True


class SqliteSandbox(Sandbox):
    """A private database in memory. Opened by :meth:`SqliteTemplate.open`."""

    engine = ENGINE
    in_place = True

    def __init__(
        self,
        image: bytes,
        digest: str,
        shapes: Mapping[str, Shape],
        pins: Pins,
        *,
        unordered: bool = False,
        loose_quotes: bool = False,
        position: int = 0,
        total: Images | None = None,
    ) -> None:
        self._digest = digest
        self._shapes = shapes
        self._pins = pins
        self._now = pins.moment
        self._unordered = unordered
        self._loose_quotes = loose_quotes
        self._busy = False
        self._diff: StateDiff | None = None
        raw = provision(image)
        self._raw: apsw.Connection | None = raw
        self._guard = SqliteGuard()
        self._random = RandomStream(pins.seed, position)
        self._recorder = ChangeRecorder(shapes, total)
        self._session = apsw_dbapi.Session(raw, self._guard, julian_ms(pins.now))
        self._engine = shared_engine()
        try:
            self._configure(raw)
        except BaseException:
            self.close()
            raise

    def _configure(self, raw: apsw.Connection) -> None:
        raw.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)
        raw.config(apsw.SQLITE_DBCONFIG_DQS_DML, int(self._loose_quotes))
        pages: int = raw.pragma("page_count") + GROWTH_BYTES // raw.pragma("page_size")
        raw.execute(f"PRAGMA temp_store = MEMORY; PRAGMA max_page_count = {pages}")
        if self._unordered:
            raw.execute("PRAGMA reverse_unordered_selects = ON")
        self._random.install(raw)
        self._recorder.install(raw)
        self._guard.install(raw)

    @contextmanager
    def transaction(self, limits: Limits) -> Generator[SqliteTransaction]:
        """See :meth:`Sandbox.transaction`. A commit that SQLite refuses (deferred foreign keys) and a statement that
        ended the whole transaction raise a :class:`sqlalchemy.exc.DBAPIError` when the block ends.
        """
        raw = self._alive()
        if self._busy:
            raise SandboxError("a sandbox runs one call at a time")
        self._busy = True
        position = self._random.position
        proxied = CallConnection(self._session, limits.statement_timeout_ms, limits.max_rows, {"now": self._now})
        committed = False
        try:
            self._guard.restrict(raw, read_only=limits.read_only)
            self._recorder.start()
            self._session.speak("BEGIN")
            transaction = SqliteTransaction(sqlalchemy.Connection(self._engine, connection=proxied))
            yield transaction
            if not transaction.undone:
                transaction.changes = self._commit(raw, proxied)
                committed = True
        finally:
            try:
                proxied.close_cursors()
                proxied.call.ended = True
                if not committed:
                    self._random.position = position
                    if raw.in_transaction:
                        self._session.speak("ROLLBACK")
            finally:
                self._busy = False

    def _commit(self, raw: apsw.Connection, proxied: CallConnection) -> tuple[RowChange, ...]:
        proxied.close_cursors()
        try:
            if proxied.call.broken is not None:
                raise proxied.call.broken
            if self._recorder.failed is not None:
                raise self._recorder.failed
            changes: tuple[RowChange, ...] = ()
            if self._recorder.touched:
                changes = self._recorder.changes(raw, self._recorder.touched)
            self._session.speak("COMMIT")
        except (apsw_dbapi.Error, UnicodeError) as error:
            refused = error if isinstance(error, apsw_dbapi.Error) else apsw_dbapi.translate(error)
            if refused is None:
                raise
            raise wrapped(refused, self._engine) from error
        if self._recorder.touched:
            self._recorder.keep()
            self._diff = None
        return changes

    def diff(self) -> StateDiff:
        raw = self._alive()
        if self._busy:
            raise SandboxError("a sandbox's diff is read between its calls")
        if self._diff is None:
            self._diff = StateDiff(self._recorder.changes(raw, self._recorder.total))
        return self._diff

    def state_hash(self) -> str:
        return state_digest(self._digest, self.diff())

    def fork(self) -> SqliteSandbox:
        raw = self._alive()
        if self._busy:
            raise SandboxError("a sandbox is forked between its calls")
        return SqliteSandbox(
            raw.serialize("main"),
            self._digest,
            self._shapes,
            self._pins,
            unordered=self._unordered,
            loose_quotes=self._loose_quotes,
            position=self._random.position,
            total=self._recorder.total,
        )

    def close(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            raw.close(True)

    def _alive(self) -> apsw.Connection:
        if self._raw is None:
            raise SandboxError("the sandbox is closed")
        return self._raw


def build(load: Callable[[Any], object], place: Place) -> SqliteTemplate:
    """A template in memory, whatever the place."""
    return SqliteTemplate.build(load)
