"""The contract of a gate's validation: what the proof of a task and the attacks on it need to know
about one of its gates.

A verifier names its validation in ``Verifier.validation``, as ``package.module:Class``.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from envs.plugins import resolve
from envs.world.loader import World
from synth.core.tasks.yaml.source_map import line_of, load_yaml
from synth.core.types.steps import BranchStep, LoopStep, Step
from synth.errors import TaskError
from synth.rewards import Evidence, verifier_for
from synth.task import Task

if TYPE_CHECKING:
    from envs.sandboxes.base import Template
    from envs.types import Limits
    from synth.core.validation.attacks.steps import Attack, Move
    from synth.core.validation.gold_run import GoldRun


class GateValidation(ABC):
    """Checks and attacks of one gate. Constructed without arguments, it keeps no state.

    ``key`` is the key of a family that is blamed for what is found, ``submits`` names the tools
    that hand in what the gate judges. ``completes`` says that :meth:`completed` may change a task.
    """

    key: ClassVar[str]
    submits: ClassVar[frozenset[str]] = frozenset()
    completes: ClassVar[bool] = False

    @abstractmethod
    def open_question(self, options: Any, evidence: Evidence) -> str | None:
        """The reason for which the task has no single right answer; None if it has one.

        ``options`` are the gate's, ``evidence`` is gold's.
        """

    def known_answer_possible(self, options: Any, evidence: Evidence) -> bool:
        """True if a fixed answer, known by heart, earns the full reward of the gate.

        ``evidence`` is of an agent that has done nothing. The report counts such tasks.
        """
        return False

    async def completed(
        self, task: Task, gold: GoldRun, world: World, template: Template, limits: Limits | None
    ) -> tuple[Task, GoldRun]:
        """A proved task with what the gate adds to it after this playing of gold, proved again."""
        return task, gold

    @abstractmethod
    def lazy(
        self, task: Task, options: Any, gold: Sequence[Move], evidence: Evidence
    ) -> Iterator[Attack]:
        """Attacks that do not do the work; each that earns the full reward is a problem.

        ``evidence`` is of an agent that has done nothing. It can be queried until the first
        attack is played.
        """

    @abstractmethod
    def weaker(self, options: Any, gold: Sequence[Move]) -> Iterator[Attack]:
        """Gold with one thing wrong, in the same order for each task of a family.

        An attack that earns the full reward in all tasks shows that gold says too much.
        """


def validations_of(task: Task) -> list[tuple[GateValidation, Any]]:
    """The validations of a task's gates that have one, each with the options of its gate.

    Raises :class:`~synth.errors.TaskError` for a gate that is not installed.
    """
    gates = [(verifier_for(gate.name, task).validation, gate.options) for gate in task.gates]
    return [(resolve(target)(), options) for target, options in gates if target]


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


def branches_taken(steps: Sequence[Step], taken: Sequence[tuple[BranchStep, bool]]) -> list[Step]:
    """Replace each ``if`` by the steps of the branch that was taken.

    In loops, whose items may differ, the ``if`` stays, without a branch that no item took.
    """
    sides: dict[int, set[bool]] = {}
    for step, held in taken:
        sides.setdefault(id(step), set()).add(held)
    out: list[Step] = []
    for step in steps:
        if isinstance(step, BranchStep):
            held = True in sides.get(id(step), ())
            out += branches_taken(step.steps if held else step.otherwise, taken)
        elif isinstance(step, LoopStep):
            out.append(replace(step, steps=_taken_in_loop(step.steps, sides)))
        else:
            out.append(step)
    return out


def _taken_in_loop(steps: Sequence[Step], sides: Mapping[int, set[bool]]) -> list[Step]:
    out: list[Step] = []
    for step in steps:
        if isinstance(step, LoopStep):
            out.append(replace(step, steps=_taken_in_loop(step.steps, sides)))
        elif isinstance(step, BranchStep):
            held = sides.get(id(step), set[bool]())
            then, otherwise = (
                _taken_in_loop(part, sides) if side in held else ()
                for side, part in ((True, step.steps), (False, step.otherwise))
            )
            out.append(replace(step, steps=then, otherwise=otherwise))
        else:
            out.append(step)
    return out
