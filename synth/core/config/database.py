"""The database's part of the config: the engine, the server and the limits of a tool call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from synth.core.config.types import EngineName, MoreThanZero, Positive, Section, Text

Driver = Literal[
    "postgresql", "postgresql+psycopg", "mariadb", "mariadb+pymysql", "mysql", "mysql+pymysql"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionConfig(Section):
    """The server of the sandboxes, field by field; without any of them the server on this machine.

    ``driver`` repeats the engine (``postgresql``, ``postgresql+psycopg``, ``mariadb``).
    ``password_env_var`` names the variable that holds the password. ``database`` is the one that is
    connected to first: sandboxes are databases of their own beside it, and ``synth reseed`` fills
    it. ``options`` go to the driver as the query of a URL does (``sslmode: require``).

    ``connect_timeout_s`` bounds each connect, up to the end of the login; whole seconds.
    ``pool_size`` sandboxes per worker and universe are kept for further rollouts, others are
    dropped after use; None: up to the bound for all universes.
    """

    driver: Driver | None = None
    host: Text | None = None
    port: Annotated[int, Strict(), Field(gt=0, lt=65_536)] | None = None
    username: Text | None = None
    password_env_var: Text | None = None
    database: Text | None = None
    connect_timeout_s: MoreThanZero = 10.0
    pool_size: Positive | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseConfig(Section):
    """The engine of the sandboxes, and what one tool call may use of it.

    ``engine`` is a name or an alias of :data:`envs.plugins.ENGINES`, or
    ``package.module:attribute``; an alias becomes the name.

    ``dsn_env_var`` names a variable that holds a server's URL, instead of the fields of
    ``connection`` (None: the server on this machine); a sandbox there is ``pooled`` (undone, used
    again) or ``cloned`` (dropped). ``read_only``: no tool can write, whatever it declares.
    ``options`` are those that an engine of your own declares
    (:attr:`envs.sandboxes.base.Engine.Options`). ``audit`` logs each tool call, at ``audit_level``
    debug each statement too (:mod:`envs.audit`).
    """

    engine: EngineName = "sqlite"
    dsn_env_var: Text | None = None
    connection: ConnectionConfig = field(default_factory=ConnectionConfig)
    sandbox: Literal["pooled", "cloned"] = "pooled"
    read_only: Annotated[bool, Strict()] = False
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    statement_timeout_ms: Positive = 5_000
    max_rows: Positive = 10_000
    max_result_bytes: Positive = 200_000
    audit: Annotated[bool, Strict()] = False
    audit_level: Literal["info", "debug"] = "info"
