"""PostgreSQL sandboxes: databases of their own, copied from a template, each used by one role.

Two kinds: a ``pooled`` one is undone when it is closed and serves again, for the typed tools of a
world's author; a ``cloned`` one is dropped, for the SQL of an agent. Both have a login of their own
that may read and write rows and nothing else, a timeout with a watchdog behind it, and a log of
every changed row (:mod:`envs.sandboxes.postgres.template_objects`). The time is pinned
(:mod:`envs.sandboxes.postgres.clock`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy

from envs.errors import EnvsError
from envs.quoting import quoted
from envs.sandboxes.base import Kind, Transaction
from envs.sandboxes.contained import wrapped
from envs.sandboxes.load_bounds import bounded_load
from envs.sandboxes.postgres.clock import (
    CLOCKS,
    LoadingCursor,
    loading_options,
    pin,
    read_column_sums,
    read_expressions,
)
from envs.sandboxes.postgres.dialect import Counters, PostgresCall, make_engine
from envs.sandboxes.postgres.schema import (
    PostgresTable,
    ask,
    content_digest,
    read_rewritable,
    read_seeds,
    read_shapes,
    read_tables,
)
from envs.sandboxes.postgres.server import PostgresServer, literal
from envs.sandboxes.postgres.session import PostgresSession
from envs.sandboxes.postgres.session_pool import Sessions
from envs.sandboxes.postgres.template_objects import install, loading
from envs.sandboxes.server.admin_session import SharedSessions
from envs.sandboxes.server.row_log import Chains, RowLog
from envs.sandboxes.server.sandbox import MAX_ROLLOUT_BYTES, ServerSandbox, ServerTemplate, Slot
from envs.types import Limits, Pins, RowChange, Table

USES = 1_000
"""Rollouts after which a pooled database is dropped, since dead rows add up."""


class _PostgresSlot(Slot):
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
            lambda: self._server.connect(self.name, self._login),
            self._server.terminate,
            self._server.weigh,
        )

    def rewrite(self, tables: Iterable[PostgresTable]) -> None:
        """Write tables again in the order of their keys, without gaps.

        CLUSTER alone copies dead rows, too, as long as any transaction on the server is older than
        their deletion.
        """
        with self._server.connect(self.name, self._server.owner) as owner:
            for table in tables:
                place = f"{quoted(table.schema)}.{quoted(table.table)}"
                ask(owner, f"VACUUM {place}")
                ask(owner, f"CLUSTER {place}")

    def sessions(self) -> Sessions:
        server = self._server
        return Sessions(self.session, self._connect, server.spare, server.alive)

    def drop(self) -> None:
        self.session.close()
        self._server.drop(self.name)


class PostgresTemplate(ServerTemplate[PostgresServer, _PostgresSlot]):
    """A sealed database on the server, and the pool of its copies."""

    dialect = "postgresql"
    server_class = PostgresServer
    sessions = SharedSessions(PostgresServer)
    pinned_functions = frozenset({*CLOCKS, "gen_random_uuid", "nextval", "random", "timezone"})

    def __init__(self, server: PostgresServer, database: str, kind: Kind) -> None:
        super().__init__(server, database, kind)
        with server.connect(database) as admin:
            self.shapes = read_shapes(admin)
            self.tables: Mapping[str, Table] = read_tables(admin)
            self.digest = content_digest(admin, self.shapes)
            self.seeds = read_seeds(admin, self.shapes)
            self.secret = install(admin, self.shapes, server.users)
            self.rewritable = read_rewritable(admin, self.shapes)
            row = admin.execute("SELECT envs_guard.counters()").fetchone()
            self.counters: Counters = tuple(row[0] or ()) if row else ()
            row = admin.execute(
                "SELECT EXISTS (SELECT FROM pg_trigger WHERE tgdeferrable)"
            ).fetchone()
            self.defers = bool(row and row[0])
            """Whether something may wait for the end of a transaction: a constraint, or a trigger.
            """
        server.seal(database)

    @classmethod
    def load(cls, server: PostgresServer, database: str, load: Callable[[Any], object]) -> None:
        with (
            server.connect(database) as admin,
            loading(admin, server.owner),
            server.connect(database, server.owner, loading_options()) as connection,
            bounded_load(*server.bounds(connection.info.backend_pid)),
        ):
            connection.execute("SELECT setseed(0)")
            connection.cursor_factory = LoadingCursor
            load(connection)

    @classmethod
    def expressions(cls, server: PostgresServer, database: str) -> Iterable[str]:
        with server.connect(database) as admin:
            return read_expressions(admin)

    @classmethod
    def column_sums(cls, server: PostgresServer, database: str) -> Mapping[str, object]:
        with server.connect(database) as admin:
            return read_column_sums(admin)

    def new_slot(self) -> _PostgresSlot:
        return _PostgresSlot(self.server, self.database)

    def new_sandbox(self, slot: _PostgresSlot, pins: Pins) -> PostgresSandbox:
        return PostgresSandbox(self, slot, pins)

    def make_engine(self, slot: _PostgresSlot) -> sqlalchemy.Engine:
        return make_engine(slot.session)


class PostgresSandbox(ServerSandbox[PostgresTemplate, _PostgresSlot]):
    """One rollout's database. Opened by :meth:`PostgresTemplate.open`."""

    dialect = "postgresql"
    concurrent_reads = True

    def __init__(
        self,
        template: PostgresTemplate,
        slot: _PostgresSlot,
        pins: Pins,
        log: RowLog | None = None,
        counters: Counters | None = None,
        calls: int = 0,
    ) -> None:
        super().__init__(template, slot, pins, log, calls)
        self._session = slot.session
        self._sessions = slot.sessions()
        self._counters = template.counters if counters is None else counters
        self._counters_moved = False
        """True where a call was ended that may have moved them."""
        if log is not None:
            self._session.ask(
                self._put(log.total, self._counters, template.counters, forward=True) or "SELECT"
            )

    @contextmanager
    def transaction(self, limits: Limits) -> Generator[Transaction]:
        """See :meth:`Sandbox.transaction`. A commit that PostgreSQL refuses, and an error that an
        executor swallowed although it had ended the transaction, raise a
        :class:`sqlalchemy.exc.DBAPIError` when the block ends.
        """
        self._alive()
        with self._sessions.lend(read_only=limits.read_only) as session:
            call = self._begin(session, limits)
            with self._contained(
                call,
                commit=lambda: self._commit(call, session, limits),
                undo=lambda: self._undo(call, session, limits),
            ) as transaction:
                yield transaction

    def _undo(self, call: PostgresCall, session: PostgresSession, limits: Limits) -> None:
        self._counters_moved = session.lost and not limits.read_only
        call.undo()

    @property
    def busy(self) -> bool:
        return self._sessions.busy

    def prove(self, slot: _PostgresSlot) -> None:
        if not self._session.terminated:
            self._session.ask("")

    def _begin(self, session: PostgresSession, limits: Limits) -> PostgresCall:
        if self._counters_moved and session is self._session:
            session.ask(self._put({}, self._counters, None) or "")
            self._counters_moved = False
        # Calls that only read take no number: what they draw does not depend on which of them comes
        # first.
        self._calls += not limits.read_only
        draw = (
            hash((self._pins.seed, self._calls, limits.read_only)) % 2_000_001 - 1_000_000
        ) / 1_000_000
        begin = (
            f"BEGIN {'READ ONLY' if limits.read_only else 'READ WRITE'}; {pin(self._pins)};"
            f" SET LOCAL statement_timeout = {limits.statement_timeout_ms or 0}; SELECT"
            f" setseed({draw})"
        )
        rewind = self._rewind if self._counters and not limits.read_only else None
        return PostgresCall(session, begin, limits, rewind)

    def _rewind(self, wanted: Counters | None) -> str | None:
        return self._put({}, self._counters if wanted is None else wanted, None)

    def _commit(
        self, call: PostgresCall, session: PostgresSession, limits: Limits
    ) -> tuple[RowChange, ...]:
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
                f"SELECT * FROM envs_guard.taken('{self._template.secret}',"
                f" {MAX_ROLLOUT_BYTES - self._changed_bytes}); SELECT"
                " envs_guard.counters(); COMMIT"
            )
        except psycopg.Error as error:
            raise wrapped(error, self._engine) from error
        entries, counters = session.rows(results[0]), session.rows(results[1])[0][0]
        self._counters = tuple(counters or ())
        if not entries:
            return ()
        self._changed_bytes += sum(len(image) for _, *row in entries for image in row if image)
        return self._keep(self._log.read(entries))

    def _put(
        self,
        chains: Chains,
        wanted: Counters,
        present: Counters | None = None,
        *,
        forward: bool = False,
    ) -> str | None:
        """Return the statement that sets rows to the beginning (or, ``forward``, the end) of their
        chains, and counters to ``wanted``; None where there is nothing to set.

        ``present`` are the present counters, if known.
        """
        rows: dict[int, tuple[list[str], list[str]]] = {}
        for (table, _), ends in chains.items():
            gone, come = (ends.first, ends.last) if forward else (ends.last, ends.first)
            if gone != come:
                lists = rows.setdefault(table, ([], []))
                for image, images in zip((gone, come), lists, strict=True):
                    if image is not None:
                        images.append(image)
        counters = [
            [place, value]
            for place, value in enumerate(wanted)
            if present is None or present[place] != value
        ]
        if not rows and not counters:
            return None
        what = json.dumps(
            {"rows": [[table, *lists] for table, lists in rows.items()], "counters": counters}
        )
        return f"SELECT envs_guard.put('{self._template.secret}',{literal(what)})"

    def fork_onto(self, slot: _PostgresSlot) -> PostgresSandbox:
        other = PostgresSandbox(
            self._template, slot, self._pins, self._log.copy(), self._counters, self._calls
        )
        other._changed_bytes = self._changed_bytes
        return other

    def reset(self, slot: _PostgresSlot) -> None:
        slot.uses += 1
        slot.dirty = True
        try:
            reusable = self._template.pooled and not self._failed and self._sessions.clean
            self._sessions.close()
            total = self._log.total
            moved = {table for (table, _), ends in total.items() if ends.first is not None}
            reusable = reusable and moved <= self._template.rewritable
            if reusable and not self._session.lost:
                put = self._put(total, self._template.counters, self._counters)
                self._session.ask(
                    "DISCARD SEQUENCES; RESET ALL"
                    if put is None
                    else f"{put}; DISCARD SEQUENCES; RESET ALL"
                )
                if moved:
                    slot.rewrite(self._template.shapes[table] for table in sorted(moved))
                slot.dirty = slot.uses >= USES
        except (psycopg.Error, EnvsError):
            return  # it stays dirty, and is dropped
