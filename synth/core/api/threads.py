"""The two forms of a public function, from one piece of work.

The synchronous form does the work in the caller's thread, or in a private one where an event loop
runs already, as in a notebook. The async form always takes a private thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import signal
import threading
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future, wait
from functools import wraps
from types import FrameType
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

LOOK_S = 0.1
"""Seconds between two looks of a waiting thread for signals."""

PASSED_ON = 2
"""Interrupts that a piece of work gets: one to drain it, one to stop it."""


class Interrupt:
    """Requests from another thread to end a piece of work: the first drains, the second stops.

    The work either takes them by :meth:`connect`, or asks for them by :meth:`check`.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may arrive while it is held
        self.sent = 0
        self._act: Callable[[], None] | None = None

    def send(self) -> None:
        """Request the end."""
        with self._lock:
            self.sent += 1
            if self._act is not None:
                self._act()

    def connect(self, act: Callable[[], None]) -> None:
        """Call ``act`` for each request, those included that were sent already."""
        with self._lock:
            self._act = act
            for _ in range(self.sent):
                act()

    def check(self) -> None:
        """Raise KeyboardInterrupt if the end was requested."""
        if self.sent:
            raise KeyboardInterrupt


Work = Callable[[Interrupt], T]


class _PrivateThread(Generic[T]):
    """A thread that does one piece of work, in the caller's context variables."""

    def __init__(self, work: Work[T], interrupt: Interrupt) -> None:
        self.future: Future[T] = Future()
        context = contextvars.copy_context()
        thread = threading.Thread(
            target=context.run, args=(self._run, work, interrupt), daemon=True
        )
        thread.start()

    def _run(self, work: Work[T], interrupt: Interrupt) -> None:
        try:
            self.future.set_result(work(interrupt))
        except BaseException as error:
            self.future.set_exception(error)


def call(work: Work[T]) -> T:
    """Do the work and return its result.

    While a private thread does it, the first two interrupts are passed on to the work; the third
    raises KeyboardInterrupt and leaves it behind.
    """
    given = _given.get()
    if given is not None or not _loop_runs():
        return work(given or Interrupt())
    interrupt = Interrupt()
    with _interrupts_of(interrupt):
        thread = _PrivateThread(work, interrupt)
        # A signal may be delivered to another thread; its handler runs when this one wakes up.
        while not wait([thread.future], LOOK_S).done:
            pass
        return thread.future.result()


@contextlib.contextmanager
def _interrupts_of(interrupt: Interrupt) -> Generator[None]:
    """Send SIGINT to ``interrupt`` for a while; only the main thread can receive it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        if interrupt.sent >= PASSED_ON:
            raise KeyboardInterrupt
        interrupt.send()

    # Not by `except KeyboardInterrupt`: asyncio's own handler cancels a task that cannot run now.
    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def acall(work: Work[T]) -> T:
    """Do the work in a private thread and return its result.

    Cancellation is passed on to the work, whose end is waited for; a second one stops it at once.
    """
    interrupt = Interrupt()
    thread = _PrivateThread(work, interrupt)
    finished = asyncio.Event()
    loop = asyncio.get_running_loop()
    thread.future.add_done_callback(lambda _: loop.call_soon_threadsafe(finished.set))
    cancelled: asyncio.CancelledError | None = None
    for _ in range(PASSED_ON + 1):
        try:
            await finished.wait()
            break
        except asyncio.CancelledError as error:
            cancelled = error
            interrupt.send()
    if cancelled is not None:
        raise cancelled
    return thread.future.result()


_given: contextvars.ContextVar[Interrupt | None] = contextvars.ContextVar("given", default=None)
"""The interrupt of the asynchronous form, in whose thread the synchronous one works."""


def in_thread(function: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The asynchronous form of a public function, which does its work by :func:`call`."""

    @wraps(function)
    async def threaded(*args: P.args, **keys: P.kwargs) -> T:
        def work(interrupt: Interrupt) -> T:
            _given.set(interrupt)
            return function(*args, **keys)

        return await acall(work)

    name = function.__name__
    threaded.__name__ = threaded.__qualname__ = f"a{name}"
    threaded.__doc__ = (
        f"Do :func:`{name}` in a thread of its own; arguments and errors are the same.\n\n"
        "    Cancellation ends the work as an interrupt does, and then raises CancelledError.\n"
    )
    return threaded


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
