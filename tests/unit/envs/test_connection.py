"""Every field of a connection does something, and no secret gets out."""

from __future__ import annotations

import contextlib
import pickle
import socket
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from envs.connection import DatabaseConnectionConfig, connect_args, parse_url
from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import DatabaseConfigError, ExecutorError
from envs.sandboxes.attached.access import access_of
from envs.sandboxes.mariadb.sandbox import MariaDBTemplate
from envs.sandboxes.postgres.sandbox import PostgresTemplate
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.tools.tool import tool
from envs.tools.toolbox import Toolbox
from envs.types import Pins, ToolCall


@pytest.mark.parametrize(
    ("given", "full"),
    [
        ("postgresql://u@h/d", "postgresql+psycopg"),
        ("postgres://u@h/d", "postgresql+psycopg"),
        ("mysql://u@h/d", "mysql+pymysql"),
        ("mariadb://u@h/d", "mysql+pymysql"),
        ("sqlite:///x.sqlite", "sqlite"),
    ],
)
def test_a_plain_url_gets_our_driver(given: str, full: str):
    assert parse_url(given).drivername == full


@pytest.mark.parametrize(
    "text", ["oracle://u:geheim@h/d", "postgresql+psycopg2://u:geheim@h/d", "geheim"]
)
def test_a_url_that_cannot_be_used_is_refused_without_its_secret(text: str):
    with pytest.raises(DatabaseConfigError) as caught:
        parse_url(text)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(("driver", "extra"), [("postgresql", "postgres"), ("mariadb", "mariadb")])
def test_a_missing_driver_names_its_extra(driver: str, extra: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(DatabaseConfigError, match=rf"synth-worlds\[{extra}\]"):
        parse_url(f"{driver}://u@h/d")
    with pytest.raises(DatabaseConfigError, match=rf"synth-worlds\[{extra}\]"):
        access_of(f"{driver}://u@h/d")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "name a driver"),
        ({"driver": "oracle", "database": "x"}, "none of sqlite"),
        (
            {"dsn_env_var": "DSN", "host": "h", "database": "d"},
            "dsn_env_var and host, database exclude each other",
        ),
        ({"driver": "sqlite", "database": "x", "host": "h"}, "sqlite has no host"),
        ({"driver": "sqlite"}, "needs a file"),
        ({"driver": "mysql"}, "needs a database"),
        ({"driver": "mysql", "database": "d", "port": 0}, "port"),
        ({"driver": "mysql", "database": "d", "pool_size": 0}, "pool_size"),
        ({"driver": "mysql", "database": "d", "pool_max_overflow": -1}, "pool_max_overflow"),
        ({"driver": "mysql", "database": "d", "connect_timeout_s": 0}, "connect_timeout_s"),
    ],
)
def test_a_wrong_description_is_refused(fields: dict[str, Any], words: str):
    with pytest.raises(DatabaseConfigError, match=words):
        DatabaseConnectionConfig(**fields)


def test_fields_become_a_url_with_the_password_of_the_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", "ge@heim/:")
    config = DatabaseConnectionConfig("postgresql", "h", 5433, "d", "u", "SECRET")
    url = config.url()
    assert (url.host, url.port, url.database, url.username, url.password) == (
        "h",
        5433,
        "d",
        "u",
        "ge@heim/:",
    )
    assert "heim" not in repr(config) + str(pickle.dumps(config))
    monkeypatch.delenv("SECRET")
    with pytest.raises(DatabaseConfigError, match="SECRET is not set"):
        config.url()


def test_a_dsn_is_taken_by_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DSN", "mysql://u:geheim@h:3307/d?charset=utf8mb4")
    url = DatabaseConnectionConfig(dsn_env_var="DSN").url()
    assert (url.drivername, url.port, dict(url.query)) == (
        "mysql+pymysql",
        3307,
        {"charset": "utf8mb4"},
    )
    monkeypatch.setenv("DSN", "oracle://u:geheim@h/d")
    with pytest.raises(DatabaseConfigError, match=r"^DSN: oracle") as caught:
        DatabaseConnectionConfig(dsn_env_var="DSN").url()
    assert "geheim" not in str(caught.value)


def test_the_timeout_reaches_every_driver():
    assert connect_args(parse_url("sqlite:///x"), 1.5) == {"timeout": 1.5}
    assert connect_args(parse_url("postgresql://u@h/d"), 2.5) == {"connect_timeout": 3}
    assert connect_args(parse_url("mysql://u@h/d"), 2.5) == {
        "connect_timeout": 2.5,
        "read_timeout": 900,
    }


def test_only_the_loopback_goes_without_tls():
    assert connect_args(parse_url("mysql://u@127.0.0.1/d?read_timeout=9")) == {"ssl_disabled": True}
    assert connect_args(parse_url("mysql://u@127.0.0.1/d?ssl_ca=x&read_timeout=9")) == {}
    assert connect_args(parse_url("mysql://u@db.example/d?read_timeout=9")) == {}


def test_sqlite_waits_for_a_lock_as_long_as_it_was_told(tmp_path: Path):
    """The shortest wait: a writer that cannot have the lock fails, and the pool's size holds."""
    path = tmp_path / "x.sqlite"
    config = DatabaseConnectionConfig(
        "sqlite", database=str(path), connect_timeout_s=0.001, pool_size=1, pool_max_overflow=0
    )
    config.check()
    engine = config.create_engine()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with (
            engine.connect() as connection,
            pytest.raises(sqlalchemy.exc.OperationalError, match="locked"),
        ):
            connection.exec_driver_sql("CREATE TABLE t (a)")
        assert (engine.pool.size(), engine.pool._max_overflow, engine.pool._pre_ping) == (
            1,
            0,
            True,
        )
    finally:
        holder.close()
        engine.dispose()


OF_A_SESSION = {
    "sqlite": ("SELECT 0",),
    "postgres": (
        "SELECT pg_backend_pid()", "SELECT pg_terminate_backend({})", ("SELECT count(*) FROM pg_stat_activity WHERE pid = {}"),
    ),
    "mysql": (
        "SELECT CONNECTION_ID()", "KILL {}", ("SELECT count(*) FROM information_schema.processlist WHERE id = {}"),
    ),
}  # fmt: skip
"""What tells its number, what ends it, and what tells whether it is there."""

POOL = {"pool_size": 1, "pool_max_overflow": 1, "connect_timeout_s": 1.0}


def pooled(
    engine: str, request: pytest.FixtureRequest, patch: pytest.MonkeyPatch
) -> sqlalchemy.Engine:
    """Of a config that keeps one connection and lends two, on SQLite or a server."""
    if engine == "sqlite":
        path = request.getfixturevalue("tmp_path") / "x.sqlite"
        return DatabaseConnectionConfig("sqlite", database=str(path), **POOL).create_engine()
    patch.setenv("DSN", request.getfixturevalue(f"{engine}_url"))
    return DatabaseConnectionConfig(dsn_env_var="DSN", **POOL).create_engine()


@pytest.mark.parametrize("engine", ["sqlite", "postgres", "mysql"])
def test_a_pool_lends_as_many_as_it_was_told_and_renews_what_is_gone(
    engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
):
    """One more is an exception, at once; one that died meanwhile is not lent (pre-ping), nor one
    that is too old.
    """
    pool = pooled(engine, request, monkeypatch)
    with pool.connect() as one:
        with pool.connect() as other:
            with pytest.raises(sqlalchemy.exc.TimeoutError, match="size 1 overflow 1"):
                pool.connect()
            kept = other.connection.dbapi_connection
            number = other.execute(sqlalchemy.text(OF_A_SESSION[engine][0])).scalar_one()
        assert (pool.pool.checkedin(), pool.pool._recycle) == (1, 1_800)
        if engine == "sqlite":
            kept.close()
        else:
            _, end, there = (sqlalchemy.text(each.format(number)) for each in OF_A_SESSION[engine])
            one.execute(end)
            while one.execute(there).scalar_one():
                one.rollback()
    with pool.connect() as again:
        assert again.execute(sqlalchemy.text("SELECT 1")).scalar_one() == 1
    pool.dispose()


def test_an_exhausted_pool_in_a_tool_is_an_exception_and_no_result_for_the_model(tmp_path: Path):
    """Of an executor that opens databases of its own: what it lacks is no mistake of the
    model's.
    """
    engine = DatabaseConnectionConfig(
        "sqlite", database=str(tmp_path / "x.sqlite"), **POOL
    ).create_engine()

    @tool(read_only=True)
    def ask(db: sqlalchemy.Connection, what: str) -> str:
        """Ask elsewhere.

        Args:
            what: What for.
        """
        if what == "config":
            DatabaseConnectionConfig(dsn_env_var="NOT_SET_AT_ALL").url()
        with engine.connect() as one, engine.connect(), engine.connect():
            return str(one)

    def call(what: str) -> object:
        with (
            SqliteTemplate.build(
                lambda connection: connection.execute("CREATE TABLE t (a)")
            ) as template,
            DatabaseExecutableEnvironment(
                Toolbox([ask]), template.open(Pins()), template.tables
            ) as environment,
        ):
            return environment.call(ToolCall.of("ask", {"what": what}))

    with pytest.raises(ExecutorError, match="TimeoutError: QueuePool limit") as caught:
        call("pool")
    assert isinstance(caught.value.__cause__, sqlalchemy.exc.TimeoutError)
    with pytest.raises(DatabaseConfigError, match="NOT_SET_AT_ALL is not set"):
        call("config")
    engine.dispose()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mysql://root@127.0.0.1:1/d?no_such_option=1", "no_such_option"),
        ("mysql://root@127.0.0.1:1/d?connect_timeout=soon", "soon"),
        ("postgresql://postgres@127.0.0.1:1/d?no_such_option=1", "no_such_option"),
    ],
)
def test_an_option_of_a_url_that_its_driver_does_not_know(
    text: str, words: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DSN", text)
    with pytest.raises(DatabaseConfigError, match=words):
        DatabaseConnectionConfig(dsn_env_var="DSN").check()
    build = MariaDBTemplate.build if text.startswith("mysql") else PostgresTemplate.build
    with pytest.raises(DatabaseConfigError, match=words):
        build(lambda connection: None, text)


@pytest.mark.parametrize("driver", ["postgresql", "mysql"])
def test_a_server_that_is_not_there_is_found_at_once(driver: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", "geheim")
    config = DatabaseConnectionConfig(
        driver, "127.0.0.1", 1, "d", "u", "SECRET", connect_timeout_s=5
    )
    with pytest.raises(
        DatabaseConfigError, match=r"cannot connect to .*u:\*\*\*@127\.0\.0\.1:1/d"
    ) as caught:
        config.check()
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("engine", ["postgres", "mysql"])
def test_a_real_server_answers(
    engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DSN", request.getfixturevalue(f"{engine}_url"))
    DatabaseConnectionConfig(dsn_env_var="DSN", connect_timeout_s=5).check()


def test_a_server_that_greets_byte_by_byte_ends_the_connect_in_time() -> None:
    """Each byte comes in time for a read; the connect as a whole does not."""
    stop = threading.Event()

    def greet(listening: socket.socket) -> None:
        peer, _ = listening.accept()
        with peer, contextlib.suppress(OSError):
            for byte in b"\x4a\0\0\0\x0a5.5.5-10.11.6-MariaDB" * 9:
                if stop.wait(0.3):
                    return
                peer.sendall(bytes([byte]))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=greet, args=(listening,), daemon=True).start()
        began = time.monotonic()
        try:
            with pytest.raises(DatabaseConfigError, match="no login within 1 s"):
                DatabaseConnectionConfig(
                    driver="mariadb",
                    port=listening.getsockname()[1],
                    username="u",
                    database="d",
                    connect_timeout_s=1,
                ).check()
        finally:
            stop.set()
    assert time.monotonic() - began < 5
