"""Scripts split as the engines' own clients split them, and load without a changed byte."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
import sqlalchemy
from hypothesis import given
from hypothesis import strategies as st

from envs.connection import connect_args, parse_url
from envs.errors import ScriptError, WorldError
from envs.scripts import Dialect, run_script, split


def texts(script: str, dialect: Dialect) -> list[str]:
    return [each.text for each in split(script, dialect)]


def script(folder: Path, text: str | bytes, name: str = "schema.sql") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def lite() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        yield connection


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Any]:
    yield from opened(postgres_url, autocommit=True)


@pytest.fixture
def mariadb(mysql_url: str) -> Iterator[Any]:
    yield from opened(mysql_url, autocommit=True)


def opened(url: str, **options: Any) -> Iterator[Any]:
    parsed = parse_url(url)
    engine = sqlalchemy.create_engine(
        parsed, poolclass=sqlalchemy.NullPool, connect_args=connect_args(parsed) | options
    )
    pooled = engine.raw_connection()
    try:
        yield pooled.driver_connection
    finally:
        pooled.close()
        engine.dispose()


def value(connection: Any, query: str) -> Any:
    cursor = connection.cursor()
    cursor.execute(query)
    return cursor.fetchall()[0][0]


class TestSplitting:
    @pytest.mark.parametrize(
        ("dialect", "text", "expected"),
        [
            ("sqlite", "a;b ; ;c", ["a", "b", "c"]),
            ("sqlite", "-- x;\n/* ; */ a /* ; */ b; -- end", ["a /* ; */ b"]),
            ("sqlite", "\ufeffa;\r\nb;\r\n", ["a", "b"]),
            ("sqlite", "INSERT INTO t VALUES (';', 'it''s;', \"a;b\", [c;d], `e;f`);x", None),
            ("sqlite", "/* /* not nested */ a; b", ["a", "b"]),
            ("sqlite", "select 'a\\'; b", ["select 'a\\'", "b"]),
            ("sqlite", "select 1\nGO\nselect 2\n/\n", ["select 1", "select 2"]),
            (
                "sqlite",
                "CREATE TEMP TRIGGER t AFTER INSERT ON x BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM y; -- ;\nEND; z",
                [
                    "CREATE TEMP TRIGGER t AFTER INSERT ON x BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM y; -- ;\nEND",
                    "z",
                ],
            ),
            ("postgresql", "/* a /* ; */ ; */ b;c", ["b", "c"]),
            ("postgresql", "select $$;$$, $a$ ; $$ ; $a$, a$b$c; d", ["select $$;$$, $a$ ; $$ ; $a$, a$b$c", "d"]),
            ("postgresql", r"select E'\';', 'a\', U&'d\0061'; b", [r"select E'\';', 'a\', U&'d\0061'", "b"]),
            ("postgresql", "create rule r as on insert to t do (a; b); c", ["create rule r as on insert to t do (a; b)", "c"]),
            (
                "postgresql",
                "create function f() returns int begin atomic select case when true then 1 end; select 2; end; x",
                ["create function f() returns int begin atomic select case when true then 1 end; select 2; end", "x"],
            ),
            (
                "postgresql",
                "SET standard_conforming_strings = off;select 'a\\';';SET standard_conforming_strings TO on;select 'a\\';b",
                ["SET standard_conforming_strings = off", "select 'a\\';'", "SET standard_conforming_strings TO on", "select 'a\\'", "b"],
            ),
            ("postgresql", "select 1\\; select 2\\;\nselect 3;", ["select 1", "select 2", "select 3"]),
            ("mysql", "a # ;\n; b -- ;\n; c--1;\n--x;\nd", ["a # ;", "b -- ;", "c--1", "d"]),
            ("mysql", r"""select '\';', "\";", `a\`; b""", [r"""select '\';', "\";", `a\`""", "b"]),
            ("mysql", "DELIMITER $$\r\na; b$$\r\nDELIMITER ;\r\nc;", ["a; b", "c"]),
            ("mysql", "delimiter //\nbegin x; end\n//\nDELIMITER ;\nc", ["begin x; end", "c"]),
            ("mysql", "DELIMITER //\\.\na//\\.\nDELIMITER ;\nc;", ["a", "c"]),
            ("mysql", "/*!40101 SET a='*/;' */;/*!50003 x; y */; z", ["/*!40101 SET a='*/;' */", "/*!50003 x; y */", "z"]),
            ("mysql", "/*M!999999\\- enable the sandbox mode */ \na;", ["a"]),
            ("mysql", "SET sql_mode='NO_BACKSLASH_ESCAPES';select 'a\\';b", ["SET sql_mode='NO_BACKSLASH_ESCAPES'", "select 'a\\'", "b"]),
            ("mysql", "select 1\\G\nselect 2\\g", ["select 1", "select 2"]),
        ],
    )  # fmt: skip
    def test_each_dialect_ends_a_statement_where_its_client_does(
        self, dialect: Dialect, text: str, expected: list[str] | None
    ):
        assert texts(text, dialect) == (expected if expected is not None else text.rsplit(";", 1))

    def test_lines_are_those_of_the_first_token(self):
        found = split("-- one\n\nselect 1;\n/* a\nb */ select\n2;select 3;\n\n'x'", "sqlite")
        assert [each.line for each in found] == [3, 5, 6, 8]

    def test_copy_takes_its_rows_and_nothing_after_them(self):
        found = list(split("COPY t (a) FROM stdin;\n1;\n\\\\x\n\\.\n\nselect 1;\n", "postgresql"))
        assert [(each.kind, each.line, each.data) for each in found] == [
            ("copy", 1, "1;\n\\\\x\n"),
            ("sql", 6, None),
        ]

    def test_an_unterminated_literal_is_one_statement_for_the_database_to_judge(self):
        dialects: list[Dialect] = ["sqlite", "postgresql", "mysql"]
        for dialect in dialects:
            assert texts("select 1; select 'abc; def", dialect) == ["select 1", "select 'abc; def"]


word = st.sampled_from(
    ["select", "x", "1", "=", "a.b", "f(1, 2)", "e", "n", "begin", "end", "case", "use_", "copy_"]
)
inside = st.text(st.sampled_from(list("ab;-#/* '\"`$%:\n")), max_size=8)
shared = [
    word,
    inside.map(lambda text: "'" + text.replace("'", "''") + "'"),
    st.sampled_from(["-- it's; \n", "/* ' ; \" */"]),
]
own: dict[Dialect, list[st.SearchStrategy[str]]] = {
    "sqlite": [
        inside.map(lambda text: "[" + text + "]"),
        inside.map(lambda text: "`" + text.replace("`", "``") + "`"),
        inside.map(lambda text: '"' + text.replace('"', '""') + '"'),
    ],
    "postgresql": [
        inside.map(lambda text: "$q$" + text.replace("$", "") + "$q$"),
        inside.map(lambda text: "E'" + text.replace("'", "\\'") + "\\\\'"),
        inside.map(lambda text: "/* /* " + text.replace("*", "").replace("/", "") + " */ ; */"),
        st.sampled_from(["(a; b)", "$1"]),
    ],
    "mysql": [
        inside.map(lambda text: '"' + text.replace('"', '\\"') + '\\\\"'),
        inside.map(lambda text: "`" + text.replace("`", "``") + "`"),
        st.sampled_from(["# it's;\n", "/*!40101 a ';*/' ; b */"]),
    ],
}


@pytest.mark.parametrize("dialect", own)
def test_statements_that_are_joined_come_back(dialect: Dialect):
    """Whatever literals and comments they hold."""
    body = st.lists(st.one_of(*shared, *own[dialect]), max_size=6).map(" ".join)
    statement = body.map(lambda text: f"insert {text} done")

    @given(
        st.lists(statement, max_size=5),
        st.sampled_from([";", " ;\n", ";\r\n-- it's a comment; \n", "; /* ; ' */"]),
    )
    def holds(statements: list[str], joint: str) -> None:
        assert texts("".join(each + joint for each in statements), dialect) == statements

    holds()


class TestFiles:
    def test_a_missing_file_is_named(self, tmp_path: Path, lite: sqlite3.Connection):
        with pytest.raises(WorldError, match=r"nothing\.sql"):
            run_script(tmp_path / "nothing.sql", lite, "sqlite")

    def test_bytes_that_are_not_utf8_are_placed(self, tmp_path: Path, lite: sqlite3.Connection):
        with pytest.raises(ScriptError, match=r"schema\.sql:2: .*0xe9 at offset 14") as caught:
            run_script(script(tmp_path, b"select 1;\n-- caf\xe9"[:14] + b"\xe9;"), lite, "sqlite")
        assert caught.value.line == 2

    def test_utf16_is_named(self, tmp_path: Path, lite: sqlite3.Connection):
        with pytest.raises(ScriptError, match="UTF-16"):
            run_script(script(tmp_path, "select 1;".encode("utf-16")), lite, "sqlite")

    def test_an_included_file_runs_and_is_named_in_its_errors(
        self, tmp_path: Path, lite: sqlite3.Connection
    ):
        script(tmp_path, "create table t (a);\nnonsense;", "more.sql")
        with pytest.raises(ScriptError, match=r"more\.sql:2: near \"nonsense\""):
            run_script(script(tmp_path, ".read more.sql"), lite, "sqlite")
        assert value(lite, "select count(*) from t") == 0

    def test_an_include_cannot_leave_the_folder(self, tmp_path: Path, lite: sqlite3.Connection):
        with pytest.raises(ScriptError, match="own folder"):
            run_script(script(tmp_path, ".read ../../etc/passwd"), lite, "sqlite")

    def test_a_script_that_is_a_link_includes_links_into_its_own_folder_and_no_others(
        self, tmp_path: Path, lite: sqlite3.Connection
    ):
        """So a world stands on another one's scripts; a file that the link's folder does not hold is none of it."""
        home, other = tmp_path / "home", tmp_path / "other"
        home.mkdir()
        other.mkdir()
        script(home, ".read more.sql\n")
        script(home, "create table t (a);", "more.sql")
        script(tmp_path, "create table secret (a);", "secret.sql")
        (other / "schema.sql").symlink_to("../home/schema.sql")
        with pytest.raises(ScriptError, match=r"file not found in the script's folder: more\.sql"):
            run_script(other / "schema.sql", lite, "sqlite")
        (other / "more.sql").symlink_to("../home/more.sql")
        run_script(other / "schema.sql", lite, "sqlite")
        assert value(lite, "select count(*) from t") == 0
        (other / "more.sql").unlink()
        (other / "more.sql").symlink_to("../secret.sql")
        with pytest.raises(ScriptError, match="own folder"):
            run_script(other / "schema.sql", lite, "sqlite")


class TestSqlite:
    def test_a_dump_loads_on_sqlite3_and_apsw(self, tmp_path: Path, lite: sqlite3.Connection):
        path = script(
            tmp_path,
            "\ufeffPRAGMA foreign_keys=OFF;\r\nBEGIN TRANSACTION;\r\n.headers on\r\n"
            "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT);\r\n"
            "INSERT INTO t VALUES (1, '100% of :x; it''s ?');\r\n"
            "CREATE TRIGGER g AFTER DELETE ON t BEGIN INSERT INTO t (x) VALUES (';'); END;\r\n"
            "DELETE FROM sqlite_sequence;\r\nCOMMIT;\r\n",
        )
        for connection in (lite, apsw.Connection(":memory:")):
            assert run_script(path, connection, "sqlite") == 7
            assert value(connection, "select x from t") == "100% of :x; it's ?"

    def test_a_failure_has_file_line_and_the_databases_words(
        self, tmp_path: Path, lite: sqlite3.Connection
    ):
        with pytest.raises(ScriptError, match=r"schema\.sql:3: no such table: missing$"):
            run_script(
                script(tmp_path, "create table t (a);\n\ninsert into missing\nvalues (1);"),
                lite,
                "sqlite",
            )

    def test_session_settings_end_with_the_script(self, tmp_path: Path, lite: sqlite3.Connection):
        lite.execute("PRAGMA foreign_keys=ON")
        run_script(
            script(tmp_path, "PRAGMA foreign_keys=OFF; PRAGMA writable_schema=ON;"), lite, "sqlite"
        )
        assert value(lite, "PRAGMA foreign_keys") == 1
        assert value(lite, "PRAGMA writable_schema") == 0

    def test_a_callers_transaction_stays_the_callers(
        self, tmp_path: Path, lite: sqlite3.Connection
    ):
        lite.execute("BEGIN")
        run_script(script(tmp_path, "BEGIN; create table t (a); COMMIT;"), lite, "sqlite")
        lite.execute("ROLLBACK")
        assert value(lite, "select count(*) from sqlite_schema") == 0

    def test_a_transaction_that_is_never_committed_is_an_error(
        self, tmp_path: Path, lite: sqlite3.Connection
    ):
        with pytest.raises(ScriptError, match="never commits"):
            run_script(script(tmp_path, "BEGIN; create table t (a);"), lite, "sqlite")

    @pytest.mark.parametrize(
        "text", ["ATTACH 'x.db' AS x", "VACUUM INTO 'x.db'", ".backup a.db", ".shell ls"]
    )
    def test_what_a_script_may_not_do_is_refused_by_name(
        self, text: str, tmp_path: Path, lite: sqlite3.Connection
    ):
        with pytest.raises(ScriptError, match=text.split(maxsplit=1)[0].replace(".", r"\.")):
            run_script(script(tmp_path, text), lite, "sqlite")


DUMP = r"""
\restrict abc
SET statement_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'LATIN1';
SELECT pg_catalog.set_config('search_path', '', false);
CREATE ROLE clerk;
DROP DATABASE IF EXISTS shop;
CREATE DATABASE shop;
ALTER DATABASE shop OWNER TO clerk;
\connect shop
CREATE SCHEMA public;
CREATE TYPE public.mood AS ENUM ('a;b', 'c');
CREATE FUNCTION public.bump() RETURNS trigger LANGUAGE plpgsql AS $_$
BEGIN NEW.n := NEW.n + 1; RETURN NEW; END; $_$;
ALTER FUNCTION public.bump() OWNER TO clerk;
CREATE TABLE public.t (n integer, s text, m public.mood);
ALTER TABLE public.t OWNER TO clerk;
COPY public.t (n, s, m) FROM stdin;
1	100% é :x; ' $1	a;b
2	\N	\N
\.
CREATE TRIGGER bumps BEFORE INSERT ON public.t FOR EACH ROW EXECUTE FUNCTION public.bump();
INSERT INTO public.t VALUES (9, E'it\'s 50%s', 'c');
REVOKE ALL ON TABLE public.t FROM PUBLIC;
GRANT ALL ON TABLE public.t TO clerk;
\unrestrict abc
"""


class TestPostgres:
    def test_a_dump_loads(self, tmp_path: Path, postgres: Any):
        run_script(script(tmp_path, DUMP), postgres, "postgresql")
        rows = postgres.execute("SELECT n, s, m FROM t ORDER BY n").fetchall()
        assert rows == [(1, "100% é :x; ' $1", "a;b"), (2, None, None), (10, "it's 50%s", "c")]

    def test_a_schema_is_made_without_its_role_and_with_its_own_tables(
        self, tmp_path: Path, postgres: Any
    ):
        text = "CREATE SCHEMA hr AUTHORIZATION clerk CREATE TABLE t (s text DEFAULT 'a  b'); CREATE SCHEMA public;"
        run_script(
            script(tmp_path, text + "INSERT INTO hr.t DEFAULT VALUES;"), postgres, "postgresql"
        )
        assert value(postgres, "SELECT s FROM hr.t") == "a  b"

    def test_session_settings_end_with_the_script(self, tmp_path: Path, postgres: Any):
        postgres.execute("SET work_mem = '5MB'")
        run_script(
            script(tmp_path, "SET search_path = pg_catalog; SET work_mem = '9MB';"),
            postgres,
            "postgresql",
        )
        assert value(postgres, "SHOW search_path") == '"$user", public'
        assert value(postgres, "SHOW work_mem") == "5MB"

    def test_a_callers_transaction_stays_the_callers_with_deferred_checks(
        self, tmp_path: Path, postgres: Any
    ):
        postgres.autocommit = False
        run_script(
            script(
                tmp_path,
                "CREATE TABLE a (i int PRIMARY KEY, b int); CREATE TABLE b (i int PRIMARY KEY, a int);"
                "ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b DEFERRABLE INITIALLY DEFERRED;"
                "ALTER TABLE b ADD FOREIGN KEY (a) REFERENCES a DEFERRABLE INITIALLY DEFERRED;"
                "BEGIN; INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1); COMMIT; ALTER TABLE a ADD c int;",
            ),
            postgres,
            "postgresql",
        )
        postgres.rollback()
        assert value(postgres, "SELECT to_regclass('a') IS NULL")

    def test_a_failure_has_file_line_and_the_databases_words(self, tmp_path: Path, postgres: Any):
        text = "CREATE TABLE t (n int);\nCOPY t FROM stdin;\n1\nx\n\\.\n"
        with pytest.raises(
            ScriptError,
            match=r"schema\.sql:2: invalid input syntax for type integer: \"x\"; COPY t",
        ):
            run_script(script(tmp_path, text), postgres, "postgresql")
        assert value(postgres, "SELECT count(*) FROM t") == 0

    def test_client_copy_reads_a_file_beside_the_script(self, tmp_path: Path, postgres: Any):
        script(tmp_path, "1;a\n2;b\n", "rows.csv")
        text = "CREATE TABLE t (n int, s text);\n\\copy t FROM './rows.csv' DELIMITER ';' CSV;\n"
        run_script(script(tmp_path, text), postgres, "postgresql")
        assert value(postgres, "SELECT string_agg(s, '' ORDER BY n) FROM t") == "ab"

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("\\connect a\n\\connect b", "a and b"),
            ("COPY t FROM '/etc/passwd'", "COPY t FROM"),
            ("COPY t FROM PROGRAM 'ls'", "PROGRAM"),
            ("\\! ls", r"\\!"),
            ("\\copy t from program 'ls'", "run a program"),
            ("\\set x `ls`", r"\\set"),
            ("\\watch", r"\\watch"),
            ("ALTER SYSTEM SET a = 1", "ALTER SYSTEM"),
            ("CREATE SUBSCRIPTION s", "SUBSCRIPTION"),
        ],
    )
    def test_what_a_script_may_not_do_is_refused_by_name(
        self, text: str, named: str, tmp_path: Path, postgres: Any
    ):
        with pytest.raises(ScriptError, match=named):
            run_script(script(tmp_path, text), postgres, "postgresql")


MYSQLDUMP = r"""/*M!999999\- enable the sandbox mode */
-- MySQL dump 10.13
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET NAMES latin1 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '';
/*!40000 DROP DATABASE IF EXISTS `shop`*/;
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;
USE `shop`;
DROP TABLE IF EXISTS `shop`;
CREATE TABLE `shop`.`shop` (`id` int NOT NULL, `s` varchar(40) COLLATE utf8mb4_0900_ai_ci, PRIMARY KEY (`id`)) ENGINE=InnoDB;
LOCK TABLES `shop` WRITE;
/*!40000 ALTER TABLE `shop` DISABLE KEYS */;
INSERT INTO `shop` VALUES (0,'100% \'é\'; :x %s'),(1,'#--/*');
UNLOCK TABLES;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`nobody`@`%`*/ /*!50003 TRIGGER `t` BEFORE INSERT ON `shop` FOR EACH ROW BEGIN
  SET NEW.s = CONCAT(NEW.s, ';'); SET NEW.id = NEW.id + 1; END */;;
DELIMITER ;
/*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50013 DEFINER='nobody'@'%' SQL SECURITY DEFINER */
/*!50001 VIEW `v` AS select `shop`.`id` AS `id` from `shop`.`shop` where `shop`.`shop`.`id` > 0 */;
GRANT ALL ON shop.* TO 'nobody'@'%';
FLUSH PRIVILEGES;
"""


class TestMariaDB:
    def test_a_dump_loads_into_whatever_database_it_is_given(self, tmp_path: Path, mariadb: Any):
        run_script(script(tmp_path, MYSQLDUMP), mariadb, "mysql")
        assert value(mariadb, "SELECT s FROM shop WHERE id = 0") == "100% 'é'; :x %s"
        mariadb.cursor().execute("INSERT INTO shop VALUES (4, 'x')")
        assert value(mariadb, "SELECT GROUP_CONCAT(id ORDER BY id) FROM v") == "1,5"

    def test_session_settings_end_with_the_script(self, tmp_path: Path, mariadb: Any):
        before = value(mariadb, "SELECT @@sql_mode")
        run_script(
            script(tmp_path, "SET FOREIGN_KEY_CHECKS=0; SET SQL_MODE='ANSI';"), mariadb, "mysql"
        )
        assert value(mariadb, "SELECT @@foreign_key_checks") == 1
        assert value(mariadb, "SELECT @@sql_mode") == before

    def test_a_failure_has_file_line_and_the_databases_words(self, tmp_path: Path, mariadb: Any):
        with pytest.raises(ScriptError, match=r"schema\.sql:2: Table '.*\.missing' doesn't exist"):
            run_script(
                script(tmp_path, "SELECT 1;\nINSERT INTO missing VALUES (1);"), mariadb, "mysql"
            )

    def test_statements_on_the_scripts_own_tables_are_not_taken_for_another_database(
        self, tmp_path: Path, mariadb: Any
    ):
        text = """
            USE shop;
            CREATE TABLE a (i int, s text); CREATE TABLE `shop` . b LIKE a;
            INSERT INTO shop.a VALUES (1, 'shop.a'), (2, 'x');
            INSERT INTO b SELECT a.i, a.s FROM shop.a;
            UPDATE b JOIN a ON a.i = b.i SET b.s = 'shop.b', a.s = 'y' WHERE a.i = 2;
            DELETE a FROM a JOIN b ON a.i = b.i WHERE b.i = 2;
            START TRANSACTION; CREATE TABLE c (i int);
        """
        run_script(script(tmp_path, text), mariadb, "mysql")
        assert value(mariadb, "SELECT s FROM a") == "shop.a"
        assert value(mariadb, "SELECT GROUP_CONCAT(s ORDER BY i) FROM b") == "shop.a,shop.b"

    def test_sources_are_carried_out(self, tmp_path: Path, mariadb: Any):
        script(tmp_path, "INSERT INTO t VALUES (1),(2);", "rows.dump")
        run_script(
            script(
                tmp_path,
                "CREATE TABLE t (a int);\nflush /*!50503 binary */ logs;\nsource rows.dump ;\n",
            ),
            mariadb,
            "mysql",
        )
        assert value(mariadb, "SELECT COUNT(*) FROM t") == 2

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("USE a; CREATE TABLE t (i int); USE b;", "a and b"),
            ("USE mysql;", "mysql"),
            ("INSERT INTO mysql.help_topic VALUES (1)", "another database"),
            ("CREATE TABLE other.t (a int)", "another database"),
            ("LOAD DATA INFILE '/etc/passwd' INTO TABLE t", "LOAD DATA"),
            ("SELECT 1 INTO OUTFILE '/x'", "OUTFILE"),
            ("system ls", "system"),
        ],
    )
    def test_what_a_script_may_not_do_is_refused_by_name(
        self, text: str, named: str, tmp_path: Path, mariadb: Any
    ):
        with pytest.raises(ScriptError, match=named):
            run_script(script(tmp_path, text), mariadb, "mysql")
