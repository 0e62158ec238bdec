"""An account with a limit of time on its statements ended template building in "canceling statement".

Issue 29: limits that are meant for an account's own work are lifted for our sessions; a disk that
cannot be written is the operator's.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy

from envs.connection import open_engine, parse_url
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.sandboxes.postgres.sandbox import PostgresTemplate
from envs.sandboxes.postgres.server import PostgresServer
from envs.sandboxes.server.admin_session import MANY_DROPS
from envs.types import Pins, StateDiff
from synth.errors import OperatorError
from synth.ext.authoring.folder import new_folder, write_files, writing
from tests.live_schema import own_database
from tests.servers import server

ROLE = "limited_by_a_case"
LIMITS = ("statement_timeout = '400ms'", "lock_timeout = '400ms'")


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
    assert isinstance(built, PostgresTemplate)
    with closing(built) as template, closing(template.open(Pins(seed=1))) as sandbox:
        assert sandbox.diff() == StateDiff()
        with template.server.connect() as admin:
            admin.execute("SELECT pg_sleep(0.6)")


def test_the_removal_of_many_databases_is_announced(caplog: pytest.LogCaptureFixture):
    session = object.__new__(PostgresServer)
    with caplog.at_level(logging.WARNING):
        session._say_sweep(MANY_DROPS - 1)  # pyright: ignore[reportPrivateUsage]
        assert not caplog.messages
        session._say_sweep(300)  # pyright: ignore[reportPrivateUsage]
    (announced,) = caplog.messages
    assert announced.startswith("removing 300 databases that ended runs left on PostgreSQL")


def test_a_timeout_of_a_role_ends_no_reading():
    with own_database("postgresql") as url:
        reader = open_engine(parse_url(url))
        with reader.begin() as db:
            db.exec_driver_sql(f"ALTER DATABASE {reader.url.database} SET statement_timeout = 1000")
        reader.dispose()
        with reader.connect() as db:
            assert db.exec_driver_sql("SHOW statement_timeout").scalar_one() == "0"
            reset = "SELECT reset_val FROM pg_settings WHERE name = 'statement_timeout'"
            assert db.exec_driver_sql(reset).scalar_one() == "1000"
        reader.dispose()


def test_a_limit_of_a_server_cuts_no_rows():
    url = parse_url(server("mariadb")).update_query_dict(
        {"init_command": "SET sql_select_limit = 1"}
    )
    reader = open_engine(url)
    with reader.connect() as db:
        assert len(db.exec_driver_sql("SELECT 1 UNION SELECT 2").all()) == 2
    reader.dispose()


def test_a_full_or_read_only_disk_is_the_operators(tmp_path: Path):
    place = tmp_path / "file"
    place.write_text("no folder")
    with (
        pytest.raises(OperatorError, match="world: cannot be written: "),
        new_folder(place / "world"),
    ):
        pass
    with (
        pytest.raises(OperatorError, match="cannot be written: No space left"),
        new_folder(tmp_path / "full") as folder,
    ):
        (folder / "a").symlink_to("/dev/full")
        write_files(folder, {"a": "x" * 100_000})
    with pytest.raises(OperatorError, match=r"written: No space$"), writing(tmp_path):
        raise shutil.Error([("from", "to", "No space")])
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
