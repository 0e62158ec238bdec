"""Engines by name and servers by the name of a variable, as Python and command-line options."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

import sqlalchemy

from envs.connection import DatabaseConnectionConfig, driver_args, parse_url
from envs.errors import DatabaseConfigError
from envs.plugins import ENGINES, PluginError
from envs.sandboxes.base import DatabaseTarget, Kind, find_engine
from synth.core.config.database import ConnectionConfig, DatabaseConfig
from synth.core.config.database_rules import no_server
from synth.core.foundation.credentials import variable_value
from synth.errors import OperatorError

KINDS: tuple[Kind, ...] = get_args(Kind)


def engine_of(database: str, option: str) -> str:
    """The name of an engine, given by its name or alias in the option ``option``.

    Raises :class:`OperatorError` for an unknown engine.
    """
    try:
        return ENGINES.find(database).name
    except PluginError as error:
        raise OperatorError(f"{option}: {error}") from None


def target_of(engine: str, variable: str | None, kind: Kind, option: str) -> DatabaseTarget:
    """The server whose URL a variable holds, None for the one on this machine; ``option`` is where
    it was named.

    Raises :class:`OperatorError` naming the variable where it is not set, and for a variable where
    the engine has no server.
    """
    if variable is None:
        return DatabaseTarget(None, kind)
    if problem := no_server(engine):
        raise OperatorError(f"{option}: {problem}; use postgres or mariadb")
    url = variable_value(option, variable)
    return DatabaseTarget(find_engine(engine).settled(url), kind)


def configured_target(database: DatabaseConfig) -> DatabaseTarget:
    """The server that the section ``database`` of a config describes, without the engine's options.

    Raises :class:`OperatorError` where a variable is not set, or what it holds is not a URL.
    """
    target = target_of(
        database.engine, database.dsn_env_var, database.sandbox, "database.dsn_env_var"
    )
    connection = database.connection
    if connection == ConnectionConfig():
        return target
    key = "database.connection" if target.url is None else "database.dsn_env_var"
    try:
        url = parse_url(target.url) if target.url else _server(database)
        query = {name: _text(value) for name, value in connection.options.items()}
        query.setdefault("connect_timeout", str(math.ceil(connection.connect_timeout_s)))
        url = url.update_query_dict(query | dict(url.query))
        driver_args(url)
    except DatabaseConfigError as error:
        raise OperatorError(f"{key}: {error}") from None
    address = url.render_as_string(hide_password=False)
    return replace(target, url=address, pool_size=connection.pool_size)


def _server(database: DatabaseConfig) -> sqlalchemy.URL:
    """The engine's usual server, with what the config says otherwise."""
    connection = database.connection
    usual = parse_url(
        getattr(ENGINES.load(database.engine), "default_url", None)
        or f"{connection.driver or database.engine}://127.0.0.1"
    )
    return DatabaseConnectionConfig(
        driver=usual.drivername,
        host=connection.host or usual.host,
        port=connection.port or usual.port,
        username=connection.username or usual.username,
        password_env_var=connection.password_env_var,
        database=connection.database or usual.database or "",
    ).url()


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
