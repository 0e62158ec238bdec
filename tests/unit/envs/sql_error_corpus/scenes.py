"""Errors that take more than a statement: refused and lost connections, locks, deadlocks, rights,
sizes, parameters.
"""

from __future__ import annotations

import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from io import BufferedRWPair
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from envs.types import ErrorCategory as Category
from tests.unit.envs.sql_error_corpus.drivers import engine_of, speak

Scene = tuple[str, Category, DBAPIError | sqlite3.Error | None]
"""What happened, the category that it is, and the error; None if there was none."""

MORE = "UPDATE products SET stock = stock + 1 WHERE product_id = {id}"


def caught(act: Callable[[], object]) -> DBAPIError | sqlite3.Error | None:
    try:
        act()
    except (DBAPIError, sqlite3.Error) as error:
        return error
    return None


def run(db: sa.Connection, sql: str, parameters: dict[str, object] | None = None) -> None:
    if parameters is None:
        result = db.exec_driver_sql(sql, execution_options={"no_parameters": True})
    else:
        result = db.execute(sa.text(sql), parameters)
    if result.returns_rows:
        result.all()


def by_server(url: sa.URL, driver: str, language: str = "") -> Iterator[Scene]:
    """A server's, through one driver; ``url`` is a database that holds the shop."""
    family = url.get_backend_name()
    for what, wrong in (
        ("refused", url.set(port=1)),
        ("no database", url.set(database="no_such_database")),
        ("no user", url.set(username="no_such_user", password="x")),
    ):
        yield (
            what,
            Category.CONNECTION_ERROR,
            caught(lambda wrong=wrong: engine_of(wrong, driver).connect().close()),
        )
    with _pair(url, driver, language) as (one, two):
        yield "lock", Category.TIMEOUT, _lock_wait(one, two, family)
        yield "deadlock", Category.DEADLOCK, _deadlock(one, two, family)
        if family == "postgresql":
            yield "serialization", Category.DEADLOCK, _serialization(one, two)
        yield "killed", Category.CONNECTION_ERROR, _killed(one, two, family)
    for what, sql in (("wide", _wide(family)), ("many tables", _many_tables(family))):
        with _pair(url, driver, language) as (one, _):
            yield what, Category.LIMIT_EXCEEDED, caught(lambda one=one, sql=sql: run(one, sql))
    if driver in {"psycopg", "psycopg2"}:
        with _pair(url, driver, language) as (one, _):
            yield (
                "an object",
                Category.TYPE_MISMATCH,
                caught(lambda: run(one, "SELECT :a", {"a": object()})),
            )
    if family == "mysql":
        yield from _as_a_reader(url, driver, language)


@contextmanager
def _pair(url: sa.URL, driver: str, language: str) -> Iterator[tuple[sa.Connection, sa.Connection]]:
    engine = engine_of(url, driver)
    one, two = engine.connect(), engine.connect()
    try:
        for each in (one, two):
            speak(each, url.get_backend_name(), language)
        yield one, two
    finally:
        for each in (one, two):
            each.invalidate()
            each.close()
        engine.dispose()


def _lock_wait(
    one: sa.Connection, two: sa.Connection, family: str
) -> DBAPIError | sqlite3.Error | None:
    run(one, MORE.format(id=1))
    run(
        two,
        "SET lock_timeout = 20" if family == "postgresql" else "SET innodb_lock_wait_timeout = 0",
    )
    error = caught(lambda: run(two, MORE.format(id=1)))
    one.rollback()
    two.rollback()
    run(
        two,
        "SET lock_timeout = 0" if family == "postgresql" else "SET innodb_lock_wait_timeout = 20",
    )
    two.commit()
    return error


def _deadlock(
    one: sa.Connection, two: sa.Connection, family: str
) -> DBAPIError | sqlite3.Error | None:
    if family == "postgresql":
        for each in (one, two):
            run(each, "SET deadlock_timeout = '20ms'")
            each.commit()
    run(one, MORE.format(id=1))
    run(two, MORE.format(id=2))
    errors: list[DBAPIError | sqlite3.Error | None] = []
    other = threading.Thread(
        target=lambda: errors.append(caught(lambda: run(one, MORE.format(id=2))))
    )
    other.start()
    errors.append(caught(lambda: run(two, MORE.format(id=1))))
    if errors[-1] is not None or len(errors) == 1:
        two.rollback()
    other.join()
    one.rollback()
    two.rollback()
    return next((each for each in errors if each is not None), None)


def _serialization(one: sa.Connection, two: sa.Connection) -> DBAPIError | sqlite3.Error | None:
    run(one, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    run(one, "SELECT * FROM products")
    run(two, MORE.format(id=1))
    two.commit()
    error = caught(lambda: run(one, MORE.format(id=1)))
    one.rollback()
    return error


def _killed(
    one: sa.Connection, two: sa.Connection, family: str
) -> DBAPIError | sqlite3.Error | None:
    if family == "postgresql":
        number = one.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        run(two, f"SELECT pg_terminate_backend({number}, 5000)")
    else:
        number = one.exec_driver_sql("SELECT connection_id()").scalar_one()
        run(two, f"KILL {number}")
    file = getattr(one.connection.driver_connection, "_sock", None)
    error = caught(lambda: run(one, "SELECT 1 FROM products"))
    if isinstance(file, BufferedRWPair):  # pg8000 leaves there what it could not write
        with suppress(OSError):
            file.close()
    return error


def _wide(family: str) -> str:
    columns = ", ".join(f"c{n} INTEGER" for n in range(5000 if family == "mysql" else 1700))
    return f"CREATE TABLE wide ({columns})"


def _many_tables(family: str) -> str:
    if family == "mysql":
        return "SELECT 1 FROM " + ", ".join(f"products t{n}" for n in range(70))
    return (
        f"SELECT ARRAY[{', '.join('1' for _ in range(2000))}],"
        f" {', '.join('1' for _ in range(1700))}"
    )


READER = [
    "DELETE FROM orders",
    "INSERT INTO products (product_id, name, stock) VALUES (9, 'x', 1)",
    "UPDATE customers SET name = 'x'",
    "DROP TABLE orders",
    "CREATE TABLE mine (a INTEGER)",
    "SELECT * FROM mysql.user",
    "SET GLOBAL max_connections = 5",
    "SELECT 1 INTO OUTFILE '/tmp/never_written'",
    "CREATE USER intruder",
    "LOAD DATA INFILE '/etc/passwd' INTO TABLE customers",
]


def _as_a_reader(url: sa.URL, driver: str, language: str) -> Iterator[Scene]:
    """As a user who may do nothing but SELECT; the user is dropped afterwards."""
    name = f"synth_{uuid.uuid4().hex[:12]}"
    with engine_of(url, "pymysql").connect() as root:
        run(root, f"CREATE USER {name}@'%' IDENTIFIED BY '{name}'")
        run(root, f"CREATE USER {name}@localhost IDENTIFIED BY '{name}'")
        for host in ("'%'", "localhost"):
            run(root, f"GRANT SELECT ON {url.database}.* TO {name}@{host}")
        try:
            with engine_of(url.set(username=name, password=name), driver).connect() as db:
                speak(db, "mysql", language)
                for sql in READER:
                    yield sql, Category.PERMISSION_DENIED, caught(lambda sql=sql: run(db, sql))
                    db.rollback()
        finally:
            for host in ("'%'", "localhost"):
                run(root, f"DROP USER {name}@{host}")


def by_sqlite3(folder: Path) -> Iterator[Scene]:
    """SQLite's, by the standard library."""
    file = folder / "shop.db"
    with (
        closing(sqlite3.connect(file, isolation_level=None)) as one,
        closing(sqlite3.connect(file, timeout=0)) as two,
    ):
        one.execute("CREATE TABLE t (a INTEGER)")
        one.execute("BEGIN EXCLUSIVE")
        yield "locked", Category.TIMEOUT, caught(lambda: two.execute("INSERT INTO t VALUES (1)"))
        one.execute("ROLLBACK")
        endless = (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        )
        one.set_progress_handler(lambda: 1, 1000)
        yield "interrupted", Category.TIMEOUT, caught(lambda: one.execute(endless))
        one.set_progress_handler(None, 0)
        one.set_authorizer(
            lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_DELETE else 0
        )
        yield "authorizer", Category.PERMISSION_DENIED, caught(lambda: one.execute("DELETE FROM t"))
        for what, category, sql in (
            (
                "too many columns",
                Category.LIMIT_EXCEEDED,
                f"SELECT {', '.join('1' for _ in range(3000))}",
            ),
            ("deep", Category.LIMIT_EXCEEDED, f"SELECT {'abs(' * 3000}1{')' * 3000}"),
            ("tall", Category.LIMIT_EXCEEDED, f"SELECT {' + '.join('1' for _ in range(1500))}"),
            ("compound", Category.LIMIT_EXCEEDED, " UNION ".join("SELECT 1" for _ in range(600))),
            (
                "joins",
                Category.LIMIT_EXCEEDED,
                "SELECT 1 FROM " + ", ".join(f"t t{n}" for n in range(70)),
            ),
            ("two statements", Category.SYNTAX_ERROR, "SELECT 1; SELECT 2"),
        ):
            yield what, category, caught(lambda sql=sql: one.execute(sql))
        yield "parameters", Category.SYNTAX_ERROR, caught(lambda: one.execute("SELECT ?, ?", (1,)))
        yield "a dict", Category.TYPE_MISMATCH, caught(lambda: one.execute("SELECT ?", ({},)))
    yield "closed", Category.CONNECTION_ERROR, caught(lambda: one.execute("SELECT 1"))
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as reader:
        yield (
            "mode=ro",
            Category.PERMISSION_DENIED,
            caught(lambda: reader.execute("INSERT INTO t VALUES (1)")),
        )
    yield (
        "no folder",
        Category.CONNECTION_ERROR,
        caught(lambda: sqlite3.connect(folder / "none" / "shop.db")),
    )
    (folder / "letter.db").write_text("this is no database, and it is longer than a header " * 40)
    with closing(sqlite3.connect(folder / "letter.db")) as letter:
        yield (
            "no database",
            Category.CONNECTION_ERROR,
            caught(lambda: letter.execute("SELECT * FROM t")),
        )
