"""Each guard of MariaDB sandboxes holds something that no other one holds: without it, its attack
succeeds.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from pymysql.constants import CLIENT
from sqlalchemy.exc import DBAPIError

from envs.sandboxes import watchdog
from envs.sandboxes.mariadb import server as mysql_server
from envs.sandboxes.mariadb import session as mysql_session
from envs.sandboxes.mariadb.dialect import MariaDBCall
from envs.sandboxes.mariadb.sandbox import MariaDBSandbox, MariaDBTemplate
from envs.sandboxes.mariadb.server import MariaDBServer
from envs.sandboxes.mariadb.session import MariaDBSession
from envs.types import Limits, Pins
from tests.unit.envs.sandboxes.calls import (
    Attack,
    Removal,
    ServerTemplate,
    ask,
    built,
    call,
    check_guard,
    runs,
)

SCHEMA = (
    "CREATE TABLE t (a int PRIMARY KEY, b varchar(20))",
    "INSERT INTO t VALUES (1, 'x'), (2, 'y')",
    "CREATE FUNCTION wipe() RETURNS int MODIFIES SQL DATA BEGIN DELETE FROM t; RETURN 1; END",
    "CREATE PROCEDURE leave_it() BEGIN DELETE FROM t; COMMIT; END",
)


@pytest.fixture(scope="module")
def guarded() -> Iterator[ServerTemplate]:
    with build() as made:
        yield made


def build() -> ServerTemplate:
    return built("mysql", SCHEMA)


def smuggled_write(made: MariaDBTemplate) -> bool:
    """A second statement hides behind the first."""
    with made.open(Pins()) as sandbox:
        with contextlib.suppress(DBAPIError):
            call(sandbox, "SELECT 1; DELETE FROM t")
        return not ask(sandbox, "SELECT * FROM t")


def left_to_the_next(made: MariaDBTemplate) -> bool:
    """What a procedure committed is there in the next rollout."""
    with made.open(Pins()) as sandbox, contextlib.suppress(DBAPIError):
        call(sandbox, "CALL leave_it()")
    with made.open(Pins()) as sandbox:
        return not ask(sandbox, "SELECT * FROM t")


def wrong_value(sql: str, limits: Limits, wrong: object) -> Attack:
    """A statement that was cut gives a value as if nothing had been."""

    def attack(made: MariaDBTemplate) -> bool:
        with made.open(Pins()) as sandbox:
            try:
                return ask(sandbox, sql, limits)[0][0] == wrong
            except DBAPIError:
                return False

    return attack


def lost_session(made: MariaDBTemplate) -> bool:
    """A statement past its time takes the session with it."""
    with made.open(Pins()) as sandbox:
        before = ask(sandbox, "SELECT CONNECTION_ID()")
        with contextlib.suppress(DBAPIError):
            call(sandbox, "SELECT SLEEP(20)", limits=SHORT)
        return ask(sandbox, "SELECT CONNECTION_ID()") != before


def neighbours_rows(made: MariaDBTemplate) -> bool:
    with made.open(Pins()) as one, made.open(Pins()) as other:
        ((name,),) = ask(other, "SELECT DATABASE()")
        try:
            return len(ask(one, f"SELECT * FROM {name}.t")) == 2
        except DBAPIError:
            return False


def reads_a_file(made: MariaDBTemplate) -> bool:
    with made.open(Pins()) as sandbox:
        return ask(sandbox, "SELECT LENGTH(LOAD_FILE('/etc/passwd'))")[0][0] is not None


def forged_log(made: MariaDBTemplate) -> bool:
    """Rows change, and the diff does not say so."""
    with made.open(Pins()) as sandbox:
        ((name,),) = ask(sandbox, "SELECT DATABASE()")
        with contextlib.suppress(DBAPIError):
            call(sandbox, "DELETE FROM t", f"DELETE FROM {name}_log.t0")
        return not ask(sandbox, "SELECT * FROM t") and not sandbox.diff()


def any_word(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(mysql_session, "refusal", lambda sql, *, read_only: None)


def many_statements(patch: pytest.MonkeyPatch) -> None:
    before = mysql_server.BoundedConnection
    patch.setattr(
        mysql_server,
        "BoundedConnection",
        lambda **given: before(**given, client_flag=CLIENT.MULTI_STATEMENTS),
    )


def unasked(patch: pytest.MonkeyPatch) -> None:
    """The session always claims that its transaction stands, and so does the end of a call."""
    patch.setattr(MariaDBSession, "in_transaction", True)
    patch.setattr(MariaDBCall, "release", lambda self: None)


def may_write(patch: pytest.MonkeyPatch) -> None:
    before = MariaDBSandbox._commit
    patch.setattr(
        MariaDBSandbox,
        "_commit",
        lambda self, slot, call, limits: before(self, slot, call, replace(limits, read_only=False)),
    )


def no_timeout(patch: pytest.MonkeyPatch) -> None:
    before = MariaDBSession.say
    patch.setattr(
        MariaDBSession,
        "say",
        lambda self, sql: before(
            self, sql.replace("max_statement_time = 0.1", "max_statement_time = 0")
        ),
    )


def no_timeout_nor_watchdog(patch: pytest.MonkeyPatch) -> None:
    no_timeout(patch)
    patch.setattr(watchdog, "GRACE_S", float("inf"))
    timeless(patch)


def timeless(patch: pytest.MonkeyPatch) -> None:
    """A clock that stands, and late enough not to wake the watchdog."""
    moment = time.monotonic() + 3600
    patch.setattr(mysql_session, "time", SimpleNamespace(monotonic=lambda: moment))


def careless(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MariaDBSession, "_look_at_warnings", lambda self: None)


def granting(rights: str) -> Removal:
    """Accounts with more than the rows of their own database."""
    before = MariaDBServer.new_login

    def new_login(self: MariaDBServer, name: str, database: str) -> None:
        before(self, name, database)
        self.ask(f"GRANT {rights} TO {name}@'%'")

    return lambda patch: patch.setattr(MariaDBServer, "new_login", new_login)


def generous(patch: pytest.MonkeyPatch) -> None:
    before = MariaDBSession._fill
    patch.setattr(
        MariaDBSession,
        "_fill",
        lambda self, answer, cursor, limits: before(
            self, answer, cursor, replace(limits, max_rows=None)
        ),
    )


def no_byte_cap(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(mysql_session, "MAX_ROWS_BYTES", 10**12)


def no_disk_limit(patch: pytest.MonkeyPatch) -> None:
    kept = mysql_server.SESSION.replace(" tmp_disk_table_size = 268435456,", "")
    assert kept != mysql_server.SESSION
    patch.setattr(mysql_server, "SESSION", kept)


READS, SHORT = Limits(read_only=True), Limits(statement_timeout_ms=100)
BENCHMARK = "SELECT BENCHMARK(1000000000, SHA2('x', 512))"
SPILL = (
    "SELECT COUNT(*) FROM (SELECT DISTINCT seq, RPAD(seq, 8000, 'x') AS r FROM seq_1_to_45000) q"
)

GUARDS: dict[str, tuple[Attack, Removal]] = {
    "list of first words": (runs("SET max_statement_time = 0"), any_word),
    "list of first words: code": (runs("EXECUTE IMMEDIATE 'DELETE FROM t'"), any_word),
    "list of first words: reads only": (runs("DELETE FROM t WHERE a = 9", limits=READS), any_word),
    "one statement at a time": (smuggled_write, many_statements),
    "the transaction is looked at after each statement": (left_to_the_next, unasked),
    "what a reading call wrote": (runs("SELECT wipe()", limits=READS), may_write),
    "the server's timeout": (lost_session, no_timeout),
    ("the watchdog, where the server's timeout fails"): (wrong_value("SELECT SLEEP(2)", SHORT, 0), no_timeout_nor_watchdog),
    "elapsed time": (wrong_value(BENCHMARK, SHORT, 0), timeless),
    "warnings": (wrong_value("SELECT LENGTH(REPEAT('x', 1000000000))", Limits(), None), careless),
    "rights: one database": (neighbours_rows, granting("SELECT ON *.*")),
    "rights: accounts": (runs("SELECT * FROM mysql.user"), granting("SELECT ON *.*")),
    "rights: files": (reads_a_file, granting("FILE ON *.*")),
    "rights: the log": (forged_log, granting("ALL ON *.*")),
    "cap of rows": (runs("SELECT * FROM seq_1_to_11", limits=Limits(max_rows=10)), generous),
    "cap of bytes": (runs("SELECT REPEAT('x', 1000000) FROM seq_1_to_65", limits=Limits(max_rows=None)), no_byte_cap),
    ("cap of temporary tables"): (runs(SPILL, limits=Limits(statement_timeout_ms=None)), no_disk_limit),
}  # fmt: skip

BUILT_IN = (
    "rights: ",
    "one statement at a time",
    "cap of temporary tables",
    "the transaction is looked at",
)
"""Guards that stand in the accounts and their sessions, or whose loss outlives a rollout: without
them all is made anew.
"""


@pytest.mark.parametrize("name", GUARDS)
def test_without_it_its_attack_succeeds(
    guarded: ServerTemplate, monkeypatch: pytest.MonkeyPatch, name: str
):
    attack, remove = GUARDS[name]
    anew = build if name.startswith(BUILT_IN) else None
    check_guard(guarded, attack, monkeypatch, remove, anew)
