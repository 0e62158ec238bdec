"""The tasks of each split in the order of their difficulty (``tasks.order=difficulty``)."""

from __future__ import annotations

from itertools import accumulate, pairwise

from synth.core.types.difficulty import difficulty
from synth.transform import TaskList, TaskTransform


class ByDifficulty(TaskTransform):
    """Sorts the tasks of each split by their difficulty, then by their place."""

    def apply(self, tasks: TaskList) -> TaskList:
        levels = [difficulty(tasks[index]) for index in range(len(tasks))]
        parts = [range(*part) for part in pairwise(accumulate(tasks.splits.values(), initial=0))]
        return tasks.chosen([at for part in parts for at in sorted(part, key=levels.__getitem__)])
