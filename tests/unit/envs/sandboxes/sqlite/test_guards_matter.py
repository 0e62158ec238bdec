"""Each guard of SQLite sandboxes holds something: without it, its attack succeeds."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.sandboxes.sqlite import dbapi as apsw_dbapi
from envs.sandboxes.sqlite import guard
from envs.sandboxes.sqlite import sandbox as sqlite
from envs.sandboxes.sqlite.guard import SqliteGuard
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.types import Limits, Pins
from tests.unit.envs.sandboxes.calls import Attack, Removal, ask, runs

pytestmark = pytest.mark.slow

SCHEMA = """
CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT);
INSERT INTO t (b) VALUES ('x'), ('y');
CREATE VIRTUAL TABLE words USING fts5(line);
INSERT INTO words VALUES ('one two');
"""
FLOOD = (
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n"
)


@pytest.fixture(scope="module")
def template() -> Iterator[SqliteTemplate]:
    def load(connection: object) -> None:
        for each in SCHEMA.strip().split("\n"):
            connection.execute(each)  # pyright: ignore[reportAttributeAccessIssue]

    with SqliteTemplate.build(load) as made:
        yield made


def outlives(statement: str) -> Attack:
    """An attack that has succeeded when a write is there after its call was undone."""

    def attack(template: SqliteTemplate) -> bool:
        with template.open(Pins()) as sandbox:
            try:
                with sandbox.transaction(Limits()) as transaction:
                    transaction.connection.execute(text("DELETE FROM t"))
                    transaction.connection.execute(text(statement))
                    transaction.rollback()
            except (DBAPIError, apsw.Error):
                pass
            return ask(sandbox, "SELECT count(*) FROM t") == [(0,)]

    return attack


def cached_write(template: SqliteTemplate) -> bool:
    """A statement that a writing call compiled is sent again by a call that may only read."""
    insert = text("INSERT INTO t (b) VALUES ('z')")
    with template.open(Pins()) as sandbox:
        with sandbox.transaction(Limits()) as transaction:
            transaction.connection.execute(insert)
        try:
            with sandbox.transaction(Limits(read_only=True)) as transaction:
                transaction.connection.execute(insert)
        except DBAPIError:
            return False
        return True


def allowing(*actions: int) -> Removal:
    """The authorizer without its word on some actions."""
    before = SqliteGuard.authorize

    def authorize(self: SqliteGuard, action: int, *names: str | None) -> int:
        return apsw.SQLITE_OK if action in actions else before(self, action, *names)  # pyright: ignore[reportCallIssue]

    return lambda patch: patch.setattr(SqliteGuard, "authorize", authorize)


def without(name: str) -> Removal:
    """The list of limits without one of them."""
    kept = tuple(each for each in guard.LIMITS if each[0] != getattr(apsw, name))
    assert len(kept) == len(guard.LIMITS) - 1
    return lambda patch: patch.setattr(guard, "LIMITS", kept)


def at_any_length(patch: pytest.MonkeyPatch) -> None:
    install = SqliteGuard.install
    patch.setattr(SqliteGuard, "install", lambda self, raw, value_bytes: install(self, raw, 2**30))


def blind(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        SqliteGuard,
        "restrict",
        lambda self, raw, *, read_only: setattr(self, "read_only", read_only),
    )


def endless(patch: pytest.MonkeyPatch) -> None:
    """No deadline: neither is a statement broken off, nor does one fail that ends too late."""
    patch.setattr(
        SqliteGuard,
        "deadline",
        property(lambda self: guard.NEVER, lambda self, at: None),
        raising=False,
    )


def any_length(patch: pytest.MonkeyPatch) -> None:
    """A statement is a value to the driver, so both limits hold it."""
    without("SQLITE_LIMIT_SQL_LENGTH")(patch)
    at_any_length(patch)


def roomy(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sqlite, "GROWTH_BYTES", 2**31)


def generous(patch: pytest.MonkeyPatch) -> None:
    init = apsw_dbapi.Call.__init__
    patch.setattr(
        apsw_dbapi.Call,
        "__init__",
        lambda self, session, timeout, rows: init(self, session, timeout, None),
    )


def undefended(patch: pytest.MonkeyPatch) -> None:
    patch.delattr(apsw, "SQLITE_DBCONFIG_DEFENSIVE")
    patch.setattr(
        apsw, "SQLITE_DBCONFIG_DEFENSIVE", apsw.SQLITE_DBCONFIG_ENABLE_FKEY, raising=False
    )


def many_statements(patch: pytest.MonkeyPatch) -> None:
    def trace(self: apsw_dbapi.Session, cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        self.description = cursor.get_description() or None
        self.writes = not cursor.is_readonly
        return True

    patch.setattr(apsw_dbapi.Session, "trace", trace)


def ruleless(patch: pytest.MonkeyPatch) -> None:
    """The tables that belong to SQLite itself count as the world's."""
    before = SqliteGuard.authorize

    def authorize(self: SqliteGuard, action: int, first: str | None, *names: str | None) -> int:
        own = action in guard.WRITE_ACTIONS and (first or "").startswith("sqlite_")
        return apsw.SQLITE_OK if own else before(self, action, first, *names)  # pyright: ignore[reportCallIssue]

    patch.setattr(SqliteGuard, "authorize", authorize)


def emptied(name: str) -> Removal:
    return lambda patch: patch.setattr(guard, name, frozenset[str]())


GUARDS: dict[str, tuple[Attack, Removal]] = {
    "authorizer: transactions": (outlives("COMMIT"), allowing(apsw.SQLITE_TRANSACTION)),
    ("authorizer: savepoints"): (runs("SAVEPOINT mine", "RELEASE mine"), allowing(apsw.SQLITE_SAVEPOINT)),
    ("authorizer: PRAGMA"): (runs("PRAGMA max_page_count = 1000000000"), allowing(apsw.SQLITE_PRAGMA)),
    ("authorizer: PRAGMA as a table"): (runs("SELECT * FROM pragma_database_list"), allowing(apsw.SQLITE_PRAGMA)),
    ("authorizer: the schema"): (runs("CREATE TABLE u (c)"), allowing(apsw.SQLITE_CREATE_TABLE, *guard.WRITE_ACTIONS)),
    "authorizer: functions": (runs("SELECT sqlite_log(1, 'x')"), emptied("FUNCTIONS_DENIED")),
    "authorizer: reads only": (
        runs("DELETE FROM t", limits=Limits(read_only=True)), allowing(apsw.SQLITE_DELETE, apsw.SQLITE_TRANSACTION),
    ),
    "authorizer: SQLite's own tables": (runs("UPDATE sqlite_sequence SET seq = 99"), ruleless),
    "authorizer: set anew for each kind of call": (cached_write, blind),
    "defensive mode": (runs("DELETE FROM words_data"), undefended),
    "limit: length of a value": (runs("SELECT length(hex(zeroblob(900000)))"), at_any_length),
    "limit: length of a statement": (runs(f"SELECT 1 -- {'x' * 1_000_001}"), any_length),
    "limit: length of a pattern": (
        runs(f"SELECT 'x' LIKE '{'%x' * 300}'"), without("SQLITE_LIMIT_LIKE_PATTERN_LENGTH"),
    ),
    "one statement at a time": (runs("SELECT 1; DELETE FROM t"), many_statements),
    "timeout": (runs(FLOOD.format(300_000), limits=Limits(statement_timeout_ms=1, max_rows=None)), endless),
    "growth": (runs(f"INSERT INTO t (b) SELECT zeroblob(200000) FROM ({FLOOD.format(1400)})", limits=Limits(statement_timeout_ms=None)), roomy),
    "cap of rows": (runs(FLOOD.format(11), limits=Limits(max_rows=10)), generous),
}  # fmt: skip


@pytest.mark.parametrize("name", GUARDS)
def test_without_it_its_attack_succeeds(
    template: SqliteTemplate, monkeypatch: pytest.MonkeyPatch, name: str
):
    attack, remove = GUARDS[name]
    assert not attack(template)
    remove(monkeypatch)
    assert attack(template)
