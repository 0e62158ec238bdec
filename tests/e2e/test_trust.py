"""Run directories of strangers: their code is executed after consent only."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from synth.core.foundation.shipped import examples_dir
from tests.e2e.command import COMMAND, synth
from tests.unit import small_world

MARKED = """
import os, pathlib
pathlib.Path(os.environ["MARKER"]).write_text("executed")
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a complete run, one that a budget stopped, and the world that they are of."""
    home = tmp_path_factory.mktemp("trust")
    world = small_world.make(home / "world")
    with (world / "executors.py").open("a") as file:
        file.write(MARKED)
    settings = (f"env.path={world}", "tasks.count=3", "runtime=inline", "runtime.concurrency=1")
    env = {"MARKER": str(home / "own")}
    synth("run", *settings, "output.dir=whole", cwd=home, env=env)
    synth("run", *settings, "output.dir=part", "budget.turns=2", cwd=home, env=env, code=3)
    return home


@pytest.fixture
def stranger(tmp_path: Path) -> dict[str, str]:
    """The environment of a user on another machine."""
    return {"XDG_STATE_HOME": str(tmp_path / "state"), "MARKER": str(tmp_path / "marker")}


@pytest.mark.parametrize(
    "command",
    [("replay", "whole"), ("grade", "whole"), ("run", "--resume", "part", "budget.turns=null")],
)
def test_a_strangers_code_runs_with_trust_only(
    runs: Path, tmp_path: Path, stranger: dict[str, str], command: tuple[str, ...]
):
    home = Path(shutil.copytree(runs, tmp_path / "received"))
    shutil.rmtree(home / "world")
    done = synth(*command, cwd=home, env=stranger, code=2)
    assert "was not made on this machine, and brings executors.py" in done.stderr
    assert "--trust" in done.stderr
    assert not Path(stranger["MARKER"]).exists()
    synth(*command, "--trust", cwd=home, env=stranger)
    assert "executed" in Path(stranger["MARKER"]).read_text()


def test_a_resume_asks_for_the_config_of_a_stranger_too(tmp_path: Path, stranger: dict[str, str]):
    """The world brings no Python, but the config says who is asked, with which key."""
    world = examples_dir() / "extensions" / "world"
    settings = (f"env.path={world}", "runtime=inline", "runtime.concurrency=1", "tasks.count=3")
    synth("run", *settings, "output.dir=out", "budget.turns=1", cwd=tmp_path, code=3)
    done = synth("run", "--resume", "out", cwd=tmp_path, env=stranger, code=2)
    assert "and brings config.yaml: api_key_env OPENAI_API_KEY: it would act" in done.stderr
    synth("replay", "out", cwd=tmp_path, env=stranger)
    synth("run", "--resume", "out", "budget.turns=null", cwd=tmp_path)


def test_a_terminal_is_asked_and_a_yes_is_remembered(runs: Path, stranger: dict[str, str]):
    code, screen = on_terminal("n\n", "replay", "whole", cwd=runs, env=stranger)
    assert code == 2
    assert "  executors.py" in screen
    assert "Run it? [y/N]" in screen
    assert not Path(stranger["MARKER"]).exists()
    code, screen = on_terminal("y\n", "replay", "whole", cwd=runs, env=stranger)
    assert code == 0, screen
    synth("grade", "whole", cwd=runs, env=stranger)


def test_a_home_that_cannot_be_written_breaks_no_run(tmp_path: Path):
    (tmp_path / "file").write_text("")
    world = small_world.make(tmp_path / "world")
    env = {"XDG_STATE_HOME": str(tmp_path / "file")}
    settings = (f"env.path={world}", "tasks.count=1", "runtime=inline", "output.dir=out")
    synth("run", *settings, cwd=tmp_path, env=env)


def on_terminal(answer: str, *arguments: str, cwd: Path, env: dict[str, str]) -> tuple[int, str]:
    """Run a command on a terminal of its own; returns exit code and screen."""
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=os.environ | env,
        stdin=inner,
        stdout=inner,
        stderr=inner,
    )
    os.close(inner)
    os.write(outer, answer.encode())
    screen = b""
    try:
        while chunk := os.read(outer, 4096):
            screen += chunk
    except OSError:  # Linux reports the closed terminal so
        pass
    os.close(outer)
    return process.wait(60), screen.decode()
