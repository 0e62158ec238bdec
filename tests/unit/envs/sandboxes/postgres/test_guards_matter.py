"""Each guard of PostgreSQL sandboxes holds something that no other one holds: without it, its
attack succeeds.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from envs.errors import SandboxError
from envs.sandboxes import watchdog
from envs.sandboxes.postgres import server as postgres_server
from envs.sandboxes.postgres import session as postgres_session
from envs.sandboxes.postgres import template_objects
from envs.sandboxes.postgres.dialect import PostgresCall
from envs.sandboxes.postgres.sandbox import PostgresTemplate
from envs.sandboxes.postgres.server import PostgresServer
from envs.sandboxes.postgres.session import PostgresSession
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

SCHEMA = """
CREATE TABLE t (a int PRIMARY KEY, b text);
INSERT INTO t VALUES (1, 'x'), (2, 'y');
CREATE FUNCTION stubborn() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  BEGIN PERFORM pg_sleep(2); EXCEPTION WHEN query_canceled THEN PERFORM pg_sleep(2); END; RETURN 1; END $$;
"""


@pytest.fixture(scope="module")
def guarded() -> Iterator[ServerTemplate]:
    with build() as made:
        yield made


def build() -> ServerTemplate:
    return built("postgresql", [SCHEMA])


def smuggled_commit(made: PostgresTemplate) -> bool:
    """A write is there after the error that should have undone its call."""
    with made.open(Pins()) as sandbox:
        with contextlib.suppress(DBAPIError):
            call(sandbox, "DELETE FROM t; COMMIT; BEGIN", "SELECT nowhere")
        return ask(sandbox, "SELECT count(*) FROM t") == [(0,)]


def late_value(made: PostgresTemplate) -> bool:
    """A statement past its time gives a value, although the world's own function swallows the
    cancellation.
    """
    return runs("SELECT stubborn()", limits=Limits(statement_timeout_ms=100))(made)


def costly_timeout(made: PostgresTemplate) -> bool:
    """A statement past its time takes the session with it."""
    with made.open(Pins()) as sandbox:
        before = sandbox._session.pid
        with contextlib.suppress(DBAPIError):
            call(sandbox, "SELECT pg_sleep(20)", limits=Limits(statement_timeout_ms=100))
        ask(sandbox, "SELECT 1")
        return sandbox._session.pid != before


def neighbours_rows(made: PostgresTemplate) -> bool:
    """A sandbox's login opens another one's database."""
    with made.open(Pins()) as one, made.open(Pins()) as other:
        names = [ask(each, "SELECT current_database()")[0][0] for each in (one, other)]
        try:
            made.server.connect(names[0], names[1]).close()
        except SandboxError:  # permission denied for database
            return False
        return True


def unlogged_write(made: PostgresTemplate) -> bool:
    """Rows change, and the diff does not say so."""
    with made.open(Pins()) as sandbox:
        (number,) = made.shapes
        guess = f"""SELECT envs_guard.put('guess', '{{"rows": [[{number}, ["(1,x)"], []]], "counters": []}}')"""
        with contextlib.suppress(DBAPIError):
            call(sandbox, guess)
        return ask(sandbox, "SELECT count(*) FROM t") == [(1,)] and not sandbox.diff()


def any_word(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(postgres_session, "refusal", lambda sql: None)


def any_number_of_statements(patch: pytest.MonkeyPatch) -> None:
    def send(self: PostgresSession, sql: str, values: object) -> None:
        self._pg.send_query(sql.encode())
        self._pg.set_single_row_mode()
        self.connection.wait(psycopg.generators.send(self._pg))

    patch.setattr(PostgresSession, "_send", send)


def saying(old: str, new: str) -> Removal:
    """A call's first words with some of them changed."""
    before = PostgresCall.__init__

    def init(
        self: PostgresCall, session: PostgresSession, begin: str, *rest: Any, **options: Any
    ) -> None:
        before(self, session, begin.replace(old, new), *rest, **options)

    return lambda patch: patch.setattr(PostgresCall, "__init__", init)


def no_timeout(patch: pytest.MonkeyPatch) -> None:
    saying("statement_timeout = 100", "statement_timeout = 0")(patch)


def unwatched(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(watchdog, "GRACE_S", float("inf"))


def unsaid(words: str) -> Removal:
    """What the superuser says on the server, without the statements that hold these words."""
    before = PostgresServer._ask

    def ask(self: PostgresServer, sql: str) -> list[tuple[Any, ...]]:
        return [] if words in sql else before(self, sql)

    return lambda patch: patch.setattr(PostgresServer, "_ask", ask)


def superuser(patch: pytest.MonkeyPatch) -> None:
    before = PostgresServer._make_role
    patch.setattr(
        PostgresServer,
        "_make_role",
        lambda self, name, options: before(self, name, f"{options} SUPERUSER"),
    )


def nothing_denied(patch: pytest.MonkeyPatch) -> None:
    for name in ("FUNCTIONS_DENIED", "VIEWS_DENIED"):
        patch.setattr(template_objects, name, ("nothing",) if name[0] == "F" else ("pg_cursors",))


def setting(module: object, name: str, value: object) -> Removal:
    return lambda patch: patch.setattr(module, name, value)


def generous(patch: pytest.MonkeyPatch) -> None:
    before = PostgresSession._answer
    patch.setattr(
        PostgresSession,
        "_answer",
        lambda self, limits: before(self, replace(limits, max_rows=None)),
    )


def known_secret(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        template_objects.secrets,
        "token_hex",
        lambda size: "guess" if size == 16 else os.urandom(size).hex(),
    )


READS = Limits(read_only=True)
NO_DISK_LIMIT = tuple(
    each for each in postgres_server._ROLE_SETTINGS if not each.startswith("temp_file_limit")
)
SPILL = (
    "SELECT count(*) FROM (SELECT repeat(i::text, 600) AS r FROM generate_series(1, 110000) i"
    " ORDER BY r) q"
)

GUARDS: dict[str, tuple[Attack, Removal]] = {
    "list of first words": (runs("SET statement_timeout = 0"), any_word),
    "list of first words: code": (runs("DO $$ BEGIN DELETE FROM t; END $$"), any_word),
    "one statement at a time": (smuggled_commit, any_number_of_statements),
    ("a read-only transaction"): (runs("DELETE FROM t", limits=READS), saying("READ ONLY", "READ WRITE")),
    "the server's timeout": (costly_timeout, no_timeout),
    "the watchdog": (late_value, unwatched),
    "rights: no superuser": (runs("SELECT pg_read_file('/etc/hostname')"), superuser),
    "rights: the schema": (runs("SELECT b INTO u FROM t"), superuser),
    ("rights: functions that undo limits"): (runs("SELECT set_config('statement_timeout', '0', true)"), nothing_denied),
    ("rights: functions that outlive a rollback"): (runs("SELECT lo_create(4711)", limits=READS), nothing_denied),
    "rights: what else is on the server": (runs("SELECT datname FROM pg_database"), nothing_denied),
    "rights: one database": (neighbours_rows, unsaid("REVOKE ALL ON DATABASE")),
    ("rights: no temporary tables"): (runs("SELECT 1 AS a INTO TEMP u"), unsaid("REVOKE ALL ON DATABASE")),
    "the log's secret": (unlogged_write, known_secret),
    "cap of rows": (runs("SELECT generate_series(1, 11)", limits=Limits(max_rows=10)), generous),
    "cap of bytes": (
        runs("SELECT repeat('x', 1000000) FROM generate_series(1, 65)", limits=Limits(max_rows=None)),
        setting(postgres_session, "MAX_ROWS_BYTES", 10**12),
    ),
    "cap of temporary files": (
        runs(SPILL, limits=Limits(statement_timeout_ms=None)), setting(postgres_server, "_ROLE_SETTINGS", NO_DISK_LIMIT),
    ),
}  # fmt: skip


BUILT_IN = ("rights: ", "the log's secret", "cap of temporary files")
"""Guards that stand in the template and the server's roles: without them both are made anew."""


@pytest.mark.parametrize("name", GUARDS)
def test_without_it_its_attack_succeeds(
    guarded: ServerTemplate, monkeypatch: pytest.MonkeyPatch, name: str
):
    attack, remove = GUARDS[name]
    anew = build if name.startswith(BUILT_IN) else None
    check_guard(guarded, attack, monkeypatch, remove, anew)
