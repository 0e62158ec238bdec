"""Attached databases on every dialect that the machine has: read, never written, recognised."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from envs.connection import parse_url
from envs.errors import DatabaseConfigError
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.types import ErrorCategory, Limits, Pins
from tests.unit.envs.sandboxes.attached.contract import AttachedContract
from tests.unit.envs.sandboxes.attached.databases import duckdb_file, on_server, run, sqlite_file


class _Attached(AttachedContract):
    url = ""

    def address(self) -> str:
        return self.url

    def change(self) -> None:
        run(self.url, "INSERT INTO visit (line) VALUES ('new')")


class TestSqlite(_Attached):
    writes = (
        "WITH x AS (SELECT 1) INSERT INTO visit SELECT 1 FROM x",
        "ATTACH 'other.db' AS other",
        "PRAGMA writable_schema = 1",
        "PRAGMA journal_mode = WAL",
        "CREATE TEMP TABLE t (a)",
        "VACUUM INTO 'copy.db'",
        "SELECT load_extension('x')",
        "BEGIN IMMEDIATE",
        "REINDEX",
    )

    @pytest.fixture(autouse=True)
    def _database(self, tmp_path: Path) -> None:
        self.url = sqlite_file(tmp_path)

    def test_a_value_has_its_bound(self) -> None:
        """No single step of SQLite takes all memory."""
        with self.attached() as template, template.open(Pins()) as sandbox:
            sql = "SELECT length(replace(hex(zeroblob(9000000)), '0', 'xxxxxxxx'))"
            assert self.refused(sandbox, sql) is ErrorCategory.LIMIT_EXCEEDED

    def test_the_folder_holds_nothing_new(self, tmp_path: Path) -> None:
        """Reading leaves no journal beside the file, and the file byte by byte what it was."""
        file = tmp_path / "library.db"
        before = file.read_bytes()
        with self.attached() as template, template.open(Pins()) as sandbox:
            self.ask(sandbox, "SELECT * FROM author")
        assert [path.name for path in tmp_path.iterdir()] == ["library.db"]
        assert file.read_bytes() == before


class TestDuckDB(_Attached):
    writes = (
        "WITH x AS (INSERT INTO visit VALUES ('x') RETURNING 1) SELECT * FROM x",
        "SELECT nextval('numbers')",
        "COPY author TO 'author.csv'",
        "COPY (SELECT 1) TO 'author.csv'",
        "ATTACH 'other.duckdb'",
        "PRAGMA database_list",
        "SET memory_limit = '64GB'",
        "CREATE TEMP TABLE t (a INTEGER)",
        "EXPLAIN ANALYZE DELETE FROM visit",
        "EXPORT DATABASE 'exported'",
        "CALL enable_logging()",
        "SELECT * FROM enable_logging()",
        "SELECT * FROM read_text('/etc/hostname')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PREPARE p AS DELETE FROM visit",
        "CHECKPOINT",
        "USE memory",
    )

    @pytest.fixture(autouse=True)
    def _database(self, tmp_path: Path) -> None:
        self.url = duckdb_file(tmp_path)

    def test_a_statement_that_needs_too_much_memory_ends(self) -> None:
        """It is an error for the model, in the process of the statement and not in this one."""
        with self.attached() as template, template.open(Pins()) as sandbox:
            sql = "SELECT length(repeat('x', 3000000000))"
            assert self.refused(sandbox, sql) is ErrorCategory.LIMIT_EXCEEDED
            assert self.ask(sandbox, "SELECT 1") == [(1,)]


class TestPostgres(_Attached):
    slow = "SELECT count(*) FROM generate_series(1, 100000000000)"
    writes = (
        "WITH x AS (INSERT INTO visit VALUES ('x') RETURNING 1) SELECT * FROM x",
        "SELECT * INTO copied FROM author",
        "SELECT * INTO TEMP copied FROM author",
        "SELECT nextval('numbers')",
        "SELECT setval('numbers', 5)",
        "SELECT lo_create(0)",
        "SELECT lo_import('/etc/hostname')",
        "SELECT set_config('default_transaction_read_only', 'off', false)",
        "SELECT set_config('transaction_read_only', 'off', true)",
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_notify('a', 'b')",
        "SELECT pg_read_file('/etc/hostname')",
        "SELECT query_to_xml('DELETE FROM visit', true, true, '')",
        "SELECT * FROM author FOR UPDATE",
        "SELECT 1 ORDER BY write_visit()",
        "SELECT * FROM visits_and_more",
        'SELECT U&"\\0077rite_visit"()',
        "VALUES (set_config('a.b', 'c', false)), ('b')",
        "SELECT * FROM (VALUES (pg_advisory_lock(7)::text), ('b')) x",
        "SELECT 1 LIMIT length(set_config('a.b', 'c', false))",
        "SELECT count(*) OVER (ROWS BETWEEN write_visit() PRECEDING AND CURRENT ROW) FROM author",
        'VALUES (U&"\\0077rite_visit"()), (1)',
        'SELECT 1 LIMIT "write_visit"/* */()',
        "SELECT 1 /* ' */ LIMIT write_visit() /* ' */",
        "SELECT 1 FROM author LIMIT (SELECT a.by_author FROM author a LIMIT 1)",
        "SELECT v FROM author a, LATERAL (VALUES (a.by_author), (1)) x (v)",
        "COPY author TO '/tmp/author.csv'",
        "COPY author TO PROGRAM 'cat'",
        "EXPLAIN ANALYZE DELETE FROM visit",
        "SET default_transaction_read_only = off",
        "SELECT 1; COMMIT; DELETE FROM visit",
        "DO $$ BEGIN DELETE FROM visit; END $$",
        "CREATE TEMP TABLE t (a INTEGER)",
        "SHOW data_directory",
    )

    @pytest.fixture(autouse=True)
    def _database(self) -> Generator[None]:
        with on_server("postgresql") as self.url:
            run(
                self.url,
                "CREATE FUNCTION write_visit() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN"
                " INSERT INTO visit VALUES ('w'); RETURN 1; END $$",
                "CREATE VIEW visits_and_more AS SELECT write_visit()",
                "CREATE FUNCTION by_author(author) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN"
                " RETURN write_visit(); END $$",
            )
            yield

    def test_functions_that_only_read_are_called(self) -> None:
        """Names in texts are no calls, and what is stable or harmless may be called."""
        with self.attached() as template, template.open(Pins()) as sandbox:
            sql = "SELECT 'set_config(', now() > '2020-01-01', random() < 2, upper('a')"
            assert self.ask(sandbox, sql) == [("set_config(", True, True, "A")]

    def test_a_value_that_python_cannot_hold_is_its_text(self) -> None:
        with self.attached() as template, template.open(Pins()) as sandbox:
            sql = "SELECT date 'infinity', timestamp '-infinity', ARRAY[date '4713-01-01 BC']"
            assert self.ask(sandbox, sql) == [("infinity", "-infinity", ["4713-01-01 BC"])]


class TestMariaDB(_Attached):
    server = "mariadb"
    slow = "SELECT benchmark(100000000000, md5('a'))"
    writes = (
        "SELECT 1 INTO OUTFILE '/tmp/x.csv'",
        "SELECT 1 /*! INTO OUTFILE '/tmp/x.csv' */",
        "SELECT 1 /*!99999 INTO DUMPFILE '/tmp/x.csv' */",
        "/*! DELETE FROM visit */",
        "SELECT nextval(numbers)",
        "SELECT NEXT VALUE FOR numbers",
        "SELECT setval(numbers, 100)",
        "SELECT write_visit()",
        "SELECT load_file('/etc/hostname')",
        "SELECT get_lock('a', 1)",
        "SELECT * FROM author FOR UPDATE",
        "SELECT * FROM author LOCK IN SHARE MODE",
        "SET SESSION TRANSACTION READ WRITE",
        "SET STATEMENT max_statement_time = 0 FOR SELECT 1",
        "EXECUTE IMMEDIATE 'DELETE FROM visit'",
        "BEGIN NOT ATOMIC DELETE FROM visit; END",
        "CREATE TEMPORARY TABLE t (a INTEGER)",
        "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE visit",
        "ANALYZE DELETE FROM visit",
        "HANDLER author OPEN",
        "CALL write_visit()",
        "SHOW GRANTS",
    )

    @pytest.fixture(autouse=True)
    def _database(self) -> Generator[None]:
        with on_server(self.server) as self.url:
            run(
                self.url,
                "CREATE FUNCTION write_visit() RETURNS INTEGER MODIFIES SQL DATA BEGIN"
                " INSERT INTO visit VALUES ('w'); RETURN 1; END",
            )
            yield

    def test_a_sleep_that_was_cut_is_no_answer(self) -> None:
        """SLEEP gives a value when the server cuts it; here it took too long."""
        with self.attached() as template, template.open(Pins()) as sandbox:
            short = Limits(True, 300, 10, None)
            assert self.refused(sandbox, "SELECT sleep(30)", short) is ErrorCategory.TIMEOUT


@pytest.mark.long
class TestMySQL(TestMariaDB):
    """MySQL 8 and 9: hints lift a time limit, FOR SHARE locks, and there are no sequences."""

    server = "mysql itself"
    slow = f"SELECT count(*) FROM {', '.join(f'information_schema.columns c{n}' for n in range(4))}"
    writes = (
        *(sql for sql in TestMariaDB.writes if "numbers" not in sql),
        "SELECT * FROM author FOR SHARE",
        "SELECT * FROM author FOR SHARE OF author SKIP LOCKED",
        "SELECT /*+ MAX_EXECUTION_TIME(60000) */ 1",
        "SELECT /*+ SET_VAR(max_execution_time = 60000) */ 1",
        "WITH x AS (SELECT 1) DELETE FROM visit",
        "EXPLAIN ANALYZE SELECT 1",
        "LOCK INSTANCE FOR BACKUP",
        "SET PERSIST max_connections = 5",
        "SELECT 1 INTO DUMPFILE '/tmp/x.csv'",
    )

    def test_sandboxes_do_not_run_on_it(self) -> None:
        with pytest.raises(DatabaseConfigError, match=r"sandboxes run on MariaDB 10\.6"):
            find_engine("mariadb").build(lambda _: None, DatabaseTarget(self.url))

    def test_an_account_that_may_only_read(self) -> None:
        """Its password takes the way that MySQL 8 has by default, and its session has a time."""
        url = parse_url(self.url)
        run(
            self.url,
            "CREATE USER IF NOT EXISTS synth_reader@'%' IDENTIFIED BY 'secret'",
            f"GRANT SELECT ON {url.database}.* TO synth_reader@'%'",
        )
        own = url.set(username="synth_reader", password="secret")
        address = own.render_as_string(hide_password=False)
        with (
            find_engine("attached").build(lambda _: None, DatabaseTarget(address)) as template,
            template.open(Pins(now="2024-02-29T08:30:00")) as sandbox,
        ):
            sql = "SELECT year(now()), (SELECT count(*) FROM author)"
            assert self.ask(sandbox, sql) == [(2024, 3)]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nonsense", "not a database URL"),
        ("sqlite://", "needs the path of a file"),
        ("duckdb:///:memory:", "needs the path of a file"),
        ("sqlite:////nowhere/at_all.db", "SQLite file not found"),
        ("nodialect://host/name", "no SQLAlchemy dialect or driver for nodialect://"),
        ("postgresql://u:s3cretpass@127.0.0.1:1/x", "cannot read the database postgresql"),
    ],
)
def test_what_cannot_be_attached_says_why(address: str, words: str):
    """One sentence, without the password."""
    with pytest.raises(DatabaseConfigError) as caught:
        find_engine("attached").build(lambda _: None, DatabaseTarget(address))
    assert words in str(caught.value)
    assert "s3cretpass" not in str(caught.value)


def test_a_known_fingerprint_is_not_read_again(tmp_path: Path):
    """Workers take the driver's word for the rows, and look at the columns only."""
    url, engine = sqlite_file(tmp_path), find_engine("attached")
    with engine.build(lambda _: None, DatabaseTarget(url)) as template:
        known = template.fingerprint
    run(url, "INSERT INTO visit (line) VALUES ('new')")
    with engine.build(lambda _: None, DatabaseTarget(url, fingerprint=known)) as template:
        assert template.fingerprint == known
    run(url, "ALTER TABLE visit ADD COLUMN more TEXT")
    with pytest.raises(DatabaseConfigError, match="the table visit has other columns"):
        engine.build(lambda _: None, DatabaseTarget(url, fingerprint=known))
