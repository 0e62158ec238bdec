"""Each file of examples/extensions is used as its section of CONTRIBUTING says."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.reader import Dataset
from tests.e2e.command import synth
from tests.test_contributing import SECTIONS

ROOT = Path(__file__).parents[2]


def rows(folder: Path) -> list[dict[str, Any]]:
    return list(Dataset.open(folder / "out" / "ehr").rows())


def solved(folder: Path) -> None:
    assert {row["reward"] for row in rows(folder)} == {1.0}


def boxes_added(folder: Path) -> None:
    """The option of the set of tools, ten books a box, is in the rows that changed."""
    for row in rows(folder):
        (change,) = row["state_diff"]
        boxes = row["executions"][0]
        assert boxes["tool"] == "add_boxes"
        assert (change["after"]["books"] - change["before"]["books"]) % 10 == 0


def said_hello(folder: Path) -> None:
    assert {row["messages"][-1]["content"] for row in rows(folder)} == {"Hello"}
    assert {row["model"] for row in rows(folder)} == {"terse"}


def noted_calls(folder: Path) -> None:
    solved(folder)
    for row in rows(folder):
        noted = [event["tool"] for event in row["events"] if event["event"] == "noted"]
        called = [call for message in row["messages"] for call in message.get("tool_calls", ())]
        assert noted == [call["function"]["name"] for call in called]


def tracked(folder: Path) -> None:
    """The tracker's own database has a line for each rollout."""
    with closing(sqlite3.connect(folder / "tracked" / "synth.db")) as database:
        logged = [json.loads(row[0]) for row in database.execute("SELECT metrics FROM metrics")]
    assert [entry["reward"] for entry in logged] == [1.0] * 3


def told_everything(folder: Path) -> None:
    for row in rows(folder):
        assert row["user_model"] == "eager"
        first = next(event for event in row["events"] if event["event"] == "user_turn")
        assert first["told"] == ["dob"]


def gated(folder: Path) -> None:
    for row in rows(folder):
        names = [verdict["verifier"] for verdict in row["verdicts"]]
        assert names == ["state", "few_calls", "reply", "reads_no_other_room", "brief"]
        assert row["reward"] == 1.0


def looked_up(folder: Path) -> None:
    solved(folder)
    assert {row["family"] for row in rows(folder)} == {"look_up"}


def paired(folder: Path) -> None:
    (exported,) = folder.glob("*.jsonl")
    assert '"asked":' in exported.read_text("utf-8").splitlines()[0]


def played_alone(folder: Path) -> None:
    """The check itself fails if the agent loses; its folder holds nothing of a run."""
    assert {path.name for path in folder.iterdir()} == {"examples"}


def long_ones(home: Path) -> None:
    with Dataset.open(home / "out" / "ehr") as dataset:
        rows = list(dataset.rows(["messages"]))
    assert rows
    assert all(len(row["messages"][1]["content"].split()) >= 10 for row in rows)


def scored_by_length(folder: Path) -> None:
    for row in rows(folder):
        assert row["verdicts"][-1]["verifier"] == "brief"
        assert row["outcome"] == "success"


def summed_up(folder: Path) -> None:
    summary = json.loads((folder / "out" / "ehr" / "summary.json").read_text("utf-8"))
    assert summary == {"world": "library", "rows": 3}


EFFECTS: dict[str, Callable[[Path], None]] = {
    "world": solved,
    "tool": boxes_added,
    "environment": solved,
    "model": said_hello,
    "middleware": noted_calls,
    "rollout wrapper": scored_by_length,
    "run hook": summed_up,
    "callback": tracked,
    "user": told_everything,
    "reward": gated,
    "honest agent": played_alone,
    "task generator": played_alone,
    "task source": looked_up,
    "task transform": long_ones,
    "exporter": paired,
    "engine": solved,
    "runtime": solved,
    "command": solved,
}
"""By kind, a check of what the commands left behind."""


def commands(kind: str) -> list[str]:
    block = re.search(r"^```sh\n(.*?)^```", SECTIONS[kind], re.DOTALL | re.MULTILINE)
    assert block is not None
    return block[1].splitlines()


@pytest.mark.parametrize("kind", EFFECTS)
def test_the_commands_of_a_section_use_its_example(kind: str, tmp_path: Path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for line in commands(kind):
        arguments = shlex.split(line, comments=True)[1:]
        if arguments[0] == "run":
            arguments += ["tasks.count=3", "runtime=inline"]
            arguments += [] if "output.dir=" in line else ["output.dir=out/ehr"]
        env = {
            "PYTHONPATH": f"{ROOT / 'examples'}:{ROOT}",
            "TRACKIO_DIR": str(tmp_path / "tracked"),
            "HF_HUB_OFFLINE": "1",
        }
        done = synth(*arguments, cwd=tmp_path, env=env)
        assert ("a worker starts" in done.stderr) == (kind == "runtime")
    EFFECTS[kind](tmp_path)


def test_every_section_with_commands_is_tried():
    assert {kind for kind in SECTIONS if "```sh" in SECTIONS[kind]} == set(EFFECTS)
