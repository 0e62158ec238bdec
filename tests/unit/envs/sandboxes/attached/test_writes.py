"""Rollouts that write to an attached database: seen by themselves, compared, and rolled back."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.connection import parse_url
from envs.errors import DatabaseConfigError, SandboxError
from envs.sandboxes.attached.mariadb import limit_of
from envs.sandboxes.base import DatabaseTarget, Sandbox, Template, find_engine
from envs.sql_errors.classify import classify
from envs.types import ErrorCategory, Limits, Pins
from tests.unit.envs.sandboxes.attached.databases import duckdb_file, on_server, run, sqlite_file

WRITE = Limits(False, 4_000, 1_000, None)
READ = Limits(True, 4_000, 1_000, None)
DENIED = {ErrorCategory.PERMISSION_DENIED, ErrorCategory.SYNTAX_ERROR}

TABLES = (
    "CREATE TABLE shelf (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE, price NUMERIC)",
    "INSERT INTO shelf VALUES (1, 'first', 1.50), (2, 'second', NULL), (3, 'third', 7)",
    """CREATE TABLE box (id INTEGER PRIMARY KEY, shelf_id INTEGER,
    FOREIGN KEY (shelf_id) REFERENCES shelf (id) ON DELETE CASCADE)""",
    "INSERT INTO box VALUES (10, 1), (11, 1), (12, 2)",
    "CREATE TABLE ledger (id INTEGER PRIMARY KEY, line VARCHAR(40))",
    "INSERT INTO ledger VALUES (1, 'kept')",
    "CREATE TABLE keyless (line VARCHAR(40))",
)

SLOW = f"SELECT sum(s0.id * s29.id) FROM {', '.join(f'shelf s{n}' for n in range(30))}"


def build(address: str, *writes: str, **options: Any) -> Template:
    options["writes"] = writes
    return find_engine("attached").build(lambda _: None, DatabaseTarget(address, options=options))


def ask(sandbox: Sandbox, sql: str, limits: Limits = WRITE, **values: object) -> list[Any]:
    with sandbox.transaction(limits) as transaction:
        found = transaction.connection.execute(text(sql), values)
        return [tuple(row) for row in found] if found.returns_rows else []


def refused(sandbox: Sandbox, sql: str, limits: Limits = WRITE) -> ErrorCategory:
    with pytest.raises(DBAPIError) as caught, sandbox.transaction(limits) as transaction:
        transaction.connection.exec_driver_sql(sql, execution_options={"no_parameters": True})
    return classify(caught.value, sandbox.dialect)


def kill(sandbox: Any) -> None:
    """Kill the process that holds the connection of a rollout."""
    os.kill(sandbox._session._child.pid, signal.SIGKILL)


def rows_of(address: str) -> dict[str, list[str]]:
    """All rows of all tables, read past the engine under test."""
    engine = sqlalchemy.create_engine(address, poolclass=sqlalchemy.NullPool)
    with engine.connect() as connection:
        quote = engine.dialect.identifier_preparer.quote
        names = sqlalchemy.inspect(connection).get_table_names()
        return {
            name: sorted(map(repr, connection.exec_driver_sql(f"SELECT * FROM {quote(name)}")))
            for name in names
        }


LOCKS = (
    "SELECT * FROM ledger FOR UPDATE",
    "SELECT * FROM shelf, ledger FOR UPDATE",
    "UPDATE shelf SET price = (SELECT id FROM ledger LIMIT 1 FOR UPDATE)",
)
"""Statements that lock rows of a table that is not written."""


class _Writes:
    """On each dialect that can roll back. ``hostile`` statements write past the transaction, or to
    another table.
    """

    url = ""
    hostile: ClassVar[tuple[str, ...]] = ()
    more: ClassVar[tuple[str, ...]] = ()
    """Statements of the dialect that write to the tables, and are right."""
    slow: ClassVar[tuple[str, ...]] = (SLOW,)
    """Of SQLite only a query: a write that is interrupted there ends its transaction."""

    @contextmanager
    def unchanged(self, *writes: str, **options: Any) -> Generator[Template]:
        before = rows_of(self.url)
        with build(self.url, *(writes or ("shelf", "box")), **options) as template:
            yield template
        assert rows_of(self.url) == before

    def test_a_rollout_sees_its_writes_and_nobody_else_does(self) -> None:
        """Rows are there for later calls, compared with what was there first, and gone after."""
        with self.unchanged() as template:
            with template.open(Pins()) as sandbox:
                untouched = sandbox.state_hash()
                assert ask(sandbox, "SELECT count(*) FROM shelf", READ) == [(3,)]
                with sandbox.transaction(WRITE) as transaction:
                    db = transaction.connection
                    db.execute(text("INSERT INTO shelf VALUES (:i, :n, 2)"), {"i": 4, "n": "O'x"})
                    db.execute(text("UPDATE shelf SET price = 9 WHERE id = 3"))
                    assert db.execute(text("SELECT count(*) FROM shelf")).scalar() == 4
                shown = [(change.op, change.key) for change in transaction.changes]
                assert shown == [("update", {"id": 3}), ("insert", {"id": 4})]
                ask(sandbox, "DELETE FROM shelf WHERE id = 1")
                assert ask(sandbox, "SELECT id FROM shelf ORDER BY id", READ) == [(2,), (3,), (4,)]
                ops = [
                    (change.table, change.op, change.key["id"]) for change in sandbox.diff().changes
                ]
                assert ops == [
                    ("box", "delete", 10),
                    ("box", "delete", 11),
                    ("shelf", "delete", 1),
                    ("shelf", "update", 3),
                    ("shelf", "insert", 4),
                ]
                assert sandbox.state_hash() != untouched
                with template.open(Pins()) as other:
                    assert ask(other, "SELECT count(*) FROM shelf", READ) == [(3,)]
                with pytest.raises(SandboxError, match="cannot be forked"):
                    sandbox.fork()
            with template.open(Pins()) as sandbox:
                assert sandbox.state_hash() == untouched
                ask(sandbox, "UPDATE shelf SET price = 9 WHERE id = 3")
                ask(sandbox, "UPDATE shelf SET price = 7 WHERE id = 3")
                assert not sandbox.diff()
                assert sandbox.state_hash() == untouched

    def test_a_failed_statement_costs_nothing_else(self) -> None:
        """Neither what the call did before, if it goes on, nor earlier calls."""
        with self.unchanged() as template, template.open(Pins()) as sandbox:
            ask(sandbox, "UPDATE shelf SET price = 3 WHERE id = 1")
            with sandbox.transaction(WRITE) as transaction:
                db = transaction.connection
                db.execute(text("UPDATE shelf SET price = 4 WHERE id = 2"))
                with pytest.raises(DBAPIError) as caught:
                    db.execute(text("INSERT INTO shelf VALUES (1, 'again', 1)"))
                assert classify(caught.value, sandbox.dialect) is ErrorCategory.UNIQUE_VIOLATION
                with pytest.raises(DBAPIError):
                    db.execute(text("SELECT nothing FROM shelf"))
                db.execute(text("UPDATE shelf SET price = 5 WHERE id = 3"))
            assert [change.key["id"] for change in sandbox.diff().changes] == [1, 2, 3]
            with pytest.raises(ZeroDivisionError), sandbox.transaction(WRITE) as transaction:
                transaction.connection.execute(text("DELETE FROM box"))
                raise ZeroDivisionError
            with sandbox.transaction(WRITE) as transaction:
                transaction.connection.execute(text("DELETE FROM box"))
                transaction.rollback()
            assert [change.table for change in sandbox.diff().changes] == ["shelf"] * 3

    def test_an_executors_commit_stays_in_the_rollout(self) -> None:
        """``commit``, ``rollback`` and ``begin_nested`` are savepoints."""
        with self.unchanged() as template, template.open(Pins()) as sandbox:
            with sandbox.transaction(WRITE) as transaction:
                db = transaction.connection
                db.execute(text("UPDATE shelf SET price = 3 WHERE id = 1"))
                db.commit()
                db.execute(text("UPDATE shelf SET price = 4 WHERE id = 2"))
                db.rollback()
                with pytest.raises(ZeroDivisionError), db.begin_nested():
                    db.execute(text("DELETE FROM box"))
                    raise ZeroDivisionError
            assert [(change.table, change.key["id"]) for change in sandbox.diff().changes] == [
                ("shelf", 1)
            ]

    def test_what_is_hostile_is_refused(self) -> None:
        """No statement commits, reaches another table, or outlives the rollback."""
        statements = (
            "COMMIT",
            "ROLLBACK",
            "BEGIN",
            "SAVEPOINT a",
            "RELEASE SAVEPOINT synth_call",
            "ROLLBACK TO SAVEPOINT synth_call",
            "DELETE FROM ledger",
            "INSERT INTO ledger VALUES (7, 'x')",
            "UPDATE ledger SET line = 'x'",
            "DROP TABLE shelf",
            "ALTER TABLE shelf ADD COLUMN x INTEGER",
            "CREATE TABLE x (a INTEGER)",
            "TRUNCATE TABLE shelf",
            "UPDATE shelf SET price = 1; COMMIT",
            "INSERT INTO shelf VALUES (8, 'x', 1); COMMIT; DELETE FROM ledger",
            *self.hostile,
        )
        with self.unchanged() as template, template.open(Pins()) as sandbox:
            ask(sandbox, "UPDATE shelf SET price = 3 WHERE id = 1")
            for statement in statements:
                found = refused(sandbox, statement)
                assert found in DENIED, (statement, found)
            for statement in (*statements, "UPDATE shelf SET price = 8", "DELETE FROM box"):
                found = refused(sandbox, statement, READ)
                assert found in DENIED, (statement, found)
            assert [change.key["id"] for change in sandbox.diff().changes] == [1]
            for statement in self.more:
                ask(sandbox, statement)

    def test_a_process_that_is_killed_leaves_nothing(self) -> None:
        """``kill -9`` of the process that holds the connection, and of the one that plays."""
        with self.unchanged() as template:
            with template.open(Pins()) as sandbox:
                ask(sandbox, "DELETE FROM box")
                kill(sandbox)
                with pytest.raises(SandboxError, match="was lost"):
                    ask(sandbox, "DELETE FROM shelf")
            with template.open(Pins()) as sandbox:
                ask(sandbox, "DELETE FROM box")
        before = rows_of(self.url)
        code = (
            "import sys, time\n"
            "from tests.unit.envs.sandboxes.attached.test_writes import *\n"
            "sandbox = build(sys.argv[1], 'shelf', 'box').open(Pins())\n"
            "ask(sandbox, 'DELETE FROM box')\n"
            "print('written', flush=True)\n"
            "time.sleep(60)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", code, self.url], stdout=subprocess.PIPE, text=True
        ) as player:
            assert player.stdout is not None
            assert player.stdout.readline() == "written\n"
            player.kill()
        assert rows_of(self.url) == before
        with self.unchanged() as template, template.open(Pins()) as sandbox:
            until = time.monotonic() + 3
            ask(sandbox, "DELETE FROM box")  # its locks are gone as well
            assert time.monotonic() < until

    def test_two_rollouts_that_write_one_row(self) -> None:
        """The second waits for half of its time, and is given up: an error of its tool would be
        held against the agent. The first goes on, and so does the next one after it.
        """
        limits = Limits(False, 4_000, 1_000, None)
        with self.unchanged() as template:
            with template.open(Pins()) as first, template.open(Pins()) as second:
                ask(first, "UPDATE shelf SET price = 3 WHERE id = 1", limits)
                began = time.monotonic()
                with pytest.raises(SandboxError, match="another transaction has its rows"):
                    ask(second, "UPDATE shelf SET price = 4 WHERE id = 1", limits)
                assert 1 < time.monotonic() - began < 4
                ask(first, "UPDATE shelf SET price = 5 WHERE id = 2", limits)
            with template.open(Pins()) as third:
                ask(third, "UPDATE shelf SET price = 4 WHERE id = 1", limits)
                assert [change.key["id"] for change in third.diff().changes] == [1]

    def test_a_slow_statement_ends_and_the_rollout_goes_on(self) -> None:
        with self.unchanged() as template, template.open(Pins()) as sandbox:
            ask(sandbox, "UPDATE shelf SET price = 3 WHERE id = 1")
            for sql in self.slow:
                assert refused(sandbox, sql, Limits(False, 400, 9, None)) is ErrorCategory.TIMEOUT
            ask(sandbox, "UPDATE shelf SET price = 3 WHERE id = 2")
            assert [change.key["id"] for change in sandbox.diff().changes] == [1, 2]

    @pytest.mark.parametrize(
        ("writes", "words"),
        [
            (("nothing",), "no table 'nothing'; the tables are .*box, "),
            (("keyless",), "the table keyless has no primary key"),
            (
                ("shelf",),
                r"a change of shelf changes box as well \(CASCADE\); name that table, too",
            ),
        ],
    )
    def test_tables_that_cannot_be_written(self, writes: tuple[str, ...], words: str) -> None:
        with pytest.raises(DatabaseConfigError, match=f"database.options.writes: .*{words}"):
            build(self.url, *writes)


class TestSqliteWrites(_Writes):
    hostile = (
        "PRAGMA foreign_keys = OFF",
        "PRAGMA journal_mode = WAL",
        "PRAGMA writable_schema = ON",
        "ATTACH 'other.db' AS other",
        "UPDATE sqlite_master SET sql = ''",
        "WITH x AS (SELECT 1) DELETE FROM ledger",
        "INSERT INTO marked VALUES (1)",
        "VACUUM",
        "END",
        "CREATE TEMP TABLE t (a)",
        "REINDEX",
    )
    more = ("INSERT OR REPLACE INTO shelf VALUES (1, 'new', 2) RETURNING id",)

    @pytest.fixture(autouse=True)
    def _database(self, tmp_path: Path) -> None:
        self.url = sqlite_file(tmp_path)
        run(
            self.url,
            *TABLES,
            "CREATE TABLE marked (id INTEGER PRIMARY KEY)",
            "CREATE TRIGGER marks AFTER INSERT ON marked BEGIN DELETE FROM ledger; END",
        )

    def test_a_rollback_by_a_statement_ends_the_rollout(self) -> None:
        """What would follow would be committed by itself: nothing follows."""
        with self.unchanged() as template, template.open(Pins()) as sandbox:
            with pytest.raises(SandboxError, match="rolled the whole transaction back"):
                ask(sandbox, "INSERT OR ROLLBACK INTO shelf VALUES (1, 'x', 1)")
            with pytest.raises(SandboxError, match="was lost"):
                ask(sandbox, "DELETE FROM box")

    def test_a_trigger_may_change_only_these_tables(self) -> None:
        with self.unchanged("marked") as template, template.open(Pins()) as sandbox:
            assert refused(sandbox, "INSERT INTO marked VALUES (1)") in DENIED

    @pytest.mark.parametrize("mode", ["delete", "wal"])
    def test_the_file_is_never_touched(self, tmp_path: Path, mode: str) -> None:
        """Not even after a kill: byte by byte what it was, and no journal beside it."""
        file = tmp_path / "library.db"
        with closing(sqlite3.connect(file)) as raw:
            raw.execute(f"PRAGMA journal_mode = {mode}")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = file.read_bytes()
        with build(self.url, "ledger") as template:
            with template.open(Pins()) as sandbox:
                values = (
                    "WITH RECURSIVE n(i) AS (SELECT 2 UNION SELECT i + 1 FROM n WHERE i < 20000)"
                )
                ask(sandbox, f"INSERT INTO ledger {values} SELECT i, hex(zeroblob(200)) FROM n")
                assert len(sandbox.diff().changes) == 19_999
                kill(sandbox)
            assert file.read_bytes() == before
            with template.open(Pins()) as sandbox:
                assert ask(sandbox, "SELECT count(*) FROM ledger", READ) == [(1,)]
        assert file.read_bytes() == before
        if mode == "delete":
            assert [path.name for path in tmp_path.iterdir()] == ["library.db"]


class TestPostgresWrites(_Writes):
    slow = (SLOW, f"UPDATE box SET shelf_id = ({SLOW})")
    hostile = (
        "DO $$ BEGIN COMMIT; END $$",
        "CALL commits()",
        "SELECT writes_more()",
        "INSERT INTO shelf SELECT 9, 'x', writes_more()",
        "INSERT INTO shelf VALUES (1, 'x', 1) ON CONFLICT (id) DO UPDATE SET price = writes_more()",
        """MERGE INTO shelf USING box ON shelf.id = box.id WHEN NOT MATCHED THEN
        INSERT VALUES (box.id, 'x', setval('numbers', 900))""",
        "UPDATE shelf SET price = setval('numbers', 900)",
        "UPDATE shelf SET price = nextval('numbers')",
        "SELECT nextval('numbers')",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_notify('a', 'b')",
        "SELECT set_config('session_replication_role', 'replica', false)",
        "WITH x AS (DELETE FROM ledger RETURNING 1) SELECT * FROM x",
        "WITH x AS (DELETE FROM ledger RETURNING 1) UPDATE shelf SET price = 1",
        "INSERT INTO marked VALUES (1)",
        "INSERT INTO ledger_view VALUES (9, 'x')",
        "UPDATE pg_class SET relname = 'x' WHERE relname = 'shelf'",
        "SELECT * INTO copied FROM shelf",
        "PREPARE TRANSACTION 'x'",
        "COMMIT AND CHAIN",
        "SET session_replication_role = replica",
        "LOCK TABLE shelf",
        "COPY shelf FROM '/etc/hostname'",
        "COPY shelf TO PROGRAM 'cat'",
        "EXPLAIN ANALYZE DELETE FROM shelf",
        "LISTEN a",
        "SELECT lo_create(0)",
        "SELECT pg_export_snapshot()",
        "UPDATE shelf SET price = id @~@ 1",
        "INSERT INTO shelf VALUES (1, 'x', 1) ON CONFLICT (id) DO UPDATE SET price = 1 @~@ 1",
        "DELETE FROM shelf WHERE id OPERATOR(public.@~@) 1 > 0",
        "UPDATE shelf SET price = (id::pair).a",
        "UPDATE shelf SET price = 5::checked",
        "UPDATE shelf SET price = p::integer FROM behind_pairs",
        "INSERT INTO shelf VALUES (9, 'x', checks(1)), (8, 'y', 1)",
        "INSERT INTO shelf VALUES (9, 'x', 5::counted), (8, 'y', 1)",
        "UPDATE shelf SET price = (SELECT numbered(id) FROM box)",
        "UPDATE shelf SET price = n FROM behind",
        "UPDATE shelf SET price = n FROM next",
        *LOCKS,
        "SELECT * FROM ledger_view FOR KEY SHARE",
    )
    more = (
        "WITH x AS (DELETE FROM shelf WHERE id = 2 RETURNING id) SELECT * FROM x",
        "INSERT INTO shelf VALUES (1, 'n', 1) ON CONFLICT (id) DO UPDATE SET price = 5",
        "SELECT * FROM shelf FOR UPDATE",
    )

    @pytest.fixture(autouse=True)
    def _database(self) -> Generator[None]:
        with on_server("postgresql") as self.url:
            run(
                self.url,
                *TABLES,
                "CREATE TABLE marked (id INTEGER PRIMARY KEY)",
                "CREATE FUNCTION marks() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN DELETE FROM ledger; RETURN NEW; END $$",
                "CREATE TRIGGER marks AFTER INSERT ON marked FOR EACH ROW EXECUTE FUNCTION marks()",
                "CREATE FUNCTION writes_more() RETURNS integer LANGUAGE plpgsql AS"
                " $$ BEGIN DELETE FROM ledger; RETURN 1; END $$",
                "CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$",
                "CREATE FUNCTION counts(integer, integer) RETURNS integer LANGUAGE plpgsql AS"
                " $$ BEGIN RETURN nextval('numbers'); END $$",
                "CREATE OPERATOR @~@ (LEFTARG = integer, RIGHTARG = integer, FUNCTION = counts)",
                "CREATE AGGREGATE numbered(integer) (SFUNC = counts, STYPE = integer, INITCOND = 0)",
                "CREATE DOMAIN checked AS integer CHECK (counts(VALUE, 1) > 0)",
                "CREATE TYPE pair AS (a integer)",
                "CREATE FUNCTION paired(integer) RETURNS pair LANGUAGE plpgsql AS"
                " $$ BEGIN PERFORM nextval('numbers'); RETURN ROW(1)::pair; END $$",
                "CREATE CAST (integer AS pair) WITH FUNCTION paired(integer)",
                "CREATE VIEW behind AS SELECT id @~@ 1 AS n FROM box",
                "CREATE FUNCTION counted(pair) RETURNS integer LANGUAGE plpgsql AS"
                " $$ BEGIN RETURN nextval('numbers'); END $$",
                "CREATE VIEW next AS SELECT nextval('numbers') AS n",
                "CREATE CAST (pair AS integer) WITH FUNCTION counted(pair)",
                "CREATE TABLE pairs AS SELECT ROW(1)::pair AS p",
                "CREATE VIEW behind_pairs AS SELECT * FROM pairs",
                "CREATE DOMAIN counted AS integer CHECK (nextval('numbers') > 0)",
                "CREATE FUNCTION checks(counted) RETURNS integer IMMUTABLE LANGUAGE sql AS"
                " $$ SELECT 1 $$",
                "CREATE VIEW ledger_view AS SELECT * FROM ledger",
                "CREATE TABLE late (id SERIAL PRIMARY KEY, box_id INTEGER REFERENCES box (id)"
                " DEFERRABLE INITIALLY DEFERRED, more NUMERIC DEFAULT 5 + counts(1, 1))",
                "CREATE TABLE part (id INTEGER PRIMARY KEY, line TEXT) PARTITION BY RANGE (id)",
                "CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (100)",
                "INSERT INTO part VALUES (1, 'a')",
            )
            yield

    def test_a_trigger_may_change_only_these_tables(self) -> None:
        """The server's counters tell of it, and the statement is undone. Others are not refused for
        what it did.
        """
        with self.unchanged("marked", "part") as template, template.open(Pins()) as sandbox:
            for _ in range(2):
                assert refused(sandbox, "INSERT INTO marked VALUES (1)") in DENIED
                assert not sandbox.diff()
            ask(sandbox, "UPDATE part SET line = 'c' WHERE id = 1")
            assert refused(sandbox, "INSERT INTO marked VALUES (1)") in DENIED
            assert [change.table for change in sandbox.diff().changes] == ["part"]
        with self.unchanged("marked", "ledger") as template, template.open(Pins()) as sandbox:
            ask(sandbox, "INSERT INTO marked VALUES (1)")
            assert [change.table for change in sandbox.diff().changes] == ["ledger", "marked"]

    def test_what_is_deferred_is_checked_at_the_end_of_a_call(self) -> None:
        """Defaults are given, and a commit that never comes is no way past a constraint."""
        with self.unchanged("late") as template, template.open(Pins()) as sandbox:
            ask(sandbox, "INSERT INTO late (box_id) VALUES (10)")
            with pytest.raises(DBAPIError) as caught:
                ask(sandbox, "INSERT INTO late (box_id) VALUES (99)")
            assert classify(caught.value, sandbox.dialect) is ErrorCategory.FK_VIOLATION
            assert [change.op for change in sandbox.diff().changes] == ["insert"]

    def test_what_is_refused_is_called_what_it_is(self) -> None:
        """A cast between built-in types, which no statement shows, is refused at once."""
        with self.unchanged() as template, template.open(Pins()) as sandbox:
            for sql, words in (
                ("SELECT id @~@ 1 FROM box", "operator @~@"),
                ("SELECT p::integer FROM behind_pairs", "type pairs"),
                ("SELECT nextval('numbers')", "function nextval"),
            ):
                with pytest.raises(DBAPIError, match=f"permission denied for {words}: "):
                    ask(sandbox, sql)
        placed = "CREATE FUNCTION placed(point) RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$"
        run(self.url, placed, "CREATE CAST (point AS integer) WITH FUNCTION placed(point)")
        with pytest.raises(DatabaseConfigError, match="the cast from point to int4 calls placed"):
            build(self.url, "ledger")

    def test_partitions_are_their_table(self) -> None:
        with self.unchanged("part") as template, template.open(Pins()) as sandbox:
            ask(sandbox, "INSERT INTO part VALUES (2, 'b')")
            ask(sandbox, "UPDATE part SET line = 'c' WHERE id = 1")
            assert [(change.table, change.op) for change in sandbox.diff().changes] == [
                ("part", "update"),
                ("part", "insert"),
            ]

    def test_an_idle_transaction_ends(self) -> None:
        """The server ends it, and the rollout is lost, not its data wrong."""
        with self.unchanged(idle_s=1) as template, template.open(Pins()) as sandbox:
            ask(sandbox, "DELETE FROM box")
            time.sleep(1.5)
            with pytest.raises(SandboxError, match="was lost"):
                ask(sandbox, "DELETE FROM shelf")


class TestMariaDBWrites(_Writes):
    server = "mariadb"
    slow = (SLOW, f"UPDATE box SET shelf_id = ({SLOW})")
    hostile = (
        "SET autocommit = 1",
        "START TRANSACTION",
        "SET STATEMENT max_statement_time = 0 FOR DELETE FROM shelf",
        "LOCK TABLES shelf WRITE",
        "CALL commits()",
        "SELECT writes_more()",
        "INSERT INTO shelf VALUES (9, 'x', writes_more())",
        "INSERT INTO shelf VALUES (9, 'x', `writes_more` ())",
        "INSERT INTO shelf SELECT n, 'x', 1 FROM calling",
        "INSERT INTO shelf VALUES (9, 'x', NEXT VALUE FOR numbers)",
        "INSERT INTO shelf VALUES (9, 'x', SETVAL(numbers, 900))",
        "INSERT /*! INTO ledger */ VALUES (9, 'x')",
        "UPDATE shelf, ledger SET ledger.line = 'x'",
        "UPDATE shelf JOIN ledger ON 1 SET line = 'x'",
        "DELETE ledger FROM shelf JOIN ledger",
        "DELETE FROM ledger USING shelf JOIN ledger",
        "DELETE shelf FROM ledger AS shelf",
        "REPLACE INTO ledger VALUES (1, 'x')",
        "INSERT INTO mysql.servers (Server_name) VALUES ('x')",
        "UPDATE `shelf`.`shelf` SET price = 1",
        "INSERT INTO ledger_view VALUES (9, 'x')",
        "INSERT INTO loose VALUES (1)",
        "HANDLER shelf OPEN",
        "ANALYZE TABLE shelf",
        "ANALYZE DELETE FROM shelf",
        "EXECUTE IMMEDIATE 'COMMIT'",
        "BEGIN NOT ATOMIC COMMIT; END",
        "XA START 'x'",
        "SELECT get_lock('a', 1)",
        "SELECT 1 INTO OUTFILE '/tmp/attached.csv'",
        "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE shelf",
        "FLUSH TABLES",
        "CREATE TEMPORARY TABLE t (a INTEGER)",
        "RENAME TABLE shelf TO other",
        "OPTIMIZE TABLE shelf",
        "SELECT @@in_transaction; COMMIT",
        *LOCKS,
        "SELECT * FROM ledger LOCK IN SHARE MODE",
    )
    more = (
        "INSERT INTO shelf VALUES (9, 'x', 1) RETURNING id",
        "REPLACE INTO shelf VALUES (9, 'y', 1)",
        "UPDATE shelf s JOIN box b ON b.shelf_id = s.id SET s.price = 1",
        "DELETE b FROM box b JOIN shelf s ON b.shelf_id = s.id",
        "SELECT * FROM shelf FOR UPDATE",
    )

    @pytest.fixture(autouse=True)
    def _database(self) -> Generator[None]:
        with on_server(self.server) as self.url:
            run(
                self.url,
                *TABLES,
                "CREATE TABLE loose (id INTEGER PRIMARY KEY) ENGINE = MyISAM",
                "CREATE TABLE marked (id INTEGER PRIMARY KEY)",
                "CREATE TRIGGER marks AFTER INSERT ON marked FOR EACH ROW DELETE FROM ledger",
                "CREATE FUNCTION writes_more() RETURNS INTEGER MODIFIES SQL DATA BEGIN"
                " INSERT INTO loose VALUES (5); RETURN 1; END",
                "CREATE PROCEDURE commits() COMMIT",
                "CREATE VIEW ledger_view AS SELECT * FROM ledger",
                "CREATE VIEW calling AS SELECT writes_more() AS n",
            )
            yield

    @pytest.mark.parametrize(
        ("table", "words"),
        [
            ("loose", "the table loose is of the engine MyISAM, which does not roll back"),
            ("marked", "the trigger marks of marked may change ledger as well; name that table"),
        ],
    )
    def test_what_would_not_roll_back(self, table: str, words: str) -> None:
        """Neither server says which tables a trigger changed: the tables are asked for before."""
        with pytest.raises(DatabaseConfigError, match=words):
            build(self.url, table)

    def test_a_mode_in_which_statements_read_differently(self) -> None:
        url = parse_url(self.url).update_query_dict(
            {"init_command": "SET SESSION sql_mode = 'ANSI_QUOTES'"}
        )
        with pytest.raises(DatabaseConfigError, match="sql_mode of the session has ANSI_QUOTES"):
            build(url.render_as_string(hide_password=False), "ledger")

    def test_an_idle_transaction_ends(self) -> None:
        with self.unchanged(idle_s=1) as template, template.open(Pins()) as sandbox:
            ask(sandbox, "DELETE FROM box")
            time.sleep(2)
            with pytest.raises(SandboxError, match="was lost"):
                ask(sandbox, "DELETE FROM shelf")


@pytest.mark.long
class TestMySQLWrites(TestMariaDBWrites):
    """MySQL 8 and 9 bound queries only: another statement is ended from a second connection."""

    server = "mysql itself"
    hostile = (
        *(sql for sql in TestMariaDBWrites.hostile if "numbers" not in sql),
        "WITH x AS (SELECT 1) DELETE FROM ledger",
        "UPDATE /*+ SET_VAR(max_execution_time = 60000) */ shelf SET price = 1",
        "LOCK INSTANCE FOR BACKUP",
        "INSERT INTO ledger TABLE ledger",
        "TABLE shelf INTO OUTFILE '/tmp/attached.csv'",
    )
    more = tuple(sql for sql in TestMariaDBWrites.more if "RETURNING" not in sql)


def test_an_engine_that_cannot_roll_back_is_refused(tmp_path: Path):
    with pytest.raises(DatabaseConfigError, match="duckdb cannot roll a rollout back; only SQLite"):
        build(duckdb_file(tmp_path), "author")


@pytest.mark.parametrize(
    ("version", "mysql"),
    [
        ("8.0.36", True),
        ("8.4.3-log", True),
        ("8.0.mysql_aurora.3.04.0", True),
        ("10.11.19-MariaDB-0+deb12u1", False),
        ("5.5.5-10.6.18-MariaDB-log", False),
    ],
)
def test_the_servers_version_chooses_the_variables(version: str, mysql: bool):
    own = "max_execution_time = 1500" if mysql else "max_statement_time = 1.5"
    assert limit_of(version, "statement_ms", 1_500) == own
    name = "wait_timeout" if mysql else "idle_transaction_timeout"
    assert limit_of(version, "idle_s", 9) == f"{name} = 9"
