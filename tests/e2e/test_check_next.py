"""What ``synth check`` says to do next can be pasted into a shell, wherever the world lives."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from envs.world.loader import load_world
from synth.core.cli.check import main
from synth.core.cli.checking import next_step
from synth.core.foundation.shipped import examples_dir
from synth.errors import OperatorError
from tests.e2e.command import COMMAND, synth

TOOLS = '''
from envs import tool
from sqlalchemy import Connection, text


@tool
def lend(db: Connection, book_id: int) -> dict:
    """Lend a book.

    Args:
        book_id: The book's number.
    """
    db.execute(text("UPDATE books SET lent = 1 WHERE book_id = :b"), {"b": book_id})
    return {"lent": book_id}
'''
TASKS = """
families:
- id: lend_a_book
  ground: {key: book_id, sql: SELECT book_id FROM books}
  user: {says: "Lend book {book_id}, please."}
  gold:
  - lend: {book_id: "{book_id}"}
"""


@pytest.mark.parametrize("name", ["a library", "library, closed (on 'Mondays')", "bücherei"])
def test_the_next_step_of_a_small_world_runs(tmp_path: Path, name: str):
    """Spaces, commas and quotes in its path; fewer tasks than a run asks for by default."""
    world = tmp_path / name
    world.mkdir()
    (world / "schema.sql").write_text(
        "CREATE TABLE books (book_id INTEGER PRIMARY KEY, lent INTEGER DEFAULT 0);"
    )
    (world / "seed.sql").write_text("INSERT INTO books (book_id) VALUES (11), (12), (13);")
    (world / "executors.py").write_text(TOOLS)
    (world / "tasks.yaml").write_text(TASKS)
    checked = synth("check", str(world), cwd=tmp_path)
    assert "1 family proves itself; capacity 3 tasks." in checked.stdout
    command = checked.stdout.rpartition("Next: ")[2]
    words = shlex.split(command)
    assert words[:2] == ["synth", "run"]
    done = synth(*words[1:], "--dry-run", cwd=tmp_path)
    assert "3 tasks x 1 samples" in done.stdout


def test_a_shipped_world_is_named_and_the_families_are_kept():
    world = load_world(examples_dir() / "ehr_db")
    assert next_step(world, None, 500) == "synth run env=ehr_db tasks.count=100"
    assert (
        shlex.split(next_step(world, ["closed_chart"], 500))[3] == "tasks.families=[closed_chart]"
    )


def test_no_family_is_not_all_families():
    with pytest.raises(OperatorError, match="--families"):
        main(["ehr_db", "--families", " , "])


def test_a_reader_that_leaves_is_no_failure():
    """``synth check ... | head`` must not look like a family that failed."""
    process = subprocess.Popen(
        [*COMMAND, "check", "ehr_db", "--families", "record_heart_rate", "--tasks", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr:
        told = process.stderr.read()
    assert process.wait(timeout=120) == 141
    assert told.splitlines()[2:] == []  # the first two lines say what is checked and proved
