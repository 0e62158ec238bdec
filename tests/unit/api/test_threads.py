"""Interrupts reach the work of a private thread: the first drains, the second stops."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from synth.core.api.threads import Interrupt, acall, call

WAIT_S = 20


def test_without_a_loop_the_work_is_done_in_the_callers_thread():
    assert call(lambda _: threading.current_thread()) is threading.current_thread()


async def test_with_a_loop_the_work_has_a_thread_of_its_own():
    assert call(lambda _: threading.current_thread()) is not threading.current_thread()


async def test_what_the_work_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        call(lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await acall(lambda _: 1 / 0)


class Drained:
    """Work that ends when it has been interrupted ``times``."""

    def __init__(self, times: int, *, by_signal: bool) -> None:
        self.times, self.by_signal = times, by_signal
        self.heard: list[int] = []
        self.changed = threading.Semaphore(0)
        self.began = threading.Event()

    def __call__(self, interrupt: Interrupt) -> int:
        interrupt.connect(self._hear)
        self.began.set()
        for _ in range(self.times):
            if self.by_signal:
                os.kill(os.getpid(), signal.SIGINT)
            assert self.changed.acquire(timeout=WAIT_S)
        return len(self.heard)

    def _hear(self) -> None:
        self.heard.append(1)
        self.changed.release()


@pytest.mark.parametrize("times", [1, 2])
async def test_an_interrupt_in_a_notebook_is_passed_on(times: int):
    before = signal.getsignal(signal.SIGINT)
    assert call(Drained(times, by_signal=True)) == times
    assert signal.getsignal(signal.SIGINT) is before


async def test_the_third_interrupt_leaves_the_work_behind():
    with pytest.raises(KeyboardInterrupt):
        call(Drained(3, by_signal=True))


async def test_work_that_asks_is_interrupted_too():
    def work(interrupt: Interrupt) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            interrupt.check()

    with pytest.raises(KeyboardInterrupt):
        call(work)


async def test_a_cancelled_task_waits_until_the_work_has_drained():
    work = Drained(1, by_signal=False)
    task = asyncio.create_task(acall(work))
    await asyncio.to_thread(work.began.wait, WAIT_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(work.heard) == 1


def test_an_interrupt_before_the_work_listens_is_not_lost():
    interrupt = Interrupt()
    interrupt.send()
    heard: list[int] = []
    interrupt.connect(lambda: heard.append(1))
    assert heard == [1]
