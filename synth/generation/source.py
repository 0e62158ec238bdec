"""Databases to make a world from: SQL files, and live databases, loaded into SQLite."""

from __future__ import annotations

import shlex
import sqlite3
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import sqlalchemy
from sqlalchemy import Engine
from sqlalchemy.pool import StaticPool

from envs.connection import check, driver_of, open_engine, parse_url
from envs.ledger import Ledger
from synth.errors import OperatorError
from synth.generation.mask import Decision, MaskedSample, mask, personal_kinds
from synth.generation.names import quoted
from synth.generation.sample import ALL_ROWS, sample
from synth.generation.schema_sql import write_schema, write_seed
from synth.generation.scripts import separate
from synth.generation.snapshot import LiveTable, Rows, live_tables, views_and_triggers

_CONNECT_S = 10

EMPTY_SEED = "-- schema.sql holds the rows.\n"


@dataclass(frozen=True, slots=True)
class Source:
    """A database in SQLite, and the scripts that make it again. ``decisions`` tell what became of
    the text columns of a live database; ``personal`` maps table and column to a kind. ``seeded``
    tells that the schema makes no rows, ``portable`` that the seed is INSERTs of plain values.
    ``ledger`` is the account of what the source holds, ``origin`` says where it comes from.
    """

    engine: Engine
    schema: str
    seed: str
    decisions: Sequence[Decision] = ()
    personal: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    seeded: bool = True
    portable: bool = True
    ledger: Ledger = field(default_factory=Ledger)
    origin: str = "SQL scripts"


@dataclass(frozen=True, slots=True)
class Extract:
    """The extract that becomes a world: about so many rows, of these tables (None: all of them)
    and what they refer to. ``keep`` are columns that are not masked, ``mask`` columns that are in
    any case, as ``table.column`` or ``table.column=kind``.
    """

    rows: int = 2000
    tables: Sequence[str] | None = None
    keep: Sequence[str] = ()
    mask: Sequence[str] = ()


def from_files(files: Sequence[Path], part: Extract | None = None) -> Source:
    """Load SQL files, the schema first, into a new SQLite database.

    With ``part`` the world has a part of it only. Raises OperatorError for a file that cannot be
    read or executed.
    """
    for file in files:
        refuse_dump(file)
    texts = [_read(file) for file in files]
    engine = _load(list(zip(map(str, files), texts, strict=True)))
    if part is not None:
        return _cut(engine, part, masked=False)
    tables = live_tables(engine, None)
    rows = sample(engine, tables, ALL_ROWS)
    personal = personal_kinds(tables, rows)
    schema, seed = separate(texts)
    plain = write_seed(tables, rows)
    for fills in (plain, seed):
        if fills and _loads(schema, fills, tables, rows):
            portable = fills is plain
            ledger = _account(tables) if portable else Ledger()
            return Source(
                engine, schema, fills, personal=personal, portable=portable, ledger=ledger
            )
    whole = "\n".join(texts)
    return Source(engine, whole, EMPTY_SEED, personal=personal, seeded=False, portable=False)


def _loads(schema: str, seed: str, tables: Sequence[LiveTable], rows: Rows) -> bool:
    """True if the scripts make the same rows in two steps, with foreign keys held."""
    try:
        engine = _load([("schema.sql", schema), ("", "PRAGMA foreign_keys = ON;"), ("", seed)])
    except OperatorError:
        return False
    return sample(engine, tables, ALL_ROWS) == rows


def from_url(url: str, part: Extract, *, secret: bool) -> Source:
    """Read a part of a live database, with personal columns masked.

    ``secret`` tells that the URL is from a variable and may hold a password. Raises OperatorError
    or DatabaseConfigError for a URL that cannot be used.
    """
    parsed = parse_url(url)
    if parsed.password is not None and not secret:
        raise OperatorError(
            "--from-url holds a password, which the shell's history keeps: put the URL in a"
            " variable and name it with --dsn-env-var"
        )
    file = parsed.database
    if driver_of(parsed) == "sqlite" and not (file and Path(file).is_file()):
        raise OperatorError(f"{file}: there is no such SQLite file")
    engine = open_engine(parsed, _CONNECT_S)
    try:
        check(engine)
        return _cut(engine, part, masked=True)
    finally:
        engine.dispose()


def _cut(engine: Engine, part: Extract, *, masked: bool) -> Source:
    """The world's own database, with a part of the rows of another."""
    tables = live_tables(engine, part.tables)
    rows = sample(engine, tables, part.rows)
    if masked:
        found = mask(tables, rows, part.keep, seed=1, also=part.mask)
    else:
        found = MaskedSample(tables, [], personal_kinds(tables, rows))
    tables = _held(found.tables, rows)
    schema, seed = write_schema(tables), write_seed(tables, rows) or EMPTY_SEED
    loaded = _load([("schema.sql", schema), ("seed.sql", seed)])
    ledger = _account(tables)
    for rule in [rule for table in tables for rule in table.lost] + views_and_triggers(engine):
        ledger.leave_out("rule", rule, "not carried over")
    return Source(loaded, schema, seed, found.decisions, found.personal, ledger=ledger)


def _account(tables: Sequence[LiveTable]) -> Ledger:
    ledger = Ledger()
    for column in (column for table in tables for column in table.left_out):
        ledger.leave_out("column", column, "it has no plain form")
    return ledger


def _held(tables: Sequence[LiveTable], rows: Rows) -> list[LiveTable]:
    """The tables without the checks that rows of theirs break, as rows from before a check do."""
    bare = [replace(table, checks=(), partials=()) for table in tables]
    loaded = _load([("schema.sql", write_schema(bare)), ("seed.sql", write_seed(bare, rows))])
    out = list[LiveTable]()
    with loaded.connect() as db:
        for table in tables:
            broken = [
                check
                for check in table.checks
                if db.exec_driver_sql(
                    f"SELECT 1 FROM {quoted(table.name)} WHERE NOT ({check}) LIMIT 1"
                ).first()
            ]
            kept = tuple(check for check in table.checks if check not in broken)
            lost = [f"check of {table.name}, which rows break: {check}" for check in broken]
            out.append(replace(table, checks=kept, lost=(*table.lost, *lost)))
    loaded.dispose()
    return out


def _load(scripts: Sequence[tuple[str, str]]) -> Engine:
    engine = sqlalchemy.create_engine(
        "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
    )
    raw = engine.raw_connection()
    database = raw.cursor().connection
    weakref.finalize(engine, database.close)  # nobody disposes of the engine of a Source
    for name, text in scripts:
        try:
            database.executescript(text)
        except sqlite3.Error as error:
            raise OperatorError(f"{name}: SQLite cannot run this script: {error}") from error
    raw.commit()
    return engine


_DUMPS = (
    (b"PGDMP", "pg_dump in its own format", "pg_restore --dbname DATABASE"),
    (b"-- PostgreSQL database", "pg_dump", "psql DATABASE -f"),
    (b"-- MySQL dump", "mysqldump", "mysql DATABASE <"),
    (b"-- MariaDB dump", "mariadb-dump", "mariadb DATABASE <"),
    (b"/*!40101 SET", "mysqldump", "mysql DATABASE <"),
)
"""How the dumps of servers begin, what wrote them, and what restores them."""

_HEAD = 2000
"""The bytes of a file in which a dump says what it is."""


def refuse_dump(file: Path) -> None:
    """Raise OperatorError for the dump of a server, which SQLite cannot execute."""
    try:
        with file.expanduser().open("rb") as opened:
            head = opened.read(_HEAD)
    except OSError as error:
        raise OperatorError(f"{file}: cannot be read: {error}") from error
    for mark, program, restore in _DUMPS:
        if head.startswith(mark) or (mark != b"PGDMP" and mark in head):
            raise OperatorError(
                f"{file} is a dump by {program}, and --from reads scripts for SQLite: restore it"
                f" into a database ({restore} {shlex.quote(str(file))}), put the URL of that"
                " database in a variable and run synth new PATH --dsn-env-var NAME"
            )


def _read(file: Path) -> str:
    try:
        return file.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise OperatorError(f"{file}: cannot be read: {error}") from error
