"""Engines by name and servers by the name of a variable, as Python and command-line options."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from envs.plugins import ENGINES, PluginError, resolve
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
    address = resolve("synth.core.config.server_url:server_url")(database, target.url)
    return replace(target, url=address, pool_size=connection.pool_size)
