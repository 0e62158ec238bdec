"""MariaDB sandboxes: databases of their own, copied from a template, each used by one account.

A rollout is one transaction, a tool call a savepoint in it. A ``pooled`` sandbox is rolled back when it is closed and
serves again; a ``cloned`` one is dropped. Both have an account of their own that may read and write rows and call
routines and nothing else, a timeout that a watchdog backs, a pinned clock, and every changed row on record
(:mod:`envs.sandboxes.mysql_copy`). A session that has to be killed takes its transaction with it: a fresh copy then
gets the rows of the committed calls.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import sqlalchemy
from pymysql import err

from envs.connection import parse_url
from envs.errors import SandboxError
from envs.sandboxes.base import Place, Sandbox, Template
from envs.sandboxes.contained import ContainedConnection
from envs.sandboxes.mysql_copy import Log, copy, put
from envs.sandboxes.mysql_dialect import SAVEPOINT, MysqlCall, make_engine, wrapped
from envs.sandboxes.mysql_schema import Shape, content_digest, read_schema, read_seeds
from envs.sandboxes.mysql_server import MysqlServer, quoted, servers
from envs.sandboxes.mysql_session import MysqlSession
from envs.sandboxes.mysql_verbs import DENIED, Insertion
from envs.sandboxes.row_log import Chains, Ends, RowLog
from envs.sandboxes.served import ServedTransaction
from envs.state import state_digest
from envs.types import Limits, Pins, RowChange, StateDiff, Table

ENGINE = "mysql"

DEFAULT_URL = "mysql://root@127.0.0.1:3306/"
"""The server where none is named."""

Kind = Literal["pooled", "cloned"]

_SEEDS = 2**30
"""MariaDB's random number generator takes two seeds below this."""


class Slot:
    """A copy of the template with its account, its log and one session. ``dirty``: not to be used again."""

    def __init__(self, template: MysqlTemplate) -> None:
        server = self._server = template.server
        self.name = server.new_name("s")
        self.dirty = False
        try:
            copy(server, template.database, template.schema, self.name)
            self.log = Log(server, template.schema, self.name)
            self.session = MysqlSession(
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


class MysqlTemplate(Template):
    """A database on the server that nobody writes to any more, and the pool of its copies."""

    engine = ENGINE

    def __init__(self, server: MysqlServer, database: str, kind: Kind) -> None:
        self.server = server
        self.database = database
        self.pooled = kind == "pooled"
        self.schema = read_schema(server, database)
        self.shapes: Mapping[int, Shape] = self.schema.shapes
        self.tables: Mapping[str, Table] = self.schema.tables
        self.digest = content_digest(server, database, self.schema)
        self.seeds = read_seeds(server, database, self.schema)
        self.places = {
            shape.name: shape.columns.index(shape.counter[0]) for shape in self.shapes.values() if shape.counter
        }
        """Where among its table's columns each counter stands."""
        self._lock = threading.Lock()
        self._free: list[Slot] = []
        self._closed = False
        self._engine: sqlalchemy.Engine | None = None

    @classmethod
    def build(
        cls,
        load: Callable[[Any], object],
        url: str | sqlalchemy.URL,
        kind: Kind = "pooled",
    ) -> MysqlTemplate:
        """Make a template on the server of that URL from whatever ``load`` does to an empty database.

        ``load`` receives a PyMySQL connection in autocommit mode, as an account that owns the database and has no
        other rights on the server.
        """
        server = servers.borrow(parse_url(url) if isinstance(url, str) else url)
        try:
            database = server.new_database(server.new_name("t"))
            try:
                with server.connect(database, server.owner) as connection:
                    load(connection)
                return cls(server, database, kind)
            except BaseException:
                server.drop(database)
                raise
        except BaseException:
            servers.give_back(server)
            raise

    def open(self, pins: Pins, *, unordered: bool = False) -> MysqlSandbox:
        """See :meth:`Template.open`; MariaDB cannot reverse the order of queries."""
        slot = self.take()
        try:
            return MysqlSandbox(self, slot, pins)
        except BaseException:
            slot.drop()
            raise

    def take(self) -> Slot:
        """A copy in the template's state."""
        with self._lock:
            if self._closed:
                raise SandboxError("the template is closed")
            if self._free:
                return self._free.pop()
        return Slot(self)

    def give(self, slot: Slot) -> None:
        """Take a copy back: into the pool if it is in the template's state again, else to its end."""
        if not slot.dirty:
            with self._lock:
                if not self._closed:
                    self._free.append(slot)
                    return
        slot.drop()

    def engine_for(self, session: MysqlSession) -> sqlalchemy.Engine:
        with self._lock:
            if self._engine is None:
                self._engine = make_engine(session)
            return self._engine

    def rewind(self, slot: Slot) -> None:
        """Set back the counters of tables that triggers insert into, which nobody could foresee."""
        if not self.schema.indirect:
            return
        present = dict(
            self.server.ask(
                "SELECT table_name, auto_increment FROM information_schema.tables"
                f" WHERE table_schema = '{slot.name}' AND auto_increment IS NOT NULL"
            )
        )
        for shape in self.shapes.values():
            if shape.counter is not None and shape.name in self.schema.indirect:
                _, first = shape.counter
                if present.get(shape.name) != first:
                    self.server.ask(f"ALTER TABLE {slot.name}.{quoted(shape.name)} AUTO_INCREMENT = {first}")

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            slots, self._free = self._free, []
        for slot in slots:
            slot.drop()
        self.server.drop(self.database)
        servers.give_back(self.server)


class MysqlSandbox(Sandbox):
    """One rollout's database. Opened by :meth:`MysqlTemplate.open`."""

    engine = ENGINE
    in_place = False

    def __init__(
        self, template: MysqlTemplate, slot: Slot, pins: Pins, log: RowLog | None = None, calls: int = 0
    ) -> None:
        self._template = template
        self._slot: Slot | None = slot
        self._engine = template.engine_for(slot.session)
        self._pins = pins
        self._now = pins.moment
        self._log = log or RowLog(template.shapes, template.seeds)
        self._next = {shape.name: shape.counter for shape in template.shapes.values() if shape.counter}
        self._places = template.places
        self._calls = calls
        self._busy = False
        self._diff: StateDiff | None = None
        self._settle(slot)

    def _settle(self, slot: Slot) -> None:
        """Bring a fresh copy to the state of the log, and begin the rollout's transaction."""
        if self._log.total:
            slot.dirty = True
            rows = [(number, ends) for (number, _), ends in self._log.total.items() if ends.first != ends.last]
            gone = [each for number, ends in rows for each in put(self._shape(number), slot.name, ends.first, None)]
            come = [each for number, ends in rows for each in put(self._shape(number), slot.name, None, ends.last)]
            self._template.server.write([*gone, *come])
        self._note_keys(self._log.total)
        slot.session.say("START TRANSACTION")

    def _shape(self, number: int) -> Shape:
        return self._template.shapes[number]

    @contextmanager
    def transaction(self, limits: Limits) -> Generator[ServedTransaction]:
        """See :meth:`Sandbox.transaction`. An error that an executor swallowed although it had ended the transaction
        raises a :class:`sqlalchemy.exc.DBAPIError` when the block ends.
        """
        slot = self._alive()
        if self._busy:
            raise SandboxError("a sandbox runs one call at a time")
        self._busy = True
        committed = False
        call: MysqlCall | None = None
        proxied: ContainedConnection | None = None
        try:
            call = self._begin(slot, limits)
            proxied = ContainedConnection(call, limits, self._now)
            transaction = ServedTransaction(sqlalchemy.Connection(self._engine, connection=proxied))
            yield transaction
            if not transaction.undone:
                transaction.changes = self._commit(slot, call, limits)
                committed = True
        finally:
            if proxied is not None:
                proxied.ended = True
            self._busy = False
            if not committed and call is not None:
                self._undo(slot, call)

    def _begin(self, slot: Slot, limits: Limits) -> MysqlCall:
        self._calls += 1
        moment = self._now.replace(tzinfo=dt.UTC).timestamp()
        draw = (self._pins.seed * 1_000_003 + self._calls * 7_919) % _SEEDS
        slot.session.say(
            f"SET timestamp = {moment:.6f}, rand_seed1 = {draw}, rand_seed2 = {(draw * 69_069 + 1) % _SEEDS},"
            f" max_statement_time = {(limits.statement_timeout_ms or 0) / 1000}"
        )
        return MysqlCall(slot.session, self._hint)

    def _hint(self, insertion: Insertion) -> str | None:
        counter = self._next.get(insertion.table)
        if counter is None or not insertion.generates(counter[0], self._places[insertion.table]):
            return None
        column, least = quoted(counter[0]), counter[1]
        table = quoted(insertion.table)
        return f"SET insert_id = (SELECT GREATEST(COALESCE(MAX({column}) + 1, 1), {least}) FROM {table})"

    def _note_keys(self, chains: Chains) -> None:
        """A key that was given once is not given again."""
        for (number, _), ends in chains.items():
            shape = self._shape(number)
            if shape.counter is not None and ends.last is not None:
                column, least = self._next[shape.name] or shape.counter
                value = ends.last[shape.columns.index(column)]
                self._next[shape.name] = (column, max(least, int(value) + 1))

    def _commit(self, slot: Slot, call: MysqlCall, limits: Limits) -> tuple[RowChange, ...]:
        if call.broken is not None:
            raise wrapped(call.broken, self._engine) if isinstance(call.broken, err.Error) else call.broken
        try:
            entries = slot.log.entries()
        except err.OperationalError as error:  # too much of it
            raise wrapped(error, self._engine) from error
        if not entries:
            return ()
        if limits.read_only:
            raise wrapped(err.OperationalError(DENIED, "a tool that may only read has written"), self._engine)
        chains = self._log.read(entries)
        for number in slot.log.taken_along(entries):
            self._follow(slot, number, chains)
        changes = self._log.changes(chains)
        self._log.keep(chains)
        self._note_keys(chains)
        self._diff = None
        return changes

    def _follow(self, slot: Slot, number: int, chains: Chains) -> None:
        """Put in what foreign keys did to a table: its rows now, against what they were before the call."""
        now = slot.log.against_seed(number)
        for key in [each for each in chains if each[0] == number]:
            del chains[key]
        before = {key: ends for (table, key), ends in self._log.total.items() if table == number}
        for key in {**before, **now}:
            old = before[key].last if key in before else now[key][0]
            new = now[key][1] if key in now else before[key].first
            if old != new:
                chains[number, key] = Ends(old, new)

    def _undo(self, slot: Slot, call: MysqlCall) -> None:
        """Back to where the call began; in a fresh copy where the transaction is gone."""
        session = slot.session
        if not session.lost and session.in_transaction:
            try:
                session.say(f"ROLLBACK TO SAVEPOINT {SAVEPOINT}")
                return
            except (err.Error, SandboxError):
                session.close()
        slot.dirty = True
        self._slot = None
        self._template.give(slot)
        fresh = self._template.take()
        try:
            self._settle(fresh)
        except BaseException:
            fresh.drop()
            raise
        self._slot = fresh

    def diff(self) -> StateDiff:
        self._alive()
        if self._busy:
            raise SandboxError("a sandbox's diff is read between its calls")
        if self._diff is None:
            self._diff = StateDiff(self._log.changes(self._log.total))
        return self._diff

    def state_hash(self) -> str:
        return state_digest(self._template.digest, self.diff())

    def fork(self) -> MysqlSandbox:
        self._alive()
        if self._busy:
            raise SandboxError("a sandbox is forked between its calls")
        slot = self._template.take()
        try:
            other = MysqlSandbox(self._template, slot, self._pins, self._log.copy(), self._calls)
        except BaseException:
            slot.drop()
            raise
        other._next = dict(self._next)
        return other

    def close(self) -> None:
        slot, self._slot = self._slot, None
        if slot is None:
            return
        try:
            if not self._template.pooled or self._busy or slot.session.lost:
                slot.dirty = True
            if not slot.dirty:
                slot.session.say("ROLLBACK")
                slot.session.renew()
                self._template.rewind(slot)
        except (err.Error, SandboxError):
            slot.dirty = True  # then it is dropped
        finally:
            self._template.give(slot)

    def _alive(self) -> Slot:
        if self._slot is None:
            raise SandboxError("the sandbox is closed")
        return self._slot


def build(load: Callable[[Any], object], place: Place) -> MysqlTemplate:
    """A template on the server of that place."""
    return MysqlTemplate.build(load, place.url or DEFAULT_URL, place.kind)
