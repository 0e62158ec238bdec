"""Rows of one task together: the samples that preferences and prompts are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from synth.ext.exporters.base import Message, Row, prompt_part, without_marks

NO_SIBLING = "no other sample of its task"
SAME_REWARD = "no sample of its task with another reward"


def by_task(rows: Iterable[Row], sizes: Mapping[str, int] | None) -> Iterator[list[Row]]:
    """Yield the rows of each task, as soon as all of them have come.

    Without the number of rows of each task, all rows are held until the end. A number may shrink
    while rows of the task are refused; it is looked at again when the next row comes.
    """
    waiting: dict[str, list[Row]] = {}
    before = ""
    for row in rows:
        task: str = row["task_id"]
        waiting.setdefault(task, []).append(row)
        for name in dict.fromkeys((before, task)):
            if name in waiting and sizes is not None and len(waiting[name]) >= sizes.get(name, 0):
                yield waiting.pop(name)
        before = task
    yield from waiting.values()


def from_one_state(task: Sequence[Row]) -> list[list[Row]]:
    """Group the rows of a task by the state that they begin in: those that begin at its beginning,
    and the branches at each turn of each parent, after the parent itself if it is there.
    """
    whole = [row for row in task if row["parent_id"] is None]
    known = {row["trajectory_id"]: row for row in task}
    branches: dict[tuple[str, int], list[Row]] = {}
    for row in task:
        parent = row["parent_id"]
        if parent is not None:
            first = [known[parent]] if parent in known else []
            branches.setdefault((parent, row["branch_step"]), first).append(row)
    if branches and len(whole) == 1:
        whole = []  # it is beside its branches
    return [group for group in (whole, *branches.values()) if group]


def shared_start(left: Sequence[Message], right: Sequence[Message]) -> int:
    """Return the length of the longest common part that ends before a turn of the assistant in
    both conversations; 0 if their openings differ. Marks for training make no difference.
    """
    left, right = without_marks(left), without_marks(right)
    opening = len(prompt_part(left))
    if list(left[:opening]) != list(right[: len(prompt_part(right))]):
        return 0
    end = opening
    for index in range(opening, min(len(left), len(right))):
        if left[index] != right[index]:
            break
        after = index + 1
        if after < min(len(left), len(right)) and (
            left[after]["role"] == right[after]["role"] == "assistant"
        ):
            end = after
    return end
