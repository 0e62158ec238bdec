"""A small practice on a real database, and tasks files read against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.types import Pins
from synth.core.tasks.queries import Queries
from synth.core.tasks.readers import FileFamilies
from synth.core.tasks.yaml.family import read_tasks
from synth.errors import TaskError

ROWS = """\
CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, name TEXT, dob TEXT);
CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, patient_id INTEGER, made_at TEXT, note TEXT, cost REAL);
CREATE TABLE days (patient_id INTEGER, day INTEGER);
INSERT INTO patients VALUES (1, 'Ada', '1990-01-02'), (2, 'Ben O''Hara', '1985-12-31'), (9, 'Chloé', '1970-07-07');
INSERT INTO visits VALUES (1, 1, '2026-01-01', 'well', 20.5), (2, 9, '2026-01-02', NULL, 31);
"""

TOOLS = {
    "find": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "dob": {"type": "string"}},
    },
    "record": {
        "type": "object",
        "properties": {
            "pid": {"type": "integer"},
            "bpm": {"type": "integer"},
            "note": {"type": "string"},
        },
        "required": ["pid"],
    },
    "list_all": {"type": "object", "properties": {}},
}


@pytest.fixture(scope="session")
def template() -> Iterator[SqliteTemplate]:
    with SqliteTemplate.build(
        lambda connection: [connection.execute(each) for each in ROWS.split(";\n")]
    ) as built:
        yield built


@pytest.fixture
def queries(template: SqliteTemplate) -> Iterator[Queries]:
    with template.open(Pins()) as sandbox:
        yield Queries(sandbox, template)


@pytest.fixture
def parsed(tmp_path: Path, queries: Queries) -> Callable[[str], FileFamilies]:
    def run(text: str) -> FileFamilies:
        file = tmp_path / "tasks.yaml"
        file.write_text(text, "utf-8")
        return read_tasks(file, 0, TOOLS, queries)

    return run


@pytest.fixture
def mistaken(parsed: Callable[[str], FileFamilies]) -> Callable[..., None]:
    """Put a mistake into a file that has none: one message says it, with the file and the line."""

    def check(good: str, old: str, new: str, line: int, words: str) -> None:
        assert good.count(old) == 1, "the mistake must stand in one place"
        with pytest.raises(TaskError) as caught:
            parsed(good.replace(old, new))
        error = caught.value
        assert words in error.message
        assert error.line == line
        assert str(error.file).endswith("tasks.yaml")
        assert str(error).startswith(f"{error.file}:{line}: ")

    return check
