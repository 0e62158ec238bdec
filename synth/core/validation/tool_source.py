"""What the Python source of a world's tools does that has no effect in a sandbox."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from envs.world.loader import World

CONNECTION = "Connection"
"""The annotation by which a function's parameter is known as the database connection."""


def commits(world: World) -> list[str]:
    """A line, with file and line number, for each call of ``commit()`` on a connection that a
    function of the world is given.
    """
    found: list[str] = []
    for file in sorted(world.path.rglob("*.py")):
        try:
            tree = ast.parse(file.read_text("utf-8"))
        except (OSError, SyntaxError, ValueError):
            continue  # a file that no tool imports; one that is imported was refused before
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                found += [_line(file, function, call) for call in _commits_in(function)]
    return found


def _commits_in(function: ast.FunctionDef) -> Iterator[ast.Call]:
    arguments = function.args
    connections = {
        argument.arg
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        if argument.annotation is not None and CONNECTION in ast.unparse(argument.annotation)
    }
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "commit"
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id in connections
        ):
            yield node


def _line(file: Path, function: ast.FunctionDef, call: ast.Call) -> str:
    name = ast.unparse(call)
    return (
        f"{file}:{call.lineno}: {function.name} calls {name}, which commits nothing: a call is one"
        " transaction, which ends with it and is undone as a whole if it fails; leave it out"
    )
