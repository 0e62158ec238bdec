"""Progress of a run: a bar in a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.status import Status
from rich.table import Column

from synth.core.runner.totals import Totals

FIRST_LINES_S = 2.0
"""Seconds between two lines without a terminal, until :data:`LINE_EVERY_S` have passed."""

LINE_EVERY_S = 10.0
"""Seconds between two lines from then on."""


class _Ticker:
    """Thread that calls a function every few seconds, also while the event loop is blocked."""

    def __init__(self, speak: Callable[[], None]) -> None:
        self._speak = speak
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        began = time.monotonic()
        while not self._end.wait(
            FIRST_LINES_S if time.monotonic() - began < LINE_EVERY_S else LINE_EVERY_S
        ):
            self._speak()


class Waiting:
    """Context manager that says on standard error what goes on, and that it still does.

    A terminal shows a spinner that is gone at the end; elsewhere there is a line at first and one
    every few seconds, which begins with ``still`` if it is given.
    """

    def __init__(self, what: str, console: Console, still: str = "") -> None:
        self._what, self._console, self._still = what, console, still or what
        self._began = time.monotonic()
        self._ticker = _Ticker(self._line)
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status(escape(self._what))
            self._status.start()
        else:
            self._console.print(self._what, highlight=False, markup=False, soft_wrap=True)
            self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ticker.stop()
        if self._status is not None:
            self._status.stop()

    def _line(self) -> None:
        self._console.print(
            f"{self._still}: {time.monotonic() - self._began:.0f} s",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )


class ProgressView:
    """Context manager that shows progress; call :meth:`advance` for each finished item.

    Writes to standard error only. ``failed`` counts failed requests by reason while they are made.
    """

    def __init__(
        self,
        label: str,
        total: int,
        done: int,
        console: Console,
        failed: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._failed = failed
        self._label, self._total, self._done, self._start = label, total, done, done
        self._console = console
        self._began = time.monotonic()
        self._totals: Totals | None = None
        self._ticker = _Ticker(self._line)
        self._paused = False
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        if console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(bar_width=20),
                MofNCompleteColumn(table_column=Column(no_wrap=True, min_width=9)),
                TimeRemainingColumn(table_column=Column(no_wrap=True, min_width=7)),
                TextColumn("{task.fields[more]}", table_column=Column(no_wrap=True, ratio=1)),
            )
            self._bar = Progress(*columns, console=console, transient=True, expand=True)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(
                self._label, total=self._total, completed=self._done, more=""
            )
        self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ticker.stop()
        if self._bar is not None:
            self._bar.stop()

    def advance(self, totals: Totals | None = None, *, earlier: bool = False) -> None:
        """Count one more finished item; one of ``earlier`` took no time of this work."""
        self._done += 1
        self._start += earlier
        self._totals = totals
        if self._bar is not None:
            self._line()

    def _line(self) -> None:
        if self._paused:
            return
        now = time.monotonic()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done, more=self._details(now))
            return
        more = f"{self._details(now)}{self._left(now)}"
        self._console.print(
            f"{self._label}: {self._done:,} of {self._total:,}, {more}",
            highlight=False,
            soft_wrap=True,
        )

    @contextmanager
    def paused(self) -> Generator[None]:
        """Take the bar away for a question on the terminal."""
        self._paused = True
        if self._bar is not None:
            self._bar.stop()
        yield
        self._paused = False
        if self._bar is not None:
            self._bar.start()

    def say(self, message: str) -> None:
        """Print a line above the bar."""
        self._console.print(message, highlight=False, markup=False, soft_wrap=True)

    def _rate(self, now: float) -> float:
        return (self._done - self._start) / max(now - self._began, 1e-6)

    def _details(self, now: float) -> str:
        totals = self._totals
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in [*self._failed.items()])
        failed = f"failed requests: {reasons}; " if reasons else ""
        speed = (
            f"{self._rate(now):.1f} a second" if self._done > self._start else "none finished yet"
        )
        if totals is None:
            return f"{failed}{speed}"
        spent = f"{totals.tokens:,} tokens, cost {totals.cost()}" if totals.tokens else "no tokens"
        if totals.cost_known and self._done > self._start:
            spent += f" of about ${totals.cost_usd / self._done * self._total:,.2f}"
        mean = totals.mean_reward()
        reward = "" if mean is None else f", mean reward {mean:.2f}"
        broke = f"{totals.failed:,} broke, " if totals.failed else ""
        return f"{failed}{broke}{speed}{reward}, {spent}"

    def _left(self, now: float) -> str:
        """The time that the rest takes at the rate so far."""
        if (rate := self._rate(now)) <= 0:
            return ""
        left = (self._total - self._done) / rate
        return f", about {left:.0f} s left" if left < 120 else f", about {left / 60:.0f} min left"
