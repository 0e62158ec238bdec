"""A Hydra application plays the points of a sweep: one after the other, and with joblib."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import synth
from tests.documents import ROOT, marked

APP = ROOT / "examples" / "hydra_app"


@pytest.mark.parametrize("name", ["app.py", "conf/app.yaml"])
def test_the_page_shows_the_application_as_it_is(name: str) -> None:
    assert marked("hydra-app", name) == (APP / name).read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["joblib", "basic"])
def test_the_points_of_a_sweep_have_their_directories(launcher: str, tmp_path: Path) -> None:
    program, *words = shlex.split(marked("hydra-app", "command"))[1:]
    words = [word.replace("joblib", launcher) for word in words]
    done = subprocess.run(
        [sys.executable, str(APP / program), *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("complete, 4 of 4 rollouts") == 2
    assert ("Joblib.Parallel" in done.stdout) == (launcher == "joblib")
    for number, seed in enumerate((1, 2)):
        with synth.load(tmp_path / "swept" / str(number) / "data") as dataset:
            assert dataset.count == 4
            assert dataset.manifest is not None
            assert dataset.manifest["identity"]["seed"] == seed
