"""An account with a limit of time on its statements ended template building in "canceling statement".

Such limits are for the account's own work; sessions of ours have limits of their own.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
import sqlalchemy

from envs.connection import parse_url
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.sandboxes.postgres.server import PostgresServer
from envs.sandboxes.server.admin_session import MANY_DROPS
from envs.types import Pins, StateDiff
from tests.servers import server

ROLE = "limited_by_a_case"
LIMITS = ("statement_timeout = '1ms'", "lock_timeout = '1ms'")


@pytest.fixture
def limited() -> Iterator[sqlalchemy.URL]:
    url = parse_url(server("postgresql"))
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as admin:
        admin.execute(f"DROP ROLE IF EXISTS {ROLE}".encode())
        admin.execute(f"CREATE ROLE {ROLE} SUPERUSER LOGIN PASSWORD 'case'".encode())
        for limit in LIMITS:
            admin.execute(f"ALTER ROLE {ROLE} SET {limit}".encode())
        yield url.set(username=ROLE, password="case")
        admin.execute(f"DROP ROLE {ROLE}".encode())


def test_a_template_is_built_and_used(limited: sqlalchemy.URL):
    def load(connection: Any) -> None:
        connection.cursor().execute("CREATE TABLE seen (id int PRIMARY KEY)")

    address = limited.render_as_string(hide_password=False)
    built = find_engine("postgresql").build(load, DatabaseTarget(address))
    with closing(built) as template, closing(template.open(Pins(seed=1))) as sandbox:
        assert sandbox.diff() == StateDiff()


def test_the_removal_of_many_databases_is_announced(caplog: pytest.LogCaptureFixture):
    session = object.__new__(PostgresServer)
    with caplog.at_level(logging.WARNING):
        session._say_sweep(MANY_DROPS - 1)  # pyright: ignore[reportPrivateUsage]
        assert not caplog.messages
        session._say_sweep(300)  # pyright: ignore[reportPrivateUsage]
    (announced,) = caplog.messages
    assert announced.startswith("removing 300 databases that ended runs left on PostgreSQL")
