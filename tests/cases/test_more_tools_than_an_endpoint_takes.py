"""anomalyco/opencode#4909, vishalmysore/Tools4AI#16, zed-industries/zed#32946.

OpenAI takes 128 tools: `synth new`, which makes a world of a part of a large schema, and the dry run
of a run say how many there are, and a run says it before it asks.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from envs.tools.toolbox import tool_count
from synth.__main__ import main
from synth.core.foundation.shipped import examples_dir
from tests.cases.strict_endpoint import strict_endpoint


def schema_of(tables: int) -> str:
    return "".join(
        f"CREATE TABLE part{n} (part{n}_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
        " price REAL NOT NULL);"
        f"INSERT INTO part{n} VALUES (1, 'left', 2.5), (2, 'right', 7.5), (3, 'upper', 4);"
        for n in range(tables)
    )


@pytest.mark.parametrize(("tables", "words"), [(2, "10 tools"), (26, " 15 tools")])
def test_new_says_how_many_tools_there_are(
    tables: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "schema.sql"
    file.write_text(schema_of(tables))
    arguments = [str(tmp_path / "w"), "--from", str(file), "--dry-run", "--patterns", "look_up"]
    assert main(["new", *arguments]) == 0
    shown = capsys.readouterr()
    assert words in " ".join((shown.out + shown.err).split())


def test_the_dry_run_of_a_run_counts_tools_and_their_tokens(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "--dry-run", "--json", "env=library", "tasks.count=2"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["tools"]["count"] == len(plan["first"]["tools"])
    assert plan["tools"]["tokens"] > 100


def test_the_way_out_is_named_beyond_the_most_only():
    assert tool_count(128) == "128 tools"
    assert "--tables A,B" in tool_count(129)


def test_a_run_says_it_before_it_asks_and_an_endpoint_that_refuses_names_the_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = shutil.copytree(examples_dir() / "library", tmp_path / "w")
    with (folder / "executors.py").open("a") as file:
        file.writelines(
            f"\n@tool(read_only=True)\ndef more_{n}(db: Connection) -> dict:\n"
            '    """Return nothing."""\n    return {}\n'
            for n in range(130)
        )
    with strict_endpoint("few", "find_member", {"name": "Ada Kern"}) as endpoint:
        job = [f"env.path={folder}", "tasks.families=[lend_book]", "tasks.count=1"]
        assert main(["run", *job, *endpoint.overrides, f"output.dir={tmp_path / 'o'}"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    before, refused, after = said.partition("the endpoint refuses the first call")
    assert "135 tools, and some endpoints take 128 at most" in before
    assert refused
    assert "synth new --tables A,B" in after
    assert endpoint.refused
