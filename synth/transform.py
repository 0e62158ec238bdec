"""The contract of a task transform: the tasks of a plan in, other tasks out.

``tasks.transforms=[NAME]`` names transforms in the order in which they are applied, by an entry
point of the group ``synth.task_transforms`` or ``package.module:Class``. A transform chooses tasks
among the candidates of each universe, or changes words, order or number of the tasks that were
chosen; each task is proved after it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from itertools import accumulate
from typing import Any, ClassVar, cast

from envs.plugins import Contract
from envs.sandboxes.base import Template
from synth.core.foundation.hashing import digest
from synth.core.tasks.grounding import turns
from synth.plugins import NoOptions
from synth.source import TaskPool
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


@dataclass(frozen=True)
class Block:
    """The tasks of one universe: ``share`` maps each family to its number of tasks, and families
    take turns while they last. A transform that chooses other tasks returns a subclass.

    ``source`` has the candidates, which a run's ``seed`` puts in their order. ``composed`` maps
    numbers of requests to numbers of composed tasks, beside the ones of ``share``.
    """

    source: TaskPool
    split: str
    seed: int
    share: Mapping[str, int]
    composed: Mapping[int, int] = field(default_factory=dict[int, int])

    @property
    def tasks(self) -> int:
        return sum(self.share.values()) + sum(self.composed.values())

    @property
    def requests(self) -> Mapping[str, float]:
        """About the number of requests of each family, alone and in composed tasks."""
        return self.share

    @property
    def shortfalls(self) -> dict[str, tuple[int, int]]:
        """The families that have too few tasks for their share: how many they give, and the
        share.
        """
        due = self.tasks // max(1, len(self.share))
        return {
            name: (given, due)
            for name, given in self.share.items()
            if given < due and given == self.source.capacity(name)
        }

    def identity(self) -> list[object]:
        """Everything that, with the world, decides which tasks there are."""
        return [self.split, self.source.universe, list(self.share.items())]

    def task(self, index: int, attempt: int = 0) -> Task:
        """The ``index``-th task. Raises IndexError, and TaskError for an attempt too many."""
        family, place = turns(self.share, index)
        return self.source.task(family, place, self.seed)


class TaskTransform(Contract):
    """Changes the tasks of a plan. Built with its options, an instance of ``Options``.

    A subclass overrides :meth:`choose` to take other candidates, :meth:`changed` to change each
    task by itself, or :meth:`apply` to sort tasks or leave some out. All are functions of their
    arguments and the options: a resume plans again.

    >>> class Loud(TaskTransform):
    ...     def opening(self, task, *, first):
    ...         return task.prompt.upper()
    ...
    ...     def changed(self, task, index, *, first):
    ...         return replace(task, prompt=self.opening(task, first=first))
    """

    Options: ClassVar[type] = NoOptions

    def __init__(self, options: object = None) -> None:
        self.options = options

    def digest(self) -> str:
        """The digest of everything that decides what comes out."""
        options = cast("Any", self.options)
        plain = asdict(options) if is_dataclass(self.options) else getattr(options, "__dict__", {})
        return digest(type(self).__module__, type(self).__qualname__, plain)

    def look(self, template: Template) -> None:
        """See the database of a universe, before tasks are chosen. By default nothing is done."""

    def choose(
        self, blocks: Sequence[Block], opening: Callable[[Block, Task], str]
    ) -> Sequence[Block]:
        """The tasks of each universe, in the place of those that ``blocks`` have. ``opening`` gives
        the first words of a task of a block after all transforms. By default the same.
        """
        return blocks

    def opening(self, task: Task, *, first: bool) -> str:
        """The first words of a task's user after :meth:`changed`, without changing the task. A
        transform that changes them overrides this, too. By default ``task.prompt``.
        """
        return task.prompt

    def changed(self, task: Task, index: int, *, first: bool) -> Task:
        """The task that takes the place of the ``index``-th one; ``first`` says that its split is
        the first. By default the same.
        """
        return task

    def apply(self, tasks: TaskList) -> TaskList:
        """The tasks that take the place of these. By default :meth:`changed` of each."""
        first = next(iter(tasks.splits.values()), 0)
        return tasks.map(lambda task, index: self.changed(task, index, first=index < first))

    def again(self, task: Task, recorded: Task) -> Task:
        """A task about the slots of a ``recorded`` one, changed as that one was. A composed task
        comes with its parts only. By default the same.
        """
        return task

    def notes(self, blocks: Sequence[Block], asked: int) -> Iterable[str]:
        """Notes for the operator on the ``blocks`` of a plan, of which ``asked`` tasks were asked.
        By default there are none.
        """
        return ()

    def manifest(self, blocks: Sequence[Block]) -> Mapping[str, object]:
        """What the manifest says about the choice. By default nothing."""
        return {}
