"""SQLite sandboxes: what only this engine promises, and every attack that we know of."""

from __future__ import annotations

import gc
import pickle
import sqlite3
import threading
import tracemalloc
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import apsw
import pytest
import sqlalchemy as sa
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, InvalidRequestError, ResourceClosedError

from envs.errors import SandboxError, WorldError
from envs.sandboxes.sqlite import dbapi as apsw_dbapi
from envs.sandboxes.sqlite.sandbox import SqliteSandbox, SqliteTemplate
from envs.sql_errors.classify import classify, to_result
from envs.types import ErrorCategory, Limits, Pins

SCRIPT = """
CREATE TABLE patient (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, seen TEXT DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE vital (patient_id INTEGER REFERENCES patient (id) DEFERRABLE INITIALLY DEFERRED, bpm INTEGER UNIQUE);
CREATE TABLE typed (id INTEGER PRIMARY KEY, amount NUMERIC(10, 2), born DATE, at DATETIME, blob BLOB, flag BOOLEAN);
CREATE VIEW slow AS SELECT bpm FROM vital;
CREATE VIRTUAL TABLE notes USING fts5(body);
INSERT INTO patient (name) VALUES ('Ann'), ('Bo');
INSERT INTO vital VALUES (1, 60), (2, 70);
INSERT INTO notes VALUES ('fever and cough');
"""


def build(script: str = SCRIPT) -> SqliteTemplate:
    return SqliteTemplate.build(lambda connection: connection.executescript(script))


@pytest.fixture(scope="module")
def template() -> SqliteTemplate:
    return build()


@pytest.fixture
def sandbox(template: SqliteTemplate):
    with template.open(Pins(now="2031-02-03T04:05:06.789", seed=3)) as opened:
        yield opened


def ask(
    sandbox: SqliteSandbox, sql: str, limits: Limits | None = None, **values: object
) -> list[tuple]:
    with sandbox.transaction(limits or Limits()) as transaction:
        result = transaction.connection.execute(text(sql), values)
        return [tuple(row) for row in result] if result.returns_rows else []


class TestAttacks:
    """Statements that break out of a call, in a writing and in a reading one."""

    def test_vacuum_into_writes_no_file(self, sandbox: SqliteSandbox, tmp_path: Path) -> None:
        with pytest.raises(DBAPIError):
            ask(sandbox, f"VACUUM INTO '{tmp_path}/copy'")
        assert list(tmp_path.iterdir()) == []

    def test_attach_writes_no_file(self, sandbox: SqliteSandbox, tmp_path: Path) -> None:
        with pytest.raises(DBAPIError):
            ask(sandbox, f"ATTACH '{tmp_path}/other' AS other")
        assert list(tmp_path.iterdir()) == []

    def test_several_statements_at_once(self, sandbox: SqliteSandbox) -> None:
        """Nothing of them runs; a semicolon at the end, with a comment, is one statement."""
        for sql in (
            "DELETE FROM vital; SELECT 1",
            "SELECT 1;;\n-- x\nDELETE FROM vital",
            "SELECT 1; COMMIT",
            "DELETE FROM vital;/**/SELECT 1",
            "SELECT 1;/* a *//* b */DELETE FROM vital",
        ):
            with pytest.raises(DBAPIError, match="one statement"):
                ask(sandbox, sql)
        assert not sandbox.diff()
        assert ask(sandbox, "SELECT ';' ; -- done; really\n/* ; */") == [(";",)]

    @pytest.mark.parametrize(
        ("sql", "category"),
        [
            ("SELECT 1\0; DELETE FROM vital", ErrorCategory.SYNTAX_ERROR),
            ("SELECT '\udc80'", ErrorCategory.TYPE_MISMATCH),
            ("SELECT " + "(" * 50_000 + "1" + ")" * 50_000, ErrorCategory.LIMIT_EXCEEDED),
            ("SELECT " + "NOT " * 50_000 + "1", ErrorCategory.LIMIT_EXCEEDED),
            ("SELECT 1;" + "/**/" * 100_000 + "DELETE FROM vital", ErrorCategory.SYNTAX_ERROR),
        ],
    )
    def test_text_that_is_no_statement(
        self, sandbox: SqliteSandbox, sql: str, category: ErrorCategory
    ) -> None:
        with pytest.raises(DBAPIError) as caught, sandbox.transaction(Limits()) as transaction:
            transaction.connection.exec_driver_sql(sql)
        assert classify(caught.value) is category
        assert not sandbox.diff()

    def test_insert_or_rollback_loses_the_call_and_no_more(self, sandbox: SqliteSandbox) -> None:
        """SQLite ends the transaction by itself there: what an executor would do after it must not
        commit.
        """
        for catching in (False, True):
            with (
                pytest.raises(DBAPIError, match="UNIQUE"),
                sandbox.transaction(Limits()) as transaction,
            ):
                db = transaction.connection
                db.execute(text("DELETE FROM patient WHERE id = 99"))
                try:
                    db.execute(text("INSERT OR ROLLBACK INTO vital VALUES (1, 60)"))
                except DBAPIError:
                    if not catching:
                        raise
                    with pytest.raises(DBAPIError, match="rolled back"):
                        db.execute(text("DELETE FROM vital"))
            assert not sandbox.diff()

    def test_after_insert_or_rollback_an_executor_may_start_afresh(
        self, sandbox: SqliteSandbox
    ) -> None:
        """``db.rollback()`` goes back to the call's beginning, which is where SQLite went."""
        with sandbox.transaction(Limits()) as transaction:
            db = transaction.connection
            with pytest.raises(DBAPIError):
                db.execute(text("INSERT OR ROLLBACK INTO vital VALUES (1, 60)"))
            db.rollback()
            db.execute(text("INSERT INTO vital VALUES (1, 61)"))
        assert len(transaction.changes) == 1

    def test_an_interrupted_write_loses_the_call(self, sandbox: SqliteSandbox) -> None:
        """The interrupt rolls the whole transaction back without SQLAlchemy knowing."""
        endless = (
            "INSERT INTO vital (bpm) WITH RECURSIVE n(x) AS (SELECT 100 UNION ALL SELECT x +"
            " 1 FROM n) SELECT x FROM n"
        )
        with (
            pytest.raises(DBAPIError, match="interrupted"),
            sandbox.transaction(Limits(statement_timeout_ms=30)) as transaction,
        ):
            transaction.connection.execute(text("DELETE FROM vital"))
            with pytest.raises(DBAPIError, match="interrupted"):
                transaction.connection.execute(text(endless))
            with pytest.raises(DBAPIError, match="rolled back"):
                transaction.connection.execute(text("DELETE FROM patient"))
        assert not sandbox.diff()

    def test_a_full_database(
        self, monkeypatch: pytest.MonkeyPatch, template: SqliteTemplate
    ) -> None:
        """A sandbox cannot eat the machine's memory, and says what it ran out of."""
        monkeypatch.setattr("envs.sandboxes.sqlite.sandbox.GROWTH_BYTES", 100_000)
        with template.open(Pins()) as small:
            with pytest.raises(DBAPIError) as caught:
                ask(small, "INSERT INTO patient (name) VALUES (hex(zeroblob(200000)))")
            assert classify(caught.value) is ErrorCategory.LIMIT_EXCEEDED
            assert not small.diff()


class TestExecutorsMistakes:
    """Code of a world's author that reaches for what is not its own."""

    def test_a_connection_kept_beyond_its_call(self, sandbox: SqliteSandbox) -> None:
        with sandbox.transaction(Limits()) as transaction:
            kept = transaction.connection
            kept.execute(text("SELECT 1"))
        with pytest.raises(DBAPIError, match="call is over"):
            kept.execute(text("DELETE FROM patient"))
        assert not sandbox.diff()

    def test_a_closed_connection(self, sandbox: SqliteSandbox) -> None:
        """Closing is SQLAlchemy's: what was not committed is undone, and the connection is of no
        more use.
        """
        with sandbox.transaction(Limits()) as transaction:
            with transaction.connection as db:
                db.execute(text("DELETE FROM vital"))
            with pytest.raises(ResourceClosedError):
                db.execute(text("SELECT 1"))
        assert transaction.changes == ()
        assert ask(sandbox, "SELECT count(*) FROM vital") == [(2,)]

    def test_another_connection(self, sandbox: SqliteSandbox) -> None:
        with (
            sandbox.transaction(Limits()) as transaction,
            pytest.raises(InvalidRequestError, match="no other"),
        ):
            transaction.connection.engine.connect()

    def test_autocommit(self, sandbox: SqliteSandbox) -> None:
        with (
            sandbox.transaction(Limits()) as transaction,
            pytest.raises(InvalidRequestError, match="isolation"),
        ):
            transaction.connection.execution_options(isolation_level="AUTOCOMMIT")

    def test_detaching_and_invalidating(self, sandbox: SqliteSandbox) -> None:
        with sandbox.transaction(Limits()) as transaction:
            for reach in (transaction.connection.detach, transaction.connection.invalidate):
                with pytest.raises(InvalidRequestError, match="belongs to its sandbox"):
                    reach()

    def test_a_result_left_unread(self, sandbox: SqliteSandbox) -> None:
        """Rows that nobody fetched do not keep a call from committing."""
        with sandbox.transaction(Limits()) as transaction:
            transaction.connection.execute(text("SELECT * FROM patient"))
            transaction.connection.execute(
                text("INSERT INTO patient (name) VALUES ('a'), ('b') RETURNING id")
            )
        assert len(transaction.changes) == 2

    def test_two_calls_at_once(self, sandbox: SqliteSandbox) -> None:
        with sandbox.transaction(Limits()):
            for reach in (
                lambda: sandbox.transaction(Limits()).__enter__(),
                sandbox.diff,
                sandbox.fork,
            ):
                with pytest.raises(SandboxError):
                    reach()
        assert not sandbox.diff()

    def test_a_nested_block_that_was_left_open(self, sandbox: SqliteSandbox) -> None:
        with sandbox.transaction(Limits()) as transaction:
            transaction.connection.begin_nested()
            transaction.connection.execute(text("DELETE FROM vital"))
        assert len(transaction.changes) == 2

    def test_a_foreign_key_that_fails_at_the_end(self, sandbox: SqliteSandbox) -> None:
        """A deferred constraint is checked when the call commits, and its error is the call's."""
        with pytest.raises(DBAPIError) as caught, sandbox.transaction(Limits()) as transaction:
            transaction.connection.execute(text("INSERT INTO vital VALUES (99, 1)"))
        assert classify(caught.value) is ErrorCategory.FK_VIOLATION
        assert not sandbox.diff()
        assert ask(sandbox, "SELECT count(*) FROM vital") == [(2,)]


class TestValues:
    """What goes in and what comes out, through SQLAlchemy's types and without them."""

    def test_typed_columns(self, sandbox: SqliteSandbox) -> None:
        table = sa.Table(
            "typed",
            sa.MetaData(),
            sa.Column("id", sa.Integer, primary_key=True),
            sa.Column("amount", sa.Numeric(10, 2)),
            sa.Column("born", sa.Date),
            sa.Column("at", sa.DateTime),
            sa.Column("blob", sa.LargeBinary),
            sa.Column("flag", sa.Boolean),
        )
        row = {
            "amount": Decimal("1.10"),
            "born": date(2020, 1, 2),
            "at": datetime(2020, 1, 2, 3, 4),
            "blob": b"\0\xff",
            "flag": True,
        }
        with sandbox.transaction(Limits()) as transaction:
            db = transaction.connection
            done = db.execute(sa.insert(table), row)
            assert (done.inserted_primary_key, done.rowcount) == ((1,), 1)
            assert db.execute(
                sa.insert(table).returning(table.c.id), [row, row]
            ).scalars().all() == [2, 3]
            assert db.execute(sa.insert(table), [row, row]).rowcount == 2
            assert dict(db.execute(sa.select(table)).mappings().first() or {}) == {"id": 1, **row}
            assert (
                db.execute(sa.update(table).where(table.c.id < 3).values(flag=False)).rowcount == 2
            )
            assert db.execute(sa.delete(table).where(table.c.id == 99)).rowcount == 0
            many = [{"i": 4}, {"i": 5}]
            assert db.execute(text("DELETE FROM typed WHERE id = :i"), many).rowcount == 2
        assert transaction.changes[0].after == {
            "id": 1,
            "amount": 1.1,
            "born": "2020-01-02",
            "at": "2020-01-02 03:04:00.000000",
            "blob": {"$bytes": "AP8="},
            "flag": 0,
        }

    def test_untyped_parameters(self, sandbox: SqliteSandbox) -> None:
        """Dates and decimals without a column's type are the text that other drivers would
        store.
        """
        values = {
            "a": date(2020, 1, 2),
            "b": datetime(2020, 1, 2, 3, 4),
            "c": Decimal("1.10"),
            "d": True,
            "e": b"x",
        }
        assert ask(sandbox, "SELECT :a, :b, :c, :d, :e", **values) == [
            ("2020-01-02", "2020-01-02 03:04:00", "1.10", 1, b"x")
        ]

    def test_driver_sql(self, sandbox: SqliteSandbox) -> None:
        """Raw SQL with positional, named and no parameters; ``%`` and ``:x`` in literals stay as
        they are.
        """
        with sandbox.transaction(Limits()) as transaction:
            db = transaction.connection
            assert db.exec_driver_sql(
                "SELECT name FROM patient WHERE name LIKE '%n%'"
            ).scalars().all() == ["Ann"]
            assert db.exec_driver_sql("SELECT ? || ':x'", ("a",)).scalar() == "a:x"
            assert db.exec_driver_sql("SELECT :a", {"a": 3}).scalar() == 3
            assert list(db.execute(text("SELECT id, name FROM patient WHERE 0")).keys()) == [
                "id",
                "name",
            ]

    @pytest.mark.parametrize("value", [2**63, float("nan"), "\ud800", object(), Decimal("NaN")])
    def test_values_that_cannot_be_stored(self, sandbox: SqliteSandbox, value: object) -> None:
        """They are errors of the database, never silently something else (NaN would be NULL)."""
        with pytest.raises(DBAPIError) as caught:
            ask(sandbox, "SELECT :v", v=value)
        assert classify(caught.value) is ErrorCategory.TYPE_MISMATCH

    def test_a_text_that_is_no_unicode(self, sandbox: SqliteSandbox) -> None:
        """What could never be read again cannot be committed."""
        with pytest.raises(DBAPIError) as caught:
            ask(sandbox, "UPDATE patient SET name = CAST(x'ff' AS TEXT)")
        assert classify(caught.value) is ErrorCategory.TYPE_MISMATCH
        assert not sandbox.diff()

    def test_infinity_and_big_integers(self, sandbox: SqliteSandbox) -> None:
        ask(sandbox, "INSERT INTO typed (id, amount, blob) VALUES (1, 9e999, 9223372036854775807)")
        (change,) = sandbox.diff().changes
        assert change.after is not None
        assert change.after["amount"] == {"$float": "Infinity"}
        assert change.after["blob"] == 2**63 - 1

    def test_a_misspelt_column_in_quotes_is_an_error(self, sandbox: SqliteSandbox) -> None:
        """SQLite would give the text "nme" for each row."""
        with pytest.raises(DBAPIError) as caught:
            ask(sandbox, 'SELECT "nme" FROM patient')
        assert classify(caught.value) is ErrorCategory.COLUMN_NOT_FOUND

    def test_a_schema_that_quotes_loosely_still_works(self) -> None:
        """Views and triggers that write texts in double quotes keep doing what their author saw."""
        for script in (
            (
                'CREATE TABLE t (a); CREATE VIEW v AS SELECT "yes" AS x FROM'
                " t; INSERT INTO t VALUES (1);"
            ),
            """CREATE TABLE t (a); CREATE VIEW v AS SELECT a AS x FROM t;
            CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET a = "yes"; END;""",
        ):
            with build(script).open(Pins()) as opened:
                ask(opened, "INSERT INTO t (a) VALUES ('no')")
                assert ask(opened, "SELECT DISTINCT x FROM v") == [("yes",)]

    def test_reflection(self, sandbox: SqliteSandbox) -> None:
        with sandbox.transaction(Limits(read_only=True)) as transaction:
            found = sa.inspect(transaction.connection)
            assert {"patient", "vital", "typed"} <= set(found.get_table_names())
            assert [column["name"] for column in found.get_columns("patient")] == [
                "id",
                "name",
                "seen",
            ]
            assert found.get_pk_constraint("patient")["constrained_columns"] == ["id"]
            assert found.get_foreign_keys("vital")[0]["referred_table"] == "patient"
            assert found.get_unique_constraints("vital")[0]["column_names"] == ["bpm"]
            assert found.get_view_names() == ["slow"]
            metadata = sa.MetaData()
            metadata.reflect(transaction.connection, only=["vital"])
            assert set(metadata.tables) == {"vital", "patient"}

    def test_a_full_text_search(self, sandbox: SqliteSandbox) -> None:
        """A virtual table's rows are in the diff, its index is not."""
        ask(sandbox, "INSERT INTO notes VALUES ('headache')")
        assert ask(sandbox, "SELECT body FROM notes WHERE notes MATCH 'headache'") == [
            ("headache",)
        ]
        assert [change.table for change in sandbox.diff().changes] == ["notes_content"]


class TestPins:
    """The clock and the randomness."""

    def test_every_clock_follows(self, sandbox: SqliteSandbox) -> None:
        clocks = {
            "CURRENT_TIMESTAMP": "2031-02-03 04:05:06",
            "CURRENT_DATE": "2031-02-03",
            "CURRENT_TIME": "04:05:06",
            "datetime('now')": "2031-02-03 04:05:06",
            "strftime('%f', 'now')": "06.789",
            "unixepoch()": 1927857906,
            "round(julianday('now'), 3)": 2462900.67,
            "date('now', '+1 day')": "2031-02-04",
        }
        assert ask(sandbox, f"SELECT {', '.join(clocks)}") == [tuple(clocks.values())]
        ask(sandbox, "INSERT INTO patient (name) VALUES ('Cy')")
        assert ask(sandbox, "SELECT seen FROM patient WHERE name = 'Cy'") == [
            ("2031-02-03 04:05:06",)
        ]

    def test_the_seed_is_built_at_a_pinned_time(
        self, template: SqliteTemplate, sandbox: SqliteSandbox
    ) -> None:
        """Else every worker would hold another seed."""
        assert ask(sandbox, "SELECT DISTINCT seen FROM patient") == [("2026-01-01 09:00:00",)]
        assert build().digest == template.digest

    def test_sandboxes_of_one_process_have_their_own_time(self, template: SqliteTemplate) -> None:
        """Also with two calls open at once, and in threads."""
        with (
            template.open(Pins(now="2030-01-01")) as one,
            template.open(Pins(now="2040-01-01T00:00:00Z")) as other,
        ):
            with one.transaction(Limits()) as first, other.transaction(Limits()) as second:
                for _ in range(2):
                    assert (
                        first.connection.execute(text("SELECT CURRENT_DATE")).scalar()
                        == "2030-01-01"
                    )
                    assert (
                        second.connection.execute(text("SELECT CURRENT_DATE")).scalar()
                        == "2040-01-01"
                    )
            found: list[list[tuple]] = []
            thread = threading.Thread(
                target=lambda: found.append(ask(other, "SELECT CURRENT_DATE"))
            )
            thread.start()
            thread.join()
            assert found == [[("2040-01-01",)]]

    def test_randomness_follows_the_seed(self, template: SqliteTemplate) -> None:
        query = "SELECT random(), hex(randomblob(20)), length(randomblob(-1))"

        def drawn(seed: int) -> list[list[tuple]]:
            with template.open(Pins(seed=seed)) as opened:
                return [ask(opened, query), ask(opened, query)]

        assert drawn(1) == drawn(1)
        assert drawn(1) != drawn(2)
        assert drawn(1)[0] != drawn(1)[1]
        assert drawn(1)[0][0][2] == 1

    def test_a_call_that_left_nothing_took_no_randomness(self, template: SqliteTemplate) -> None:
        with template.open(Pins()) as one, template.open(Pins()) as other:
            with one.transaction(Limits()) as transaction:
                transaction.connection.execute(text("SELECT random()")).all()
                transaction.rollback()
            assert ask(one, "SELECT random()") == ask(other, "SELECT random()")

    def test_a_fork_draws_what_its_origin_would(self, sandbox: SqliteSandbox) -> None:
        ask(sandbox, "SELECT random()")
        with sandbox.fork() as fork:
            assert ask(fork, "SELECT random(), CURRENT_TIMESTAMP") == ask(
                sandbox, "SELECT random(), CURRENT_TIMESTAMP"
            )

    def test_unordered_reverses(self, template: SqliteTemplate) -> None:
        with template.open(Pins(), unordered=True) as opened:
            assert ask(opened, "SELECT id FROM patient") == [(2,), (1,)]
            with opened.fork() as fork:
                assert ask(fork, "SELECT id FROM patient") == [(2,), (1,)]


class TestTemplates:
    """Where sandboxes come from."""

    def test_from_a_file(self, tmp_path: Path) -> None:
        """The image of a database file; write-ahead logging does not stand in the way."""
        with sqlite3.connect(tmp_path / "db") as made:
            made.execute("PRAGMA journal_mode = WAL")
            made.execute("CREATE TABLE t (a PRIMARY KEY)")
            made.execute("INSERT INTO t VALUES (1)")
        made.close()
        with (
            SqliteTemplate.from_image((tmp_path / "db").read_bytes()) as template,
            template.open(Pins()) as opened,
        ):
            assert ask(opened, "INSERT INTO t VALUES (2) RETURNING a") == [(2,)]
            assert len(opened.diff().changes) == 1

    def test_the_digest_is_of_the_content(self, tmp_path: Path) -> None:
        """Pages may lie as they like; a row more or another schema is another state."""
        script = (
            "CREATE TABLE t (a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 'x'), (2, NULL);"
        )
        spread = "CREATE TABLE gone (x); " + script + " DROP TABLE gone; VACUUM;"
        assert build(script).digest == build(spread).digest
        assert build(script).digest != build(script + "INSERT INTO t VALUES (3, 1);").digest
        assert (
            build(script).digest
            != build(
                script.replace("b)", "b, c)")
                .replace("'x')", "'x', 1)")
                .replace("NULL)", "NULL, 1)")
            ).digest
        )

    def test_what_is_no_database(self) -> None:
        with pytest.raises(WorldError, match="not a SQLite database"):
            SqliteTemplate.from_image(b"not a database" * 100)

    def test_a_seed_that_is_no_unicode(self) -> None:
        with pytest.raises(WorldError, match="table t "):
            build("CREATE TABLE t (a); INSERT INTO t VALUES (CAST(x'ff' AS TEXT));")

    def test_rows_that_cannot_be_told_apart(self) -> None:
        with pytest.raises(WorldError, match="told apart"):
            build("CREATE TABLE t (rowid TEXT, _rowid_ TEXT, oid TEXT);")

    def test_a_closed_template(self) -> None:
        template = build("CREATE TABLE t (a);")
        opened = template.open(Pins())
        template.close()
        with pytest.raises(SandboxError):
            template.open(Pins())
        assert ask(opened, "SELECT * FROM t") == []
        opened.close()

    def test_two_templates_side_by_side(self) -> None:
        """Schema cookies that agree do not mix two databases up."""
        one = build("CREATE TABLE a (x); CREATE TABLE b (y); INSERT INTO a VALUES (1);")
        other = build("CREATE TABLE b (y); CREATE TABLE a (x); INSERT INTO b VALUES (2);")
        with one.open(Pins()) as first, other.open(Pins()) as second:
            assert ask(first, "SELECT * FROM a") == [(1,)]
            assert ask(second, "SELECT * FROM a") == []

    def test_references(self) -> None:
        """A foreign key without a column means the parent's key; names compare without case; of a
        pair each finds its own.
        """
        tables = build(
            "CREATE TABLE P (k INTEGER PRIMARY KEY); CREATE TABLE q (a, b, PRIMARY KEY (b, a));"
            "CREATE TABLE c (p REFERENCES p, a, b, z REFERENCES elsewhere, FOREIGN KEY (a, b)"
            " REFERENCES q (a, b));"
        ).tables
        assert {column.name: column.references for column in tables["c"].columns} == {
            "p": ("P", "k"),
            "a": ("q", "a"),
            "b": ("q", "b"),
            "z": None,
        }
        assert tables["q"].primary_key == ("b", "a")


def descriptors_open() -> int:
    """Open files of this process; 0 where the system does not tell."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


class TestCost:
    """What thousands of sandboxes leave behind."""

    def test_nothing_leaks(self, template: SqliteTemplate) -> None:
        """Memory and file descriptors stay flat over many lives of a sandbox, closed or
        forgotten.
        """

        def live(count: int, *, close: bool) -> None:
            for number in range(count):
                opened = template.open(Pins(seed=number))
                with opened.transaction(Limits()) as transaction:
                    transaction.connection.execute(text("INSERT INTO patient (name) VALUES ('x')"))
                    transaction.connection.execute(text("SELECT * FROM patient")).first()
                with pytest.raises(DBAPIError):
                    ask(opened, "SELECT nope")
                opened.diff()
                fork = opened.fork()
                if close:
                    fork.close()
                    opened.close()

        live(50, close=True)
        gc.collect()
        descriptors = descriptors_open()
        tracemalloc.start()
        used, _ = tracemalloc.get_traced_memory()
        native = apsw.status(apsw.SQLITE_STATUS_MEMORY_USED)[0]
        live(400, close=True)
        live(50, close=False)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - used
        tracemalloc.stop()
        assert grown < 200_000
        assert apsw.status(apsw.SQLITE_STATUS_MEMORY_USED)[0] - native < 500_000
        assert descriptors_open() <= descriptors

    def test_driver_errors_survive_pickling(self) -> None:
        for kind in (apsw_dbapi.IntegrityError, apsw_dbapi.RowLimitError):
            error = pickle.loads(pickle.dumps(kind("words", 19, "SQLITE_CONSTRAINT")))
            assert (type(error), str(error), error.sqlite_errorname) == (
                kind,
                "words",
                "SQLITE_CONSTRAINT",
            )

    def test_an_error_shows_no_sql(self, sandbox: SqliteSandbox) -> None:
        with pytest.raises(DBAPIError) as caught:
            ask(sandbox, "INSERT INTO patient (id, name) VALUES (1, :secret)", secret="hunter2")
        shown = to_result(caught.value, "sqlite").content()
        assert "hunter2" not in shown
        assert "INSERT" not in shown
        assert "hunter2" not in str(caught.value)
