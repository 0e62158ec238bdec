"""(Re)create a world's database from schema.sql and seed.sql; replace nothing not made so."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path

import sqlalchemy

from envs.connection import check, driver_of, open_engine, parse_url
from envs.errors import DatabaseConfigError, WorldError
from envs.reseed.base import MARKER, ReseedRefused, ReseedReport, Scripts
from envs.reseed.mariadb import MySQLReseed
from envs.reseed.postgres import PostgresReseed
from envs.reseed.sqlite import APPLICATION_ID, reseed_sqlite
from envs.world.loader import load_world

__all__ = ["APPLICATION_ID", "MARKER", "ReseedRefused", "ReseedReport", "reseed"]

_TIMEOUT_S = 10


def reseed(
    world_path: Path,
    *,
    url: str | None = None,
    out: Path | None = None,
    force: bool = False,
    universe: int = 0,
) -> ReseedReport:
    """Build the world's database as a SQLite file (``out``, by default ``<world>.sqlite`` in the
    current directory), or inside the database that ``url`` names. A ``universe`` other than 0
    comes from the world's seed.py, as a file only (by default ``<world>_<universe>.sqlite``).

    A file is replaced if its ``application_id`` says that a reseed made it; on a server the table
    ``_synth_reseed`` lists what one made. ``force`` also replaces what bears the name of something
    that the schema creates. Other tables are never touched, whatever the scripts do: on PostgreSQL
    a failure changes nothing, and what was touched is known before the commit; MariaDB commits each
    DDL statement, and other tables are locked meanwhile. Not seen is what code does through a
    connection or a program of its own (dblink, COPY TO PROGRAM in a function).

    ReseedRefused, DatabaseConfigError, WorldError, ScriptError.
    """
    folder = Path(world_path).resolve()
    if not folder.is_dir():
        raise WorldError("world folder not found", folder)
    if url is not None and out is not None:
        raise DatabaseConfigError(
            "--url and --out exclude each other: both say where the database goes"
        )
    if url is not None:
        parsed = parse_url(url)
        if driver_of(parsed) != "sqlite":
            if universe:
                raise DatabaseConfigError(
                    "--universe makes a SQLite file: leave --url out, or give sqlite:///FILE"
                )
            return _on_server(folder, parsed, force=force)
        if not parsed.database or parsed.database == ":memory:":
            raise DatabaseConfigError(
                "sqlite:// needs a file: sqlite:///shop.sqlite, or sqlite:////tmp/shop.sqlite"
            )
        out = Path(parsed.database)
    scripts = Scripts.of(folder, "sqlite")
    name = scripts.world
    if universe:
        scripts = replace(
            scripts, paths=scripts.paths[:1], rows=load_world(folder).seed_rows(universe)
        )
        name = f"{name}_{universe}"
    return reseed_sqlite(scripts, out if out is not None else Path(f"{name}.sqlite"), force=force)


def _on_server(folder: Path, url: sqlalchemy.URL, *, force: bool) -> ReseedReport:
    driver = driver_of(url)
    scripts = Scripts.of(folder, driver)
    content = b"\0".join(path.read_bytes() for path in scripts.paths)
    digest = hashlib.sha256(content).hexdigest()[:16]
    engine = open_engine(url, _TIMEOUT_S, poolclass=sqlalchemy.NullPool)
    try:
        check(engine)
        pooled = engine.raw_connection()
        try:
            raw = pooled.driver_connection
            kind = PostgresReseed if driver == "postgresql" else MySQLReseed
            job = kind(
                raw,
                scripts,
                digest,
                force=force,
                connect=engine.raw_connection,
                elsewhere=partial(_value, engine),
            )
            statements, rows = job.run()
            pooled.commit()
        except BaseException:
            pooled.rollback()
            raise
        finally:
            pooled.close()
    finally:
        engine.dispose()
    return ReseedReport(
        world=scripts.world,
        engine=driver,
        where=url.render_as_string(hide_password=True),
        rows=rows,
        statements=statements,
        replaced=job.replaced,
        open_with=_client(url),
    )


def _value(engine: sqlalchemy.Engine, statement: str) -> int:
    """The one value of a statement in a session of its own; 0 without rows."""
    with engine.connect() as other:
        result = other.exec_driver_sql(statement)
        return int(result.scalar() or 0) if result.returns_rows else 0


def _client(url: sqlalchemy.URL) -> str:
    """The shell command that opens the database, without a password: the client asks for it."""
    if driver_of(url) == "postgresql":
        shown = url.set(drivername="postgresql", password=None)
        return f"psql {shlex.quote(shown.render_as_string(hide_password=True))}"
    parts = ["mysql", "-h", url.host or "127.0.0.1", "-P", str(url.port or 3306)]
    parts += ["-u", url.username] if url.username else []
    parts += ["-p"] if url.password else []
    return shlex.join([*parts, url.database or ""])
