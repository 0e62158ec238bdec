"""Each capability of `synth/ext` can be taken out, and a run is made all the same.

`test_architecture.py` shows that no module outside of a capability imports it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.fork_server import IMPORTED

ROOT = Path(__file__).parent.parent
CAPABILITIES = sorted(path.parent.name for path in (ROOT / "synth" / "ext").glob("*/__init__.py"))

REST = """
import importlib, os, sys, traceback

def rest(name):
    from synth.__main__ import main
    return main(["run", "env=library", "tasks.count=2", "runtime=inline", f"output.dir=runs/{name}"])

sys.path.insert(0, os.getcwd())
for module in sys.argv[1:]:
    importlib.import_module(module)
for name in list(sys.modules):
    if name.split(".")[0] in ("synth", "envs"):
        del sys.modules[name]
for line in sys.stdin:
    importlib.invalidate_caches()
    if not (child := os.fork()):
        try:
            os._exit(rest(line.strip()))
        except BaseException:
            traceback.print_exc()
            os._exit(9)
    print("status", os.waitpid(child, 0)[1], flush=True)
"""
"""Imports what a run needs once; then, for each name of a line, plays a small job in a process
of its own.
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__", "out")
    for part in ("synth", "envs", "configs", "examples"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture(scope="module")
def server(copy: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", REST, *IMPORTED],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPABILITIES)
def test_a_run_is_made_without_it(name: str, copy: Path, server: subprocess.Popen[str]):
    assert server.stdin is not None
    assert server.stdout is not None
    shutil.move(copy / "synth" / "ext" / name, copy / name)
    print(name, file=server.stdin, flush=True)
    said = ""
    while "status " not in said:
        line = server.stdout.readline()
        assert line, said
        said += line
    shutil.move(copy / name, copy / "synth" / "ext" / name)
    assert said.endswith("status 0\n"), said
    assert (copy / "runs" / name / "manifest.json").is_file()
