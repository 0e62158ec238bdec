"""Who does the proofs: this process, or several that each set the world up for themselves."""

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
from types import TracebackType
from typing import Self, TypeVar

from synth.admission.check import Bench, Options, Proved
from synth.admission.moves import Act
from synth.admission.report import FamilyReport
from synth.errors import OperatorError

Result = TypeVar("Result")
Job = tuple[str, int]
"""A family and a universe."""


class Crew(ABC):
    """Does both passes; the results come in the order of the work. A context manager."""

    @abstractmethod
    def prove(self, jobs: Sequence[Job]) -> Iterator[Proved]: ...

    @abstractmethod
    def attack(self, work: Sequence[tuple[Proved, Sequence[Act]]]) -> Iterator[FamilyReport]: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(  # noqa: B027 - nothing to release is the usual case
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Alone(Crew):
    """The process that asks."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def prove(self, jobs: Sequence[Job]) -> Iterator[Proved]:
        return (self._bench.prove(*job) for job in jobs)

    def attack(self, work: Sequence[tuple[Proved, Sequence[Act]]]) -> Iterator[FamilyReport]:
        return (self._bench.attack(*each) for each in work)


class Processes(Crew):
    """Worker processes. They end with this one, however it ends. A tool that kills one is an :class:`OperatorError`."""

    def __init__(self, folder: Path, options: Options, count: int) -> None:
        self._before = set(multiprocessing.active_children())
        self._pool = ProcessPoolExecutor(
            count, multiprocessing.get_context("spawn"), initializer=_set_up, initargs=(folder, options)
        )

    def prove(self, jobs: Sequence[Job]) -> Iterator[Proved]:
        return self._told(self._pool.map(_prove, jobs))

    def attack(self, work: Sequence[tuple[Proved, Sequence[Act]]]) -> Iterator[FamilyReport]:
        return self._told(self._pool.map(_attack, work))

    def _told(self, results: Iterator[Result]) -> Iterator[Result]:
        try:
            yield from results
        except BrokenProcessPool:
            message = "a worker process died: a tool of the world ended it; --workers 1 shows at which family"
            raise OperatorError(message) from None

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=kind is None, cancel_futures=True)
        if kind is not None:  # whoever gave up does not wait for what is under way
            for child in set(multiprocessing.active_children()) - self._before:
                child.terminate()


_BENCHES: list[Bench] = []
"""The bench of a worker process; there it is one."""


def _set_up(folder: Path, options: Options) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which then ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _BENCHES.append(Bench(folder, options))


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _prove(job: Job) -> Proved:
    return _BENCHES[0].prove(*job)


def _attack(work: tuple[Proved, Sequence[Act]]) -> FamilyReport:
    return _BENCHES[0].attack(*work)
