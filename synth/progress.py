"""What a person sees while a run goes on: a bar in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

Json = Any

LINE_EVERY_S = 10.0
"""Seconds between two lines without a terminal."""


WHOSE = ("", "user_", "policy_")
"""Of the rollout's model, of the one that plays the user, and of the one that approves calls."""

TOKENS = tuple(f"{who}{kind}" for who in WHOSE for kind in ("input_tokens", "output_tokens"))
COSTS = tuple(f"{who}cost_usd" for who in WHOSE)


@dataclass
class Totals:
    """Sums over the rows of a run, those of earlier sessions included, and over the agent's model, the user's and the policy's.

    Unknown costs are left out; where none is known the sum is unknown.
    """

    rows: int = 0
    full: int = 0
    scored: int = 0
    failed: int = 0
    tokens: int = 0
    turns: int = 0
    cost_usd: float = 0.0
    cost_known: bool = False

    def add(self, stats: Json) -> None:
        """Count one row."""
        self.rows += 1
        self.scored += stats["reward"] is not None
        self.full += stats["reward"] is not None and stats["reward"] >= 1.0
        self.spend(stats)

    def fail(self, stats: Json) -> None:
        """Count a rollout that broke; ``stats`` says what it had cost by then, if that is known."""
        self.failed += 1
        if stats is not None:
            self.spend(stats)

    def spend(self, stats: Json) -> None:
        """Count what a rollout cost."""
        self.turns += stats["num_turns"] or 0
        self.tokens += sum(stats[name] or 0 for name in TOKENS)
        for name in COSTS:
            if stats[name] is not None:
                self.cost_usd += stats[name]
                self.cost_known = True

    def cost(self) -> str:
        return f"${self.cost_usd:,.2f}" if self.cost_known else "unknown"


class ProgressView:
    """A context in which :meth:`advance` is called for each thing done. Writes to standard error only."""

    def __init__(self, what: str, total: int, done: int, console: Console) -> None:
        self._what, self._total, self._done, self._start = what, total, done, done
        self._console = console
        self._began = self._spoke = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        if console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[more]}"),
            )
            self._bar = Progress(*columns, TextColumn("ETA"), TimeRemainingColumn(), console=console, transient=True)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=self._total, completed=self._done, more="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, totals: Totals | None = None) -> None:
        """One more is done."""
        self._done += 1
        now = time.monotonic()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done, more=self._more(totals, now))
        elif now - self._spoke >= LINE_EVERY_S:
            self._spoke = now
            self._console.print(
                f"{self._what} {self._done}/{self._total}  {self._more(totals, now)}  {self._eta(now)}",
                highlight=False,
                soft_wrap=True,
            )

    def say(self, message: str) -> None:
        """A line of its own, above the bar."""
        self._console.print(message, highlight=False, markup=False, soft_wrap=True)

    def _rate(self, now: float) -> float:
        return (self._done - self._start) / max(now - self._began, 1e-6)

    def _more(self, totals: Totals | None, now: float) -> str:
        if totals is None:
            return f"{self._rate(now):.1f}/s"
        spent = f"{totals.tokens:,} tokens, cost {totals.cost()}" if totals.tokens else "no tokens"
        return f"{totals.failed} failed, {self._rate(now):.1f} rollouts/s, {spent}"

    def _eta(self, now: float) -> str:
        rate = self._rate(now)
        return f"ETA {(self._total - self._done) / rate:.0f} s" if rate > 0 else "ETA unknown"
