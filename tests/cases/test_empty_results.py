"""pydantic/pydantic-ai#6116, posit-dev/positron#7770, modelcontextprotocol/python-sdk#3305,
bytedance/trae-agent#231, zed-industries/zed#27130: a result that is empty still has a text.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from envs.types import ToolResult
from tests.cases.strict_endpoint import strict_endpoint
from tests.e2e.command import synth

LIBRARY = Path(__file__).parents[2] / "examples" / "library"
EMPTY = {
    "text": ("", '""'),
    "blanks": (" \n", '" \\n"'),
    "list": ([], "[]"),
    "none": (None, "null"),
    "object": ({}, "{}"),
    "rows": ({"rows": []}, '{"rows":[]}'),
}
TOOL = f"""

@tool(read_only=True)
def nothing(db: Connection, how: str) -> object:
    \"\"\"Return nothing.

    Args:
        how: In which way.
    \"\"\"
    return { ({how: value for how, (value, _) in EMPTY.items()})!r}[how]
"""


@pytest.mark.parametrize("how", EMPTY)
def test_an_empty_result_has_a_text_of_its_own(how: str):
    value, text = EMPTY[how]
    assert ToolResult(value).content() == text


@pytest.mark.slow
def test_an_endpoint_that_wants_text_is_sent_text(tmp_path: Path):
    world = tmp_path / "world"
    shutil.copytree(LIBRARY, world)
    with (world / "executors.py").open("a") as file:
        file.write(TOOL)
    calls = [{"how": how} for how in EMPTY]
    with strict_endpoint("text", "nothing", *calls, turns=len(calls)) as endpoint:
        job = ("env.path=world", "tasks.families=[lend_book]", "tasks.count=1", "preflight=false")
        synth("run", *job, *endpoint.overrides, cwd=tmp_path)
    assert not endpoint.refused
    assert endpoint.results == [text for _, text in EMPTY.values()]
