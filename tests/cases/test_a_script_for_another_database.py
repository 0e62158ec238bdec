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
