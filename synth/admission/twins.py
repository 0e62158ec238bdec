"""Twins: the same wording over rows that want different work. What is no twin is refused with one message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from synth.admission.place import family_fault
from synth.canonical import canonical
from synth.tasks.family import Family
from synth.tasks.source import TaskSource
from synth.tasks.steps import in_branch, realise
from synth.tasks.template import names_in
from synth.types import Task

Json = Any

LOOKED_AT = 100
"""Tasks per twin whose wording is looked at."""

SEVERAL = 3
"""Rows of a twin from which on a word that never changes is taken for a sign."""


def check_twins(source: TaskSource, family: Family, seed: int) -> None:
    """Raise :class:`TaskError` where a family's twins can be told apart by their words, or want the same work."""
    if not family.twins:
        return
    golds = {canonical(list(in_branch(family.body.gold, branch))) for branch in family.twins}
    if len(golds) == 1:
        message = "the twins want the same work: give each steps of its own in gold"
        raise family_fault(family.id, source.world, message, "twins")
    slots: dict[str, list[Mapping[str, Json]]] = {branch: [] for branch in family.twins}
    for at in range(min(source.capacity(family.id), LOOKED_AT * len(family.twins))):
        task = source.task(family.id, at, seed)
        slots[task.branch or ""].append(task.slots)
    for name in sorted(names_in(family.body.user.texts(), "$slot")):
        if sign := _sign(name, slots):
            message = f"the twins can be told apart by their words: {name} is {sign}; let it say the same in each"
            raise family_fault(family.id, source.world, message, "twins")


def _sign(name: str, slots: Mapping[str, Sequence[Mapping[str, Json]]]) -> str | None:
    """What a slot always is in one twin and never in another: NULL, or one word each. Numbers may decide a case."""
    values = {branch: [each[name] for each in rows] for branch, rows in slots.items()}
    always = {branch: cells[0] for branch, cells in values.items() if len({canonical(each) for each in cells}) == 1}
    for branch, cell in always.items():
        for other, cells in values.items():
            if cell is None and None not in cells:
                return f"NULL in each row of {branch} and in none of {other}"
            words = isinstance(cell, (str, bool)) and isinstance(always.get(other), (str, bool))
            if words and cell != always[other] and len(values[branch]) >= SEVERAL <= len(cells):
                return f"always {cell!r} in {branch} and always {always[other]!r} in {other}"
    return None


def twins_work(task: Task, family: Family) -> Iterator[tuple[str, Task]]:
    """The task with the gold of each other twin: what an agent does that mistakes this row for one of those."""
    user = task.user
    asked = {name: topic.asked for name, topic in user.knows.items()} if user is not None else {}
    for branch in family.twins:
        if branch != task.branch:
            yield branch, _with_gold(task, realise(family.body.gold, task.slots, branch, task.seed >> 8, asked))


def _with_gold(task: Task, gold: Sequence[Json]) -> Task:
    return Task.from_json({**task.to_json(), "gold": gold})
