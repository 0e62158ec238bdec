"""The proofs of a run until tasks.parquet holds them, with the rows of rollouts that were proofs.

No row lands before the last proof: a task that fails stops the run. The log survives the death of
the process, as the journal does: a resume goes on with what is proved and played.
"""

from __future__ import annotations

import json
import queue
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from envs.closing import Closing
from envs.json_text import compact
from synth.core.dataset.store.atomic_files import disk
from synth.core.dataset.store.journal import ROW, Journal, Segment
from synth.core.foundation.scrubber import Scrubber
from synth.core.runner.worker_messages import Delivery
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


MOST_ROWS: Final = 10_000
"""Rows that wait for the last proof, about 300 MB; later tasks are proved apart from rollouts."""


class ProofLog(Closing):
    """The log in a folder of its own, for the only writer of a run. It hides the run's secrets."""

    def __init__(self, folder: Path, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._journal = Journal(folder)
        self._path = folder / "proofs.log"
        self._earlier = self._journal.repair(self._path) if self._path.exists() else None

    def task(self, index: int) -> Task | None:
        """A task that an earlier session proved; None for any other."""
        if self._earlier is None or index not in self._earlier.frames:
            return None
        return Task.from_json(_read(self._earlier, index)[0])

    def add(self, delivery: Delivery) -> None:
        """Log a proved task and, if its proof was a rollout, the row."""
        assert delivery.task is not None
        known = [delivery.task.to_json(), delivery.stats]
        head = compact(known).encode()
        if self._scrubber.in_bytes(head):
            head = compact(self._scrubber.value(known)).encode()
        payload = b"".join((len(head).to_bytes(4, "big"), head, delivery.row))
        with disk(self._path):
            self._path.parent.mkdir(exist_ok=True)
        self._journal.append(self._path, ROW, delivery.index, payload)

    def rows(self) -> Iterator[Delivery]:
        """The rows, each under the index of its task; the log ends with the last one."""
        if not self._path.exists():
            return
        segment = Segment(self._path)
        for index in sorted(segment.frames):
            _, stats, row = _read(segment, index)
            if row:
                yield Delivery(index, "row", row=row, stats=stats)
        segment.close()
        self.close()
        shutil.rmtree(self._path.parent)

    def close(self) -> None:
        if self._earlier is not None:
            self._earlier.close()
        self._journal.close()


def _read(segment: Segment, index: int) -> tuple[Any, Any, bytes]:
    """The task, the figures and the row of a frame."""
    payload = segment.read(index)
    end = 4 + int.from_bytes(payload[:4], "big")
    task, stats = json.loads(payload[4:end])
    return task, stats, payload[end:]
