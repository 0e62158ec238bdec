"""Source locations of mistakes in a family."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

from envs.world.loader import World
from synth.core.tasks.yaml.source_map import line_of, load_yaml
from synth.errors import TaskError
from synth.task import Task


def fault(task: Task, world: World, message: str, *words: str) -> TaskError:
    """An error about a task's family; see :func:`family_fault`."""
    return family_fault(task.family, world, message, *words)


def family_fault(family: str, world: World, message: str, *words: str) -> TaskError:
    """An error with file and line of the key path ``words`` below the family in tasks.yaml, or of
    the function of a family in Python.
    """
    file = world.path / "tasks.yaml"
    line = line_of(load_yaml(file), family, *words) if file.is_file() else None
    if line is None:
        written = world.path / "tasks.py"
        defined = _functions(written, world.digest).get(family) if written.is_file() else None
        file, line = (file, line) if defined is None else (written, defined)
    return TaskError(message, str(file), line, family)


@lru_cache(maxsize=4)
def _functions(file: Path, world_digest: str) -> dict[str, int]:
    """The lines of a file's functions by name."""
    tree = ast.parse(file.read_text("utf-8"))
    return {node.name: node.lineno for node in tree.body if isinstance(node, ast.FunctionDef)}
