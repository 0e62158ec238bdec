"""The URL of the server that the fields of a config's section ``database`` describe."""

from __future__ import annotations

import math

import sqlalchemy

from envs.connection import DatabaseConnectionConfig, driver_args, parse_url
from envs.errors import DatabaseConfigError
from envs.plugins import ENGINES
from synth.core.config.database import DatabaseConfig
from synth.errors import OperatorError


def server_url(database: DatabaseConfig, address: str | None) -> str:
    """The URL with its secret: the ``address`` that a variable holds, or else the fields, with the
    options of both. Raises :class:`OperatorError`.
    """
    connection = database.connection
    key = "database.connection" if address is None else "database.dsn_env_var"
    try:
        url = parse_url(address) if address else _server(database)
        query = {name: _text(value) for name, value in connection.options.items()}
        query.setdefault("connect_timeout", str(math.ceil(connection.connect_timeout_s)))
        url = url.update_query_dict(query | dict(url.query))
        driver_args(url)
    except DatabaseConfigError as error:
        raise OperatorError(f"{key}: {error}") from None
    return url.render_as_string(hide_password=False)


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
