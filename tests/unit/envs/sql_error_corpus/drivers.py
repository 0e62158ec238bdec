"""Real errors: each case is executed on its engine through a driver, and what the driver raises is
kept.
"""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

import apsw
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from envs.connection import connect_args
from envs.sandboxes.sqlite import dbapi as apsw_dbapi
from tests.unit.envs.sql_error_corpus.cases import Case
from tests.unit.envs.sql_error_corpus.shop import script

SERVERS = {
    "postgresql": {"psycopg": "psycopg", "psycopg2": "psycopg2", "pg8000": "pg8000"},
    "mysql": {"pymysql": "pymysql", "mysqldb": "MySQLdb", "mysqlconnector": "mysql.connector"},
}
"""SQLAlchemy's name of a driver -> its module. mysqlclient (MySQLdb) has no wheels for Linux: used
where it is there.
"""
LANGUAGES = {
    "postgresql": {
        "psycopg": ["de_DE.UTF-8", "fr_FR.UTF-8", "ja_JP.UTF-8", "ru_RU.UTF-8"],
        "psycopg2": ["es_ES.UTF-8", "de_DE.UTF-8"],
        "pg8000": ["fr_FR.UTF-8", "sv_SE.UTF-8"],
    },
    "mysql": {
        "pymysql": ["de_DE", "fr_FR", "ja_JP", "ru_RU"],
        "mysqldb": ["es_ES", "de_DE"],
        "mysqlconnector": ["sv_SE", "it_IT"],
    },
}
SQL_MODE = (
    "STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_IN_DATE,NO_ZERO_DATE"
)


@dataclass(frozen=True)
class Raised:
    """``error`` as an executor lets it escape: by SQLAlchemy, or bare. None: the statement did not
    fail.
    """

    case: Case
    driver: str
    language: str
    error: BaseException | None

    @property
    def bare(self) -> BaseException | None:
        return self.error.orig if isinstance(self.error, DBAPIError) else None


def installed(engine: str) -> list[str]:
    """The drivers of an engine that can be imported here."""
    return [name for name, module in SERVERS[engine].items() if _there(module)]


def _there(module: str) -> bool:
    parent = module.partition(".")[0]
    return (
        importlib.util.find_spec(parent) is not None
        and importlib.util.find_spec(module) is not None
    )


def by_sqlite3(cases: Iterable[Case]) -> Iterator[Raised]:
    """The standard library's errors, wrapped by SQLAlchemy."""
    with closing(sqlite3.connect(":memory:")) as shop:
        for each in script("sqlite"):
            shop.execute(each)
        shop.commit()
        image = shop.serialize()

    def connect() -> sqlite3.Connection:
        opened = sqlite3.connect(":memory:", isolation_level=None)
        opened.deserialize(image)
        opened.execute("PRAGMA foreign_keys = ON")
        return opened

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.NullPool)
    for case in cases:
        with engine.connect() as db:
            yield Raised(case, "sqlite3", "en", _failure(db, case))


def by_apsw(cases: Iterable[Case]) -> Iterator[Raised]:
    """apsw's own errors, and what a sandbox makes of them before SQLAlchemy wraps them."""
    for case in cases:
        with closing(apsw.Connection(":memory:")) as db:
            for each in script("sqlite"):
                db.execute(each)
            try:
                for statement in case.statements:
                    list(db.execute(statement))
            except apsw.Error as error:
                yield Raised(case, "apsw", "en", error)
                ours = apsw_dbapi.translate(error)
                assert ours is not None
                wrapped = DBAPIError.instance(case.statements[-1], (), ours, apsw_dbapi.Error)
                yield Raised(case, "sandbox", "en", wrapped)
            else:
                yield Raised(case, "apsw", "en", None)


def by_server(cases: Iterable[Case], url: sa.URL, driver: str) -> Iterator[Raised]:
    """A server's errors through one driver, in each of its languages that the server has."""
    family = url.get_backend_name()
    for language in ["", *LANGUAGES[family][driver]]:
        engine = engine_of(url, driver)
        with engine.connect() as db:
            if not speak(db, family, language):
                continue
            for case in cases:
                yield Raised(case, driver, language or "en", _failure(db, case))
                if family == "mysql":
                    db.exec_driver_sql("UNLOCK TABLES")
                    db.rollback()
        engine.dispose()


def engine_of(url: sa.URL, driver: str) -> sa.Engine:
    chosen = url.set(drivername=f"{url.get_backend_name()}+{driver}")
    args = connect_args(url) if driver in {"pymysql", "mysqlconnector"} else {}
    return sa.create_engine(chosen, poolclass=sa.NullPool, connect_args=args)


def build(url: sa.URL) -> None:
    """Fill an empty database with the shop."""
    engine = sa.create_engine(url, poolclass=sa.NullPool, connect_args=connect_args(url))
    with engine.begin() as db:
        for each in script(url.get_backend_name()):
            db.exec_driver_sql(each, execution_options={"no_parameters": True})
    engine.dispose()


def speak(db: sa.Connection, family: str, language: str) -> bool:
    """Set the session up in that language; False if the server does not speak it."""
    if family == "mysql":
        db.exec_driver_sql(
            f"SET SESSION sql_mode = '{SQL_MODE}', lc_messages = '{language or 'en_US'}'"
        )
        db.rollback()
        return True
    if language:
        try:
            db.exec_driver_sql(f"SET lc_messages = '{language}'")
        except DBAPIError:
            db.rollback()
            return False
        db.commit()
    return True


def _failure(db: sa.Connection, case: Case) -> DBAPIError | None:
    try:
        for statement in case.statements:
            result = db.exec_driver_sql(statement, execution_options={"no_parameters": True})
            if result.returns_rows:
                result.all()
    except DBAPIError as error:
        return error
    finally:
        db.rollback()
    return None
