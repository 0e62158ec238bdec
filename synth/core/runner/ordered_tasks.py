"""A queue that returns proved tasks in the plan's order, from the event loop to another thread."""

from __future__ import annotations

import queue

from synth.task import Task


class ProvingStopped(Exception):
    """The proving stopped before its end: tasks.parquet is not written."""


class OrderedTasks:
    """Passes on tasks in the order of their indices, whatever the order in which they arrive."""

    AHEAD = 4096
    """The distance from the next task up to which later ones may be proved already."""

    def __init__(self) -> None:
        self._early: dict[int, Task] = {}
        self._next = 0
        self._ready: queue.SimpleQueue[Task | None] = queue.SimpleQueue()

    def has_room(self, index: int) -> bool:
        """True if a task this far ahead may be proved already."""
        return index - self._next < self.AHEAD

    def put(self, index: int, task: Task) -> None:
        """Add the task at a place of the plan."""
        self._early[index] = task
        while self._next in self._early:
            self._ready.put(self._early.pop(self._next))
            self._next += 1

    def end(self) -> None:
        """Announce that no more tasks come."""
        self._ready.put(None)

    def get(self) -> Task:
        """Wait for the next task. Raises :class:`ProvingStopped` if no more come."""
        task = self._ready.get()
        if task is None:
            raise ProvingStopped
        return task
