"""PostgreSQL sandboxes: databases of their own, copied from a template, each used by one role.

Two kinds. A ``pooled`` one is undone when it is closed and serves again: for the typed tools of a world's author. A
``cloned`` one is dropped: for the SQL of an agent. Both have a login of their own that may read and write rows and
nothing else, a timeout that a watchdog backs, and every changed row on record (:mod:`envs.sandboxes.postgres_guard`).
The time is pinned in the defaults of columns (:mod:`envs.sandboxes.postgres_clock`); in SQL the server's clock runs on, and
executors take the time from :func:`envs.now`.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import psycopg
import sqlalchemy

from envs.connection import parse_url
from envs.errors import SandboxError
from envs.sandboxes.base import Place, Sandbox, Template
from envs.sandboxes.contained import ContainedConnection
from envs.sandboxes.postgres_clock import pin
from envs.sandboxes.postgres_dialect import PostgresCall, make_engine, wrapped
from envs.sandboxes.postgres_guard import install, loading
from envs.sandboxes.postgres_schema import Shape, content_digest, read_seeds, read_shapes, read_tables
from envs.sandboxes.postgres_server import PostgresServer, literal, servers
from envs.sandboxes.postgres_session import PostgresSession
from envs.sandboxes.postgres_sessions import Sessions
from envs.sandboxes.row_log import Chains, RowLog
from envs.sandboxes.served import ServedTransaction
from envs.state import state_digest
from envs.types import Limits, Pins, RowChange, StateDiff, Table

ENGINE = "postgresql"

DEFAULT_URL = "postgresql://postgres@127.0.0.1:5432/postgres"
"""The server where none is named."""

Kind = Literal["pooled", "cloned"]

Counters = tuple[int | None, ...]
"""The last values of the world's sequences, in the order of their names; None for one that was never asked."""

USES = 1_000
"""Rollouts after which a pooled database is dropped: dead rows add up."""


class Slot:
    """A database with its login and a session of its own."""

    def __init__(self, server: PostgresServer, template: str) -> None:
        self._server = server
        self.name = server.new_database("s", template)
        self.uses = 0
        try:
            self._login = server.new_login(self.name)
            self.session = self._connect()
        except BaseException:
            server.drop(self.name)
            raise

    def _connect(self) -> PostgresSession:
        return PostgresSession(
            lambda: self._server.connect(self.name, self._login), self._server.terminate, self._server.weigh
        )

    def sessions(self) -> Sessions:
        """Its sessions, for one rollout."""
        return Sessions(self.session, self._connect, self._server.spare)

    def drop(self) -> None:
        self.session.close()
        self._server.drop(self.name)


class PostgresTemplate(Template):
    """A sealed database on the server, and the pool of its copies."""

    engine = ENGINE

    def __init__(self, server: PostgresServer, database: str, kind: Kind) -> None:
        self._server = server
        self._database = database
        self._kind: Kind = kind
        self._lock = threading.Lock()
        self._free: list[Slot] = []
        self._closed = False
        self._engine: sqlalchemy.Engine | None = None
        with server.connect(database) as admin:
            self.shapes: Mapping[int, Shape] = read_shapes(admin)
            self.tables: Mapping[str, Table] = read_tables(admin)
            self.digest = content_digest(admin, self.shapes)
            self.seeds: Mapping[int, Sequence[str]] = read_seeds(admin, self.shapes)
            self.secret = install(admin, self.shapes, server.users)
            row = admin.execute("SELECT envs_guard.counters()").fetchone()
            self.counters: Counters = tuple(row[0] or ()) if row else ()
            row = admin.execute("SELECT EXISTS (SELECT FROM pg_trigger WHERE tgdeferrable)").fetchone()
            self.defers = bool(row and row[0])
            """Whether something may wait for the end of a transaction: a constraint, or a trigger."""
        server.seal(database)

    @classmethod
    def build(
        cls,
        load: Callable[[Any], object],
        url: str | sqlalchemy.URL,
        kind: Kind = "pooled",
    ) -> PostgresTemplate:
        """Make a template on the server of that URL from whatever ``load`` does to an empty database.

        ``load`` receives a psycopg connection in autocommit mode, as a role that owns the database and has no other
        rights on the server.
        """
        server = servers.borrow(parse_url(url) if isinstance(url, str) else url)
        try:
            database = server.new_database("t")
            try:
                with (
                    server.connect(database) as admin,
                    loading(admin, server.owner),
                    server.connect(database, server.owner) as connection,
                ):
                    load(connection)
                return cls(server, database, kind)
            except BaseException:
                server.drop(database)
                raise
        except BaseException:
            servers.give_back(server)
            raise

    def open(self, pins: Pins, *, unordered: bool = False) -> PostgresSandbox:
        """See :meth:`Template.open`; PostgreSQL cannot reverse the order of queries."""
        slot = self.take()
        try:
            return PostgresSandbox(self, slot, pins)
        except BaseException:
            slot.drop()
            raise

    def take(self) -> Slot:
        """A database in the template's state."""
        with self._lock:
            if self._closed:
                raise SandboxError("the template is closed")
            if self._free:
                return self._free.pop()
        return Slot(self._server, self._database)

    def give(self, slot: Slot, *, clean: bool) -> None:
        """Take a database back: into the pool if it is in the template's state again, else to its end."""
        slot.uses += 1
        if clean and slot.uses < USES:
            with self._lock:
                if not self._closed:
                    self._free.append(slot)
                    return
        slot.drop()

    @property
    def pooled(self) -> bool:
        return self._kind == "pooled"

    def engine_for(self, session: PostgresSession) -> sqlalchemy.Engine:
        with self._lock:
            if self._engine is None:
                self._engine = make_engine(session)
            return self._engine

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            slots, self._free = self._free, []
        for slot in slots:
            slot.drop()
        self._server.drop(self._database)
        servers.give_back(self._server)


class PostgresSandbox(Sandbox):
    """One rollout's database. Opened by :meth:`PostgresTemplate.open`."""

    engine = ENGINE
    in_place = False
    concurrent_reads = True

    def __init__(
        self,
        template: PostgresTemplate,
        slot: Slot,
        pins: Pins,
        log: RowLog | None = None,
        counters: Counters | None = None,
        calls: int = 0,
    ) -> None:
        self._template = template
        self._slot: Slot | None = slot
        self._session = slot.session
        self._sessions = slot.sessions()
        self._engine = template.engine_for(slot.session)
        self._pins = pins
        self._now = pins.moment
        self._log = log or RowLog(template.shapes, template.seeds)
        self._counters = template.counters if counters is None else counters
        self._calls = calls
        self._diff: StateDiff | None = None
        if log is not None:
            self._session.ask(self._put(log.total, self._counters, template.counters, forward=True) or "SELECT")

    @contextmanager
    def transaction(self, limits: Limits) -> Generator[ServedTransaction]:
        """See :meth:`Sandbox.transaction`. A commit that PostgreSQL refuses, and an error that an executor swallowed
        although it had ended the transaction, raise a :class:`sqlalchemy.exc.DBAPIError` when the block ends.
        """
        self._alive()
        with self._sessions.lend(read_only=limits.read_only) as session:
            committed = False
            call = self._begin(session, limits)
            proxied = ContainedConnection(call, limits, self._now)
            try:
                transaction = ServedTransaction(sqlalchemy.Connection(self._engine, connection=proxied))
                yield transaction
                if not transaction.undone:
                    transaction.changes = self._commit(call, session, limits)
                    committed = True
            finally:
                proxied.ended = True
                if not committed:
                    call.undo()

    def _begin(self, session: PostgresSession, limits: Limits) -> PostgresCall:
        # Calls that only read take no number: what they draw does not depend on which of them comes first.
        self._calls += not limits.read_only
        draw = (hash((self._pins.seed, self._calls, limits.read_only)) % 2_000_001 - 1_000_000) / 1_000_000
        begin = (
            f"BEGIN {'READ ONLY' if limits.read_only else f'READ WRITE; {pin(self._pins)}'};"
            f" SET LOCAL statement_timeout = {limits.statement_timeout_ms or 0}; SELECT setseed({draw})"
        )
        rewind = self._put({}, self._counters, None) if self._counters and not limits.read_only else None
        return PostgresCall(session, begin, rewind)

    def _commit(self, call: PostgresCall, session: PostgresSession, limits: Limits) -> tuple[RowChange, ...]:
        try:
            if call.broken is not None:
                raise call.broken
            if limits.read_only:
                session.ask("COMMIT")
                return ()
            if self._template.defers:
                # By itself: a trigger that reads current_query() must not see the secret.
                session.ask("SET CONSTRAINTS ALL IMMEDIATE")
            results = session.ask(
                f"SELECT * FROM envs_guard.taken('{self._template.secret}'); SELECT envs_guard.counters(); COMMIT"
            )
        except psycopg.Error as error:
            raise wrapped(error, self._engine) from error
        entries, counters = session.rows(results[0]), session.rows(results[1])[0][0]
        self._counters = tuple(counters or ())
        if not entries:
            return ()
        chains = self._log.read(entries)
        changes = self._log.changes(chains)
        self._log.keep(chains)
        self._diff = None
        return changes

    def _put(
        self, chains: Chains, wanted: Counters, present: Counters | None = None, *, forward: bool = False
    ) -> str | None:
        """The statement that sets rows to the beginning (or, ``forward``, the end) of their chains, and counters to
        what is wanted; None where nothing is to be set. ``present`` are the counters as they are, if known.
        """
        rows: dict[int, tuple[list[str], list[str]]] = {}
        for (table, _), ends in chains.items():
            gone, come = (ends.first, ends.last) if forward else (ends.last, ends.first)
            if gone != come:
                lists = rows.setdefault(table, ([], []))
                for image, images in zip((gone, come), lists, strict=True):
                    if image is not None:
                        images.append(image)
        counters = [[place, value] for place, value in enumerate(wanted) if present is None or present[place] != value]
        if not rows and not counters:
            return None
        what = json.dumps({"rows": [[table, *lists] for table, lists in rows.items()], "counters": counters})
        return f"SELECT envs_guard.put('{self._template.secret}',{literal(what)})"

    def diff(self) -> StateDiff:
        self._alive()
        if self._sessions.busy:
            raise SandboxError("a sandbox's diff is read between its calls")
        if self._diff is None:
            self._diff = StateDiff(self._log.changes(self._log.total))
        return self._diff

    def state_hash(self) -> str:
        return state_digest(self._template.digest, self.diff())

    def fork(self) -> PostgresSandbox:
        self._alive()
        if self._sessions.busy:
            raise SandboxError("a sandbox is forked between its calls")
        slot = self._template.take()
        try:
            return PostgresSandbox(self._template, slot, self._pins, self._log.copy(), self._counters, self._calls)
        except BaseException:
            slot.drop()
            raise

    def close(self) -> None:
        slot, self._slot = self._slot, None
        if slot is None:
            return
        clean, busy = False, self._sessions.busy
        try:
            self._sessions.close()
            if self._template.pooled and not self._session.lost and not busy:
                put = self._put(self._log.total, self._template.counters, self._counters)
                self._session.ask(
                    "DISCARD SEQUENCES; RESET ALL" if put is None else f"{put}; DISCARD SEQUENCES; RESET ALL"
                )
                clean = True
        except psycopg.Error:
            clean = False  # then it is dropped
        finally:
            self._template.give(slot, clean=clean)

    def _alive(self) -> None:
        if self._slot is None:
            raise SandboxError("the sandbox is closed")


def build(load: Callable[[Any], object], place: Place) -> PostgresTemplate:
    """A template on the server of that place."""
    return PostgresTemplate.build(load, place.url or DEFAULT_URL, place.kind)
