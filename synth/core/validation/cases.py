"""Checks of a family's cases: the same wording over rows that require different work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from synth.core.foundation.hashing import canonical
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.yaml.family import Family
from synth.core.tasks.yaml.step_templates import in_case, realise
from synth.core.tasks.yaml.template import names_in
from synth.core.validation.base import family_fault
from synth.task import Task

MOST_TASKS = 100
"""The most tasks per case whose wording is compared."""

SEVERAL = 3
"""The number of rows of a case from which on a constant word counts as a sign of the case."""


def check_cases(source: FamilyTasks, family: Family, seed: int) -> None:
    """Raise :class:`TaskError` if a family's cases can be told apart by their wording, or require
    the same work.
    """
    if not family.cases:
        return
    golds = {repr(list(in_case(family.body.gold, case))) for case in family.cases}
    if len(golds) == 1:
        message = "the cases want the same work: give each steps of its own in gold"
        raise family_fault(family.id, source.world, message, "cases")
    slots: dict[str, list[Mapping[str, Any]]] = {case: [] for case in family.cases}
    for index in range(min(source.capacity(family.id), MOST_TASKS * len(family.cases))):
        task = source.task(family.id, index, seed)
        slots[task.case or ""].append(task.slots)
    for name in sorted(names_in(family.body.user.texts(), "$slot")):
        if sign := _sign(name, slots):
            message = (
                f"the cases can be told apart by their words: {name} is {sign}; let it say"
                " the same in each"
            )
            raise family_fault(family.id, source.world, message, "cases")


def _sign(name: str, slots: Mapping[str, Sequence[Mapping[str, Any]]]) -> str | None:
    """A property of a slot that tells two cases apart: NULL in one of them only, or another
    constant word in each. None if there is none; numbers may decide a case.
    """
    values = {case: [row[name] for row in rows] for case, rows in slots.items()}
    always = {
        case: cells[0]
        for case, cells in values.items()
        if len({canonical(cell) for cell in cells}) == 1
    }
    for case, cell in always.items():
        for other, cells in values.items():
            if cell is None and None not in cells:
                return f"NULL in each row of {case} and in none of {other}"
            words = isinstance(cell, (str, bool)) and isinstance(always.get(other), (str, bool))
            if words and cell != always[other] and len(values[case]) >= SEVERAL <= len(cells):
                return f"always {cell!r} in {case} and always {always[other]!r} in {other}"
    return None


def cases_work(task: Task, family: Family) -> Iterator[tuple[str, Task]]:
    """The task with the gold of each other case, as an agent works that mistakes the case of this
    row.
    """
    user = task.user
    asked = (
        {name: topic.asked for name, topic in user.every_topic.items()} if user is not None else {}
    )
    for case in family.cases:
        if case != task.case:
            yield (
                case,
                replace(
                    task, gold=realise(family.body.gold, task.slots, case, task.seed >> 8, asked)
                ),
            )
