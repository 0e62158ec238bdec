"""Bad input was named in the words of a lexer or of the operating system, and not as it was typed.

A message names the file and the line, or the value as it stands on the command line, and says what
to do instead.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy

from envs.connection import driver_words
from envs.errors import DatabaseConfigError, EnvsError
from envs.sandboxes.attached.engine import AttachedOptions
from envs.sandboxes.attached.template import attach
from envs.sandboxes.base import DatabaseTarget
from synth.core.config.compose import compose
from synth.errors import ConfigProblems, OperatorError
from synth.ext.authoring.source import from_files

SCRIPTS = {
    "unclosed.sql": ("CREATE TABLE a (id INT);\n\nCREATE TABLE b (id INT, ';\n", ":3: SQLite"),
    "of_mysql.sql": (
        "CREATE TABLE a (id INT);\nCREATE TABLE `b` (`id` int) ENGINE=InnoDB;\n",
        ":2: SQLite cannot run this script: .* --dsn-env-var NAME",
    ),
    "latin.sql": (
        "CREATE TABLE a (n);\nINSERT INTO a VALUES ('caf\udce9');",
        ":2: is not UTF-8: byte 0xe9 at offset 46; save the file as UTF-8",
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_that_does_not_load_is_named_with_its_line(name: str, tmp_path: Path):
    text, words = SCRIPTS[name]
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises((OperatorError, EnvsError), match=name + words) as caught:
        from_files([tmp_path / name])
    assert "\n" not in str(caught.value)


def test_the_line_is_counted_in_the_file_that_fails(tmp_path: Path):
    """Statements of the schema were executed before, and values of a trigger hold semicolons."""
    (tmp_path / "schema.sql").write_text(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, n TEXT DEFAULT ';');\n"
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; SELECT 2; END;\n"
    )
    (tmp_path / "seed.sql").write_text(
        "INSERT INTO a VALUES (1, 'x');\nINSERT INTO b VALUES (1);\n"
    )
    with pytest.raises(OperatorError, match=r"seed\.sql:2: .*no such table: b"):
        from_files([tmp_path / "schema.sql", tmp_path / "seed.sql"])


def test_what_is_no_script_is_told_apart(tmp_path: Path):
    with pytest.raises(OperatorError, match="is a folder; --from takes SQL files"):
        from_files([tmp_path])
    with pytest.raises(
        OperatorError, match=r"none\.sql cannot be read: file not found; check the path"
    ):
        from_files([tmp_path / "none.sql"])
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.execute("CREATE TABLE a (id INT)")
    with pytest.raises(OperatorError, match=r"of SQLite.*--from-url sqlite:///.*shop\.db"):
        from_files([tmp_path / "shop.db"])


@pytest.mark.parametrize("typed", ["1e10", "1.50", "1e400", "-2.5e0", "5_0.0"])
def test_a_number_is_named_as_it_was_typed(typed: str):
    with pytest.raises(ConfigProblems) as caught:
        compose(["env=library", "tasks.count=1", f"tasks.count={typed}"])
    assert str(caught.value).endswith(f"a whole number, not {typed}")


def test_the_words_of_a_driver_come_without_its_number_and_keep_their_letters():
    """A password of one letter was cut out of each word that held it."""
    url = sqlalchemy.make_url("mysql+pymysql://me:p@127.0.0.1:1/shop")
    refused = sqlalchemy.exc.OperationalError("", {}, Exception(1049, "port 'p' is closed"))
    assert driver_words(refused, url) == "port '***' is closed"


def test_a_database_that_cannot_be_attached_is_named_as_it_was_typed(tmp_path: Path):
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0broken")
    target = DatabaseTarget(f"sqlite:///{tmp_path}/broken.db")
    with pytest.raises(DatabaseConfigError, match=rf"sqlite:///{tmp_path}/broken.db: file is not"):
        attach(target, AttachedOptions())
    (tmp_path / "broken.db").write_bytes(b"")
    with pytest.raises(DatabaseConfigError, match=r"schemas: unknown 'x'; known are main"):
        attach(target, AttachedOptions(schemas=("x",)))
