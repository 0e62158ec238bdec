"""Databases to make a world from: SQL files, and live databases, loaded into SQLite."""

from __future__ import annotations

import re
import shlex
import sqlite3
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import sqlalchemy
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

from envs.connection import check, open_engine, parse_url
from envs.ledger import Ledger
from envs.sandboxes.attached.access import access_of
from envs.scripts import split
from envs.scripts.run import read_script
from envs.unreadable import unreadable
from synth.errors import OperatorError
from synth.ext.authoring.fitting_rows import fit
from synth.ext.authoring.inferred_keys import InferredKey, infer_keys, with_inferred
from synth.ext.authoring.invented_rows import LEAST, invent
from synth.ext.authoring.live_tables import LiveDatabase, parents_first, read_database
from synth.ext.authoring.mask import Decision, MaskedSample, mask, personal_kinds
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.sample import ALL_ROWS, sample
from synth.ext.authoring.schema_sql import write_schema, write_seed
from synth.ext.authoring.snapshot import LiveTable, Rows, Value
from synth.ext.authoring.stored import NOT_TEXT, read_as_stored
from synth.ext.authoring.table_reader import COMPUTED

_CONNECT_S = 10

ROWS = 10_000
"""The rows of a live database that become a world, unless --rows says otherwise."""

EMPTY_SEED = "-- schema.sql holds the rows.\n"


@dataclass(frozen=True, slots=True)
class Source:
    """A database in SQLite, and the scripts that make it again. ``decisions`` tell what became of
    the text columns of a live database; ``personal`` maps table and column to a kind. ``seeded``
    tells that the schema makes no rows, ``portable`` that the seed is INSERTs of plain values.
    ``ledger`` is the account of what the source holds, ``origin`` says where it comes from;
    ``maintained`` are columns (table, name) that its database sets, or by which it sets others.
    """

    engine: Engine
    schema: str
    seed: str
    decisions: Sequence[Decision] = ()
    personal: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    seeded: bool = True
    portable: bool = True
    ledger: Ledger = field(default_factory=Ledger)
    maintained: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    origin: str = "SQL scripts"


@dataclass(frozen=True, slots=True)
class Extract:
    """The extract that becomes a world: about so many rows (None: 10,000), of these tables (None:
    all of them) and what they refer to, in these schemata (none: the connection's own). ``keep``
    are columns that are not masked, ``mask`` columns that are in any case, as ``table.column`` or
    ``table.column=kind``. ``accept`` decides whether keys that nobody declared are taken, by lines
    with their evidence; without it they are not looked for. ``progress`` is told of each table.
    """

    rows: int | None = None
    tables: Sequence[str] | None = None
    schemata: Sequence[str] = ()
    keep: Sequence[str] = ()
    mask: Sequence[str] = ()
    accept: Callable[[Sequence[str]], bool] | None = None
    progress: Callable[[str], None] | None = None


def from_files(files: Sequence[Path], part: Extract | None = None) -> Source:
    """Load SQL files, the schema first, into a new SQLite database.

    With the rows or tables of ``part`` the world has a part of it only. Raises OperatorError for a
    file that cannot be read or executed.
    """
    for file in files:
        _refuse_dump(file)
    texts = [read_script(file.expanduser()) for file in files]
    engine = _load(list(zip(map(str, files), texts, strict=True)))
    part = part or Extract()
    whole = part.rows is None and part.tables is None and _references_hold(engine)
    database = read_database(engine)
    if not whole:
        return _cut(engine, replace(part, rows=part.rows or ALL_ROWS), masked=False)
    if _inferred(engine, database.tables, part):
        return _cut(engine, Extract(ALL_ROWS, accept=lambda _: True), masked=False)
    tables = database.tables
    rows = sample(engine, tables, ALL_ROWS, part.progress)
    personal = personal_kinds(tables, rows)
    schema, seed = separate(texts)
    plain = write_seed(tables, rows)
    unreadable_text = any(why == NOT_TEXT for _, why in rows.changed)
    for fills in (plain, "" if unreadable_text else seed):  # no database of a world holds such text
        if fills and _loads(schema, fills, tables, rows):
            portable = fills is plain
            ledger = _of_scripts(_account(database, rows), tables, portable=portable)
            return Source(
                engine, schema, fills, personal=personal, portable=portable, ledger=ledger
            )
    if unreadable_text:
        return _cut(engine, Extract(ALL_ROWS), masked=False)
    whole = "\n".join(texts)
    ledger = _of_scripts(_account(database, rows), tables, portable=False)
    return Source(
        engine, whole, EMPTY_SEED, personal=personal, seeded=False, portable=False, ledger=ledger
    )


def _of_scripts(account: Ledger, tables: Sequence[LiveTable], *, portable: bool) -> Ledger:
    """The account of scripts that a world keeps: of all that they make, only virtual tables are not
    worked with, and bytes are not written again by a portable seed.
    """
    ledger = Ledger()
    ledger.add(account)
    ledger.entries = []
    for entry in account.entries:
        lost = entry.kind == "column" and portable and entry.why != COMPUTED
        if lost or entry.kind in {"table", "row", "value"}:
            ledger.entries.append(entry)
        else:
            ledger.use(entry.kind, entry.count)
    ledger.use("check", sum(len(table.checks) for table in tables))
    rows = account.counts().get("row", {"found": 0, "left_out": 0})
    ledger.use("row", rows["found"] - rows["left_out"])
    return ledger


def _references_hold(engine: Engine) -> bool:
    """True if each foreign key leads to unique columns, and each reference to a row."""
    try:
        with engine.connect() as db:
            return db.exec_driver_sql("PRAGMA foreign_key_check").first() is None
    except SQLAlchemyError:  # foreign key mismatch
        return False


def _loads(schema: str, seed: str, tables: Sequence[LiveTable], rows: Rows) -> bool:
    """True if the scripts make the same rows in two steps, with foreign keys held."""
    try:
        engine = _load([("schema.sql", schema), ("", "PRAGMA foreign_keys = ON;"), ("", seed)])
        return _counted(sample(engine, tables, ALL_ROWS)) == _counted(rows)
    except OperatorError:
        return False


def _counted(rows: Rows) -> dict[str, Counter[tuple[Value, ...]]]:
    """The rows of each table in no order: those without a key have none of their own."""
    return {name: Counter(tuple(row.values()) for row in of) for name, of in rows.by_table.items()}


def from_url(url: str, part: Extract, *, secret: bool) -> Source:
    """Read a part of a live database, with personal columns masked.

    ``secret`` tells that the URL is from a variable and may hold a password. Raises OperatorError
    or DatabaseConfigError for a URL that cannot be used.
    """
    access = access_of(url)
    if access.url.password is not None and not secret:
        raise OperatorError(
            "--from-url holds a password, which the shell's history keeps: put the URL in a"
            " variable and name it with --dsn-env-var"
        )
    kind, file = access.url.get_backend_name(), access.url.database
    is_file = kind in {"sqlite", "duckdb"}
    engine = access.engine() if is_file else open_engine(parse_url(url), _CONNECT_S)
    read_as_stored(engine)
    try:
        check(engine)
        source = _cut(engine, part, masked=True)
        return replace(source, origin=f"the {kind} database {Path(file or '').name}")
    finally:
        engine.dispose()


def _cut(engine: Engine, part: Extract, *, masked: bool) -> Source:
    """The world's own database, with a part of the rows of another."""
    database = read_database(engine, part.tables, part.schemata)
    if not database.tables:
        raise OperatorError(_empty(database.ledger))
    if inferred := _inferred(engine, database.tables, part):
        database = replace(database, tables=parents_first(with_inferred(database.tables, inferred)))
    rows = sample(engine, database.tables, part.rows or ROWS, part.progress)
    if masked:
        found = mask(database.tables, rows, part.keep, seed=1, also=part.mask)
    else:
        found = MaskedSample(database.tables, [], personal_kinds(database.tables, rows))
    ledger = _account(database, rows)
    tables = fit(found.tables, rows, ledger)
    count = sum(map(len, rows.by_table.values()))
    ledger.use("row", count)
    wanted = part.rows if part.rows and part.rows < ALL_ROWS else 0
    if wanted and _lacks_rows(rows, wanted, masked=masked):
        more = max(wanted - count, wanted // 2)
        found = replace(found, personal=_fill(tables, rows, more, ledger, found.personal))
    for decision in found.decisions:
        if decision.kind is not None:
            ledger.found("personal column")
            if decision.masked:
                ledger.change("personal column", decision.column, f"masked as {decision.kind}")
            else:
                ledger.use("personal column")
    schema, seed = write_schema(tables), write_seed(tables, rows) or EMPTY_SEED
    return Source(
        _load([("schema.sql", schema), ("seed.sql", seed)]),
        schema,
        seed,
        found.decisions,
        found.personal,
        ledger=ledger,
        maintained=_maintained(tables),
    )


def _maintained(tables: Sequence[LiveTable]) -> dict[tuple[str, str], str]:
    return {(t.name, c.name): c.maintained for t in tables for c in t.columns if c.maintained}


def _lacks_rows(rows: Rows, wanted: int, *, masked: bool) -> bool:
    """True if rows are to be made up. A script has less than half of those ``wanted``, or half of
    its tables have too few for families. In a live database (``masked``) two thirds of the tables
    have too few, or half of them and it has fewer rows than wanted.
    """
    sizes = [len(of) for of in rows.by_table.values()]
    count, few = sum(sizes), sum(size < LEAST for size in sizes) / len(sizes)
    if masked:
        return few >= 2 / 3 or (few >= 1 / 2 and count < wanted)
    return few >= 1 / 2 or 2 * count < wanted


def _inferred(engine: Engine, tables: Sequence[LiveTable], part: Extract) -> list[InferredKey]:
    """The keys that nobody declared, if they are accepted."""
    found = infer_keys(engine, tables) if part.accept else []
    return found if found and part.accept and part.accept([one.line for one in found]) else []


def _fill(
    tables: Sequence[LiveTable],
    rows: Rows,
    wanted: int,
    ledger: Ledger,
    personal: Mapping[tuple[str, str], str],
) -> Mapping[tuple[str, str], str]:
    """Make up rows for the tables that have none or few; returns the kinds of personal columns."""
    schema = write_schema(tables)
    loaded = _load([("schema.sql", schema), ("seed.sql", write_seed(tables, rows))])
    shape = reflect(loaded)
    loaded.dispose()
    invent(tables, shape, schema, rows, wanted, ledger, personal)
    return personal_kinds(tables, rows)


def _empty(ledger: Ledger) -> str:
    """The words for a database of which no table can be read."""
    schemata = [one for one in ledger.entries if one.kind == "schema"]
    if schemata:
        named = shlex.quote(",".join(one.name for one in schemata))
        return f"the schema has no tables; others have some: --schema {named}"
    reasons = "; ".join(f"{one.name}: {one.why}" for one in ledger.entries if one.kind == "table")
    return f"the database has no tables{reasons and f' that can be read ({reasons})'}"


def _account(database: LiveDatabase, rows: Rows) -> Ledger:
    """The account of a database and of the rows that were read of it."""
    ledger = Ledger()
    ledger.add(database.ledger)
    for table in database.tables:
        ledger.add(table.ledger)
        count, kept = rows.counts[table.name], len(rows.by_table[table.name])
        ledger.found("row", count)
        if count > kept:
            why = "over --rows, which takes rows evenly from all tables"
            ledger.leave_out("row", table.name, why, count - kept)
    for (column, why), count in rows.changed.items():
        ledger.found("value", count)
        ledger.change("value", column, why, count)
    return ledger


def _load(scripts: Sequence[tuple[str, str]]) -> Engine:
    engine = sqlalchemy.create_engine(
        "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
    )
    read_as_stored(engine)
    raw = engine.raw_connection()
    database = raw.cursor().connection
    database.create_function("concat", -1, _concat)  # SQLite has it from 3.44 on
    weakref.finalize(engine, database.close)  # nobody disposes of the engine of a Source
    for name, text in scripts:
        try:
            database.executescript(text)
        except sqlite3.Error as error:
            reason = " ".join(str(error).split())
            kind, way = _way_out(2, text, name) or ("another database", _LOAD.format(""))
            raise OperatorError(
                f"{name}:{_line_of_fault(scripts, name)}: SQLite cannot run this script: {reason};"
                f" if it is for {kind.rpartition(' for ')[2]}, {way}"
            ) from error
    database.execute("PRAGMA writable_schema = RESET")  # a dump writes virtual tables into it
    raw.commit()
    return engine


def _concat(*values: object) -> str:
    return "".join(str(value) for value in values if value is not None)


def _line_of_fault(scripts: Sequence[tuple[str, str]], broken: str) -> int:
    """The line of the first statement of a script that SQLite does not run."""
    with closing(sqlite3.connect(":memory:")) as database:
        for name, text in scripts:
            for statement in split(text, "sqlite"):
                try:
                    database.executescript(f"{statement.text};")
                except sqlite3.Error:
                    if name == broken:
                        return statement.line
    return 1


_OTHERS = (
    ("pg_dump in its own format", r"\APGDMP", r"(?!)", "pg_restore --dbname DATABASE {}"),
    (
        "pg_dump for PostgreSQL",
        r"^-- PostgreSQL database",
        r"^COPY .* FROM stdin|\w::\w|\b(big)?serial\b|\bjsonb\b|\bcharacter varying\b|\$\$",
        "psql DATABASE -f {}",
    ),
    ("mariadb-dump", r"^-- MariaDB dump", r"(?!)", "mariadb DATABASE < {}"),
    (
        "mysqldump for MySQL",
        r"^-- MySQL dump|^/\*!40101 SET",
        r"\bENGINE *=|\bAUTO_INCREMENT\b|\bUNSIGNED\b|^DELIMITER\b",
        "mysql DATABASE < {}",
    ),
    (
        "SQL Server",
        r"\ATAPE",
        r"^GO\s*$|\[dbo\]|\bIDENTITY *\(|\bNVARCHAR *\(MAX|\bGETDATE *\(",
        "sqlcmd -d DATABASE -i {}; then pgloader copies it into PostgreSQL",
    ),
    (
        "Oracle",
        r"EXPORT:V",
        r"\bN?VARCHAR2\b|\bNUMBER *\(|\bSYSDATE\b|^/\s*$",
        "sqlplus USER@DATABASE @{}; then ora2pg copies it into PostgreSQL",
    ),
)
"""Other databases: the name, the beginning of a dump, further marks of a script, the way to load
one.
"""


def _way_out(column: int, text: str, file: str) -> tuple[str, str] | None:
    """What a script is, by a column of the table, and what to do with it."""
    for row in _OTHERS:
        if re.search(row[column], text, re.MULTILINE | re.IGNORECASE):
            return row[0], _LOAD.format(f" ({row[3].format(shlex.quote(file))})")
    return None


_LOAD = (
    "load it into a database of its own{}, put the URL of that database in a variable and run synth"
    " new PATH --dsn-env-var NAME"
)

_HEAD = 2000
"""The bytes of a file in which a dump says what it is."""


def _refuse_dump(file: Path) -> None:
    """Raise OperatorError for a file that cannot be read, and for the dump of a server, which
    SQLite cannot execute.
    """
    if file.expanduser().is_dir():
        raise OperatorError(f"{file} is a folder; --from takes SQL files, the schema first")
    try:
        with file.expanduser().open("rb") as opened:
            head = opened.read(_HEAD)
    except OSError as error:
        raise OperatorError(f"{file} cannot be read: {unreadable(error, 'SQL')}") from error
    if head.startswith(b"SQLite format 3\0"):
        raise OperatorError(
            f"{file} is a database of SQLite, and --from takes SQL files: run"
            f" synth new PATH --from-url {shlex.quote(f'sqlite:///{file}')}"
        )
    if dump := _way_out(1, head.decode("latin-1"), str(file)):
        raise OperatorError(
            f"{file} is a dump by {dump[0]}, and --from reads scripts for SQLite: {dump[1]}"
        )


_TAIL = re.compile(r"\s*;?[ \t]*\n?")
"""What is left of the line of a statement."""
_FILLS = re.compile(r"(?:INSERT|REPLACE|UPDATE|DELETE|WITH)\b", re.IGNORECASE)


def separate(texts: Sequence[str]) -> tuple[str, str]:
    """The schema and the rows of SQLite scripts, in the order in which they stand.

    Comments stay with the schema.
    """
    schema, seed = list[str](), list[str]()
    for text in texts:
        kept, rows, position = "", list[str](), 0
        for statement in split(text, "sqlite"):
            start = text.index(statement.text, position)
            end = start + len(statement.text)
            if tail := _TAIL.match(text, end):
                end = tail.end()
            if statement.kind == "sql" and _FILLS.match(statement.text):
                kept += text[position:start]
                rows.append(f"{statement.text};\n")
            else:
                kept += text[position:end]
            position = end
        schema.append((kept + text[position:]).strip())
        seed += rows
    return "\n\n".join(filter(None, schema)) + "\n", "".join(seed)
