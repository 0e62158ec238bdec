"""The figures of the house as a whole: its size, what a default run reaches, and its words.

``python -m tests.house`` prints them beside the figures of single files.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from synth.config import KEYS
from synth.core.config.section import section_kinds
from synth.plan import Plan
from synth.task import Task

ROOT = Path(__file__).parent.parent
WINGS = ("envs", "synth")

IMPORTED = """
import sys, synth.__main__
status = synth.__main__.main(["run", "tasks.count=2", "runtime=inline", "output.dir=" + sys.argv[1]])
names = [name for name in sys.modules if name.split(".")[0] in ("envs", "synth")]
files = [getattr(sys.modules[name], "__file__", None) for name in names]
print("\\n".join(file for file in files if file and "_shipped" not in file), file=sys.stderr)
sys.exit(status)
"""
"""A program that plays the default job in one process and names the files that it imported."""

THAT_OF = re.compile(r"\b(?:that|those) of\b")
IS_NO = re.compile(r"\b(?:is|are) no\b")


def sources(*folders: str) -> list[Path]:
    return [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "_shipped" not in path.parts
    ]


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _lines(paths: Sequence[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


@functools.cache
def reached() -> list[Path]:
    """The files of `synth` and `envs` that a default run imports, in the process that plays it."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", IMPORTED, str(Path(folder) / "run")],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
    named = [Path(line) for line in done.stderr.splitlines() if line.endswith(".py")]
    return sorted({path for path in named if path.is_file()})


def import_chain() -> list[str]:
    """The longest chain of modules in which each imports the next."""
    modules = {_name(path): path for path in sources(*WINGS)}

    @functools.cache
    def chain(name: str) -> tuple[str, ...]:
        below = [chain(other) for other in _imports(modules[name], modules) if other != name]
        return (name, *max(below, key=len, default=()))

    return list(max(map(chain, modules), key=len))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in tree(path).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name for name in names if name in modules]
            if node.module in modules and len(found) < len(names):
                found.append(node.module)
            # A package does not depend on itself through what it re-exports.
            yield from (name for name in found if not f"{_name(path)}.".startswith(f"{name}."))


def public_definitions() -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sources(*WINGS)
        for node in tree(path).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
    ]


def takers_of_config() -> list[str]:
    """The functions with a parameter that is the whole config."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sources(*WINGS)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(
            argument.annotation is not None
            and re.search(r"\bRunConfig\b", ast.unparse(argument.annotation))
            for argument in (*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs)
        )
    ]


def texts(pattern: re.Pattern[str], *, docstrings: bool) -> list[str]:
    """The places where a pattern stands in docstrings, or in the other texts of the code."""
    out: list[str] = []
    for path in sources(*WINGS):
        prose = {id(node.value) for node in ast.walk(tree(path)) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found = len(pattern.findall(node.value)) if (id(node) in prose) == docstrings else 0
                out += [f"{path.relative_to(ROOT)}:{node.lineno}"] * found
    return out


def words_of(*paths: str) -> int:
    files = [
        file
        for path in paths
        for file in ([ROOT / path] if (ROOT / path).is_file() else (ROOT / path).rglob("*.md"))
    ]
    return sum(len(file.read_text("utf-8").split()) for file in files)


FIGURES: Mapping[str, Callable[[], int | list[str]]] = {
    "lines of synth and envs": lambda: _lines(sources(*WINGS)),
    "lines of tests": lambda: _lines(sources("tests")),
    "modules that a default run imports": lambda: len(reached()),
    "lines that a default run imports": lambda: _lines(reached()),
    "modules in the longest chain of imports": import_chain,
    "parameters of Plan.make": lambda: len(inspect.signature(Plan.make).parameters),
    "fields of Task": lambda: len(dataclasses.fields(Task)),
    "keys of the config": lambda: len(KEYS),
    "keys of the core": lambda: len(
        {*KEYS} - {key for kind in section_kinds() for key in kind.dotted()}
    ),
    "functions that take RunConfig": takers_of_config,
    "public definitions": public_definitions,
    "'that of' in docstrings": lambda: texts(THAT_OF, docstrings=True),
    "'is no' in messages": lambda: texts(IS_NO, docstrings=False),
    "words of docs": lambda: words_of("docs"),
    "words of CHANGELOG.md": lambda: words_of("CHANGELOG.md"),
}
"""What each figure counts: a number, or the places that make it up."""
