"""The part of templates and sandboxes that servers share: a pool of copies, and a log of rows."""

from __future__ import annotations

import math
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, Self, TypeVar

import sqlalchemy

from envs.connection import parse_url
from envs.errors import SandboxError, WorldError
from envs.sandboxes.base import Kind, Sandbox, Template, Transaction
from envs.sandboxes.contained import ContainedConnection
from envs.sandboxes.row_changes import state_digest
from envs.sandboxes.server.admin_session import AdminSession, SharedSessions
from envs.sandboxes.server.cursor import ServerCall
from envs.sandboxes.server.row_log import Chains, RowLog
from envs.types import Pins, RowChange, StateDiff

MAX_ROLLOUT_BYTES = 128_000_000
"""Text of the rows that all calls of a rollout may change, before and after: its diff."""


class Slot(ABC):
    """A copy of the template with a login and a session of its own.

    ``dirty`` means that it is not in the template's state and cannot be brought back to it.
    """

    name: str
    session: Any
    dirty: bool = False

    @abstractmethod
    def drop(self) -> None:
        """End the session and drop the copy."""


A = TypeVar("A", bound=AdminSession)
S = TypeVar("S", bound=Slot)


_CALL = re.compile(r"(\w+)[\"`]?\s*\(")
"""A call in an expression, with its name."""


class ServerTemplate(Template, Generic[A, S]):
    """A database on a server, no longer written to, and the pool of its copies.

    ``pinned_functions`` give the same values at each load.
    """

    pinned_functions: ClassVar[frozenset[str]]
    sessions: ClassVar[SharedSessions[Any]]
    """The process's sessions on servers of this kind."""

    shapes: Mapping[int, Any]
    seeds: Mapping[int, Sequence[Any]]
    """The rows of the tables without a key, in their order."""

    def __init__(self, server: A, database: str, kind: Kind) -> None:
        self.server = server
        self.database = database
        self.pooled = kind == "pooled"
        self._lock = threading.Lock()
        self.pool_size: float = math.inf
        """The number of unused copies that are kept."""
        self._closed = False
        self._engine: sqlalchemy.Engine | None = None

    @classmethod
    @abstractmethod
    def load(cls, server: A, database: str, load: Callable[[Any], object]) -> None:
        """Let ``load`` fill an empty database, as its owner without other rights on the server."""

    @classmethod
    @abstractmethod
    def expressions(cls, server: A, database: str) -> Iterable[str]:
        """The expressions of a loaded database that may give other values at each load: defaults of
        columns, and bodies of triggers.
        """

    @classmethod
    @abstractmethod
    def column_sums(cls, server: A, database: str) -> Mapping[str, object]:
        """By ``table.column``, a sum over the values of the column, in whatever order."""

    @abstractmethod
    def new_slot(self) -> S:
        """Copy the template."""

    @abstractmethod
    def new_sandbox(self, slot: S, pins: Pins) -> Sandbox:
        """A sandbox on a copy in the template's state."""

    @abstractmethod
    def make_engine(self, slot: S) -> sqlalchemy.Engine:
        """Make SQLAlchemy's engine for the sandboxes; the slot's session tells the features."""

    @classmethod
    def build(
        cls,
        load: Callable[[Any], object],
        url: str | sqlalchemy.URL,
        kind: Kind = "pooled",
        *,
        pool_size: int | None = None,
    ) -> Self:
        """Build a template on the server of that URL from whatever ``load`` does to an empty
        database.

        ``load`` receives a connection of the driver in autocommit mode, as an account that owns the
        database and has no other rights on the server. ``pool_size`` copies are kept when they are
        not in use; None: all.
        """
        server: A = cls.sessions.borrow(parse_url(url) if isinstance(url, str) else url)
        try:
            database = server.new_template()
            try:
                cls.load(server, database, load)
                cls._compare_loads(server, database, load)
                template = cls(server, database, kind)
                template.pool_size = math.inf if pool_size is None else pool_size
                return template
            except BaseException:
                server.drop(database)
                raise
        except BaseException:
            cls.sessions.give_back(server)
            raise

    @classmethod
    def _compare_loads(cls, server: A, database: str, load: Callable[[Any], object]) -> None:
        """Raise WorldError if a second load gives other values. Only expressions that call what is
        not pinned cost this second load.
        """
        calls = {
            name.lower()
            for expression in cls.expressions(server, database)
            for name in _CALL.findall(expression)
        }
        if calls <= cls.pinned_functions:
            return
        again = server.new_template()
        try:
            cls.load(server, again, load)
            first, second = cls.column_sums(server, database), cls.column_sums(server, again)
        finally:
            server.drop(again)
        differing = [name for name, value in first.items() if second.get(name) != value]
        if differing:
            raise WorldError(
                f"{', '.join(differing)}: the rows get other values each time that the world is"
                " loaded, since the database makes them; write the values into the rows"
            )

    def open(self, pins: Pins, *, unordered: bool = False) -> Sandbox:
        """See :meth:`Template.open`; no server reverses the order of queries."""
        slot = self.take()
        try:
            return self.new_sandbox(slot, pins)
        except BaseException:
            slot.drop()
            raise

    def take(self) -> S:
        """Take a copy in the template's state out of the pool, or make one."""
        if self._closed:
            raise SandboxError("the template is closed")
        slot: S | None = self.server.idle.take(self)
        return slot or self.new_slot()

    def give(self, slot: S) -> None:
        """Take a copy back: into the pool if it is in the template's state again, else drop it."""
        if slot.dirty or self._closed:
            slot.drop()
        else:
            self.server.idle.keep(self, slot, self.pool_size)
            if self._closed:  # meanwhile
                self.server.idle.forget(self)

    def engine_for(self, slot: S) -> sqlalchemy.Engine:
        """SQLAlchemy's engine of the template, made with the first sandbox."""
        with self._lock:
            if self._engine is None:
                self._engine = self.make_engine(slot)
            return self._engine

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self.server.idle.forget(self)
        self.server.drop(self.database)
        self.sessions.give_back(self.server)


T = TypeVar("T", bound=ServerTemplate[Any, Any])


class ServerSandbox(Sandbox, Generic[T, S]):
    """One rollout's database on a server. A fork gets ``log`` and ``calls`` from its original."""

    in_place = False

    def __init__(self, template: T, slot: S, pins: Pins, log: RowLog | None, calls: int) -> None:
        self._template = template
        self._slot: S | None = slot
        self._engine = template.engine_for(slot)
        self._pins = pins
        self._now = pins.moment
        self._log = log or RowLog(template.shapes, template.seeds)
        self._calls = calls
        self._diff: StateDiff | None = None
        self._changed_bytes = 0
        self._failed = False
        """True once a session was lost: the server's rows may lack the work of earlier calls."""

    @property
    @abstractmethod
    def busy(self) -> bool:
        """True while a call runs."""

    @abstractmethod
    def fork_onto(self, slot: S) -> Sandbox:
        """A sandbox in the present state, on a copy in the template's state."""

    @abstractmethod
    def reset(self, slot: S) -> None:
        """Bring the copy back to the template's state, or mark it as dirty."""

    @abstractmethod
    def prove(self, slot: S) -> None:
        """Raise SandboxError where the session, maybe with work, was lost since the last call."""

    @contextmanager
    def _contained(
        self,
        call: ServerCall,
        commit: Callable[[], tuple[RowChange, ...]],
        undo: Callable[[], None],
    ) -> Generator[Transaction]:
        """Run a call that has begun; ``commit`` or ``undo`` ends it."""
        committed = False
        proxied = ContainedConnection(call, {"now": self._now})
        try:
            transaction = Transaction(sqlalchemy.Connection(self._engine, connection=proxied))
            try:
                yield transaction
            except Exception as error:
                if _lost(call) is not None and not isinstance(error, SandboxError):
                    raise SandboxError("the connection to the sandbox was lost") from error
                raise
            if (lost := _lost(call)) is not None:
                raise lost  # whatever the executor made of it
            if not transaction.undone:
                transaction.changes = commit()
                committed = True
        except SandboxError:
            self._failed = True
            raise
        finally:
            call.ended = True
            if not committed and not self._failed:
                self._or_fail(undo)

    def _or_fail(self, work: Callable[[], None]) -> None:
        try:
            work()
        except SandboxError:
            self._failed = True
            raise

    def _keep(self, chains: Chains) -> tuple[RowChange, ...]:
        """The changes of a committed call, which become part of the sandbox's."""
        changes = self._log.changes(chains)
        self._log.keep(chains)
        self._diff = None
        return changes

    def diff(self) -> StateDiff:
        slot = self._alive()
        if self.busy:
            raise SandboxError("a sandbox's diff is read between its calls")
        self._or_fail(lambda: self.prove(slot))
        if self._diff is None:
            self._diff = StateDiff(self._log.changes(self._log.total))
        return self._diff

    def state_hash(self) -> str:
        return state_digest(self._template.digest, self.diff())

    def fork(self) -> Sandbox:
        self._alive()
        if self.busy:
            raise SandboxError("a sandbox is forked between its calls")
        slot = self._template.take()
        try:
            return self.fork_onto(slot)
        except BaseException:
            slot.drop()
            raise

    def close(self) -> None:
        slot, self._slot = self._slot, None
        if slot is None:
            return
        try:
            self.reset(slot)
        except BaseException:
            slot.dirty = True
            raise
        finally:
            self._template.give(slot)

    def _alive(self) -> S:
        if self._failed:
            raise SandboxError("the sandbox was lost with its connection")
        if self._slot is None:
            raise SandboxError("the sandbox is closed")
        return self._slot


def _lost(call: ServerCall) -> SandboxError | None:
    return call.broken if isinstance(call.broken, SandboxError) else None
