"""Demands of the config on the tasks of a plan: weights of families, and a range of difficulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from synth.core.foundation.suggestions import hint, nearest
from synth.core.types.difficulty import difficulty
from synth.errors import OperatorError
from synth.task import Task


@dataclass(frozen=True)
class Levels:
    """A range of difficulty, both ends included; ``most`` None: no upper end."""

    least: int = 0
    most: int | None = None

    def hold(self, task: Task) -> bool:
        """True if the task's difficulty is in the range."""
        level = difficulty(task)
        return self.least <= level and (self.most is None or level <= self.most)

    def __str__(self) -> str:
        end = "" if self.most is None else f" to {self.most}"
        return f"{self.least}{end or ' on'}"


def weights_of(
    asked: Mapping[str, float] | None, families: Sequence[str]
) -> dict[str, float] | None:
    """The weight of each family: that of the last name or pattern that fits it, else 1. None if no
    weights are asked.

    Raises :class:`OperatorError` for a name or pattern that fits no family.
    """
    if asked is None:
        return None
    for pattern in asked:
        if not any(fnmatchcase(name, pattern) for name in families):
            close = hint(nearest(pattern, families))
            raise OperatorError(f"tasks.weights: no family is named like {pattern!r}{close}")
    weights = dict.fromkeys(families, 1.0)
    for pattern, weight in asked.items():
        weights |= {name: weight for name in families if fnmatchcase(name, pattern)}
    return weights
