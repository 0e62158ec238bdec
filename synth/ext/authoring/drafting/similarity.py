"""The likeness of two families: the tools that gold calls, and the words of the request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from synth.core.types.steps import CallStep, SubmitStep, every_step
from synth.task import Task

TASKS = 8
"""Tasks of a family that are looked at."""

SAME_WORDS = 0.7
"""The share of common words from which on two requests are the same one."""


@dataclass(frozen=True)
class Signature:
    """A family as others are compared with it: the sequences of its tools, one for each kind of
    task, and its requests without the values of slots. ``request`` is one as it is asked.
    """

    family: str
    tools: tuple[tuple[str, ...], ...]
    words: tuple[frozenset[str], ...]
    request: str

    def like(self, other: Signature) -> bool:
        """True if both do the same work and ask for it in the same words."""
        if not set(self.tools) & set(other.tools):
            return False
        return any(
            len(mine & theirs) >= SAME_WORDS * len(mine | theirs)
            for mine in self.words
            for theirs in other.words
        )


def signature(family: str, tasks: Sequence[Task]) -> Signature:
    """The signature of a family, from some of its tasks."""
    return Signature(
        family,
        tuple(dict.fromkeys(_tools(task) for task in tasks)),
        tuple(dict.fromkeys(_words(task) for task in tasks)),
        tasks[0].prompt if tasks else "",
    )


def twin(found: Signature, known: Iterable[Signature]) -> str | None:
    """The family that another one repeats; None if it repeats none."""
    return next((other.family for other in known if found.like(other)), None)


def _tools(task: Task) -> tuple[str, ...]:
    steps = every_step(task.gold)
    return tuple(step.tool for step in steps if isinstance(step, CallStep | SubmitStep))


def _words(task: Task) -> frozenset[str]:
    text = task.prompt
    for value in sorted((str(value) for value in task.slots.values()), key=len, reverse=True):
        text = text.replace(value, " ") if value else text
    return frozenset(re.findall(r"\w+", text.casefold()))
