"""Executors of proofs: this process, or several worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Self, TypeVar

from synth.core.validation.attacks.steps import ToolStep
from synth.core.validation.check import FamilyChecker, Options, Proved
from synth.core.validation.report import FamilyReport
from synth.errors import OperatorError

Result = TypeVar("Result")
Job = tuple[str, int]
"""A family and a universe."""


class Executor(ABC):
    """Executes both passes, with results in the order of the work. A context manager."""

    @abstractmethod
    def prove(self, jobs: Sequence[Job]) -> Iterator[Proved]:
        """The first pass."""

    @abstractmethod
    def attack(self, work: Sequence[tuple[Proved, Sequence[ToolStep]]]) -> Iterator[FamilyReport]:
        """The second pass. ``work`` holds the results of the first and the stray writes to try."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(abandoned=kind is not None)

    def close(self, *, abandoned: bool) -> None:  # noqa: B027 - often nothing
        """Release what the executor holds; ``abandoned`` work is not waited for."""


class InProcessExecutor(Executor):
    """Executes the proofs in the calling process."""

    def __init__(self, checker: FamilyChecker) -> None:
        self._checker = checker

    def prove(self, jobs: Sequence[Job]) -> Iterator[Proved]:
        return (self._checker.prove(*job) for job in jobs)

    def attack(self, work: Sequence[tuple[Proved, Sequence[ToolStep]]]) -> Iterator[FamilyReport]:
        return (self._checker.attack(*item) for item in work)


class MultiprocessExecutor(Executor):
    """Executes the proofs in worker processes, which end with this one, however it ends.

    Raises :class:`OperatorError` if a tool kills a worker process.
    """

    def __init__(self, folder: Path, options: Options, count: int) -> None:
        self._before = set(multiprocessing.active_children())
        self._pool = ProcessPoolExecutor(
            count,
            multiprocessing.get_context("spawn"),
            initializer=_set_up,
            initargs=(folder, options),
        )

    def prove(self, jobs: Sequence[Job]) -> Iterator[Proved]:
        return self._results(self._pool.map(_prove, jobs))

    def attack(self, work: Sequence[tuple[Proved, Sequence[ToolStep]]]) -> Iterator[FamilyReport]:
        return self._results(self._pool.map(_attack, work))

    def _results(self, results: Iterator[Result]) -> Iterator[Result]:
        try:
            yield from results
        except BrokenProcessPool:
            message = (
                "a worker process died: a tool of the world ended it; --workers 1 shows at"
                " which family"
            )
            raise OperatorError(message) from None

    def close(self, *, abandoned: bool) -> None:
        self._pool.shutdown(wait=not abandoned, cancel_futures=True)
        if abandoned:
            for child in set(multiprocessing.active_children()) - self._before:
                child.terminate()


_CHECKERS: list[FamilyChecker] = []
"""The only checker of a worker process."""


def _set_up(folder: Path, options: Options) -> None:
    # Ctrl-C is for the parent, which then ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    _CHECKERS.append(FamilyChecker(folder, options))


def end_with_parent() -> None:
    """End this process when its parent ends; a parent that was killed cannot do that."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _prove(job: Job) -> Proved:
    return _CHECKERS[0].prove(*job)


def _attack(work: tuple[Proved, Sequence[ToolStep]]) -> FamilyReport:
    return _CHECKERS[0].attack(*work)
