"""Difficulty of a task as a number: how much work its reference solution is.

It is the sum of

- ``calls``: 1 for each call, two for one in a loop (whose length only the data know), and 1 more
  for one that is meant to fail;
- ``branches``: 1 for each ``if``, with the work of the longer of its sides;
- ``turns``: 1 for each turn in which the user has to be asked or brings a follow-up;
- ``requests``: 1 for each further request of the same message;
- ``clauses``: in SQL that gold hands in, 1 for each join, nested query, grouping, condition on
  groups, set operation and window.

So it is known before a task is played, and equal for all tasks of a family and case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from synth.core.types.steps import BranchStep, CallStep, LoopStep, ReplyStep, Step, SubmitStep
from synth.task import Task

KINDS = ("calls", "branches", "turns", "requests", "clauses")
"""The kinds of work that are added up."""

_QUERY = re.compile(r"\s*(?:WITH|SELECT)\b", re.IGNORECASE)
_TEXTS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_CLAUSES = re.compile(
    r"\b(?:JOIN|SELECT|GROUP\s+BY|HAVING|UNION|INTERSECT|EXCEPT|OVER)\b", re.IGNORECASE
)


def difficulty(task: Task) -> int:
    """The number of a task; a composed one counts all its requests."""
    return sum(work_of(task).values())


def work_of(task: Task) -> Mapping[str, int]:
    """The kinds of work of a task with their numbers; a 0 may be missing."""
    known = None if task.end is None else task.end.work  # a proof takes the branches out of gold
    return work(task.gold) if known is None else known


def work(steps: Sequence[Step]) -> Counter[str]:
    """The kinds of work of some steps."""
    return sum(map(_work_of, steps), Counter[str]())


def _work_of(step: Step) -> Counter[str]:
    match step:
        case LoopStep():
            inner = work(step.steps)
            return inner + inner
        case BranchStep():
            sides = work(step.steps), work(step.otherwise)
            return Counter(branches=1) + max(sides, key=lambda side: side.total())
        case CallStep():
            queries = [value for value in step.arguments.values() if isinstance(value, str)]
            calls = 1 + (step.fails is not None)
            return Counter(calls=calls, clauses=sum(map(_clauses, queries)))
        case SubmitStep():
            return Counter(calls=1)
        case ReplyStep():
            return Counter[str]()
        case _:
            return Counter(turns=1)


def _clauses(text: str) -> int:
    """The clauses of a query beside its first SELECT; 0 for any other text."""
    if not _QUERY.match(text):
        return 0
    return len(_CLAUSES.findall(_TEXTS.sub(" ", text))) - 1
