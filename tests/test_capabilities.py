"""Each capability of `synth/ext` can be taken out: the rest is imported, and a run is made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CAPABILITIES = sorted(path.parent.name for path in (ROOT / "synth" / "ext").glob("*/__init__.py"))

REST = """
import importlib, json, pkgutil, sys
import synth
from synth.plugins import PluginError
needs, lost = sys.argv[1].split(",") + ["verl", "verifiers", "inspect_ai"], []
for module in pkgutil.walk_packages(synth.__path__, "synth."):
    if "_shipped" in module.name or module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        # A capability that builds on the missing one is lost with it, and nothing else.
        if not any(error.name == f"synth.ext.{name}" or error.name.startswith(name) for name in needs):
            raise
        lost.append(module.name)
        assert error.name.split(".")[0] in ("verl", "verifiers", "inspect_ai") or module.name.startswith(("synth.ext.", "synth.testing.")), module
from synth.__main__ import main
status = main(["run", "env=library", "tasks.count=2", "runtime=inline", "output.dir=run"])
sys.exit(status)
"""
"""Imports every module that is left, and plays a small job."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPABILITIES)
def test_everything_else_works_without_it(name: str, tmp_path: Path):
    for folder in ("synth", "envs", "configs", "examples"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "out")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.rmtree(tmp_path / "synth" / "ext" / name)
    done = subprocess.run(
        [sys.executable, "-c", REST, name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "run" / "manifest.json").is_file()
