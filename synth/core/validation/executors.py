"""Execution of proofs: in this process, or in several worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from synth.core.validation.check import FamilyChecker, Options
from synth.errors import OperatorError

Execute = Callable[[Callable[..., Any], Iterable[Sequence[Any]]], Iterator[Any]]
"""Calls a method of :class:`FamilyChecker` with each of some arguments; results keep the order."""


@contextmanager
def executor(
    checker: FamilyChecker, folder: Path, options: Options, count: int
) -> Generator[Execute]:
    """The executor of proofs: this process, or for a ``count`` above 1 worker processes, which end
    with this one, however it ends.

    Raises :class:`OperatorError` if a tool kills a worker process.
    """
    if count <= 1:
        yield lambda method, work: (method(checker, *item) for item in work)
        return
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        count, multiprocessing.get_context("spawn"), initializer=_set_up, initargs=(folder, options)
    )

    def execute(method: Callable[..., Any], work: Iterable[Sequence[Any]]) -> Iterator[Any]:
        try:
            yield from pool.map(partial(_call, method), work)
        except BrokenProcessPool:
            message = (
                "a worker process died: a tool of the world ended it; --workers 1 shows at"
                " which family"
            )
            raise OperatorError(message) from None

    try:
        yield execute
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    pool.shutdown(cancel_futures=True)


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


def _call(method: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    return method(_CHECKERS[0], *arguments)
