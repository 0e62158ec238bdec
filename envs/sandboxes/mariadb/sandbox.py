"""MariaDB sandboxes: databases of their own, copied from a template, each used by one account.

A rollout is one transaction, a tool call a savepoint in it. A ``pooled`` sandbox is rolled back
when it is closed and serves again; a ``cloned`` one is dropped. Both have an account of their own
that may read and write rows and call routines and nothing else, a timeout with a watchdog behind
it, a pinned clock, and a log of every changed row (:mod:`envs.sandboxes.mariadb.copy`). A session
that has to be killed ends its transaction: a fresh copy then gets the rows of the committed calls.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy
from pymysql import err

from envs.errors import SandboxError
from envs.quoting import backticked
from envs.sandboxes.base import Kind, Transaction
from envs.sandboxes.contained import wrapped
from envs.sandboxes.load_bounds import bounded_load
from envs.sandboxes.mariadb.copy import Log, copy, put
from envs.sandboxes.mariadb.dialect import SAVEPOINT, MariaDBCall, make_engine
from envs.sandboxes.mariadb.schema import content_digest, read_schema, read_seeds
from envs.sandboxes.mariadb.server import MariaDBServer
from envs.sandboxes.mariadb.session import MariaDBSession
from envs.sandboxes.mariadb.statement_guard import DENIED, Insertion
from envs.sandboxes.mariadb.wire import too_large_error
from envs.sandboxes.server.admin_session import SharedSessions
from envs.sandboxes.server.cursor import text_size
from envs.sandboxes.server.row_log import Chains, Ends, RowLog
from envs.sandboxes.server.sandbox import MAX_ROLLOUT_BYTES, ServerSandbox, ServerTemplate, Slot
from envs.sandboxes.watchdog import wait_for_the_end
from envs.types import Limits, Pins, RowChange, Table

_SEEDS = 2**30
"""MariaDB's random number generator takes two seeds below this."""


def pinned(now: dt.datetime, draw: int) -> str:
    """The statement that pins the time and RAND() of a session."""
    moment = now.replace(tzinfo=dt.UTC).timestamp()
    return (
        f"SET timestamp = {moment:.6f}, rand_seed1 = {draw},"
        f" rand_seed2 = {(draw * 69_069 + 1) % _SEEDS}"
    )


class _MariaDBSlot(Slot):
    """A copy of the template with its account, its log and one session."""

    def __init__(self, template: MariaDBTemplate) -> None:
        server = self._server = template.server
        self.name = server.new_name("s")
        try:
            copy(server, template.database, template.schema, self.name)
            self.log = Log(server, template.schema, self.name)
            self.session = MariaDBSession(
                lambda: server.connect(self.name, self.name),
                server.kill,
                lambda thread: server.kill(thread, query=True),
            )
        except BaseException:
            server.drop(self.name, f"{self.name}_log", login=self.name)
            raise

    def drop(self) -> None:
        self.session.close()
        self._server.drop(self.name, f"{self.name}_log", login=self.name)


class MariaDBTemplate(ServerTemplate[MariaDBServer, _MariaDBSlot]):
    """A database on the server, no longer written to, and the pool of its copies."""

    dialect = "mysql"
    server_class = MariaDBServer
    sessions = SharedSessions(MariaDBServer)
    pinned_functions = frozenset(
        {"current_timestamp", "curdate", "curtime", "now", "nextval", "rand", "unix_timestamp"}
    )

    def __init__(self, server: MariaDBServer, database: str, kind: Kind) -> None:
        super().__init__(server, database, kind)
        self.schema = read_schema(server, database)
        server.note_triggers(trigger[0] for trigger in self.schema.triggers)
        self.shapes = self.schema.shapes
        self.tables: Mapping[str, Table] = self.schema.tables
        self.digest = content_digest(server, database, self.schema)
        self.seeds = read_seeds(server, database, self.schema)
        self.positions = {
            shape.name: shape.columns.index(shape.counter[0])
            for shape in self.shapes.values()
            if shape.counter
        }
        """The position of each counter among its table's columns."""

    @classmethod
    def load(cls, server: MariaDBServer, database: str, load: Callable[[Any], object]) -> None:
        with (
            server.connect(database, server.owner) as connection,
            bounded_load(
                lambda: server.size(database), lambda: server.kill(connection.thread_id())
            ),
            connection.cursor() as cursor,
        ):
            cursor.execute(pinned(Pins().moment, 0))
            load(connection)

    @classmethod
    def expressions(cls, server: MariaDBServer, database: str) -> Iterable[str]:
        columns = server.ask(
            "SELECT column_default FROM information_schema.columns"
            f" WHERE table_schema = '{database}' AND column_default LIKE '%(%'"
        )
        triggers = server.ask(
            "SELECT action_statement FROM information_schema.triggers WHERE trigger_schema ="
            f" '{database}' AND action_statement REGEXP 'uuid|sysdate|random_bytes|_id *[(]'"
        )
        return [str(row[0]) for row in (*columns, *triggers)]

    @classmethod
    def column_sums(cls, server: MariaDBServer, database: str) -> Mapping[str, object]:
        columns = server.ask(
            "SELECT c.table_name, c.column_name FROM information_schema.columns c JOIN"
            " information_schema.tables t USING (table_schema, table_name) WHERE"
            f" c.table_schema = '{database}' AND t.table_type = 'BASE TABLE'"
        )
        return {
            f"{table}.{column}": server.ask(
                f"SELECT COUNT(*), SUM(CRC32({backticked(column)})) FROM"
                f" {database}.{backticked(table)}"
            )
            for table, column in columns
        }

    def new_slot(self) -> _MariaDBSlot:
        return _MariaDBSlot(self)

    def new_sandbox(self, slot: _MariaDBSlot, pins: Pins) -> MariaDBSandbox:
        return MariaDBSandbox(self, slot, pins)

    def make_engine(self, slot: _MariaDBSlot) -> sqlalchemy.Engine:
        return make_engine(slot.session)

    def rewind(self, slot: _MariaDBSlot) -> None:
        """Set back the counters that the last rollout moved."""
        if not self.positions:
            return
        present = dict(
            self.server.ask(
                "SELECT table_name, auto_increment FROM information_schema.tables"
                f" WHERE table_schema = '{slot.name}' AND auto_increment IS NOT NULL"
            )
        )
        for shape in self.shapes.values():
            if shape.counter is not None:
                _, first = shape.counter
                if present.get(shape.name) != first:
                    self.server.ask(
                        f"ALTER TABLE {slot.name}.{backticked(shape.name)} AUTO_INCREMENT = {first}"
                    )


class MariaDBSandbox(ServerSandbox[MariaDBTemplate, _MariaDBSlot]):
    """One rollout's database. Opened by :meth:`MariaDBTemplate.open`."""

    dialect = "mysql"

    def __init__(
        self,
        template: MariaDBTemplate,
        slot: _MariaDBSlot,
        pins: Pins,
        log: RowLog | None = None,
        calls: int = 0,
    ) -> None:
        super().__init__(template, slot, pins, log, calls)
        self._next = {
            shape.name: shape.counter for shape in template.shapes.values() if shape.counter
        }
        self._positions = template.positions
        self._busy = False
        self._ended = False
        """True where the copy's transaction was ended: the next call needs a fresh copy."""
        self._settle(slot)

    @property
    def busy(self) -> bool:
        return self._busy

    def _settle(self, slot: _MariaDBSlot) -> None:
        """Bring a fresh copy to the state of the log, and begin the rollout's transaction."""
        if self._log.total:
            slot.dirty = True
            rows = [
                (number, ends)
                for (number, _), ends in self._log.total.items()
                if ends.first != ends.last
            ]
            gone = [(number, ends.first, None) for number, ends in rows]
            come = [(number, None, ends.last) for number, ends in rows]
            self._template.server.write(
                [
                    statement
                    for number, old, new in (*gone, *come)
                    for statement in put(self._template.shapes[number], slot.name, old, new)
                ]
            )
        self._note_keys(self._log.total)
        slot.session.say("START TRANSACTION")

    @contextmanager
    def transaction(self, limits: Limits) -> Generator[Transaction]:
        """See :meth:`Sandbox.transaction`. An error that an executor swallowed although it had
        ended the transaction raises a :class:`sqlalchemy.exc.DBAPIError` when the block ends.
        """
        if self._busy:
            raise SandboxError("a sandbox runs one call at a time")
        slot = self._settled()
        self._busy = True
        try:
            call = self._begin(slot, limits)
            with self._contained(
                call,
                commit=lambda: self._commit(slot, call, limits),
                undo=lambda: self._undo(slot, call),
            ) as transaction:
                yield transaction
        finally:
            self._busy = False

    def _begin(self, slot: _MariaDBSlot, limits: Limits) -> MariaDBCall:
        self._calls += 1
        draw = (self._pins.seed * 1_000_003 + self._calls * 7_919) % _SEEDS
        slot.session.say(
            f"{pinned(self._now, draw)},"
            f" max_statement_time = {(limits.statement_timeout_ms or 0) / 1000}"
        )
        return MariaDBCall(slot.session, limits, self._hint)

    def _hint(self, insertion: Insertion) -> str | None:
        counter = self._next.get(insertion.table)
        if counter is None or not insertion.generates(counter[0], self._positions[insertion.table]):
            return None
        column, least = backticked(counter[0]), counter[1]
        table = backticked(insertion.table)
        return (
            f"SET insert_id = (SELECT GREATEST(COALESCE(MAX({column}) + 1, 1), {least}) FROM"
            f" {table})"
        )

    def _note_keys(self, chains: Chains) -> None:
        """Note the generated keys, so that none is given twice."""
        for (number, _), ends in chains.items():
            shape = self._template.shapes[number]
            if shape.counter is not None and ends.last is not None:
                column, least = self._next[shape.name] or shape.counter
                value = ends.last[shape.columns.index(column)]
                self._next[shape.name] = (column, max(least, int(value) + 1))

    def _commit(
        self, slot: _MariaDBSlot, call: MariaDBCall, limits: Limits
    ) -> tuple[RowChange, ...]:
        if call.broken is not None:
            raise (
                wrapped(call.broken, self._engine)
                if isinstance(call.broken, err.Error)
                else call.broken
            )
        try:
            entries = slot.log.entries()
        except err.OperationalError as error:  # too much of it
            raise wrapped(error, self._engine) from error
        if not entries:
            call.release()
            return ()
        if limits.read_only:
            raise wrapped(
                err.OperationalError(DENIED, "a tool that may only read has written"), self._engine
            )
        size = sum(text_size(image) for _, *images in entries for image in images if image)
        if self._changed_bytes + size > MAX_ROLLOUT_BYTES:
            raise wrapped(too_large_error(), self._engine)
        chains = self._log.read(entries)
        for number in slot.log.taken_along(entries):
            self._follow(slot, number, chains)
        call.release()
        self._changed_bytes += size
        changes = self._keep(chains)
        self._note_keys(chains)
        return changes

    def _follow(self, slot: _MariaDBSlot, number: int, chains: Chains) -> None:
        """Add what foreign keys changed in a table: its rows now, against those before the call."""
        now = slot.log.against_seed(number)
        for key in [key for key in chains if key[0] == number]:
            del chains[key]
        before = {key: ends for (table, key), ends in self._log.total.items() if table == number}
        for key in {**before, **now}:
            old = before[key].last if key in before else now[key][0]
            new = now[key][1] if key in now else before[key].first
            if old != new:
                chains[number, key] = Ends(old, new)

    def _undo(self, slot: _MariaDBSlot, call: MariaDBCall) -> None:
        """Go back to the call's beginning; without a transaction, the next has a fresh copy."""
        session = slot.session
        if not session.terminated and session.in_transaction:
            session.say(f"ROLLBACK TO SAVEPOINT {SAVEPOINT}")
        else:
            self._ended = slot.dirty = True

    def _settled(self) -> _MariaDBSlot:
        """The copy, a fresh one where the transaction of the last was ended.

        Raises SandboxBusyError while the server still computes what was ended.
        """
        slot = self._alive()
        if not self._ended:
            return slot
        if slot.session.terminated:
            wait_for_the_end([slot.session.thread], self._template.server.alive)
        fresh = self._template.take()
        try:
            self._settle(fresh)
        except BaseException:
            fresh.drop()
            raise
        self._slot, self._ended = fresh, False
        self._template.give(slot)
        return fresh

    def prove(self, slot: _MariaDBSlot) -> None:
        if not self._ended:
            slot.session.prove()

    def fork_onto(self, slot: _MariaDBSlot) -> MariaDBSandbox:
        other = MariaDBSandbox(self._template, slot, self._pins, self._log.copy(), self._calls)
        other._next, other._changed_bytes = dict(self._next), self._changed_bytes
        return other

    def reset(self, slot: _MariaDBSlot) -> None:
        lost = self._failed or self._ended or slot.session.lost
        reusable = self._template.pooled and not self._busy and not lost
        if slot.dirty or not reusable:
            slot.dirty = True
            return
        try:
            slot.session.say("ROLLBACK")
            slot.session.renew()
            self._template.rewind(slot)
        except (err.Error, SandboxError):
            slot.dirty = True  # then it is dropped
