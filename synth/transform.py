"""The contract of a task transform: the tasks of a plan in, other tasks out.

``tasks.transforms=[NAME]`` names transforms in the order in which they are applied, by an entry
point of the group ``synth.task_transforms`` or ``package.module:Class``. A transform changes words,
order or choice of the tasks that the plan has; each task is proved after it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from itertools import accumulate
from typing import Any, ClassVar, cast

from synth.core.foundation.hashing import digest
from synth.plugins import NoOptions
from synth.task import Task


@dataclass(frozen=True)
class TaskList:
    """Tasks that are made one by one. ``splits`` maps each split to its number of tasks, in the
    order of the plan. ``make`` returns a task for its index, from 0, and an attempt, from 0: a
    composed task that does not prove itself has other parts in the next attempt.

    >>> def make(index, attempt):
    ...     return Task(f"t{index}", "family", "library", "Hello.", [])
    >>> tasks = TaskList({"train": 3}, make)
    >>> " ".join(task.id for task in tasks.chosen([2, 0]))
    't2 t0'
    """

    splits: Mapping[str, int]
    make: Callable[[int, int], Task]

    def __len__(self) -> int:
        return sum(self.splits.values())

    def __getitem__(self, index: int) -> Task:
        return self.task(index)

    def task(self, index: int, attempt: int = 0) -> Task:
        """One task. Raises IndexError, and TaskError for an attempt too many."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.make(index, attempt)

    def map(self, change: Callable[[Task, int], Task]) -> TaskList:
        """The tasks after ``change``, which gets a task and its index."""
        return TaskList(
            self.splits, lambda index, attempt: change(self.make(index, attempt), index)
        )

    def chosen(self, places: Sequence[int]) -> TaskList:
        """The tasks at these indices, in this order. Raises ValueError if the tasks of a split do
        not stay together, in the order of the splits.
        """
        ends = list(accumulate(self.splits.values()))
        of_split = [bisect_right(ends, place) for place in places]
        if of_split != sorted(of_split):
            raise ValueError("the tasks of each split stay together, in the order of the splits")
        count = Counter(of_split)
        splits = {name: count[number] for number, name in enumerate(self.splits)}
        return TaskList(splits, lambda index, attempt: self.make(places[index], attempt))


class TaskTransform:
    """Changes the tasks of a plan. Built with its options, an instance of ``Options``.

    A subclass overrides :meth:`changed` to change each task by itself, or :meth:`apply` to choose
    or sort tasks. Both are functions of the tasks and the options: a resume plans again.

    >>> class Loud(TaskTransform):
    ...     def changed(self, task, index, *, first):
    ...         return replace(task, prompt=task.prompt.upper())
    """

    Options: ClassVar[type] = NoOptions

    rewords: ClassVar[bool] = False
    """Whether :meth:`changed` gives users other words, so that ``tasks.max_near_duplicates`` looks
    at these."""

    def __init__(self, options: object = None) -> None:
        self.options = options

    def digest(self) -> str:
        """The digest of everything that decides what comes out."""
        options = cast("Any", self.options)
        plain = asdict(options) if is_dataclass(self.options) else getattr(options, "__dict__", {})
        return digest(type(self).__module__, type(self).__qualname__, plain)

    def changed(self, task: Task, index: int, *, first: bool) -> Task:
        """The task that takes the place of the ``index``-th one; ``first`` says that its split is
        the first. By default the same.
        """
        return task

    def apply(self, tasks: TaskList) -> TaskList:
        """The tasks that take the place of these. By default :meth:`changed` of each."""
        first = next(iter(tasks.splits.values()), 0)
        return tasks.map(lambda task, index: self.changed(task, index, first=index < first))
