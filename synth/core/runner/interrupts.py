"""Signals of a run: the first SIGINT or SIGTERM drains it, the second stops it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Generator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
HANDLED = (*SIGNALS, signal.SIGALRM)

STOP_S = 2.0
"""Seconds that the event loop has for the second signal before running code is interrupted."""


class Interrupts:
    """Counts the signals of a run and acts on them.

    In any thread but the main one no handler is installed: the caller handles signals itself.
    Before :meth:`drain_from` and after :meth:`release` nothing is in flight that could be finished,
    so that any signal raises KeyboardInterrupt at once.
    """

    def __init__(self, drain: Callable[[], None], stop: Callable[[], None]) -> None:
        self._drain_run, self._stop_run = drain, stop
        self._count = 0
        self._draining = self._main_thread = False
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
        # Count first, then act: the first drains, the second stops, and later ones, like SIGALRM,
        # interrupt any code.
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

    def _drain(self) -> None:
        self._draining = True
        self._drain_run()

    def _stop(self, task: asyncio.Task[object]) -> None:
        if self._main_thread:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self._stop_run()
        task.cancel()
