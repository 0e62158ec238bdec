"""``synth reseed`` makes a world's database anywhere, and replaces nothing that it did not make."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from envs.connection import connect_args, parse_url
from envs.errors import DatabaseConfigError, ScriptError, WorldError
from envs.reseed import APPLICATION_ID, MARKER, ReseedRefused, reseed
from envs.scripts import run_script
from synth.core.cli.reseed import main
from synth.core.foundation.shipped import find_world
from synth.errors import OperatorError

SCHEMA = """
DROP TABLE IF EXISTS items;
CREATE TABLE shops (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL);
CREATE TABLE items (id INTEGER PRIMARY KEY, shop INTEGER NOT NULL REFERENCES shops (id));
CREATE VIEW big AS SELECT id FROM items WHERE id > 1;
"""
SEED = (
    "INSERT INTO shops VALUES (1, '100% :x; O''Brien'), (2, 'b');\nINSERT INTO items VALUES (1,"
    " 1), (2, 2), (3, 1);\n"
)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    folder = tmp_path / "corner"
    folder.mkdir()
    (folder / "schema.sql").write_text(SCHEMA)
    (folder / "seed.sql").write_text(SEED)
    return folder


def lite(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()


@pytest.fixture(params=["postgres", "mysql"])
def url(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(f"{request.param}_url")


Ask = Callable[[str], list[tuple[Any, ...]]]


def asking(url: str) -> Iterator[Ask]:
    parsed = parse_url(url)
    engine = sqlalchemy.create_engine(
        parsed,
        isolation_level="AUTOCOMMIT",
        poolclass=sqlalchemy.NullPool,
        connect_args=connect_args(parsed),
    )

    def ask(statement: str) -> list[tuple[Any, ...]]:
        with engine.connect() as connection:
            result = connection.execute(sqlalchemy.text(statement))
            return [tuple(row) for row in result] if result.returns_rows else []

    yield ask
    engine.dispose()


@pytest.fixture
def ask(url: str) -> Iterator[Ask]:
    yield from asking(url)


@pytest.fixture
def postgres_ask(postgres_url: str) -> Iterator[Ask]:
    yield from asking(postgres_url)


@pytest.fixture
def mysql_ask(mysql_url: str) -> Iterator[Ask]:
    yield from asking(mysql_url)


class TestFile:
    def test_the_command_builds_a_file_and_says_how_to_open_it(
        self,
        world: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ):
        monkeypatch.chdir(tmp_path)
        assert main([str(world)]) == 0
        shown = capsys.readouterr().out
        assert "sqlite3 corner.sqlite" in shown
        assert "2 tables, 5 rows" in shown
        file = tmp_path / "corner.sqlite"
        assert lite(file, "SELECT name FROM shops WHERE id = 1") == [("100% :x; O'Brien",)]
        assert lite(file, "PRAGMA application_id") == [(APPLICATION_ID,)]
        assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []

    def test_json_and_a_sqlite_url_say_the_same(
        self, world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ):
        file = tmp_path / "x.sqlite"
        assert main([str(world), "--url", f"sqlite:///{file}", "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["rows"], report["where"]) == ({"items": 3, "shops": 2}, str(file))

    def test_our_own_file_is_replaced(self, world: Path, tmp_path: Path):
        out = tmp_path / "x.sqlite"
        reseed(world, out=out)
        lite(out, "DELETE FROM items")
        assert reseed(world, out=out).replaced
        assert lite(out, "SELECT count(*) FROM items") == [(3,)]

    def test_a_foreign_database_and_any_other_file_are_kept(self, world: Path, tmp_path: Path):
        foreign, text = tmp_path / "foreign.sqlite", tmp_path / "notes.txt"
        lite(foreign, "CREATE TABLE precious (a)")
        text.write_text("precious")
        before = [foreign.read_bytes(), text.read_bytes()]
        for out, words in (
            (foreign, "synth did not make"),
            (text, "not a SQLite database"),
            (tmp_path, "not a file"),
        ):
            with pytest.raises(ReseedRefused, match=words):
                reseed(world, out=out)
        assert [foreign.read_bytes(), text.read_bytes()] == before
        for out in (foreign, text):
            reseed(world, out=out, force=True)
            assert lite(out, "SELECT count(*) FROM items") == [(3,)]

    def test_a_file_in_use_is_left_alone(self, world: Path, tmp_path: Path):
        out = tmp_path / "x.sqlite"
        reseed(world, out=out)
        for pragma in ("PRAGMA journal_mode=DELETE", "PRAGMA journal_mode=WAL"):
            with closing(sqlite3.connect(out, isolation_level=None)) as user:
                user.execute(pragma)
                user.execute("BEGIN IMMEDIATE")
                user.execute("DELETE FROM items")
                with pytest.raises(ReseedRefused, match="in use"):
                    reseed(world, out=out, force=True)
                user.execute("COMMIT")
                assert user.execute("SELECT count(*) FROM items").fetchone() == (0,)
            reseed(world, out=out)
            assert lite(out, "SELECT count(*) FROM items") == [(3,)]
        assert sorted(each.name for each in tmp_path.iterdir()) == ["corner", "x.sqlite"]

    def test_a_broken_seed_leaves_the_old_file(self, world: Path, tmp_path: Path):
        out = tmp_path / "x.sqlite"
        reseed(world, out=out)
        (world / "seed.sql").write_text(
            "INSERT INTO shops VALUES (1, 'a');\nINSERT INTO nowhere VALUES (1);"
        )
        with pytest.raises(ScriptError, match=r"seed\.sql:2: no such table: nowhere"):
            reseed(world, out=out)
        assert lite(out, "SELECT count(*) FROM items") == [(3,)]
        assert sorted(each.name for each in tmp_path.iterdir()) == ["corner", "x.sqlite"]

    def test_a_stale_log_of_a_file_that_is_gone_is_not_applied(self, world: Path, tmp_path: Path):
        (tmp_path / "x.sqlite-wal").write_bytes(b"old")
        with pytest.raises(ReseedRefused, match=r"x\.sqlite-wal"):
            reseed(world, out=tmp_path / "x.sqlite")

    def test_wrong_requests_are_named(self, world: Path, tmp_path: Path):
        with pytest.raises(DatabaseConfigError, match="exclude each other"):
            reseed(world, url="sqlite:///x", out=tmp_path / "x")
        with pytest.raises(DatabaseConfigError, match="needs a file"):
            reseed(world, url="sqlite://")
        with pytest.raises(WorldError, match="world folder not found"):
            reseed(tmp_path / "nothing")
        (world / "schema.sql").unlink()
        with pytest.raises(WorldError, match=r"schema\.sql"):
            reseed(world, out=tmp_path / "x")


class TestServer:
    def test_a_world_comes_and_comes_again_beside_other_tables(
        self, world: Path, url: str, ask: Ask
    ):
        ask("CREATE TABLE precious (a int)")
        ask("INSERT INTO precious VALUES (1)")
        report = reseed(world, url=url)
        assert (report.rows, report.replaced) == ({"items": 3, "shops": 2}, False)
        assert ask("SELECT name FROM shops WHERE id = 1") == [("100% :x; O'Brien",)]
        ask("DELETE FROM items")
        assert reseed(world, url=url).replaced
        assert ask("SELECT count(*) FROM items") == [(3,)]
        assert ask("SELECT a FROM precious") == [(1,)]

    def test_a_table_of_the_same_name_is_kept_unless_forced(self, world: Path, url: str, ask: Ask):
        ask("CREATE TABLE items (precious int)")
        with pytest.raises(ReseedRefused, match=r"did not make .*items"):
            reseed(world, url=url)
        assert ask("SELECT precious FROM items") == []
        assert reseed(world, url=url, force=True).replaced
        assert ask("SELECT count(*) FROM items") == [(3,)]

    @pytest.mark.parametrize(
        "statement",
        [
            "DROP TABLE IF EXISTS precious;",
            "INSERT INTO precious VALUES (2);",
            "ALTER TABLE precious ADD b int;",
        ],
    )
    def test_a_script_that_changes_another_table_is_refused_even_by_force(
        self, statement: str, world: Path, url: str, ask: Ask
    ):
        ask("CREATE TABLE precious (a int)")
        (world / "seed.sql").write_text(statement)
        with pytest.raises(ReseedRefused, match="precious"):
            reseed(world, url=url, force=True)
        assert ask("SELECT * FROM precious") == []

    def test_a_world_that_something_else_stands_on_is_kept(self, world: Path, url: str, ask: Ask):
        reseed(world, url=url)
        ask("CREATE TABLE mine (shop int, FOREIGN KEY (shop) REFERENCES shops (id))")
        for force in (False, True):
            with pytest.raises(ReseedRefused, match="mine"):
                reseed(world, url=url, force=force)
        assert ask("SELECT count(*) FROM shops") == [(2,)]

    def test_the_shipped_world_hands_out_keys_behind_those_of_its_seed(
        self, url: str, ask: Ask, tmp_path: Path
    ):
        folder = find_world("ehr_db")
        report = reseed(folder, url=url)
        assert dict(report.rows) == dict(reseed(folder, out=tmp_path / "x.sqlite").rows)
        for table, columns, key in (
            (
                "clinicians",
                "(name, name_folded, role) VALUES ('N N', 'n n', 'physician')",
                "clinician_id",
            ),
            (
                "vitals",
                "(patient_id, recorded_at) VALUES (1001, '2026-03-02 09:00:00')",
                "vitals_id",
            ),
            (
                "alerts",
                (
                    "(patient_id, kind, raised_at) VALUES (1001, 'critical_heart_rate', '2026-03-02"
                    " 09:00:00')"
                ),
                "alert_id",
            ),
        ):
            [(before,)] = ask(f"SELECT MAX({key}) FROM {table}")
            ask(f"INSERT INTO {table} {columns}")
            assert ask(f"SELECT MAX({key}) FROM {table}") == [((before or 0) + 1,)], table

    def test_a_script_that_includes_itself_is_named(self, world: Path, url: str):
        (world / "seed.sql").write_text("\\i seed.sql" if "postgres" in url else "source seed.sql")
        with pytest.raises(ScriptError, match=r"seed\.sql:1: scripts include each other"):
            reseed(world, url=url)

    def test_a_scripts_own_file_for_the_engine_wins(self, world: Path, url: str, ask: Ask):
        engine = parse_url(url).get_backend_name()
        (world / f"seed.{engine}.sql").write_text("INSERT INTO shops VALUES (7, 'own');")
        assert reseed(world, url=url).rows == {"items": 0, "shops": 1}

    def test_the_report_hides_the_password(self, world: Path, url: str):
        secret = parse_url(url).set(password="geheim").render_as_string(hide_password=False)
        try:
            shown = repr(reseed(world, url=secret))
        except DatabaseConfigError as error:  # a server that asks for the password
            shown = str(error)
        assert "geheim" not in shown


class TestPostgres:
    def test_a_failure_leaves_nothing_changed(self, world: Path, postgres_url: str):
        reseed(world, url=postgres_url)
        good = (world / "seed.sql").read_text()
        (world / "seed.sql").write_text(
            "INSERT INTO shops VALUES (9, 'x');\nINSERT INTO nowhere VALUES (1);"
        )
        with pytest.raises(ScriptError, match=r"seed\.sql:2: relation \"nowhere\" does not exist"):
            reseed(world, url=postgres_url)
        (world / "seed.sql").write_text(good)
        assert reseed(world, url=postgres_url).replaced

    @pytest.mark.parametrize(
        "code",
        [
            "INSERT INTO precious VALUES (9)",
            "TRUNCATE precious",
            "ALTER TABLE precious ALTER a SET NOT NULL",
            "ALTER TABLE precious RENAME a TO z",
            "CREATE INDEX ON precious (a)",
            "CREATE OR REPLACE VIEW shown AS SELECT 1 AS a",
            "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS $f$SELECT 2$f$",
            "ALTER TYPE mood ADD VALUE $f$b$f$",
            "SELECT setval($f$numbers$f$, 1)",
            "ALTER TABLE items ADD FOREIGN KEY (id) REFERENCES precious (a)",
            "ALTER DATABASE template1 SET work_mem = $f$9MB$f$",
        ],
    )
    def test_no_code_changes_what_was_there(
        self, code: str, world: Path, postgres_ask: Ask, postgres_url: str
    ):
        postgres_ask("CREATE TABLE precious (a int UNIQUE)")
        postgres_ask("INSERT INTO precious VALUES (1)")
        postgres_ask("CREATE VIEW shown AS SELECT a FROM precious")
        postgres_ask("CREATE TYPE mood AS ENUM ('a')")
        postgres_ask("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        postgres_ask("CREATE SEQUENCE numbers")
        postgres_ask("SELECT setval('numbers', 5)")
        (world / "seed.sql").write_text(
            f"SET track_counts = off; DO $$ BEGIN EXECUTE '{code}'; END $$;"
        )
        for force in (False, True):
            with pytest.raises(ReseedRefused, match="change what they did not make"):
                reseed(world, url=postgres_url, force=force)
        assert postgres_ask("SELECT a FROM precious") == [(1,)]
        assert postgres_ask("SELECT nextval('numbers')") == [(6,)]
        assert postgres_ask("SELECT to_regclass('shops') IS NULL") == [(True,)]

    def test_a_sequence_that_a_broken_script_set_back_is_put_right(
        self, world: Path, postgres_ask: Ask, postgres_url: str
    ):
        postgres_ask("CREATE SEQUENCE numbers")
        postgres_ask("SELECT setval('numbers', 5)")
        (world / "seed.sql").write_text("SELECT setval('numbers', 1); nonsense;")
        with pytest.raises(ScriptError, match="nonsense"):
            reseed(world, url=postgres_url)
        assert postgres_ask("SELECT nextval('numbers')") == [(6,)]

    def test_what_another_session_makes_meanwhile_is_not_taken_for_the_worlds(
        self, world: Path, postgres_ask: Ask, postgres_url: str, monkeypatch: pytest.MonkeyPatch
    ):
        def while_another_session_works(path: Path, connection: Any, dialect: Any) -> int:
            postgres_ask("CREATE TABLE IF NOT EXISTS theirs (a int)")
            return run_script(path, connection, dialect)

        with monkeypatch.context() as patch:
            patch.setattr("envs.reseed.base.run_script", while_another_session_works)
            assert reseed(world, url=postgres_url).rows == {"items": 3, "shops": 2}
        reseed(world, url=postgres_url)
        assert postgres_ask("SELECT * FROM theirs") == []

    def test_force_replaces_a_function_that_the_schema_creates(
        self, world: Path, postgres_ask: Ask, postgres_url: str
    ):
        function = "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT {}';"
        (world / "schema.postgresql.sql").write_text(SCHEMA + function.format(2))
        postgres_ask(function.format(1))
        with pytest.raises(ReseedRefused, match=r"public\.f\(\)"):
            reseed(world, url=postgres_url)
        reseed(world, url=postgres_url, force=True)
        assert postgres_ask("SELECT f()") == [(2,)]
        assert reseed(world, url=postgres_url).replaced

    def test_objects_of_every_kind_come_again(self, world: Path, postgres_url: str):
        (world / "schema.postgresql.sql").write_text(
            SCHEMA
            + "CREATE TYPE pair AS (x int, y int); CREATE DOMAIN d AS int; CREATE TYPE span AS"
            " RANGE (subtype = int);"
            "CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';"
            "CREATE AGGREGATE total(int) (sfunc = plus, stype = int);"
            "CREATE OPERATOR #=# (leftarg = int, rightarg = int, function = plus);"
            "CREATE FUNCTION first(pair) RETURNS int LANGUAGE sql AS 'SELECT ($1).x';"
            "CREATE CAST (pair AS int) WITH FUNCTION first(pair);"
            "CREATE COLLATION plain (locale = 'C'); CREATE TEXT SEARCH CONFIGURATION words (copy ="
            " simple);"
            'CREATE TABLE "we""ird" (i int GENERATED ALWAYS AS IDENTITY, s serial, p pair, t text'
            " COLLATE plain);"
            'CREATE MATERIALIZED VIEW sums AS SELECT total(s) FROM "we""ird"; CREATE SEQUENCE'
            " alone;"
        )
        for _ in range(2):
            assert reseed(world, url=postgres_url).rows == {'"we""ird"': 0, "items": 3, "shops": 2}

    def test_functions_types_and_schemas_come_again_too(self, world: Path, postgres_url: str):
        (world / "schema.postgresql.sql").write_text(
            SCHEMA + "CREATE SCHEMA extra; CREATE TYPE extra.mood AS ENUM ('a');"
            "CREATE TABLE extra.t (id serial PRIMARY KEY, m extra.mood);"
            "CREATE FUNCTION all_items() RETURNS SETOF items LANGUAGE sql AS 'SELECT * FROM items';"
            "CREATE VIEW w AS SELECT * FROM all_items();"
        )
        reseed(world, url=postgres_url)
        assert reseed(world, url=postgres_url).rows == {"extra.t": 0, "items": 3, "shops": 2}


class TestMariaDB:
    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("envs.reseed.mariadb._PATIENCE_S", 1)

    def test_a_failure_says_what_is_there_and_can_be_run_again(self, world: Path, mysql_url: str):
        good = (world / "seed.sql").read_text()
        (world / "seed.sql").write_text("INSERT INTO nowhere VALUES (1);")
        with pytest.raises(
            ScriptError, match=r"seed\.sql:1: .*nowhere.* commits each DDL"
        ) as caught:
            reseed(world, url=mysql_url)
        assert caught.value.line == 1
        (world / "seed.sql").write_text(good)
        assert reseed(world, url=mysql_url).rows == {"items": 3, "shops": 2}

    @pytest.mark.parametrize(
        "code",
        [
            (
                "DELIMITER //\nCREATE PROCEDURE p() BEGIN INSERT INTO precious VALUES (9);"
                " END//\nDELIMITER ;\nCALL p();"
            ),
            "EXECUTE IMMEDIATE 'DROP TABLE precious';",
            "DELIMITER //\nBEGIN NOT ATOMIC ALTER TABLE precious ADD b int; END//\n",
            "CREATE VIEW w AS SELECT * FROM precious; INSERT INTO w VALUES (2);",
            "UPDATE shops JOIN precious ON shops.id = precious.a SET precious.a = 7;",
            "RENAME TABLE items TO x, precious TO y;",
            "CREATE TABLE k (a int, FOREIGN KEY (a) REFERENCES precious (a));",
            "SELECT SETVAL(numbers, 50);",
        ],
    )
    def test_no_code_changes_what_was_there(
        self, code: str, world: Path, mysql_ask: Ask, mysql_url: str
    ):
        mysql_ask("CREATE TABLE precious (a int PRIMARY KEY)")
        mysql_ask("INSERT INTO precious VALUES (1)")
        mysql_ask("CREATE SEQUENCE numbers")
        (world / "seed.sql").write_text(SEED + code)
        for force in (False, True):
            with pytest.raises(ReseedRefused, match="not make"):
                reseed(world, url=mysql_url, force=force)
        assert mysql_ask("SELECT * FROM precious") == [(1,)]
        assert mysql_ask("SELECT NEXTVAL(numbers)") == [(1,)]
        (world / "seed.sql").write_text(SEED)
        assert reseed(world, url=mysql_url).rows == {"items": 3, "shops": 2}

    def test_a_view_that_code_replaced_is_named(self, world: Path, mysql_ask: Ask, mysql_url: str):
        mysql_ask("CREATE VIEW theirs AS SELECT 1 AS a")
        (world / "seed.sql").write_text(
            "EXECUTE IMMEDIATE 'CREATE OR REPLACE VIEW theirs AS SELECT 2 AS a';"
        )
        with pytest.raises(ReseedRefused, match=r"have changed .*theirs"):
            reseed(world, url=mysql_url, force=True)

    def test_code_that_names_another_database_cannot_write_to_it(
        self, world: Path, mysql_ask: Ask, mysql_url: str
    ):
        other = f"{parse_url(mysql_url).database}_o"
        mysql_ask(f"CREATE DATABASE {other}")
        try:
            mysql_ask(f"CREATE TABLE {other}.t (a int)")
            for code in (
                f"EXECUTE IMMEDIATE 'INSERT INTO `{other}` . t VALUES (1)';",
                f"UPDATE shops, {other}.t SET t.a = 1;",
                f"EXECUTE IMMEDIATE 'DROP DATABASE {other}';",
                f"DROP TABLE items, {other}.t;",
                f"RENAME TABLE items TO {other}.items;",
            ):
                (world / "seed.sql").write_text(SEED + code)
                with pytest.raises(
                    (ReseedRefused, ScriptError), match=r"not make|another database"
                ):
                    reseed(world, url=mysql_url, force=True)
            assert mysql_ask(f"SHOW TABLES FROM {other}") == [("t",)]
            assert mysql_ask(f"SELECT * FROM {other}.t") == []
        finally:
            mysql_ask(f"DROP DATABASE {other}")

    def test_a_table_that_someone_writes_to_stops_a_reseed_before_anything_changed(
        self, world: Path, mysql_ask: Ask, mysql_url: str, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("envs.reseed.mariadb._LOCKING_S", 0)
        reseed(world, url=mysql_url)
        mysql_ask("CREATE TABLE precious (a int)")
        parsed = parse_url(mysql_url)
        engine = sqlalchemy.create_engine(
            parsed, poolclass=sqlalchemy.NullPool, connect_args=connect_args(parsed)
        )
        with engine.begin() as connection:
            connection.exec_driver_sql("INSERT INTO precious VALUES (1)")
            with pytest.raises(ReseedRefused, match="cannot be locked"):
                reseed(world, url=mysql_url)
        engine.dispose()
        assert mysql_ask("SELECT count(*) FROM items") == [(3,)]

    def test_no_other_database_is_touched(self, world: Path, mysql_url: str):
        (world / "seed.sql").write_text("INSERT INTO mysql.help_topic VALUES (1);")
        with pytest.raises(ScriptError, match="another database"):
            reseed(world, url=mysql_url)
        parsed = parse_url(mysql_url)
        engine = sqlalchemy.create_engine(
            parsed, poolclass=sqlalchemy.NullPool, connect_args=connect_args(parsed)
        )
        with engine.connect() as connection:
            assert connection.exec_driver_sql("SHOW TABLES").all() == [], MARKER
        engine.dispose()


def test_a_server_is_described_as_in_the_config_of_a_run(
    world: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parsed = parse_url(url)
    monkeypatch.setenv("DB_PASSWORD", parsed.password or "none is asked for")
    place = [
        f"database={'postgres' if parsed.drivername.startswith('postgres') else 'mariadb'}",
        f"database.connection.host={parsed.host}",
        f"database.connection.port={parsed.port}",
        f"database.connection.username={parsed.username}",
        f"database.connection.database={parsed.database}",
    ]
    if parsed.password:
        place.append("database.connection.password_env_var=DB_PASSWORD")
    assert main([str(world), *place]) == 0
    assert "created corner in" in capsys.readouterr().out
    monkeypatch.setenv("MY_DSN", url)
    assert main([str(world), place[0], "database.dsn_env_var=MY_DSN"]) == 0
    assert "replaced corner in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["seed=3"], "seed=3: reseed takes overrides of `database`"),
        (["database=postgres", "--out", "x.sqlite"], "give --url, --out or overrides"),
        (["database=sqlite"], "database: which server?"),
        (["database=postgres", "database.dsn_env_var=OTHER_DSN"], "is not one of postgresql"),
    ],
)
def test_a_description_that_names_no_server_is_refused(
    world: Path, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_DSN", "mysql://me@127.0.0.1/d")
    with pytest.raises(OperatorError, match=re.escape(said)):
        main([str(world), *words])
