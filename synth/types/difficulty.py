"""Difficulty of a task as a number: how much work its reference solution is.

It is the sum of

- 1 for each call, two for one in a loop (whose length only the data know), and 1 more for one that
  is meant to fail;
- 1 for each ``if``, with the longer of its sides;
- 1 for each turn in which the user has to be asked or brings a later wish;
- 1 for each further request of the same message;
- in SQL that gold hands in, 1 for each join, nested query, grouping, condition on groups, set
  operation and window.

So it is known before a task is played, and equal for all tasks of a family and case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.types import Task
from synth.types.steps import BranchStep, CallStep, LoopStep, ReplyStep, Step

_QUERY = re.compile(r"\s*(?:WITH|SELECT)\b", re.IGNORECASE)
_TEXTS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_CLAUSES = re.compile(
    r"\b(?:JOIN|SELECT|GROUP\s+BY|HAVING|UNION|INTERSECT|EXCEPT|OVER)\b", re.IGNORECASE
)


def difficulty(task: Task) -> int:
    """The number of a task; of a composed one, that of all its requests."""
    return _work(task.gold)


def _work(steps: Sequence[Step]) -> int:
    return sum(map(_work_of, steps))


def _work_of(step: Step) -> int:
    if isinstance(step, LoopStep):
        return 2 * _work(step.steps)
    if isinstance(step, BranchStep):
        return 1 + max(_work(step.steps), _work(step.otherwise))
    if isinstance(step, CallStep):
        queries = [value for value in step.arguments.values() if isinstance(value, str)]
        return 1 + (step.fails is not None) + sum(map(_clauses, queries))
    return 0 if isinstance(step, ReplyStep) else 1


def _clauses(text: str) -> int:
    """The clauses of a query beside its first SELECT; 0 for any other text."""
    if not _QUERY.match(text):
        return 0
    return len(_CLAUSES.findall(_TEXTS.sub(" ", text))) - 1
