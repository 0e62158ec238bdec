"""espressif/esp-idf#19087, PhilflowIO/dav-mcp#48, hurttlocker/o8#1541: what a world prints is no part
of a report or of a protocol. modelcontextprotocol/python-sdk#3305: an empty result has a block.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cases.test_empty_results import EMPTY, TOOL
from tests.e2e.command import COMMAND, synth

LIBRARY = Path(__file__).parents[2] / "examples" / "library"
QUERY = '    return one(db, "SELECT member_id, name FROM members WHERE name = :name", name=name)\n'
NOISE = """    import os
    print("looked up")
    os.write(1, b"from below\\n")
    os.system("echo from a child")
"""
PRINTED = ("imported", "looked up", "from below", "from a child")
JOB = ("env.path=world", "tasks.families=[lend_book]", "tasks.count=2")
CLIENT = {"name": "a client", "version": "1"}
ASKED = [
    ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}),
    ("prompts/get", {"name": "task"}),
    ("tools/call", {"name": "find_member", "arguments": {"name": "Ada Kern"}}),
    *(("tools/call", {"name": "nothing", "arguments": {"how": how}}) for how in EMPTY),
]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a world whose files and tools print in four ways, and a run of it."""
    home = tmp_path_factory.mktemp("printing")
    shutil.copytree(LIBRARY, home / "world")
    file = home / "world" / "executors.py"
    text = file.read_text()
    assert QUERY in text
    file.write_text('print("imported")\n' + text.replace(QUERY, NOISE + QUERY) + TOOL)
    report(synth("run", *JOB, "runtime=inline", "output.dir=run", "--json", cwd=home, code=None))
    return home


def report(done: subprocess.CompletedProcess[str], printed: tuple[str, ...] = PRINTED) -> object:
    """The document on standard output; what was printed is on standard error."""
    assert done.returncode == 0, done.stderr
    assert all(line in done.stderr for line in printed)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("check", "world", "--families", "lend_book", "--tasks", "1", "--json"), PRINTED),
        (("replay", "run", "--trust", "--json"), PRINTED),
        (("grade", "run", "--json"), ()),
        (("inspect", "run", "--json"), ()),
        (("run", *JOB, "runtime=inline", "--dry-run", "--json"), ("imported",)),
    ],
    ids=["check", "replay", "grade", "inspect", "dry-run"],
)
def test_standard_output_is_the_report(
    home: Path, words: tuple[str, ...], printed: tuple[str, ...]
):
    report(synth(*words, cwd=home, code=None), printed)


@pytest.mark.ray
def test_workers_of_ray_print_elsewhere(home: Path):
    """They print into Ray's logs."""
    done = synth("run", *JOB, "runtime.workers=1", "output.dir=ray", "--json", cwd=home, code=None)
    report(done, ("imported",))


@pytest.mark.parametrize("record", [(), ("--record", "recorded")], ids=["", "record"])
def test_the_protocol_is_alone_on_standard_output(home: Path, record: tuple[str, ...]):
    served = [*COMMAND, "mcp", "world", "--families", "lend_book", "--count", "2", *record]
    with subprocess.Popen(
        served,
        cwd=home,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        answers: list[dict[str, Any]] = []
        for number, (method, params) in enumerate(ASKED):
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            answers.append(json.loads(server.stdout.readline()))
        rest, errors = server.communicate()
    assert server.returncode == 0, errors
    assert [answer["id"] for answer in answers] == [*range(len(ASKED))]
    assert "Ada Kern" in json.dumps(answers[2])
    for answer, (_, text) in zip(answers[3:], EMPTY.values(), strict=True):
        assert answer["result"]["content"] == [{"type": "text", "text": text}]
    assert rest == ""
    assert all(line in errors for line in PRINTED)
