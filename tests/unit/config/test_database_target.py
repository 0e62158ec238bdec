"""A server described in the config, and the URL that it comes to."""

from __future__ import annotations

from typing import Any

import pytest

from envs.connection import parse_url
from synth.config import from_dict, problems
from synth.core.config.database_target import configured_target
from synth.core.runner.setup import database_target
from synth.errors import ConfigProblems, OperatorError

DSN = "mariadb://me:geheim1234@db.example/shop?charset=utf8mb4"


def config(engine: str, **connection: Any) -> dict[str, Any]:
    return {"env": {"name": "shop"}, "database": {"engine": engine, "connection": connection}}


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASSWORD", "ge@heim/:1234")
    monkeypatch.setenv("MY_DSN", DSN)


@pytest.mark.parametrize(
    ("engine", "scheme", "port"),
    [("postgresql", "postgresql+psycopg", 5432), ("mariadb", "mysql+pymysql", 3306)],
)
def test_the_fields_become_a_url(engine: str, scheme: str, port: int) -> None:
    raw = config(
        engine,
        driver=scheme if engine == "postgresql" else engine,
        host="db.example",
        username="me",
        password_env_var="DB_PASSWORD",
        database="shop",
        connect_timeout_s=2.5,
        pool_size=3,
        options={"application_name": "x", "keepalives": 1, "flag": True},
    )
    target = configured_target(from_dict(raw).database)
    assert target.url is not None
    assert target.pool_size == 3
    url = parse_url(target.url)
    assert (url.drivername, url.host, url.port, url.username, url.password, url.database) == (
        scheme,
        "db.example",
        port,
        "me",
        "ge@heim/:1234",
        "shop",
    )
    query = {"application_name": "x", "keepalives": "1", "flag": "true", "connect_timeout": "3"}
    assert dict(url.query) == query
    assert "heim" not in repr(target)


def test_what_is_not_said_is_the_engines_usual_server() -> None:
    target = configured_target(from_dict(config("postgresql", host="db.example")).database)
    assert target.url == "postgresql+psycopg://postgres@db.example:5432/postgres?connect_timeout=10"


def test_without_a_word_about_it_the_target_has_no_url() -> None:
    assert configured_target(from_dict(config("postgresql")).database).url is None


def test_a_dsn_keeps_what_it_says_itself() -> None:
    raw = config("mariadb", connect_timeout_s=2, options={"charset": "latin1", "ssl_ca": "x"})
    raw["database"]["dsn_env_var"] = "MY_DSN"
    url = parse_url(configured_target(from_dict(raw).database).url or "")
    assert dict(url.query) == {"charset": "utf8mb4", "ssl_ca": "x", "connect_timeout": "2"}
    assert (url.host, url.password) == ("db.example", "geheim1234")


@pytest.mark.parametrize(
    ("engine", "connection", "words"),
    [
        ("sqlite", {"host": "h"}, "connection.host: SQLite has no server"),
        ("sqlite", {"pool_size": 3}, "connection.pool_size: SQLite has no server"),
        ("postgresql", {"driver": "mysql"}, "the engine postgresql speaks postgresql, not mysql"),
        ("postgresql", {"port": 70_000}, "database.connection.port: must be less than 65536"),
        ("postgresql", {"options": {"password": "x"}}, "no secret belongs in a config"),
        ("postgresql", {"options": {"sslpassword": "x"}}, "no secret belongs in a config"),
        ("postgresql", {"options": {"a": [1]}}, "options.a: an option of the driver is a text"),
        (
            "postgresql",
            {"password_env_var": "postgres://me:x@h/d"},
            "takes the name of an environment variable",
        ),
    ],
)
def test_what_makes_no_sense_is_named(engine: str, connection: dict[str, Any], words: str) -> None:
    [line] = problems(config(engine, **connection))
    assert words in line


def test_a_url_and_fields_exclude_each_other() -> None:
    raw = config("mariadb", host="h", username="me")
    raw["database"]["dsn_env_var"] = "MY_DSN"
    [line] = problems(raw)
    assert line.startswith(
        "database.dsn_env_var, database.connection.host, database.connection.username: the URL of the"
        " variable says it all"
    )


def test_a_variable_that_is_not_set_is_named() -> None:
    given = from_dict(config("postgresql", password_env_var="NOT_SET_AT_ALL"))
    with pytest.raises(OperatorError, match="NOT_SET_AT_ALL is not set; export it, or"):
        configured_target(given.database)


def test_no_connection_to_an_attached_database_is_too_few() -> None:
    raw = config("attached")
    raw["database"] |= {"dsn_env_var": "MY_DSN", "options": {"connections": 0}}
    with pytest.raises(ConfigProblems, match=r"database\.options\.connections"):
        database_target(from_dict(raw).database)
