"""The connection to a database: structured fields, or one DSN in an environment variable; never a
secret in a config.
"""

from __future__ import annotations

import importlib.util
import math
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, cast, get_args

import sqlalchemy
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from envs.errors import DatabaseConfigError

POSTGRES = (
    "timezone = 'UTC'",
    "datestyle = 'ISO, MDY'",
    "intervalstyle = 'postgres'",
    "bytea_output = 'hex'",
    "extra_float_digits = 1",
    "statement_timeout = 0",
    "lock_timeout = 0",
    "idle_in_transaction_session_timeout = 0",
)
MARIADB = (
    "time_zone = '+00:00'",
    "sql_select_limit = DEFAULT /*M!100100 , max_statement_time = 0 */",
)

SETTINGS = {"postgresql": POSTGRES, "mysql": MARIADB, "mariadb": MARIADB}
"""The settings by the name of SQLAlchemy's dialect. Other dialects have none. Limits that a role or
a server sets for other work would end a long reading, or cut its rows.
"""


def fix_settings(engine: sqlalchemy.Engine) -> sqlalchemy.Engine:
    """Give each session of the engine the settings of its dialect, before anything else runs, and
    end its waits for a server of PostgreSQL or MariaDB that is silent.
    """
    settings = SETTINGS.get(engine.dialect.name, ())

    def on_connect(raw: Any, record: object) -> None:
        cursor = raw.cursor()
        for setting in settings:
            cursor.execute(f"SET {setting}")
        cursor.close()
        raw.commit()  # or a rollback would take the settings back

    if settings:
        event.listen(engine, "do_connect", _connect)
        event.listen(engine, "connect", on_connect)
    return engine


Driver = Literal["sqlite", "postgresql", "mariadb"]

_SCHEMES: dict[str, tuple[Driver, str]] = {
    "sqlite": ("sqlite", "sqlite"),
    "sqlite+pysqlite": ("sqlite", "sqlite"),
    "postgres": ("postgresql", "postgresql+psycopg"),
    "postgresql": ("postgresql", "postgresql+psycopg"),
    "postgresql+psycopg": ("postgresql", "postgresql+psycopg"),
    "mysql": ("mariadb", "mysql+pymysql"),
    "mariadb": ("mariadb", "mysql+pymysql"),
    "mysql+pymysql": ("mariadb", "mysql+pymysql"),
    "mariadb+pymysql": ("mariadb", "mysql+pymysql"),
}
_PACKAGES: dict[str, tuple[str, str]] = {
    "postgresql": ("psycopg", "postgres"),
    "mariadb": ("pymysql", "mariadb"),
}
_LOOPBACK = frozenset({None, "", "localhost", "127.0.0.1", "::1"})
_CANNOT_CONNECT = 2003
"""PyMySQL's number of an error that ends a connect."""
SILENCE_S = 900
"""Seconds that a read waits for a server's next byte: longer than the scripts of a template may run
(:data:`envs.sandboxes.load_bounds.LOAD_S`). The drivers' own wait has no end.
"""
_YEAR_S = 31_536_000
_RECYCLE_S = 1_800
"""Half an hour: below the eight hours of MariaDB's wait_timeout, and what firewalls allow."""


def driver_of(url: sqlalchemy.URL) -> Driver:
    """The engine of a URL. Raises DatabaseConfigError for one that is not supported."""
    return _scheme(url.drivername)[0]


def parse_url(text: str) -> sqlalchemy.URL:
    """Parse a URL and settle its driver: plain ``postgresql://`` means psycopg 3, ``mariadb://``
    and ``mysql://`` PyMySQL.

    Raises DatabaseConfigError for a text that is not a URL, for another driver, one that is not
    installed, or an option that cannot be read. The text is not repeated in the error, since it may
    hold a password.
    """
    try:
        url = sqlalchemy.make_url(text)
    except (ArgumentError, ValueError):
        raise DatabaseConfigError(
            "not a database URL; write for example postgresql://host:5432/database"
        ) from None
    driver, full = _scheme(url.drivername)
    require_driver(driver)
    url = url.set(drivername=full)
    driver_args(url)
    return url


def require_driver(engine: str) -> None:
    """Raise DatabaseConfigError, with the command to type, where a driver is not installed."""
    if engine in _PACKAGES:
        package, extra = _PACKAGES[engine]
        if importlib.util.find_spec(package) is None:
            raise DatabaseConfigError(
                f"{engine} needs the package {package}: pip install 'synth-worlds[{extra}]'"
            )


@dataclass(frozen=True, slots=True)
class DatabaseConnectionConfig:
    """Either ``dsn_env_var`` (the name of a variable that holds a URL), or the fields of a
    connection.

    For sqlite ``database`` is a file and ``connect_timeout_s`` the wait for a lock; it has no host,
    port, username or password. ``driver`` is an engine or the scheme of its URLs
    (``postgresql+psycopg``; ``mysql`` means mariadb). ``connect_timeout_s`` is rounded
    up to whole seconds for psycopg, whose unit it is (and which waits two at least). ``pool_size``
    connections are kept and ``pool_max_overflow`` more are opened when all are lent; a further
    request waits ``connect_timeout_s`` (None: half a minute) and raises
    :class:`sqlalchemy.exc.TimeoutError`. ``options`` go to the driver like the query of a URL, and
    override the DSN's.
    """

    driver: str | None = None
    host: str | None = None
    port: int | None = None
    database: str | None = None
    username: str | None = None
    password_env_var: str | None = None
    dsn_env_var: str | None = None
    pool_size: int = 5
    pool_max_overflow: int = 10
    connect_timeout_s: float | None = None
    options: Mapping[str, str | int] = field(default_factory=dict[str, str | int], hash=False)

    def __post_init__(self) -> None:
        if self.driver in _SCHEMES:
            object.__setattr__(self, "driver", _SCHEMES[self.driver][0])
        problems = list(self._problems())
        if problems:
            raise DatabaseConfigError("; ".join(problems))

    def _problems(self) -> Iterator[str]:
        structured = ("driver", "host", "port", "database", "username", "password_env_var")
        given = [name for name in structured if getattr(self, name) is not None]
        if self.dsn_env_var is not None and given:
            yield f"dsn_env_var and {', '.join(given)} exclude each other: the DSN says it all"
        elif self.dsn_env_var is None:
            yield from self._driver_problems(given)
        if self.port is not None and not 0 < self.port < 65_536:
            yield f"port must be between 1 and 65535, not {self.port}"
        if self.pool_size < 1:
            yield f"pool_size must be at least 1, not {self.pool_size}"
        if self.pool_max_overflow < 0:
            yield f"pool_max_overflow must not be negative, not {self.pool_max_overflow}"
        if self.connect_timeout_s is not None and not 0 < self.connect_timeout_s <= _YEAR_S:
            yield (
                f"connect_timeout_s must be positive, at most a year, not {self.connect_timeout_s}"
            )

    def _driver_problems(self, given: Sequence[str]) -> Iterator[str]:
        drivers = get_args(Driver)
        if self.driver is None:
            yield f"name a driver ({' or '.join(drivers)}), or a variable by dsn_env_var"
        elif self.driver not in drivers:
            yield f"driver {self.driver!r} is none of {', '.join(drivers)}"
        elif self.driver != "sqlite":
            if self.database is None:
                yield f"{self.driver} needs a database"
        else:
            for name in given:
                if name not in {"driver", "database"}:
                    yield f"sqlite has no {name}"
            if self.database in {None, "", ":memory:"}:
                yield (
                    "sqlite needs a file as database: in memory each connection would have its own"
                )

    def url(self) -> sqlalchemy.URL:
        """Return the URL with its secret; print it by ``render_as_string()`` only, which hides the
        password.

        Raises DatabaseConfigError where a named variable is not set.
        """
        if self.dsn_env_var is not None:
            dsn = _secret("dsn_env_var", self.dsn_env_var)
            try:
                return self._with_options(parse_url(dsn))
            except DatabaseConfigError as error:
                raise DatabaseConfigError(f"{self.dsn_env_var}: {error}") from None
        secret = (
            _secret("password_env_var", self.password_env_var)
            if self.password_env_var is not None
            else None
        )
        host = self.host if self.driver == "sqlite" or self.host is not None else "127.0.0.1"
        return self._with_options(
            parse_url(f"{self.driver}://").set(
                username=self.username,
                password=secret,
                host=host,
                port=self.port,
                database=self.database,
            )
        )

    def _with_options(self, url: sqlalchemy.URL) -> sqlalchemy.URL:
        url = url.update_query_dict({name: str(value) for name, value in self.options.items()})
        driver_args(url)
        return url

    def create_engine(self) -> sqlalchemy.Engine:
        """A pooled engine that tests a connection before lending, renewed after half an hour."""
        url = self.url()
        return open_engine(
            url,
            self.connect_timeout_s,
            pool_pre_ping=True,
            pool_recycle=_RECYCLE_S,
            pool_size=self.pool_size,
            max_overflow=self.pool_max_overflow,
            pool_timeout=30 if self.connect_timeout_s is None else self.connect_timeout_s,
            poolclass=sqlalchemy.pool.QueuePool,
            hide_parameters=True,
        )

    def check(self) -> None:
        """Connect and ``SELECT 1``. DatabaseConfigError has the server's words, not the secret."""
        engine = self.create_engine()
        try:
            check(engine)
        finally:
            engine.dispose()

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name)
        )
        return f"DatabaseConnectionConfig({shown})"


def open_engine(
    url: sqlalchemy.URL, timeout_s: float | None = None, **options: Any
) -> sqlalchemy.Engine:
    """SQLAlchemy's engine, whose connects end after ``timeout_s`` also where the server accepts and
    stays silent, and whose sessions write values alike (:data:`SETTINGS`).
    """
    return fix_settings(
        sqlalchemy.create_engine(url, connect_args=connect_args(url, timeout_s), **options)
    )


def connect_postgres(psycopg: Any, *args: Any, **kwargs: Any) -> Any:
    """A psycopg connection that ends, by its OperationalError, where the server says nothing for
    :data:`SILENCE_S`: libpq bounds only the login.
    """
    return _heard(psycopg.Connection).connect(*args, **kwargs)


@cache
def _heard(base: type) -> Any:
    return type("Connection", (_Heard, base), {})


class _Heard:
    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        return cast("Any", super()).wait(_hear(self, gen), *args, **kwargs)


def _hear(connection: Any, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Pass on what psycopg waits for, and what came: 0 where its short wait was in vain."""
    heard = time.monotonic()
    try:
        wanted = next(gen)
        while True:
            if ready := (yield wanted):
                heard = time.monotonic()
            elif time.monotonic() - heard > SILENCE_S:
                connection.pgconn.finish()
                raise connection.OperationalError(
                    f"the connection is lost: the server was silent for {SILENCE_S:g} s"
                )
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value
    finally:
        gen.close()


def _connect(dialect: Any, record: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """PyMySQL bounds the connect by its timeout, but neither the greeting nor the login; psycopg
    no wait after the login.
    """
    if dialect.name == "postgresql":
        return connect_postgres(dialect.loaded_dbapi, *args, **kwargs)
    connection = dialect.loaded_dbapi.connect(**kwargs, defer_connect=True)
    connect_in_time(connection, connection.connect)
    return connection


def connect_in_time(connection: Any, connect: Callable[[], None]) -> None:
    """Let PyMySQL connect until its ``connect_timeout`` is over, greeting and login included.

    Its own timeouts are of each read from the socket, and a server may send byte by byte. Hence the
    socket is shut down at the deadline, which ends the read.
    """
    timeout = connection.connect_timeout
    own, connection._read_timeout = connection._read_timeout, timeout  # noqa: SLF001
    done, late = threading.Event(), threading.Event()

    def end() -> None:
        wait = timeout
        while not done.wait(wait):
            late.set()
            with suppress(OSError, AttributeError):  # not yet open, or closed
                connection._sock.shutdown(socket.SHUT_RDWR)  # noqa: SLF001
            wait = 0.1

    waiting = threading.Thread(target=end, daemon=True)
    waiting.start()
    try:
        connect()
    except Exception as error:
        if late.is_set():
            error.args = (_CANNOT_CONNECT, f"no login within {timeout:g} s")
        raise
    finally:
        done.set()
        waiting.join()
        connection._read_timeout = own  # noqa: SLF001


def check(engine: sqlalchemy.Engine) -> None:
    """Execute ``SELECT 1``. DatabaseConfigError has the server's words, not the secret."""
    try:
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text("SELECT 1"))
    except (
        SQLAlchemyError,
        TypeError,
        ValueError,
    ) as error:  # PyMySQL raises the latter two for the URL's options
        shown = engine.url.render_as_string(hide_password=True)
        words = driver_words(error, engine.url)
        raise DatabaseConfigError(f"cannot connect to {shown}: {words}") from None


def driver_words(error: Exception, url: sqlalchemy.URL) -> str:
    """The first line of a driver's message, without its number and the URL's secrets."""
    cause = getattr(error, "orig", None) or error
    text = cause.args[-1] if isinstance(next(iter(cause.args), None), int) else cause
    words = next((line for line in str(text).splitlines() if line.strip()), type(cause).__name__)
    for secret in filter(None, map(str, (url.password or "", *url.query.values()))):
        words = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", words)
    return words


def connect_args(url: sqlalchemy.URL, timeout_s: float | None = None) -> dict[str, Any]:
    """Return the arguments of the driver's ``connect`` beyond the URL, whose own timeouts are kept.

    PyMySQL builds an SSL context at every connect (some 25 ms), which is of no use on the loopback
    interface.
    """
    driver = driver_of(url)
    args: dict[str, Any] = {}
    if timeout_s is not None and "connect_timeout" not in url.query:
        args |= {
            "sqlite": {"timeout": timeout_s},
            "postgresql": {"connect_timeout": math.ceil(timeout_s)},
            "mariadb": {"connect_timeout": timeout_s},
        }[driver]
    if driver == "mariadb" and "read_timeout" not in url.query:
        args["read_timeout"] = SILENCE_S
    if (
        driver == "mariadb"
        and url.host in _LOOPBACK
        and not any(key.startswith("ssl") for key in url.query)
    ):
        args["ssl_disabled"] = True
    return args


def driver_args(url: sqlalchemy.URL) -> dict[str, Any]:
    """Return the arguments of the driver's ``connect`` for a URL, options of its query included, as
    numbers where they are numbers.

    Raises DatabaseConfigError for an option whose value cannot be read.
    """
    try:
        return dict(url.get_dialect()().create_connect_args(url)[1])
    except ValueError as error:
        given = [f"{key}={value}" for key, value in url.query.items() if str(value) in str(error)]
        raise DatabaseConfigError(
            "the driver does not take an option of the database URL"
            f" ({', '.join(given or url.query)}); correct it, or leave it out"
        ) from None


def _scheme(name: str) -> tuple[Driver, str]:
    found = _SCHEMES.get(name.lower())
    if found is None:
        raise DatabaseConfigError(
            f"{name}:// is not supported; use sqlite, postgresql (psycopg 3), mariadb or mysql"
            " (PyMySQL)"
        )
    return found


def _secret(field: str, variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise DatabaseConfigError(
            f"{field}: the environment variable {variable} is not set; export it, or name another"
        )
    return value
