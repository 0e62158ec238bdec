"""The deadline of a tool call: code that does not return is interrupted where it stands."""

from __future__ import annotations

import ctypes
import math
import os
import threading
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

LEAST_S, STATEMENTS = 120.0, 4
"""Seconds that a call may take at least, and how often the limit of a statement."""
POLL_S = 1.0
"""Seconds between two looks at the calls that run."""


class CallTimeoutError(BaseException):
    """Raised in code that runs for too long; its ``except Exception`` does not catch it."""


class Deadline:
    """Calls functions, and raises :class:`CallTimeoutError` in one that has not returned in time.
    Python code is interrupted, and C code once it returns.

    >>> Deadline().call(30_000, max, 1, 2)
    2
    """

    def __init__(self) -> None:
        self.enabled = True
        """False in a process that is killed from outside."""
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Begin anew; no thread of the parent is in a child process."""
        self._due: dict[int, float] = {}
        self._firing = threading.Lock()
        self._watcher: threading.Thread | None = None

    def call(
        self,
        statement_timeout_ms: int | None,
        function: Callable[Given, Returned],
        *args: Given.args,
        **named: Given.kwargs,
    ) -> Returned:
        """The value of a function whose statements may take this long; None: any time. May be
        called in several threads, and within itself.
        """
        thread, ms = threading.get_ident(), statement_timeout_ms
        seconds = math.inf if ms is None else max(LEAST_S, STATEMENTS * ms / 1000)
        outer, due = self._due.get(thread), time.monotonic() + seconds
        self._due[thread] = due
        if self._watcher is None and self.enabled:
            self._watcher = threading.Thread(target=self._watch, name="deadline", daemon=True)
            self._watcher.start()
        try:
            return function(*args, **named)
        finally:
            # An exception that is raised between two steps leaves nothing to fire again.
            self._due.pop(thread, None)
            if outer is not None:
                self._due[thread] = outer
            if time.monotonic() > due - POLL_S:
                with self._firing:  # from now on nothing is fired
                    pass
                for _ in range(3):  # what was fired is raised at a jump; Python cannot take it back
                    pass

    def _watch(self) -> None:
        while True:
            time.sleep(POLL_S)
            with self._firing:
                for thread, due in list(self._due.items()):
                    if time.monotonic() > due and self._due.get(thread) == due:
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(
                            ctypes.c_ulong(thread), ctypes.py_object(CallTimeoutError)
                        )


DEADLINE = Deadline()
