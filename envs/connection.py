"""Connections to databases: URLs with their drivers, settings of sessions, connects in time.

A secret is in a URL of an environment variable, never in a config.
"""

from __future__ import annotations

import importlib.util
import math
import os
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

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
    """Give each session of the engine the settings of its dialect, before anything else runs."""
    settings = SETTINGS.get(engine.dialect.name, ())

    def on_connect(raw: Any, record: object) -> None:
        cursor = raw.cursor()
        for setting in settings:
            cursor.execute(f"SET {setting}")
        cursor.close()
        raw.commit()  # or a rollback would take the settings back

    if settings:
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
(:data:`envs.sandboxes.load_bounds.LOAD_S`). PyMySQL's own wait has no end.
"""


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


def url_of(variable: str) -> sqlalchemy.URL:
    """The URL that an environment variable holds; print it by ``render_as_string()`` only, which
    hides the password. Raises DatabaseConfigError with the variable's name.
    """
    try:
        if not (text := os.environ.get(variable)):
            raise DatabaseConfigError("the environment variable is not set")
        url = parse_url(text)
        driver_args(url)
    except DatabaseConfigError as error:
        raise DatabaseConfigError(f"{variable}: {error}") from None
    return url


def open_engine(
    url: sqlalchemy.URL, timeout_s: float | None = None, **options: Any
) -> sqlalchemy.Engine:
    """SQLAlchemy's engine, whose connects end after ``timeout_s`` also where the server accepts and
    stays silent, and whose sessions write values alike (:mod:`envs.connection`).
    """
    engine = sqlalchemy.create_engine(url, connect_args=connect_args(url, timeout_s), **options)
    fix_settings(engine)
    if driver_of(url) == "mariadb":
        bound_connects(engine)
    return engine


def bound_connects(engine: sqlalchemy.Engine) -> None:
    """End the connects of a PyMySQL engine after their timeout, whatever the server does."""
    event.listen(engine, "do_connect", _connect_in_time)


def _connect_in_time(dialect: Any, record: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """PyMySQL bounds the connect by its timeout, but neither the greeting nor the login."""
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
