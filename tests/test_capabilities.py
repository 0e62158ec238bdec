"""Each capability of `synth/ext` can be taken out: the rest is imported, and a run is made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CAPABILITIES = sorted(path.parent.name for path in (ROOT / "synth" / "ext").glob("*/__init__.py"))

REST = """
import importlib, os, pkgutil, sys, traceback

def everything():
    import synth
    for module in pkgutil.walk_packages(synth.__path__, "synth."):
        if "_shipped" not in module.name and not module.name.endswith("__main__"):
            yield module.name

def rest(name):
    for module in everything():
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            # A capability that builds on the missing one is lost with it, and nothing else.
            if error.name.split(".")[0] not in ("verl", "verifiers", "inspect_ai"):
                assert error.name.startswith(f"synth.ext.{name}"), error
                assert module.startswith(("synth.ext.", "synth.testing.")), module
    from synth.__main__ import main
    return main(["run", "env=library", "tasks.count=2", "runtime=inline", f"output.dir=runs/{name}"])

sys.path.insert(0, os.getcwd())
for module in everything():
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:
        pass
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
"""Imports what all modules need once; then, for each name of a line, everything else in a process
of its own, and plays a small job.
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
        [sys.executable, "-c", REST],
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
def test_everything_else_works_without_it(name: str, copy: Path, server: subprocess.Popen[str]):
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
