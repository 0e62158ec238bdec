"""A world's folder: each mistake in its tools is one message with file and line, and no
traceback.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from envs.errors import ScriptError, WorldError
from envs.world.loader import load_world

EXECUTORS = """\
from typing import Annotated

from envs import ToolResult, tool


def work(arguments, db):
    return ToolResult({})
"""
TOOLS = """\
tools:
- name: first
  description: The first.
  executor: executors.work
- name: second
  description: The second.
  executor: executors.work
"""
SIGNATURE = '''

@tool
def zap(db, a: {hint} = None) -> dict:
    """Zap.

    Args:
        a: What.
    """
    return {{}}
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "schema.sql": "CREATE TABLE t (a);",
        "seed.sql": "INSERT INTO t VALUES (1);",
        "executors.py": EXECUTORS,
        "tools.yaml": TOOLS,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def refused(folder: Path) -> WorldError:
    with pytest.raises(WorldError) as caught:
        load_world(folder)
    return caught.value


def test_tools_as_data(folder: Path):
    assert [each.name for each in load_world(folder).tools] == ["first", "second"]


SECOND = "  executor: executors.work\n- name: second"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("name: second", "name: 5", 5, "needs `name`, a text"),
        ("name: second", "name: the second", 5, "must match"),
        ("name: second", "nmae: second", 5, "needs `name`, a text"),
        ("description: The second.", "description: 5", 6, "needs `description`, a text"),
        (
            "description: The second.",
            "description: The second.\n  exector: x",
            7,
            "unknown key 'exector'",
        ),
        (
            "description: The second.",
            "description: The second.\n  5: x\n  zz: y",
            7,
            "unknown key '5'",
        ),
        (
            "description: The second.",
            "description: The second.\n  name: third",
            7,
            "the key `name` occurs twice",
        ),
        (
            "description: The second.",
            'description: A.\n  read_only: "false"',
            7,
            "`read_only` must be true or false",
        ),
        (
            "description: The second.",
            "description: A.\n  max_rows: true",
            7,
            "`max_rows` must be a whole number above 0",
        ),
        (
            "description: The second.",
            "description: A.\n  max_rows: 1.5",
            7,
            "`max_rows` must be a whole number above 0",
        ),
        (
            "description: The second.",
            "description: A.\n  parameters: []",
            7,
            "`parameters` must be a JSON Schema",
        ),
        (
            "description: The second.",
            "description: A.\n  output_schema: 5",
            7,
            "`output_schema` must be a JSON Schema",
        ),
        (
            "description: The second.",
            (
                "description: A.\n  parameters: {type: object, properties: {a: {type: string, enum:"
                " [2026-01-01]}}}"
            ),
            7,
            "write dates and the like as text",
        ),
        (
            "description: The second.",
            "description: A.\n  parameters: {type: object, properties: {a: true}}",
            7,
            "parameters.a: True is not portable",
        ),
        (
            "description: The second.",
            "description: A.\n  parameters: {type: object, properties: {a b: {type: string}}}",
            7,
            "the name 'a b' must match",
        ),
        (SECOND, "  executor: work\n- name: second", 4, "executor 'work' must be module.function"),
        (
            SECOND,
            "  executor: ..work\n- name: second",
            4,
            "executor '..work' must be module.function",
        ),
        (
            SECOND,
            "  executor: executors.wrok\n- name: second",
            4,
            "executors has no function 'wrok'",
        ),
        (SECOND, "  executor: no_such.work\n- name: second", 4, "cannot import 'no_such'"),
        (
            SECOND,
            "  executor: os.getcwd\n- name: second",
            4,
            "executor 'os.getcwd' must take (arguments, db)",
        ),
        ("tools:", "tools: [", 2, "not valid YAML"),
        ("name: second", "name: 2026-99-99", None, "not valid YAML: month must be in 1..12"),
    ],
)
def test_each_mistake_in_tools_yaml(folder: Path, old: str, new: str, line: int | None, words: str):
    assert TOOLS.count(old) == 1
    (folder / "tools.yaml").write_text(TOOLS.replace(old, new), "utf-8")
    error = refused(folder)
    assert words in error.message
    assert (error.file, error.line) == (str(folder / "tools.yaml"), line)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("async def work(arguments, db): ...", "is async; write a plain function"),
        ("def work(arguments, db):\n    yield 1", "is a generator; write a plain function"),
        ("def work(arguments): ...", "must take (arguments, db)"),
        ("def work(**arguments): ...", "must take (arguments, db)"),
    ],
)
def test_an_executor_that_cannot_be_called_is_known_before_it_is(
    folder: Path, code: str, words: str
):
    (folder / "executors.py").write_text(code, "utf-8")
    error = refused(folder)
    assert words in error.message
    assert (error.file, error.line) == (str(folder / "tools.yaml"), 4)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys\nsys.exit(2)", "SystemExit: 2"),
        ("\n@tool\nasync def zap(db) -> dict:\n    '''Zap.'''\n", "tool zap: it is async"),
        (
            "\n@tool\ndef zap(db) -> dict:\n    '''Zap.'''\n    yield 1",
            "tool zap: it is a generator",
        ),
        ("\n@tool\nclass Zap:\n    '''Zap.'''\n", "@tool goes on a plain function, not on <class"),
    ],
)
def test_each_mistake_in_executors(folder: Path, code: str, words: str):
    (folder / "executors.py").write_text(f"{EXECUTORS}\n{code}", "utf-8")
    error = refused(folder)
    assert words in error.message
    assert error.file == str(folder / "executors.py")
    assert (error.line or 0) > 8


@pytest.mark.parametrize("start", ["", "from __future__ import annotations\n\n"])
def test_keywords_inside_a_union_are_explained(folder: Path, start: str):
    """Before Python 3.13 that is a TypeError about hashes, at the import or at the first look at
    the hints.
    """
    hint = 'Annotated[int, {"minimum": 1}] | None'
    (folder / "executors.py").write_text(start + EXECUTORS + SIGNATURE.format(hint=hint), "utf-8")
    if sys.version_info >= (3, 13):
        schema = load_world(folder).toolbox["zap"].parameters["properties"]["a"]
        assert schema == {"type": "integer", "minimum": 1, "description": "What."}
    else:
        error = refused(folder)
        assert (
            "write Annotated[int | None, {...}], not Annotated[int, {...}] | None" in error.message
        )
        assert error.line is not None


def test_the_clear_way_of_keywords_on_an_optional_parameter(folder: Path):
    hint = 'Annotated[int | None, {"minimum": 1}]'
    (folder / "executors.py").write_text(EXECUTORS + SIGNATURE.format(hint=hint), "utf-8")
    schema = load_world(folder).toolbox["zap"].parameters
    assert schema["properties"]["a"] == {"type": "integer", "minimum": 1, "description": "What."}
    assert schema["required"] == []


@pytest.mark.parametrize("name", ["policy.md", "tools.yaml"])
def test_a_file_that_is_no_text(folder: Path, name: str):
    (folder / name).write_bytes(b"caf\xe9")
    error = refused(folder)
    assert error.message == "not UTF-8 at byte 3"
    assert error.file == str(folder / name)


DANGLING = """\
INSERT INTO t VALUES (1), (2);
INSERT INTO u (t) VALUES (2), (1);
INSERT INTO u (t) VALUES (7);
"""


@pytest.mark.parametrize(
    ("seed", "line"),
    [
        (DANGLING, 3),
        (f"PRAGMA foreign_keys = OFF;\nBEGIN;\n{DANGLING}COMMIT;\n", 5),
        ("INSERT INTO t VALUES (1);\nINSERT INTO u (t)\nVALUES (1),\n  (7);\n", 2),
    ],
)  # fmt: skip
def test_a_seed_row_without_the_row_that_its_key_names_is_refused_at_its_line(
    folder: Path, seed: str, line: int
):
    (folder / "schema.sql").write_text(
        "CREATE TABLE t (a INTEGER PRIMARY KEY);"
        " CREATE TABLE u (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t (a));"
    )
    (folder / "seed.sql").write_text(seed)
    with pytest.raises(ScriptError) as caught:
        load_world(folder).template()
    assert caught.value.file == str(folder / "seed.sql")
    assert caught.value.message == "a row of u breaks a foreign key: t=7 is in no row of t"
    assert caught.value.line == line


def test_a_row_that_comes_before_the_one_that_its_key_names_is_taken(folder: Path):
    (folder / "schema.sql").write_text(
        "CREATE TABLE t (a INTEGER PRIMARY KEY, next INTEGER REFERENCES t (a));"
    )
    (folder / "seed.sql").write_text("INSERT INTO t VALUES (1, 2);\nINSERT INTO t VALUES (2, 1);\n")
    with load_world(folder).template() as template:
        assert template.tables
