"""The contract of a question: a key of a family from which gold and its gate follow.

The key takes the place of ``gold``, and the gate has the same name. The keys that ship are in
:data:`synth.plugins.QUESTIONS`; each leads to a function that takes the family's mapping and a
scope, and returns a :class:`Question`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from synth.core.tasks.yaml.scope import Scope
from synth.core.tasks.yaml.source_map import Map
from synth.core.tasks.yaml.step_templates import StepTemplate
from synth.plugins import QUESTIONS


class Question(ABC):
    """The right answer of a family, compiled. ``key`` names its key and its gate."""

    key: ClassVar[str]

    @abstractmethod
    def steps(self, scope: Scope, line: int) -> list[StepTemplate]:
        """Gold: the expert's way to the answer."""

    @abstractmethod
    def gate_options(self, value: object, scope: Scope, line: int) -> dict[str, object]:
        """The complete options of the gate, from those that ``gates`` gives; None stands for none.

        Slots in them are filled in for each task. Raises :class:`~synth.errors.TaskError`.
        """


def has_question(raw: Map) -> bool:
    """True if a family has a key that takes the place of ``gold``."""
    return any(key in raw for key in QUESTIONS.builtin)


def read_question(raw: Map, scope: Scope) -> Question | None:
    """The question of a family; None for a family with a gold of its own.

    Raises :class:`~synth.errors.TaskError` for one that cannot be read.
    """
    for key in QUESTIONS.builtin:
        if raw.get(key) is not None:
            read: Callable[[Map, Scope], Question] = QUESTIONS.load(key)
            return read(raw, scope)
    return None
