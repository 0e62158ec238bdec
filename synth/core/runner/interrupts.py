"""Signals of a run: the first SIGINT, SIGTERM or SIGHUP drains it; the second one, or SIGQUIT,
stops it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from types import FrameType

from synth.core.foundation.standard_output import stdout

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HANDLED = (*SIGNALS, signal.SIGQUIT, signal.SIGALRM)

SAME_S = 0.2
"""Seconds in which further signals repeat one: `timeout` signals its process, then the group."""
STOP_S = 2.0
"""Seconds that the event loop has for the second signal before running code is interrupted."""


def _terminals() -> list[int]:
    """The descriptors to which words go, as far as they are a terminal."""
    numbers = {1, 2}
    with contextlib.suppress(OSError, ValueError):  # captured output has no descriptor
        numbers.add(stdout().fileno())
    return [number for number in numbers if os.isatty(number)]


class Interrupts:
    """Counts the signals of a run and acts on them.

    In any thread but the main one no handler is installed: the caller handles signals itself.
    Before :meth:`drain_from` and after :meth:`release` nothing is in flight that could be finished,
    so that any signal raises KeyboardInterrupt at once.
    """

    def __init__(self, drain: Callable[[], None], stop: Callable[[], None]) -> None:
        self._drain_run, self._stop_run = drain, stop
        self._count, self._last = 0, float("-inf")
        self._draining = self._main_thread = False
        self.reason = "interrupted"
        self._terminal = _terminals()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None

    @property
    def received(self) -> bool:
        """True once any signal has arrived."""
        return self._count > 0

    @contextlib.contextmanager
    def restored(self) -> Generator[None]:
        """Context manager that puts the caller's handlers back at its end."""
        self._main_thread = threading.current_thread() is threading.main_thread()
        before = (
            {number: signal.getsignal(number) for number in HANDLED} if self._main_thread else {}
        )
        try:
            yield
        finally:
            for number, handler in before.items():
                if handler is not None:
                    signal.signal(number, handler)

    def listen(self) -> None:
        """Install the handlers; again whenever a library may have replaced them."""
        # Not the loop's own handlers: those wait for the loop, which a tool that does not return
        # may hold.
        if self._main_thread:
            for number in HANDLED:
                if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP:  # nohup
                    signal.signal(number, self._on_signal)

    def drain_from(self, task: asyncio.Task[object] | None) -> None:
        """From now on the first signal drains; the second one cancels ``task``."""
        self._loop, self._task = asyncio.get_running_loop(), task

    def release(self) -> None:
        """From now on any signal raises KeyboardInterrupt again."""
        self._task = None

    def request(self) -> None:
        """Act as for a signal, from another thread than the run's: the first request drains, the
        second stops.
        """
        self._count += 1
        if self._loop is not None and self._task is not None:
            if self._count == 1:
                self._loop.call_soon_threadsafe(self._drain)
            else:
                self._loop.call_soon_threadsafe(self._stop, self._task)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # Count first, then act: the first drains, the second stops, and later ones, like SIGALRM
        # and SIGQUIT, interrupt any code.
        if number == signal.SIGHUP:
            self._hang_up()
        if number in SIGNALS and time.monotonic() - self._last < SAME_S:
            return
        self._last = time.monotonic()
        self._count += 1 if number in SIGNALS else 2
        if self._task is None or self._loop is None:
            raise KeyboardInterrupt
        if self._count == 1:
            self._loop.call_soon_threadsafe(self._drain)
        elif self._count == 2 and self._draining:
            self._loop.call_soon_threadsafe(self._stop, self._task)
            signal.setitimer(signal.ITIMER_REAL, STOP_S)
        else:
            raise KeyboardInterrupt

    def _hang_up(self) -> None:
        """Write no more to a terminal that was closed: that would fail, and end the run."""
        self.reason = "interrupted: the terminal was closed"
        for number in self._terminal:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)

    def _drain(self) -> None:
        self._draining = True
        self._drain_run()

    def _stop(self, task: asyncio.Task[object]) -> None:
        if self._main_thread:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self._stop_run()
        task.cancel()
