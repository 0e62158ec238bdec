"""The contract of a gate's validation: what the proof of a task and the attacks on it need to know
about one of its gates.

A verifier names its validation in ``Verifier.validation``, as ``package.module:Class``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from envs.plugins import resolve
from synth.rewards import Evidence, verifier_for
from synth.task import Task

if TYPE_CHECKING:
    from synth.core.validation.attacks.steps import Attack, Move


class GateValidation(ABC):
    """Checks and attacks of one gate. Constructed without arguments, it keeps no state.

    ``key`` is the key of a family that is blamed for what is found, ``submits`` names the tools
    that hand in what the gate judges.
    """

    key: ClassVar[str]
    submits: ClassVar[frozenset[str]] = frozenset()

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
