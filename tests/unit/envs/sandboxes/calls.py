"""Sandboxes in tests: how they are built on a server, called, and attacked without a guard."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.connection import parse_url
from envs.sandboxes.base import Kind, Sandbox, Template
from envs.sandboxes.mariadb.sandbox import MariaDBTemplate
from envs.sandboxes.postgres.sandbox import PostgresTemplate
from envs.sandboxes.server.admin_session import SharedSessions
from envs.types import Limits, Pins, RowChange
from tests.servers import server

ServerTemplate = PostgresTemplate | MariaDBTemplate

Attack = Callable[[Any], bool]
"""Whether it did its harm to a template."""

Removal = Callable[[pytest.MonkeyPatch], None]
"""It takes a guard away."""


KILLED = """
import os, signal, sys
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.types import Pins
load = lambda connection: connection.cursor().execute("CREATE TABLE a (b int)")
template = find_engine(sys.argv[1]).build(load, DatabaseTarget(sys.argv[2]))
sandbox = template.open(Pins())
print(template.server.token, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(engine: str) -> str:
    """The token of a process that was killed with a template and a sandbox on the server."""
    command = [sys.executable, "-c", KILLED, engine, server(engine)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def built(engine: str, statements: Sequence[str], kind: Kind = "pooled") -> ServerTemplate:
    """A template on the engine's server, filled by these statements."""

    def fill(connection: Any) -> None:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)

    template = PostgresTemplate if engine == "postgresql" else MariaDBTemplate
    return template.build(fill, parse_url(server(engine)), kind)


def call(sandbox: Sandbox, *statements: str, limits: Limits | None = None) -> tuple[RowChange, ...]:
    """The changes of one call, which fetches all rows of its statements."""
    with sandbox.transaction(limits or Limits()) as transaction:
        for each in statements:
            done = transaction.connection.exec_driver_sql(
                each, execution_options={"no_parameters": True}
            )
            _ = done.all() if done.returns_rows else None
    return transaction.changes


def ask(sandbox: Sandbox, sql: str, limits: Limits | None = None) -> list[tuple[Any, ...]]:
    """The rows of a query, in a call that may only read unless ``limits`` say otherwise."""
    with sandbox.transaction(limits or Limits(read_only=True)) as transaction:
        return [tuple(row) for row in transaction.connection.execute(text(sql))]


def runs(*statements: str, limits: Limits | None = None) -> Attack:
    """An attack that has succeeded when its statements run and all their rows are fetched."""

    def attack(template: Template) -> bool:
        with template.open(Pins()) as sandbox:
            try:
                call(sandbox, *statements, limits=limits)
            except DBAPIError:
                return False
            return True

    return attack


def check_guard(
    guarded: ServerTemplate,
    attack: Attack,
    without: pytest.MonkeyPatch,
    remove: Removal,
    anew: Callable[[], ServerTemplate] | None,
) -> None:
    """Check that an attack fails, and succeeds without its guard. ``anew`` builds what the guard
    stands in.
    """
    assert not attack(guarded)
    remove(without)
    if anew is None:
        assert attack(guarded)
        return
    without.setattr(type(guarded), "sessions", SharedSessions(type(guarded.server)))
    with anew() as unguarded:
        assert attack(unguarded)
