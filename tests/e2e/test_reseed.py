"""``synth reseed`` makes a world's database anywhere, and replaces nothing that it did not make."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from envs.connection import connect_args, parse_url
from envs.errors import DatabaseConfigError, ScriptError, WorldError
from envs.reseed import APPLICATION_ID, MARKER, ReseedRefused, reseed
from synth.cli.reseed import main

SCHEMA = """
DROP TABLE IF EXISTS items;
CREATE TABLE shops (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL);
CREATE TABLE items (id INTEGER PRIMARY KEY, shop INTEGER NOT NULL REFERENCES shops (id));
CREATE VIEW big AS SELECT id FROM items WHERE id > 1;
"""
SEED = (
    "INSERT INTO shops VALUES (1, '100% :x; O''Brien'), (2, 'b');\nINSERT INTO items VALUES (1, 1), (2, 2), (3, 1);\n"
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


@pytest.fixture
def ask(url: str):
    parsed = parse_url(url)
    engine = sqlalchemy.create_engine(
        parsed, isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool, connect_args=connect_args(parsed)
    )

    def ask(statement: str) -> list[tuple[Any, ...]]:
        with engine.connect() as connection:
            result = connection.execute(sqlalchemy.text(statement))
            return [tuple(row) for row in result] if result.returns_rows else []

    yield ask
    engine.dispose()


class TestFile:
    def test_the_command_builds_a_file_and_says_how_to_open_it(
        self, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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

    def test_json_and_a_sqlite_url_say_the_same(self, world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
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
        for out, words in ((foreign, "synth did not make"), (text, "no SQLite database"), (tmp_path, "no file")):
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
        (world / "seed.sql").write_text("INSERT INTO shops VALUES (1, 'a');\nINSERT INTO nowhere VALUES (1);")
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
        with pytest.raises(WorldError, match="no such world"):
            reseed(tmp_path / "nothing")
        (world / "schema.sql").unlink()
        with pytest.raises(WorldError, match=r"schema\.sql"):
            reseed(world, out=tmp_path / "x")


class TestServer:
    def test_a_world_comes_and_comes_again_beside_other_tables(self, world: Path, url: str, ask: Ask):
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
        ["DROP TABLE IF EXISTS precious;", "INSERT INTO precious VALUES (2);", "ALTER TABLE precious ADD b int;"],
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
        with pytest.raises(ReseedRefused, match="mine"):
            reseed(world, url=url)
        assert ask("SELECT count(*) FROM shops") == [(2,)]

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
        (world / "seed.sql").write_text("INSERT INTO shops VALUES (9, 'x');\nINSERT INTO nowhere VALUES (1);")
        with pytest.raises(ScriptError, match=r"seed\.sql:2: relation \"nowhere\" does not exist"):
            reseed(world, url=postgres_url)
        (world / "seed.sql").write_text(good)
        assert reseed(world, url=postgres_url).replaced

    def test_code_that_writes_elsewhere_is_found_out(self, world: Path, postgres_url: str):
        parsed = parse_url(postgres_url)
        engine = sqlalchemy.create_engine(parsed, isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool)
        with engine.connect() as connection:
            connection.exec_driver_sql("CREATE TABLE precious (a int)")
            (world / "seed.sql").write_text("DO $$ BEGIN EXECUTE 'INSERT INTO precious VALUES (1)'; END $$;")
            with pytest.raises(ReseedRefused, match="precious"):
                reseed(world, url=postgres_url)
            assert connection.exec_driver_sql("SELECT count(*) FROM precious").scalar() == 0
        engine.dispose()

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
    def test_a_failure_says_what_is_there_and_can_be_run_again(self, world: Path, mysql_url: str):
        good = (world / "seed.sql").read_text()
        (world / "seed.sql").write_text("INSERT INTO nowhere VALUES (1);")
        with pytest.raises(ScriptError, match=r"seed\.sql:1: .*nowhere.* commits each DDL") as caught:
            reseed(world, url=mysql_url)
        assert caught.value.line == 1
        (world / "seed.sql").write_text(good)
        assert reseed(world, url=mysql_url).rows == {"items": 3, "shops": 2}

    def test_no_other_database_is_touched(self, world: Path, mysql_url: str):
        (world / "seed.sql").write_text("INSERT INTO mysql.help_topic VALUES (1);")
        with pytest.raises(ScriptError, match="another database"):
            reseed(world, url=mysql_url)
        parsed = parse_url(mysql_url)
        engine = sqlalchemy.create_engine(parsed, poolclass=sqlalchemy.NullPool, connect_args=connect_args(parsed))
        with engine.connect() as connection:
            assert connection.exec_driver_sql("SHOW TABLES").all() == [], MARKER
        engine.dispose()
