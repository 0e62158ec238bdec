"""Worlds whose state is not in a database, a service over HTTP and a look-up table, in real runs."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import synth as library
from synth.core.dataset.reader import Dataset
from tests.e2e.command import COMMAND, synth

EXTENSIONS = Path(__file__).parents[2] / "examples" / "extensions"
ENV = {"PYTHONPATH": f"{EXTENSIONS.parent}:{EXTENSIONS.parents[1]}"}


def servers(folder: Path) -> list[int]:
    """The processes that serve an inventory whose code is below the folder."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode()
        except OSError:
            continue
        if str(folder) in command and "server.py" in command:
            found.append(int(process.name))
    return found


@pytest.mark.parametrize("world", ["glossary", "inventory"])
def test_a_run_is_solved_and_replayed(world: str, tmp_path: Path):
    arguments = [f"env.path={EXTENSIONS / world}", "output.dir=run", "tasks.count=4"]
    synth("run", *arguments, "runtime=inline", cwd=tmp_path, env=ENV)
    with Dataset.open(tmp_path / "run") as dataset:
        rows = list(dataset.rows())
    assert {row["reward"] for row in rows} == {1.0}
    changed = {change["table"] for row in rows for change in row["state_diff"]}
    assert changed == {"glossary": {"entry"}, "inventory": {"item", "reservation"}}[world]
    replayed = synth("replay", "run", cwd=tmp_path, env=ENV)
    assert "every tool result, end state and reward as recorded" in replayed.stdout


@pytest.mark.parametrize(
    ("count", "reward"), [(2, 1.0), (3, 0.0)], ids=["right", "wrong by one piece"]
)
def test_a_wrong_write_to_the_service_earns_nothing_and_its_row_is_named(count: int, reward: float):
    for index in range(30):
        with library.open(EXTENSIONS / "inventory", index=index) as episode:
            request = re.search(
                r"reserve 2 of the desk lamp for (.*)\.$", episode.messages[-1]["content"]
            )
            if request is None:
                continue
            wanted = {"sku": "L-1", "customer": request[1], "count": count}
            asyncio.run(episode.call("find_items", {"name": "desk lamp"}))
            assert asyncio.run(episode.call("reserve", wanted)).result.ok
            asyncio.run(episode.say(f"It is reserved for {request[1]}."))
            score = episode.score()
        assert score.reward == reward
        (state,) = (verdict for verdict in score.verdicts if verdict.verifier == "state")
        detail = json.dumps(state.to_json())
        assert ("reservation" in detail and "stock" in detail) == (reward == 0), detail
        return
    raise AssertionError("no task is about 2 desk lamps")


def test_another_environment_is_another_world(tmp_path: Path):
    """The class's file is in the digest of the world: a resume with another one is refused."""
    world = shutil.copytree(EXTENSIONS / "inventory", tmp_path / "inventory")
    arguments = [f"env.path={world}", "output.dir=run", "tasks.count=2", "runtime=inline"]
    synth("run", *arguments, cwd=tmp_path)
    with (world / "server.py").open("a") as file:
        file.write("\n# changed\n")
    refused = synth("run", "--resume", "run", *arguments[:1], cwd=tmp_path, code=None)
    assert refused.returncode != 0
    assert "world" in refused.stderr


def test_a_killed_run_leaves_no_server(tmp_path: Path):
    world = shutil.copytree(EXTENSIONS / "inventory", tmp_path / "inventory")
    code = world / "executors.py"
    code.write_text(
        code.read_text().replace("    wanted =", "    __import__('time').sleep(60)\n    wanted =")
    )
    arguments = [f"env.path={world}", "output.dir=run", "tasks.count=4", "runtime=inline"]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [*COMMAND, "run", *arguments],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        deadline = time.monotonic() + 60
        while not servers(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.1)
        started = servers(tmp_path)
        run.send_signal(signal.SIGKILL)
    assert started
    deadline = time.monotonic() + 10
    while servers(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not servers(tmp_path)
