"""Statements of public dumps beyond plain SQL: run as the engine's client does, or left out if they
concern the server.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pytest

from envs.errors import ScriptError
from envs.sandboxes.mariadb import sandbox as mysql
from envs.sandboxes.postgres import sandbox as postgres
from envs.scripts import Dialect, run_script


class Asked(Protocol):
    def __call__(self, text: str, question: str = "SELECT 1") -> list[Any]:
        """Load the text, then the first column of what the question gives."""
        ...


def load(folder: Path, text: str, connection: Any, dialect: Dialect) -> int:
    path = folder / "schema.sql"
    path.write_text(text, encoding="utf-8")
    return run_script(path, connection, dialect)


@pytest.fixture
def owned(postgres_url: str, tmp_path: Path) -> Asked:
    """Load a text as a template's owner does, who has no rights on the server; what it leaves is
    asked within.
    """

    def build(text: str, question: str = "SELECT 1") -> list[Any]:
        found: list[Any] = []

        def fill(connection: Any) -> None:
            load(tmp_path, text, connection, "postgresql")
            found.extend(row[0] for row in connection.execute(question).fetchall())

        postgres.PostgresTemplate.build(fill, postgres_url).close()
        return found

    return build


@pytest.fixture
def owned_mysql(mysql_url: str, tmp_path: Path) -> Asked:
    def build(text: str, question: str = "SELECT 1") -> list[Any]:
        found: list[Any] = []

        def fill(connection: Any) -> None:
            load(tmp_path, text, connection, "mysql")
            cursor = connection.cursor()
            cursor.execute(question)
            found.extend(row[0] for row in cursor.fetchall())

        mysql.MariaDBTemplate.build(fill, mysql_url).close()
        return found

    return build


@pytest.fixture
def lite() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        yield connection


class TestPostgres:
    def test_rows_that_are_only_shown_are_left_out(self, owned: Asked):
        text = (
            "CREATE TABLE t (a int);\nCOPY t TO stdout;\nCOPY (SELECT 1) TO STDOUT;\n\\copy t"
            " to 'x.csv'\nSELECT 1 \\gx\n\\o\n"
        )
        assert owned(text + "INSERT INTO t VALUES (1);", "SELECT a FROM t") == [1]

    @pytest.mark.parametrize(
        "text",
        [
            (
                "SET log_min_messages TO warning; SET LOCAL log_statement = 'none'; SET"
                " temp_file_limit = -1"
            ),
            (
                "UPDATE pg_catalog.pg_database SET datistemplate = false WHERE datname ="
                " 'template1';"
                " DROP DATABASE template1"
            ),
            (
                "COMMENT ON LANGUAGE plpgsql IS 'x'; SET lc_messages = 'C'; SET"
                " session_preload_libraries = ''"
            ),
            "CREATE EXTENSION IF NOT EXISTS adminpack; CREATE EXTENSION pageinspect",
            (
                "CREATE TABLE t (a int); CREATE PUBLICATION p FOR ALL TABLES; ALTER PUBLICATION p"
                " OWNER TO nobody"
            ),
        ],
    )
    def test_what_is_the_servers_is_left_out(self, owned: Asked, text: str):
        assert owned(text, "SELECT count(*) FROM pg_publication") == [0]

    def test_roles_are_left_out_of_a_block_whose_other_acts_are_done(self, owned: Asked):
        text = """
            CREATE TABLE t (a text);
            DO $body$
            BEGIN
              -- Create role if it is missing; it isn't
              IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'envs_test_clerk') THEN
                CREATE ROLE envs_test_clerk LOGIN PASSWORD 'a;b';
                EXECUTE format('GRANT %I TO %I', 'envs_test_clerk', 'envs_test_boss');
                EXECUTE 'CREATE USER envs_test_boss';
              END IF;
              GRANT ALL ON t TO envs_test_clerk;
              INSERT INTO t VALUES ('CREATE ROLE x;');
            END
            $body$;
            DO 'BEGIN CREATE ROLE envs_test_clerk; INSERT INTO t VALUES (''b''); END';
        """
        asked = (
            "SELECT a FROM t UNION ALL SELECT rolname FROM pg_roles WHERE rolname LIKE"
            " 'envs\\_test\\_%'"
        )
        assert sorted(owned(text, asked)) == ["CREATE ROLE x;", "b"]

    def test_a_policy_for_a_role_that_is_left_out_holds_for_everybody(self, owned: Asked):
        text = """
            CREATE ROLE clerk; CREATE TABLE t (a text); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
            CREATE POLICY "to clerk" ON t FOR SELECT TO clerk, "the boss" USING (a <> 'TO clerk USING');
            CREATE POLICY old ON t WITH CHECK (true);
            ALTER POLICY old ON t RENAME TO plain; ALTER POLICY plain ON t TO clerk;
        """
        assert owned(
            text,
            "SELECT polroles::text || pg_get_expr(polqual, polrelid) FROM pg_policy ORDER BY"
            " polname",
        )[1] == ("{0}(a <> 'TO clerk USING'::text)")

    def test_an_extension_of_types_and_triggers_is_made_though_it_takes_a_superuser(
        self, owned: Asked
    ):
        text = """
            CREATE EXTENSION cube; CREATE EXTENSION earthdistance;
            CREATE SCHEMA more; SET search_path = more, public; CREATE EXTENSION refint;
            CREATE EXTENSION IF NOT EXISTS "moddatetime" WITH SCHEMA public;
            CREATE EXTENSION IF NOT EXISTS "moddatetime" WITH SCHEMA public;
            CREATE TABLE t (a float8); CREATE INDEX i ON t USING gist (ll_to_earth(a, a));
        """
        asked = (
            "SELECT extname || ' ' || extnamespace::regnamespace FROM pg_extension WHERE"
            " extname <> 'plpgsql' ORDER BY 1"
        )
        assert owned(text, asked) == [
            "cube public",
            "earthdistance public",
            "moddatetime public",
            "refint more",
        ]

    @pytest.mark.parametrize("name", ["file_fdw", "plpython3u", "old_snapshot", "lo_that_is_none"])
    def test_any_other_extension_of_a_superuser_is_refused(self, owned: Asked, name: str):
        with pytest.raises(ScriptError, match=f"schema.sql:1: .*{name}"):
            owned(f"CREATE EXTENSION {name}")

    def test_a_schema_of_a_role_has_the_roles_name(self, owned: Asked):
        text = (
            "CREATE SCHEMA AUTHORIZATION clerk; CREATE SCHEMA IF NOT EXISTS AUTHORIZATION"
            " clerk; CREATE TABLE clerk.t (a int);"
        )
        assert owned(text, "SELECT nspname::text FROM pg_namespace WHERE nspname = 'clerk'") == [
            "clerk"
        ]

    def test_an_index_is_built_within_a_callers_transaction(
        self, tmp_path: Path, postgres_url: str
    ):
        with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
            text = (
                "CREATE TABLE t (a int);\nCREATE UNIQUE INDEX CONCURRENTLY i ON t (a);\nDROP"
                " INDEX CONCURRENTLY IF EXISTS none;"
            )
            load(tmp_path, text, connection, "postgresql")
            assert connection.execute(
                "SELECT count(*) FROM pg_indexes WHERE indexname = 'i'"
            ).fetchone() == (1,)


class TestMariaDB:
    def test_a_client_takes_a_quoted_delimiter_and_a_use_that_the_delimiter_ends(
        self, owned_mysql: Asked
    ):
        text = """
CREATE SCHEMA IF NOT EXISTS `shop`;
USE `shop` ;
CREATE TABLE `shop`.`t` (a int);
DELIMITER $$
USE `shop`$$
CREATE DEFINER = CURRENT_USER TRIGGER `shop`.`g` BEFORE INSERT ON `t` FOR EACH ROW
BEGIN
  SET NEW.a = NEW.a + 1;
END$$
DELIMITER '//'
CREATE PROCEDURE p() BEGIN INSERT INTO t VALUES (1); END//
DELIMITER ;
CALL p();
"""
        assert owned_mysql(text, "SELECT a FROM t") == [2]

    def test_mysqls_collations_have_mariadbs_names_in_quotes_too(self, owned_mysql: Asked):
        text = """
            CREATE TABLE `t` (`s` varchar(50) NOT NULL DEFAULT 'COLLATE ''utf8mb4_0900_ai_ci''' COLLATE 'utf8mb4_0900_ai_ci')
            COLLATE='utf8mb4_0900_ai_ci' ENGINE=InnoDB;
            INSERT INTO t () VALUES ();
        """
        assert owned_mysql(text, "SELECT s FROM t") == ["COLLATE 'utf8mb4_0900_ai_ci'"]

    @pytest.mark.parametrize(
        "text",
        [
            (
                "DROP DATABASE IF EXISTS old; CREATE DATABASE shop; USE"
                " shop; CREATE TABLE shop.t (a"
                " int); INSERT INTO t VALUES (1);"
            ),
            (
                "CREATE DATABASE old; CREATE DATABASE shop; SET @a = 1; USE shop; CREATE TABLE"
                " shop.t"
                " (a int); INSERT INTO t VALUES (1);"
            ),
            (
                "CREATE DATABASE shop; CREATE TABLE shop.t (a int); INSERT INTO shop.t VALUES (1);"
                " DROP DATABASE IF EXISTS rest;"
            ),
        ],
    )
    def test_databases_that_are_made_or_dropped_and_never_filled_are_left_out(
        self, owned_mysql: Asked, text: str
    ):
        assert owned_mysql(text, "SELECT a FROM t") == [1]

    @pytest.mark.parametrize(
        "text",
        [
            "CREATE DATABASE one; CREATE TABLE one.t (a int); CREATE DATABASE two; USE two;",
            "CREATE DATABASE one; USE one; CREATE DATABASE two; CREATE TABLE two.t (a int);",
        ],
    )
    def test_a_second_database_that_is_filled_is_refused_by_name(
        self, owned_mysql: Asked, text: str
    ):
        with pytest.raises(ScriptError, match="two"):
            owned_mysql(text)


class TestSqlite:
    def test_settings_of_the_shell_are_left_out(self, tmp_path: Path, lite: sqlite3.Connection):
        text = (
            ".open shop.db\n.dbconfig defensive off\n.parameter init\n.limit length 100\nCREATE"
            " TABLE t (a);\n"
        )
        assert load(tmp_path, text, lite, "sqlite") == 1

    def test_a_second_database_is_refused_by_name(self, tmp_path: Path, lite: sqlite3.Connection):
        with pytest.raises(ScriptError, match=r"a\.db and b\.db"):
            load(tmp_path, ".open a.db\n.open --new 'b.db'\n", lite, "sqlite")

    def test_a_program_of_the_shell_is_refused_with_the_command_that_dumps(
        self, tmp_path: Path, lite: sqlite3.Connection
    ):
        text = "CREATE TABLE t (a);\n.mode csv\n.separator |\n.import rows.csv t\n"
        with pytest.raises(ScriptError, match=r"schema\.sql:4: \.import .*`sqlite3 FILE \.dump`"):
            load(tmp_path, text, lite, "sqlite")

    def test_a_table_of_sqlites_own_is_not_made_again(
        self, tmp_path: Path, lite: sqlite3.Connection
    ):
        text = """
            DROP TABLE IF EXISTS "t"; CREATE TABLE "t" (i INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (1);
            DROP TABLE IF EXISTS "sqlite_sequence"; CREATE TABLE "sqlite_sequence" ("name", "seq");
            UPDATE "sqlite_sequence" SET seq = 7 WHERE name = 't'; INSERT INTO t DEFAULT VALUES;
        """
        load(tmp_path, text, lite, "sqlite")
        assert lite.execute("SELECT max(i) FROM t").fetchone() == (8,)


class TestPsql:
    """Commands of psql that are no more than settings, and those that make a script a program."""

    def test_settings_and_the_idiom_that_makes_a_database_are_left_out(self, owned: Asked):
        text = (
            "\\set ON_ERROR_STOP on\n\\set QUIET\n\\unset ECHO\n"
            "SELECT 'CREATE DATABASE x' WHERE NOT EXISTS (SELECT 1) \\gexec\n\\c x\n"
            "CREATE TABLE t AS SELECT '\\set a 1' AS a;"
        )
        assert owned(text, "SELECT a FROM t") == ["\\set a 1"]

    @pytest.mark.parametrize(
        "command", ["\\set who 'x'", "\\if true", "\\gset", "\\set a `ls`", "SELECT 1 \\gexec"]
    )
    def test_a_program_is_refused_with_the_command_that_dumps(self, owned: Asked, command: str):
        with pytest.raises(
            ScriptError, match=r"schema\.sql:2: \\\w+ .*`pg_dump --no-owner DATABASE`"
        ):
            owned(f"SELECT 1;\n{command}\n")

    def test_a_file_may_include_one_beside_itself(self, owned: Asked, tmp_path: Path):
        (tmp_path / "parts").mkdir()
        (tmp_path / "parts" / "one.sql").write_text("\\ir two.sql\n\\i parts/two.sql\n")
        (tmp_path / "parts" / "two.sql").write_text("INSERT INTO t VALUES (1);\n")
        text = "CREATE TABLE t (a int);\n\\ir parts/one.sql\n"
        assert owned(text, "SELECT count(*) FROM t") == [2]
