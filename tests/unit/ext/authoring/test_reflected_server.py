"""A PostgreSQL schema of domains, arrays, ranges and partial indexes as a world holds it."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from synth.errors import OperatorError
from synth.ext.authoring.patterns.base import Draft
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.shape import ColumnShape
from synth.ext.authoring.source import Extract, Source, from_files, from_url
from synth.ext.authoring.world import NewWorld, make_world
from tests.servers import server

SCRIPT = Path(__file__).parents[3] / "schemata" / "storage.postgresql"


@pytest.fixture(scope="module")
def source() -> Iterator[Source]:
    """A snapshot of the storage hall, read with every warning an error."""
    home = sqlalchemy.make_url(server("postgresql"))
    name = f"synth_reflect_{uuid.uuid4().hex[:12]}"
    admin = sqlalchemy.create_engine(home, isolation_level="AUTOCOMMIT")
    own = sqlalchemy.create_engine(home.set(database=name))
    with admin.connect() as db:
        db.exec_driver_sql(f"CREATE DATABASE {name}")
    try:
        raw = own.raw_connection()
        raw.cursor().execute(SCRIPT.read_text("utf-8").replace("%", "%%"), ())
        raw.commit()
        raw.close()
        url = own.url.render_as_string(hide_password=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield from_url(url, Extract(), secret=True)
    finally:
        own.dispose()
        with admin.connect() as db:
            db.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
        admin.dispose()


@pytest.fixture(scope="module")
def world(source: Source) -> NewWorld:
    return make_world("storage", source, print, proves=False)


def said(drafts: list[Draft]) -> str:
    return "\n".join(str(draft.body["user"]) for draft in drafts)


@pytest.mark.parametrize(
    "line",
    [
        "\"role\" TEXT NOT NULL DEFAULT 'clerk' CHECK (\"role\" IN ('clerk', 'manager', 'porter'))",
        "active BOOLEAN NOT NULL DEFAULT TRUE",
        "sqm NUMERIC(6, 2) NOT NULL CHECK (sqm > 0)",
        "tags TEXT NOT NULL DEFAULT '[]'",
        "monthly NUMERIC NOT NULL CHECK (monthly >= 0)",
        "yearly NUMERIC GENERATED ALWAYS AS (monthly * 12) STORED",
        "amount NUMERIC NOT NULL CHECK (amount >= 0)",
        "from_host TEXT",
        "covers TEXT",
        "CHECK (ends > starts)",
        "CREATE UNIQUE INDEX contracts_unique_1 ON contracts (unit_no) WHERE state = 'live'",
    ],
)
def test_columns_and_rules_are_carried_over(source: Source, line: str):
    assert line in source.schema


def test_values_are_plain(source: Source):
    assert '\'["dry", "level 1"]\'' in source.seed
    assert "'10.0.0.1'" in source.seed


def test_what_is_lost_is_named(source: Source):
    named = {(entry.kind, entry.name) for entry in source.ledger.entries}
    assert {one for one in named if one[0] not in {"personal column", "sequence"}} == {
        ("column", "units.position"),
        ("check", "units.area: VALUE ~ '^[0-9]{5}$'::text"),
        ("view", "public.live_contracts"),
        ("trigger", "public.contracts_touch of contracts"),
    }
    source.ledger.check()


def test_computed_columns_and_codes_are_not_worked_with(world: NewWorld):
    words = said(list(world.drafts))
    for column in ("yearly", "floor", "built year", "reported by", "opened on", "paid at", "tags"):
        assert not [line for line in words.splitlines() if f"the {column}" in line], column
    assert "yearly" not in world.files["executors.py"].partition("def update_contract")[2][:900]
    assert "find_staff_members" in world.files["executors.py"]
    assert "What is the role of the staff member {staff_member}?" in words


def test_new_rows_take_a_free_key(world: NewWorld):
    drafts = {draft.id: draft for draft in world.drafts}
    assert "MAX(taken.period_no), 0) + 1" in str(drafts["create_payment"].body["ground"])
    assert "state = 'live'" in str(drafts["create_contract"].body["ground"])
    assert "p0.period_no = taken.period_no" in str(drafts["create_reminder"].body["ground"])


def test_every_engine_has_the_computed_column_and_rules(world: NewWorld):
    postgresql, mariadb = (world.files[f"schema.{name}.sql"] for name in ("postgresql", "mariadb"))
    assert '"yearly" NUMERIC(20, 2) GENERATED ALWAYS AS ("monthly" * 12) STORED' in postgresql
    assert 'CREATE UNIQUE INDEX "contracts_unique_1"' in postgresql
    assert "`yearly` NUMERIC(20, 2) GENERATED ALWAYS AS (`monthly` * 12) STORED" in mariadb
    assert "-- Not held here: `unit_no` of contracts is unique where state = 'live'." in mariadb


@pytest.mark.slow
def test_every_draft_proves_itself(source: Source):
    names = ["create", "change", "move", "look_up", "refuse_taken"]
    made = make_world("storage", source, print, patterns=names)
    assert "file" not in {one.kind for one in made.ledger.entries}
    # a refused write about other people reads nobody's data: no snoop
    assert not made.proofs.left_out


def test_a_check_that_rows_break_is_named(tmp_path: Path):
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'live.db'}")
    with engine.begin() as db:
        db.exec_driver_sql("CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER CHECK (b < 5))")
        db.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
        db.exec_driver_sql("INSERT INTO t VALUES (1, 9), (2, 3)")
    engine.dispose()
    source = from_url(str(engine.url), Extract(), secret=False)
    assert "CHECK" not in source.schema
    assert [entry.name for entry in source.ledger.entries] == ["t: b < 5"]


def test_a_bound_that_is_not_reached_is_kept_for_numbers(tmp_path: Path):
    script = tmp_path / "s.sql"
    script.write_text(
        "CREATE TABLE t (a INTEGER PRIMARY KEY, n INTEGER CHECK (n > 0), r REAL CHECK (r > 0));"
        "INSERT INTO t VALUES (1, 1, 0.5), (2, 4, 1.5);"
    )
    table = reflect(from_files([script]).engine).tables["t"]
    assert (table.column("n").low, table.column("r").low) == (1, 0.01)


@pytest.mark.parametrize(
    ("label", "kind", "words", "verb"),
    [
        ("opened_on", "date", "opened date", "opened"),
        ("paid_at", "moment", "paid time", "paid"),
        ("date_sent", "date", "date sent", "sent"),
        ("starts", "date", "start date", ""),
        ("arrived_at", "moment", "arrived time", ""),
        ("birth_date", "date", "birth date", ""),
        ("period_no", "integer", "period number", ""),
        ("monthly", "number", "monthly amount", ""),
    ],
)
def test_a_column_is_said_as_people_say_it(label: str, kind: str, words: str, verb: str):
    column = ColumnShape(label, kind)  # pyright: ignore[reportArgumentType] a Kind
    assert (column.words, column.verb) == (words, verb)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"--\n-- PostgreSQL database dump\n--\n", "is a dump by pg_dump for.*psql DATABASE -f"),
        (b"PGDMP\x01\x0e\x00", "is a dump by pg_dump in its own format.*pg_restore"),
        (b"-- MySQL dump 10.13\n", "is a dump by mysqldump.*--dsn-env-var"),
        (b"/*M!999999 */\n-- MariaDB dump 10.19\n", "is a dump by mariadb-dump"),
    ],
)
def test_a_dump_of_a_server_is_called_one(content: bytes, message: str, tmp_path: Path):
    file = tmp_path / "dump.sql"
    file.write_bytes(content)
    with pytest.raises(OperatorError, match=message):
        from_files([file])
