"""Worlds whose state is not in a database, a service over HTTP and a look-up table, in real runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from tests.e2e.command import COMMAND, synth

EXTENSIONS = Path(__file__).parents[2] / "examples" / "extensions"


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
