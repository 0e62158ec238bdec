"""Environments of their own for heavy packages that the project does not need."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.documents import ROOT

OFFLINE = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
"""The variables of a script in such an environment: no hub, no GPU, this project's own modules."""


def newer_python() -> str:
    """SYNTH_TEST_PYTHON312, or a Python of 3.12 or later on the path. Skips without either."""
    given = os.environ.get("SYNTH_TEST_PYTHON312")
    for name in [given] if given else ["python3.14", "python3.13", "python3.12", "python3"]:
        code = "import sys; sys.exit(sys.version_info < (3, 12))"
        path = shutil.which(name)
        if (
            path
            and not subprocess.run([path, "-c", code], capture_output=True, check=False).returncode
        ):
            return path
    pytest.skip("needs a Python of 3.12 or later: name one in SYNTH_TEST_PYTHON312")


def make_environment(
    home: Path, packages: Sequence[str], alone: Sequence[str] = (), python: str | None = None
) -> Path:
    """Install packages into a new environment and return its interpreter; those in ``alone``
    without what they depend on. ``python`` is the interpreter to begin with (None: any).

    Skips the test where the packages cannot be had.
    """
    chosen = python or sys.executable
    uv = ["uv", "venv", "-q", "--python", chosen] if shutil.which("uv") else None
    subprocess.run([*(uv or [chosen, "-m", "venv"]), home], check=True)
    made = home / "bin" / "python"
    for some, options in ((packages, ()), (alone, ("--no-deps",))):
        if some:
            install(made, some, *options)
    return made


def install(python: Path, packages: Sequence[str], *options: str) -> None:
    """Install packages into an environment; those that are there may change. Skips the test where
    the packages cannot be had.
    """
    command = [python, "-m", "pip", "install", "-q", *options, *packages]
    if shutil.which("uv") is not None:  # the same, and faster
        command = ["uv", "pip", "install", "-q", "--python", python, *options, *packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the packages cannot be installed here: {done.stderr[-300:]}")


def consume(python: Path, script: str | Path, *arguments: str | Path, **variables: str) -> str:
    """Run a script of this folder, or any other, with the environment's interpreter; returns the
    last line that it prints.
    """
    done = subprocess.run(
        [python, Path(__file__).parent / script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**OFFLINE, **variables},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.rstrip().rpartition("\n")[2]
