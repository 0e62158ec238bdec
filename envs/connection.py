"""How a database is reached: structured fields, or one DSN in an environment variable; never a secret in a config."""

from __future__ import annotations

import importlib.util
import math
import os
from dataclasses import dataclass, fields
from typing import Any, Literal

import sqlalchemy
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from envs.errors import DatabaseConfigError

Driver = Literal["sqlite", "postgresql", "mysql"]

_SCHEMES: dict[str, tuple[Driver, str]] = {
    "sqlite": ("sqlite", "sqlite"),
    "sqlite+pysqlite": ("sqlite", "sqlite"),
    "postgres": ("postgresql", "postgresql+psycopg"),
    "postgresql": ("postgresql", "postgresql+psycopg"),
    "postgresql+psycopg": ("postgresql", "postgresql+psycopg"),
    "mysql": ("mysql", "mysql+pymysql"),
    "mariadb": ("mysql", "mysql+pymysql"),
    "mysql+pymysql": ("mysql", "mysql+pymysql"),
    "mariadb+pymysql": ("mysql", "mysql+pymysql"),
}
_PACKAGES: dict[str, tuple[str, str]] = {"postgresql": ("psycopg", "postgres"), "mysql": ("pymysql", "mysql")}
_LOOPBACK = frozenset({None, "", "localhost", "127.0.0.1", "::1"})
_RECYCLE_S = 1_800
"""Half an hour: well below the eight hours of MariaDB's wait_timeout and what firewalls commonly allow."""


def driver_of(url: sqlalchemy.URL) -> Driver:
    """The engine that a URL speaks to; DatabaseConfigError for one that is not supported."""
    return _scheme(url.drivername)[0]


def parse_url(text: str) -> sqlalchemy.URL:
    """A URL with its driver settled: plain ``postgresql://`` means psycopg 3, ``mysql://`` and ``mariadb://`` PyMySQL.

    DatabaseConfigError where it is no URL, names another driver, its driver is not installed, or an option cannot be
    read. The text is not repeated in the error, since it may hold a password.
    """
    try:
        url = sqlalchemy.make_url(text)
    except (ArgumentError, ValueError):
        raise DatabaseConfigError(
            "this is no database URL; write for example postgresql://user@host:5432/database"
        ) from None
    driver, full = _scheme(url.drivername)
    require_driver(driver)
    url = url.set(drivername=full)
    driver_args(url)
    return url


def require_driver(engine: str) -> None:
    """DatabaseConfigError with the command to type where the driver of an engine is not installed."""
    if engine in _PACKAGES:
        package, extra = _PACKAGES[engine]
        if importlib.util.find_spec(package) is None:
            raise DatabaseConfigError(f"{engine} needs the package {package}: pip install 'synth-worlds[{extra}]'")


@dataclass(frozen=True, slots=True)
class DatabaseConnectionConfig:
    """Either ``dsn_env_var`` (the name of a variable that holds a URL), or the fields of a connection.

    For sqlite ``database`` is a file and ``connect_timeout_s`` the wait for a lock; it has no host, port, username or
    password. ``connect_timeout_s`` is rounded up to whole seconds for psycopg, whose unit it is (and which waits two
    at least). ``pool_size`` connections are kept, ``pool_max_overflow`` more are opened when all are out; who wants
    another one waits ``connect_timeout_s`` (None: half a minute) and gets :class:`sqlalchemy.exc.TimeoutError`.
    """

    driver: Driver | None = None
    host: str | None = None
    port: int | None = None
    database: str | None = None
    username: str | None = None
    password_env_var: str | None = None
    dsn_env_var: str | None = None
    pool_size: int = 5
    pool_max_overflow: int = 10
    connect_timeout_s: float | None = None

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise DatabaseConfigError("database: " + "; ".join(problems))

    def _problems(self) -> list[str]:
        out: list[str] = []
        structured = ("driver", "host", "port", "database", "username", "password_env_var")
        given = [name for name in structured if getattr(self, name) is not None]
        if self.dsn_env_var is not None and given:
            out.append(f"dsn_env_var and {', '.join(given)} exclude each other: the DSN says it all")
        elif self.dsn_env_var is None and self.driver is None:
            out.append("name a driver (sqlite, postgresql or mysql), or a variable by dsn_env_var")
        elif self.driver is not None and self.driver not in {"sqlite", "postgresql", "mysql"}:
            out.append(f"driver {self.driver!r} is none of sqlite, postgresql, mysql")
        elif self.driver == "sqlite":
            out += [f"sqlite has no {name}" for name in given if name not in {"driver", "database"}]
            if self.database in {None, "", ":memory:"}:
                out.append("sqlite needs a file as database: in memory each connection would have its own")
        elif self.driver is not None and not self.database:
            out.append(f"{self.driver} needs a database")
        if self.port is not None and not 0 < self.port < 65_536:
            out.append(f"port must be between 1 and 65535, not {self.port}")
        if self.pool_size < 1:
            out.append(f"pool_size must be at least 1, not {self.pool_size}")
        if self.pool_max_overflow < 0:
            out.append(f"pool_max_overflow must not be negative, not {self.pool_max_overflow}")
        if self.connect_timeout_s is not None and not 0 < self.connect_timeout_s <= 31_536_000:
            out.append(f"connect_timeout_s must be positive, at most a year, not {self.connect_timeout_s}")
        return out

    def url(self) -> sqlalchemy.URL:
        """The URL with its secret in it; print it by ``render_as_string()`` only, which hides the password.

        DatabaseConfigError where a variable that is named is not set.
        """
        if self.dsn_env_var is not None:
            dsn = _secret("dsn_env_var", self.dsn_env_var)
            try:
                return parse_url(dsn)
            except DatabaseConfigError as error:
                raise DatabaseConfigError(f"{self.dsn_env_var}: {error}") from None
        secret = _secret("password_env_var", self.password_env_var) if self.password_env_var is not None else None
        host = self.host if self.driver == "sqlite" or self.host is not None else "127.0.0.1"
        return parse_url(f"{self.driver}://").set(
            username=self.username, password=secret, host=host, port=self.port, database=self.database
        )

    def create_engine(self) -> sqlalchemy.Engine:
        """A pooled engine that tests a connection before it lends it (pre-ping) and renews it after half an hour."""
        url = self.url()
        return sqlalchemy.create_engine(
            url,
            connect_args=connect_args(url, self.connect_timeout_s),
            pool_pre_ping=True,
            pool_recycle=_RECYCLE_S,
            pool_size=self.pool_size,
            max_overflow=self.pool_max_overflow,
            pool_timeout=30 if self.connect_timeout_s is None else self.connect_timeout_s,
            poolclass=sqlalchemy.pool.QueuePool,
            hide_parameters=True,
        )

    def check(self) -> None:
        """Connect and ``SELECT 1``; DatabaseConfigError with the server's words and without the secret."""
        engine = self.create_engine()
        try:
            check(engine)
        finally:
            engine.dispose()

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if getattr(self, each.name)
        )
        return f"DatabaseConnectionConfig({shown})"


def check(engine: sqlalchemy.Engine) -> None:
    """``SELECT 1``; DatabaseConfigError with the server's words and without the secret."""
    try:
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text("SELECT 1"))
    except (SQLAlchemyError, TypeError, ValueError) as error:  # PyMySQL raises the latter two for the URL's options
        cause = getattr(error, "orig", None) or error
        words = next((line for line in str(cause).splitlines() if line.strip()), type(cause).__name__)
        secret = engine.url.password
        if secret:
            words = words.replace(str(secret), "***")
        raise DatabaseConfigError(
            f"cannot connect to {engine.url.render_as_string(hide_password=True)}: {words}"
        ) from None


def connect_args(url: sqlalchemy.URL, timeout_s: float | None = None) -> dict[str, Any]:
    """What the driver's ``connect`` is given beyond the URL.

    PyMySQL builds an SSL context at every connect (some 25 ms), which is of no use on the loopback interface.
    """
    driver = driver_of(url)
    args: dict[str, Any] = {}
    if timeout_s is not None:
        args |= {
            "sqlite": {"timeout": timeout_s},
            "postgresql": {"connect_timeout": math.ceil(timeout_s)},
            "mysql": {"connect_timeout": timeout_s},
        }[driver]
    if driver == "mysql" and url.host in _LOOPBACK and not any(key.startswith("ssl") for key in url.query):
        args["ssl_disabled"] = True
    return args


def driver_args(url: sqlalchemy.URL) -> dict[str, Any]:
    """The URL as its driver's ``connect`` takes it, options of its query among them, as numbers where they are numbers.

    DatabaseConfigError for an option whose value is none.
    """
    try:
        return dict(url.get_dialect()().create_connect_args(url)[1])
    except ValueError as error:
        raise DatabaseConfigError(f"an option of the database URL cannot be read: {error}") from None


def _scheme(name: str) -> tuple[Driver, str]:
    found = _SCHEMES.get(name.lower())
    if found is None:
        raise DatabaseConfigError(
            f"{name}:// is not supported; use sqlite, postgresql (psycopg 3), mysql or mariadb (PyMySQL)"
        )
    return found


def _secret(field: str, variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise DatabaseConfigError(f"{field}: the environment variable {variable} is not set")
    return value
