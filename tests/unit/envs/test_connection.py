"""URLs, their drivers and connects in time; no secret gets out."""

from __future__ import annotations

import contextlib
import socket
import sqlite3
import threading
import time
from pathlib import Path

import pytest
import sqlalchemy

from envs.connection import check, connect_args, open_engine, parse_url, url_of
from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import DatabaseConfigError, ExecutorError
from envs.sandboxes.attached.access import access_of
from envs.sandboxes.mariadb.sandbox import MariaDBTemplate
from envs.sandboxes.postgres.sandbox import PostgresTemplate
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.tools.tool import tool
from envs.tools.toolbox import Toolbox
from envs.types import Pins, ToolCall


def connect(url: str, timeout_s: float | None = None) -> None:
    check(open_engine(parse_url(url), timeout_s, poolclass=sqlalchemy.NullPool))


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


def test_a_dsn_is_taken_by_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DSN", "mysql://u:geheim@h:3307/d?charset=utf8mb4")
    url = url_of("DSN")
    assert (url.drivername, url.port, dict(url.query)) == (
        "mysql+pymysql",
        3307,
        {"charset": "utf8mb4"},
    )
    monkeypatch.setenv("DSN", "oracle://u:geheim@h/d")
    with pytest.raises(DatabaseConfigError, match=r"^DSN: oracle") as caught:
        url_of("DSN")
    assert "geheim" not in str(caught.value)
    monkeypatch.delenv("DSN")
    with pytest.raises(DatabaseConfigError, match="DSN: the environment variable is not set"):
        url_of("DSN")


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
    """The shortest wait: a writer that cannot have the lock fails."""
    path = tmp_path / "x.sqlite"
    engine = open_engine(parse_url(f"sqlite:///{path}"), 0.001)
    check(engine)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with (
            engine.connect() as connection,
            pytest.raises(sqlalchemy.exc.OperationalError, match="locked"),
        ):
            connection.exec_driver_sql("CREATE TABLE t (a)")
    finally:
        holder.close()
        engine.dispose()


def test_an_exhausted_pool_in_a_tool_is_an_exception_and_no_result_for_the_model(tmp_path: Path):
    """Of an executor that opens databases of its own: what it lacks is no mistake of the
    model's.
    """
    engine = sqlalchemy.create_engine(
        f"sqlite:///{tmp_path}/x.sqlite", pool_size=1, max_overflow=1, pool_timeout=1
    )

    @tool(read_only=True)
    def ask(db: sqlalchemy.Connection, what: str) -> str:
        """Ask elsewhere.

        Args:
            what: What for.
        """
        if what == "config":
            url_of("NOT_SET_AT_ALL")
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
    with pytest.raises(
        DatabaseConfigError, match="NOT_SET_AT_ALL: the environment variable is not set"
    ):
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
def test_an_option_of_a_url_that_its_driver_does_not_know(text: str, words: str):
    with pytest.raises(DatabaseConfigError, match=words):
        connect(text)
    build = MariaDBTemplate.build if text.startswith("mysql") else PostgresTemplate.build
    with pytest.raises(DatabaseConfigError, match=words):
        build(lambda connection: None, text)


@pytest.mark.parametrize("driver", ["postgresql", "mysql"])
def test_a_server_that_is_not_there_is_found_at_once(driver: str):
    with pytest.raises(
        DatabaseConfigError, match=r"cannot connect to .*u:\*\*\*@127\.0\.0\.1:1/d"
    ) as caught:
        connect(f"{driver}://u:geheim@127.0.0.1:1/d", 5)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("engine", ["postgres", "mysql"])
def test_a_real_server_answers(engine: str, request: pytest.FixtureRequest):
    connect(request.getfixturevalue(f"{engine}_url"), 5)


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
                connect(f"mariadb://u@127.0.0.1:{listening.getsockname()[1]}/d", 1)
        finally:
            stop.set()
    assert time.monotonic() - began < 5
