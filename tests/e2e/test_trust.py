"""Run directories of strangers: their code is executed after consent only."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from synth.core.foundation.consent import agree
from synth.core.foundation.shipped import examples_dir
from synth.core.rerun.regrade import grade
from synth.core.rerun.replay import replay
from synth.errors import UntrustedCode
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
    done = synth("run", *settings, "output.dir=whole", cwd=home, env=env)
    assert done.returncode == 0, done.stderr
    done = synth("run", *settings, "output.dir=part", "budget.turns=2", cwd=home, env=env)
    assert done.returncode == 3, done.stderr
    return home


@pytest.fixture
def stranger(tmp_path: Path) -> dict[str, str]:
    """The environment of a user on another machine."""
    return {"XDG_STATE_HOME": str(tmp_path / "state"), "MARKER": str(tmp_path / "marker")}


@pytest.mark.parametrize("command", [("replay", "whole"), ("grade", "whole")])
def test_what_this_machine_made_runs_at_once(runs: Path, command: tuple[str, ...]):
    done = synth(*command, cwd=runs, env={"MARKER": str(runs / "own")})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "command",
    [("replay", "whole"), ("grade", "whole"), ("run", "--resume", "part", "budget.turns=null")],
)
def test_a_strangers_code_runs_with_trust_only(
    runs: Path, tmp_path: Path, stranger: dict[str, str], command: tuple[str, ...]
):
    home = Path(shutil.copytree(runs, tmp_path / "received"))
    shutil.rmtree(home / "world")
    done = synth(*command, cwd=home, env=stranger)
    assert done.returncode == 2
    assert "was not made on this machine, and brings executors.py" in done.stderr
    assert "--trust" in done.stderr
    assert not Path(stranger["MARKER"]).exists()
    done = synth(*command, "--trust", cwd=home, env=stranger)
    assert done.returncode == 0, done.stderr
    assert "executed" in Path(stranger["MARKER"]).read_text()


def test_a_resume_asks_for_the_config_of_a_stranger_too(tmp_path: Path, stranger: dict[str, str]):
    """The world brings no Python, but the config says who is asked, with which key."""
    world = examples_dir() / "extensions" / "world"
    settings = (f"env.path={world}", "runtime=inline", "runtime.concurrency=1", "tasks.count=3")
    done = synth("run", *settings, "output.dir=out", "budget.turns=1", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    done = synth("run", "--resume", "out", cwd=tmp_path, env=stranger)
    assert done.returncode == 2
    assert "and brings config.yaml: api_key_env OPENAI_API_KEY: it would act" in done.stderr
    assert synth("replay", "out", cwd=tmp_path, env=stranger).returncode == 0
    assert synth("run", "--resume", "out", "budget.turns=null", cwd=tmp_path).returncode == 0


def test_a_terminal_is_asked_and_a_yes_is_remembered(runs: Path, stranger: dict[str, str]):
    code, screen = on_terminal("n\n", "replay", "whole", cwd=runs, env=stranger)
    assert code == 2
    assert "  executors.py" in screen
    assert "Run it? [y/N]" in screen
    assert not Path(stranger["MARKER"]).exists()
    code, screen = on_terminal("y\n", "replay", "whole", cwd=runs, env=stranger)
    assert code == 0, screen
    assert synth("grade", "whole", cwd=runs, env=stranger).returncode == 0


def test_a_home_that_cannot_be_written_breaks_no_run(tmp_path: Path):
    (tmp_path / "file").write_text("")
    world = small_world.make(tmp_path / "world")
    env = {"XDG_STATE_HOME": str(tmp_path / "file")}
    settings = (f"env.path={world}", "tasks.count=1", "runtime=inline", "output.dir=out")
    assert synth("run", *settings, cwd=tmp_path, env=env).returncode == 0


def test_python_is_asked_by_a_parameter(
    runs: Path, stranger: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    for key, value in stranger.items():
        monkeypatch.setenv(key, value)
    with pytest.raises(UntrustedCode, match="trust=True"):
        replay(runs / "whole", lambda: None)
    with pytest.raises(UntrustedCode):
        grade(runs / "whole", None, None)
    assert replay(runs / "whole", lambda: None, agree).differences == []


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
