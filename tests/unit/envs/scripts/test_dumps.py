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

    def test_an_import_takes_rows_of_a_file_as_the_shell_does(
        self, tmp_path: Path, lite: sqlite3.Connection
    ):
        rows = '\ufeffa,b,c\r\n1,"x ""q"", y",\r\n2,z\r\n3,"multi\nline",w,extra\r\n\r\n'
        (tmp_path / "rows.csv").write_text(rows, newline="")
        (tmp_path / "rows.tsv").write_text("7\tt\n")
        (tmp_path / "rows.txt").write_text("8|p\n")
        text = """
CREATE TABLE t (a INT, b TEXT, c, d AS (a * 2));
.mode csv
.import --skip 1 rows.csv t
.import 'rows.csv' "new t"
.mode tabs
.import ./rows.tsv t
.separator |
.import rows.txt t
.import rows.csv t --csv -skip 4
"""
        load(tmp_path, text, lite, "sqlite")
        assert lite.execute("SELECT a, b, c FROM t").fetchall() == [
            (1, 'x "q", y', ""), (2, "z", None), (3, "multi\nline", "w"), ("", None, None), (7, "t", None), (8, "p", None),
            ("", None, None),
        ]  # fmt: skip
        assert lite.execute(
            "SELECT count(*), sum(typeof(a) = 'text') FROM \"new t\""
        ).fetchone() == (4, 4)

    @pytest.mark.parametrize(
        ("line", "named"),
        [
            (".import '|ls' t", "shell"),
            (".import ../rows.csv t", "own folder"),
            (".import rows.csv", "FILE TABLE"),
            (".import rows.csv t --csv", r"rows.csv:2: CHECK constraint failed"),
        ],
    )
    def test_an_import_that_cannot_be_made_is_named(
        self, line: str, named: str, tmp_path: Path, lite: sqlite3.Connection
    ):
        (tmp_path / "rows.csv").write_text("1\n-1\n")
        with pytest.raises(ScriptError, match=named):
            load(tmp_path, f"CREATE TABLE t (a INT CHECK (a > 0));\n{line}\n", lite, "sqlite")
        assert lite.execute("SELECT count(*) FROM t").fetchone() == (0,)

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
    r"""Variables, conditions and ``\gexec`` of psql."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("\\set who 'O''Neil' ' B'\nSELECT :'who';", "O'Neil B"),
            (("\\set tab 'T x'\n\\set n 3\nCREATE TABLE :\"tab\" (a int);INSERT INTO \"T x\"" " VALUES (1);\nSELECT ':n' || :n || $$:n$$ || '3'::text;"), ":n3:n3"),
            ("\\set a 1\n\\set b :a 2 :'a'\nSELECT :'b';", "12'1'"),
            ("SELECT 'x;y' AS v, 7 AS n \\gset p_\nSELECT :'p_v' || :p_n;", "x;y7"),
            ("\\set a 1\n\\unset a\nSELECT array_to_string((array[1,2,3])[1:2], ':a');", "1:a2"),
            (("\\if :{?a}\nSELECT 1/0;\n\\! ls\n\\elif yes\n\\set a '\\t'\n\\else\nnonsense;\n\\endif\nSELECT :'a';"), "\t"),
            (("\\if :{?a} \\echo 'x \\ y' \\else \\set a '\\\\;' \\endif \\\\ SELECT 2;\nSELECT :'a';"), "\\;"),
            (("\\if false\n\\if true\nSELECT 1/0;\n\\endif\nCOPY t FROM stdin;\n1\n\\.\n\\else\nSELECT 'c';\n\\endif\n"), None),
            (("SELECT 'CREATE DATABASE x' WHERE true\\gexec\nSELECT 'SELECT 1', 'CREATE TABLE made (a int)' \\gexec\nSELECT 'a' FROM made;"), None),
        ],
    )  # fmt: skip
    def test_a_script_says_what_psql_makes_of_it(
        self, text: str, expected: str | None, owned: Asked
    ):
        made = "" if expected is None else f"CREATE TABLE said AS {text.splitlines()[-1]}"
        body = text if expected is None else "\n".join([*text.splitlines()[:-1], made])
        asked = "SELECT 1" if expected is None else "SELECT * FROM said"
        assert owned(body, asked) == [1 if expected is None else expected]

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("\\set a `ls`", "shell"),
            ("\\if maybe\n\\endif", "maybe"),
            ("\\else", r"\\else"),
            ("\\if true\nSELECT 1;", r"\\endif"),
            ("SELECT 1 WHERE false\\gset", "one row"),
        ],
    )
    def test_what_psql_would_not_take_is_named(self, text: str, named: str, owned: Asked):
        with pytest.raises(ScriptError, match=named):
            owned(text)

    def test_a_file_may_include_one_beside_itself(self, owned: Asked, tmp_path: Path):
        (tmp_path / "parts").mkdir()
        (tmp_path / "parts" / "one.sql").write_text("\\ir two.sql\n\\i parts/two.sql\n")
        (tmp_path / "parts" / "two.sql").write_text("INSERT INTO t VALUES (1);\n")
        text = "\\set dir parts\nCREATE TABLE t (a int);\n\\ir :dir/one.sql\n"
        assert owned(text, "SELECT count(*) FROM t") == [2]
