"""Sets of tools that a world's tools.yaml switches on by ``builtin: NAME``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from envs import Tool, plugins, tool
from envs.errors import WorldError
from envs.tools.tool import OptionalPositiveInt, PositiveInt
from envs.types import Pins, ToolCall
from envs.world.loader import load_world

STRANGER = '''\
from typing import Literal

from envs import tool
from envs.tools.tool import PositiveInt


def weather_tools(*, unit: Literal["C", "F"] = "C", days: PositiveInt = 7):
    @tool(read_only=True)
    def forecast(db, town: str) -> dict:
        """Say what the weather will be.

        Args:
            town: The town.
        """
        return {"unit": unit, "days": days, "town": town}

    return [forecast]
'''
ENTRY = "- builtin: strangers_weather:weather_tools\n  unit: F\n  days: 3\n"


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "strangers_weather.py").write_text(STRANGER, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    yield
    sys.modules.pop("strangers_weather", None)


def world(folder: Path, tools: str) -> Path:
    (folder / "schema.sql").write_text("CREATE TABLE t (a INTEGER);", "utf-8")
    (folder / "seed.sql").write_text("INSERT INTO t VALUES (1);", "utf-8")
    (folder / "tools.yaml").write_text(tools, "utf-8")
    return folder


def refused(folder: Path) -> WorldError:
    with pytest.raises(WorldError) as caught:
        load_world(folder)
    assert caught.value.file == str(folder / "tools.yaml")
    return caught.value


def forecast(folder: Path) -> Any:
    loaded = load_world(folder)
    template = loaded.template()
    try:
        with loaded.environment(template, Pins()) as environment:
            return environment.call(ToolCall.of("forecast", {"town": "Ulm"})).result.output
    finally:
        template.close()


@pytest.mark.usefixtures("stranger")
def test_a_stranger_s_set_comes_in_by_its_import_path(tmp_path: Path):
    folder = world(tmp_path, ENTRY)
    assert forecast(folder) == {"unit": "F", "days": 3, "town": "Ulm"}
    [extension] = load_world(folder).extensions
    assert extension.target == "strangers_weather:weather_tools"


@pytest.mark.usefixtures("stranger")
def test_a_stranger_s_set_comes_in_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    information = tmp_path / "lib" / "strangers_weather-1.4.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: strangers-weather\nVersion: 1.4\n", "utf-8")
    (information / "entry_points.txt").write_text(
        "[envs.tools]\nweather = strangers_weather:weather_tools\n", "utf-8"
    )
    folder = world(tmp_path, "- builtin: weather\n")
    assert forecast(folder) == {"unit": "C", "days": 7, "town": "Ulm"}
    [extension] = load_world(folder).extensions
    assert (extension.distribution, extension.version) == ("strangers-weather", "1.4")


@pytest.mark.usefixtures("stranger")
@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("unit: F", "unit: K", 2, "`unit` must be one of C, F, not 'K'"),
        ("days: 3", "days: 0", 3, "`days` must be a whole number above 0, not 0"),
        ("days: 3", "days: 3.0", 3, "`days` must be a whole number above 0, not 3.0"),
        ("days: 3", "dais: 3", 3, "unknown key 'dais' beside `builtin`; did you mean days?"),
        ("days: 3", "days: 3\n  days: 4", 4, "the key `days` occurs twice"),
        (":weather_tools", ":weather_tool", 1, "has no attribute 'weather_tool'"),
        (":weather_tools", ":STRANGER", 1, "has no attribute 'STRANGER'"),
        (":weather_tools", ":__name__", 1, "is not a function that returns tools"),
        ("strangers_weather:", "no_such_package:", 1, "cannot import 'no_such_package'"),
        ("strangers_weather:weather_tools", "sqll", 1, "unknown tool 'sqll'; did you mean sql?"),
        ("strangers_weather:weather_tools", "submit_sq", 1, "did you mean the tool submit_sql?"),
    ],
)
def test_each_mistake_has_file_line_and_key(
    tmp_path: Path, old: str, new: str, line: int, words: str
):
    assert ENTRY.count(old) == 1
    error = refused(world(tmp_path, ENTRY.replace(old, new)))
    assert words in error.message
    assert error.line == line


@pytest.mark.parametrize(
    "entry",
    [
        "- builtin: sql\n  tools: [list_tables, submit_sql]\n  max_rows: 4\n",
        "- builtin: [list_tables, submit_sql]\n  max_rows: 4\n",
        "- builtin: envs.tools.sql.tool_set:sql_tools\n  tools: [list_tables, submit_sql]\n  max_rows: 4\n",
    ],
)
def test_the_sql_tools_are_such_a_set(tmp_path: Path, entry: str):
    assert [each.name for each in load_world(world(tmp_path, entry)).tools] == [
        "list_tables",
        "submit_sql",
    ]


@pytest.mark.parametrize(
    ("entry", "line", "words"),
    [
        ("- builtin: sql\n  tools: [x]\n", 2, "`tools` must be a list, each item one of list_tab"),
        ("- builtin: [submit_sql]\n  tools: [submit_sql]\n", 2, "say the same; keep one"),
        ("- builtin: sql\n- builtin: submit_sql\n", 2, "two tools are named 'submit_sql'"),
    ],
)
def test_each_mistake_with_the_sql_tools(tmp_path: Path, entry: str, line: int, words: str):
    error = refused(world(tmp_path, entry))
    assert words in error.message
    assert error.line == line


def required(*, key: str, more: OptionalPositiveInt = None) -> list[Tool]:
    @tool
    def nothing(db) -> dict:
        """Do nothing."""
        return {}

    return [nothing]


def untyped(*, key) -> list[Tool]:
    return []


def anything(**options: Any) -> list[Tool]:
    return []


def odd(*, key: complex) -> list[Tool]:
    return []


def no_tools() -> list[Any]:
    return ["forecast"]


def crash(*, days: PositiveInt = 1) -> list[Tool]:
    raise RuntimeError("no licence")


def unfit(*, unit: Literal["C"] = "C") -> list[Tool]:
    raise WorldError("tool x: no description")


HERE = __name__


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("required", "", "needs `key`, a text"),
        ("required", "\n  key: null", "needs `key`, a text"),
        ("untyped", "\n  key: 1", "the option 'key' needs a type annotation"),
        ("anything", "", "the option 'options' needs a type annotation of its own"),
        ("odd", "", "the option 'key': <class 'complex'> has no portable JSON Schema"),
        ("no_tools", "", "returned 'forecast', which is not a tool"),
        ("crash", "", "failed: RuntimeError: no licence"),
    ],
)
def test_a_set_that_breaks_the_contract_is_named(
    tmp_path: Path, name: str, options: str, words: str
):
    error = refused(world(tmp_path, f"- builtin: {HERE}:{name}{options}\n"))
    assert words in error.message
    assert error.line == 1


def test_null_stands_for_a_default_of_none(tmp_path: Path):
    folder = world(tmp_path, f"- builtin: {HERE}:required\n  key: a\n  more: null\n")
    assert [each.name for each in load_world(folder).tools] == ["nothing"]


def test_sql_is_the_only_built_in_set():
    assert list(plugins.TOOLS.builtin) == ["sql"]
