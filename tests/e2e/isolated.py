"""Environments of their own for heavy packages that the project does not need."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest


def make_environment(home: Path, packages: Sequence[str], alone: Sequence[str] = ()) -> Path:
    """Install packages into a new environment and return its interpreter; those in ``alone``
    without what they depend on.

    Skips the test without `uv`, and where the packages cannot be had.
    """
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    subprocess.run([uv, "venv", "-q", home], check=True)
    python = home / "bin" / "python"
    install = [uv, "pip", "install", "-q", "--python", python]
    for some, options in ((packages, ()), (alone, ("--no-deps",))):
        if not some:
            continue
        command = [*install, *options, *some]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"the packages cannot be installed here: {done.stderr[-300:]}")
    return python
