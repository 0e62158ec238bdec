"""Issue 29: a read tool that answers with plain text ended ``synth check`` in a bug report."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.core.foundation.json_leaves import parsed
from synth.core.tasks.yaml.saves import saved_values
from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world

FILES = {
    "schema.sql": "CREATE TABLE books (book_id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE);",
    "seed.sql": "INSERT INTO books VALUES (1, 'Emma'), (2, 'Faust'), (3, 'Momo');",
    "executors.py": '''
from sqlalchemy import Connection, text
from envs import ToolError, tool

@tool(read_only=True)
def title_of(db: Connection, book_id: int) -> str:
    """Say the title of a book.

    Args:
        book_id: Its number.
    """
    found = db.execute(text("SELECT title FROM books WHERE book_id = :b"), {"b": book_id}).scalar()
    if found is None:
        raise ToolError("There is no such book.", category="not_found")
    return found

@tool(read_only=True)
def advice(db: Connection) -> str:
    """Say how to ask."""
    return "Ask by number."
''',
    "policy.md": "Answer with the title.\n",
    "tasks.yaml": """
families:
- id: title
  ground: {key: book_id, sql: SELECT book_id FROM books}
  user: {says: "Which title has book {book_id}?"}
  answer: {title: {type: string, description: The title.}}
  oracle: {title: SELECT title FROM books WHERE book_id = :book_id}
  gold:
  - title_of: {book_id: "{book_id}"}
    save: {title: $PATH}
  - submit: {title: $title}
  - say: "It is {title}."
""",
}


def checked(folder: Path, path: str) -> FamilyReport:
    for name, text in FILES.items():
        (folder / name).write_text(text.replace("$PATH", path))
    found = list[FamilyReport]()
    check_world(folder, Options(), found.append)
    return found[0]


def test_the_whole_text_can_be_saved(tmp_path: Path):
    report = checked(tmp_path, '"$"')
    assert [*report.problems, *report.surviving, *report.honest_lost] == []


def test_a_path_into_a_text_is_told_the_way_out(tmp_path: Path):
    report = checked(tmp_path, "$.title")
    assert "the result is a plain text, of which `$` saves the whole" in report.problems[0]


@pytest.mark.parametrize("content", ["Ask by number.", "", "{", "[1", "NaN pages"])
def test_any_text_is_a_result(content: str):
    assert parsed(content) == content
    assert saved_values({"all": "$"}, parsed(content), {}) == {"all": content}
