"""The service of free SQL (:mod:`envs.world.subprocess_service`) with one of its guards taken away,
for whoever shows that it matters.

The guards work in the processes that it runs in, so they are taken away there: before the fork.
"""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable, Mapping

import apsw

from envs.processes import zygote
from envs.sandboxes.sqlite import sandbox as sqlite
from envs.world import subprocess_service as apart
from envs.world.subprocess_service import Service, answer


def _no_alarm() -> None:
    apart._alarm = lambda seconds: None


def _any_time() -> None:
    apart._bound_time = lambda timeout_ms: None


def _any_heap() -> None:
    """Neither SQLite's own limit, nor the look at its memory that comes before."""
    apsw.hard_heap_limit = lambda size: 0
    sqlite.HEAP_BYTES = 2**40


def _any_space() -> None:
    apart.limit_space = lambda more: None


def _any_file() -> None:
    zygote.FILE_BYTES = resource.RLIM_INFINITY


def _lone_kill() -> None:
    os.killpg = os.kill


def _threads_stay() -> None:
    threading.active_count = lambda: 1


REMOVALS: Mapping[str, Callable[[], None]] = {
    "": lambda: None,
    "alarm": _no_alarm,
    "processor time": _any_time,
    "heap": _any_heap,
    "address space": _any_space,
    "size of a file": _any_file,
    "what it forked": _lone_kill,
    "threads": _threads_stay,
}


def prepare(folder: str, digest: str, without: str) -> Service:
    """Load the world, and take one guard away; "" takes none."""
    REMOVALS[without]()
    return apart.prepare(folder, digest)


__all__ = ["REMOVALS", "answer", "prepare"]
