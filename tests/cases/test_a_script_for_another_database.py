"""Issue 29: a script that does not load is named with its line and with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.errors import OperatorError
from synth.ext.authoring.source import from_files

FINE = "CREATE TABLE a (id INTEGER PRIMARY KEY);\n-- a comment; with a semicolon\n\n"


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("CREATE TABLE b (\n  id serial PRIMARY KEY,\n  tags text[] DEFAULT '{}'::text[]\n);", 4),
        ("CREATE TABLE b (id INT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB;", 4),
        ("INSERT INTO a VALUES (1);\nINSERT INTO a VALUES (1);", 5),
    ],
)
def test_the_line_and_the_way_out_are_named(statement: str, line: int, tmp_path: Path):
    schema, broken = tmp_path / "schema.sql", tmp_path / "rows.sql"
    schema.write_text("CREATE TABLE first (id INTEGER PRIMARY KEY);")
    broken.write_text(FINE + statement)
    with pytest.raises(OperatorError) as caught:
        from_files([schema, broken])
    assert str(caught.value).startswith(f"{broken}:{line}: SQLite cannot run this script: ")
    assert "synth new PATH --dsn-env-var NAME" in str(caught.value)


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("CREATE TABLE b (id bigserial, at timestamp DEFAULT 'now'::text);", "PostgreSQL, .*psql"),
        (
            "CREATE TABLE b (id INT UNSIGNED AUTO_INCREMENT) ENGINE=InnoDB;",
            "MySQL, .*mysql DATABASE <",
        ),
        ("CREATE TABLE [b] (id INT IDENTITY(1,1))\nGO\n", "SQL Server, .*pgloader"),
        ("CREATE TABLE b (id NUMBER(9), name VARCHAR2(9 CHAR));", "Oracle, .*ora2pg"),
        ("CREATE TABLE b (id INTEGER,);", "another database, load it"),
    ],
)
def test_the_way_out_is_the_one_of_its_dialect(script: str, named: str, tmp_path: Path):
    file = tmp_path / "a schema.sql"
    file.write_text(script)
    with pytest.raises(OperatorError, match=rf"SQLite cannot run .* if it is for {named}"):
        from_files([file])


def test_a_binary_dump_is_named(tmp_path: Path):
    file = tmp_path / "shop.dmp"
    file.write_bytes(b"\x03\x00\x1fEXPORT:V11.02.00\n")
    with pytest.raises(OperatorError, match=r"is a dump by Oracle, .*ora2pg"):
        from_files([file])
