"""One process's work on a run: prove, play, journal, seal."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from rich.console import Console

from synth import event_loop
from synth.budget import Budget
from synth.dataset.error_row import ErrorRow
from synth.dataset.executed import Executed
from synth.dataset.reader import Dataset
from synth.dataset.task_table import TaskTable, write_tasks
from synth.dataset.writer import RunWriter
from synth.dispatch import Dispatcher, Valve
from synth.errors import TaskError
from synth.plan import job
from synth.preparation import Run, governor, open_runtime, task_row, worker_setup
from synth.progress import ProgressView, Totals
from synth.run_files import TASKS_FILE
from synth.types import Task
from synth.worker import STATS, Assignment, Delivery

Json = Any

OPEN_SHARDS = 8
"""A slow rollout holds its shard open; the plan runs ahead of it by at most so many shards."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LISTENED = (*SIGNALS, signal.SIGALRM)

STOP_S = 2.0
"""How long the event loop may take to hear the second signal before whatever holds it is interrupted."""


@dataclass(frozen=True)
class Report:
    """What a session did. ``reason`` says why a partial run stopped; ``given_up`` counts jobs whose errors are terminal.
    ``tools`` is how the calls of the whole dataset ran.
    """

    directory: Path
    status: Literal["complete", "partial"]
    reason: str | None
    planned: int
    totals: Totals
    given_up: int
    seconds: float
    tools: Executed
    warnings: Sequence[str] = ()


class Session:
    """One process's work on a run, from its first worker to the seal."""

    def __init__(self, run: Run, directory: Path, writer: RunWriter, archive: bytes, console: Console) -> None:
        self.run, self.directory, self.writer, self.console = run, directory, writer, console
        self.config = run.config
        self.setup = worker_setup(run, archive, directory)
        self.valve = Valve()
        self.totals = Totals()
        self.recent: deque[bool] = deque(maxlen=self.config.runtime.breaker_window)
        self.began = time.monotonic()
        self.refuted: TaskError | None = None
        self._asked = 0
        self._draining = self._main_thread = False
        self._loop: asyncio.AbstractEventLoop
        self.budget: Budget
        self._task: asyncio.Task[Report] | None = None

    def main(self) -> Report:
        """Run the session on an event loop of its own. Raises KeyboardInterrupt where it was stopped at once."""
        with self._signals():
            try:
                return event_loop.run(self._main())
            except (asyncio.CancelledError, SystemExit):  # SystemExit: Ray's own answer to SIGTERM while it starts
                raise KeyboardInterrupt from None

    async def _main(self) -> Report:
        self._loop = asyncio.get_running_loop()
        self._count_earlier()
        runtime = open_runtime(self.config)
        try:
            self._listen()
            await runtime.open(self.setup)
            self._listen()  # Ray puts its own handler of SIGTERM in place of ours
            if self._asked:  # an interrupt that was swallowed on the way, as a destructor does
                raise KeyboardInterrupt
            # Before, and while sealing, nothing is in flight to be finished: a signal stops at once.
            self._task = asyncio.current_task()
            count = runtime.worker_count(self.config.runtime.workers)
            settings = self.config.runtime
            leases = governor(self.config, count)
            self.budget = Budget(self.config.budget, self.totals, count * settings.concurrency)
            timer = self._watch_clock()
            dispatcher = Dispatcher(runtime, count, settings.concurrency, settings.max_attempts, leases)
            try:
                await dispatcher.open(self.valve, self._say_waiting)
                if self.valve.reason is None and not (self.directory / TASKS_FILE).exists():
                    await self._prove(dispatcher)
                if self.valve.reason is None:
                    await self._play(dispatcher)
            finally:
                if timer is not None:
                    timer.cancel()
                await dispatcher.close()
        finally:
            await runtime.close()
        self._task = None
        return self._seal(dispatcher.warnings)

    def _say_waiting(self) -> None:
        self.console.print("Waiting for Ray to have room for a worker; Ctrl-C gives up.", highlight=False)

    @contextlib.contextmanager
    def _signals(self) -> Generator[None]:
        """The first SIGINT or SIGTERM drains, the next stops. Elsewhere than in the main thread the caller handles them."""
        self._main_thread = threading.current_thread() is threading.main_thread()
        before = {number: signal.getsignal(number) for number in LISTENED} if self._main_thread else {}
        try:
            yield
        finally:
            for number, handler in before.items():
                if handler is not None:
                    signal.signal(number, handler)

    def _listen(self) -> None:
        # Not the loop's own handlers: those wait for the loop, which a tool that does not return may hold.
        if self._main_thread:
            for number in LISTENED:
                signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # Count, then act: the first drains, the second stops, and what comes later, and SIGALRM, break in anywhere.
        self._asked += 1 if number in SIGNALS else 2
        if self._asked == 1 and self._task is not None:
            self._loop.call_soon_threadsafe(self._drain)
        elif self._asked == 2 and self._draining and self._task is not None:
            self._loop.call_soon_threadsafe(self._stop, self._task)
            signal.setitimer(signal.ITIMER_REAL, STOP_S)
        else:
            raise KeyboardInterrupt

    def _stop(self, task: asyncio.Task[Report]) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.valve.now = True
        task.cancel()

    def _drain(self) -> None:
        self._draining = True
        self.valve.reason = "interrupted"
        self.console.print("Finishing what is in flight; once more to stop at once.", highlight=False)

    async def _prove(self, dispatcher: Dispatcher) -> None:
        """Prove each task once and write tasks.parquet in the plan's order; the first refuted task stops the run."""
        plan = self.run.plan
        ordered = _InOrder()
        work = (Assignment(at, task=plan.task(at)) for at in range(plan.tasks))

        def sink(delivery: Delivery) -> None:
            if delivery.kind == "proved" and delivery.task is not None:
                ordered.put(delivery.index, delivery.task)
                view.advance()
            else:
                self.refuted = self.refuted or TaskError(delivery.message)
                self.valve.shut("a task could not be proved")

        def rows() -> Iterator[dict[str, Json]]:
            for _ in range(plan.tasks):
                yield task_row(ordered.get(), self.run)

        writing = asyncio.create_task(asyncio.to_thread(write_tasks, self.directory / TASKS_FILE, rows()))
        try:
            with ProgressView("proving", plan.tasks, 0, self.console) as view:
                await dispatcher.run(work, sink, self.valve, ordered.room)
        finally:
            ordered.end()
            with contextlib.suppress(_CutShortError):
                await writing
        if self.refuted is not None:
            raise self.refuted

    async def _play(self, dispatcher: Dispatcher) -> None:
        """Play every job that has no row yet."""
        tasks = TaskTable(self.directory / TASKS_FILE)
        plan, rows_per_shard = self.run.plan, self.config.output.rows_per_shard
        open_jobs: set[int] = set()

        def work() -> Iterator[Assignment]:
            for index in self.writer.unaccounted():
                task = Task.from_json(tasks.task(index // plan.samples))
                yield Assignment(index, job=job(index, task, plan.samples, plan.seed))

        def room(index: int) -> bool:
            if open_jobs and index - min(open_jobs) >= OPEN_SHARDS * rows_per_shard:
                return False
            if not self.budget.room(len(open_jobs)):
                return False
            open_jobs.add(index)
            return True

        def sink(delivery: Delivery) -> None:
            open_jobs.discard(delivery.index)
            self._take(delivery, tasks)
            view.advance(self.totals)

        done = plan.jobs - self.writer.progress.waiting
        self._check_budgets()  # what earlier sessions spent counts
        with ProgressView("rollouts", plan.jobs, done, self.console) as view:
            await dispatcher.run(work(), sink, self.valve, room)

    def _take(self, delivery: Delivery, tasks: TaskTable) -> None:
        """Journal what a worker delivered, then look at budgets and breaker."""
        if delivery.kind == "row":
            self.writer.add_row(delivery.index, delivery.row)
            self.totals.add(delivery.stats)
            self.recent.append(False)
        else:
            self.totals.fail(delivery.stats)
            self.recent.append(True)
            self.writer.add_error(delivery.index, self._error_row(delivery, tasks))
        if delivery.error_type == "ModelAuthError":
            self.valve.shut(f"the endpoint refuses the key: {delivery.message}")
        self._check_limits(delivery)

    def _check_limits(self, delivery: Delivery) -> None:
        settings = self.config.runtime
        broken = sum(self.recent)
        if len(self.recent) == settings.breaker_window and broken >= settings.breaker_rate * len(self.recent):
            self.valve.shut(f"{broken} of the last {len(self.recent)} rollouts failed; the last: {delivery.message}")
        self._check_budgets()

    def _check_budgets(self) -> None:
        if (reason := self.budget.reached()) is not None:
            self.valve.shut(reason)

    def _watch_clock(self) -> asyncio.TimerHandle | None:
        """Have the valve shut when the session's minutes are over."""
        minutes = self.config.budget.minutes
        if minutes is None:
            return None
        left = max(0.0, minutes * 60 - (time.monotonic() - self.began))
        return self._loop.call_later(left, self.valve.shut, f"the budget of {minutes:g} minutes is spent")

    def _error_row(self, delivery: Delivery, tasks: TaskTable) -> ErrorRow:
        plan = self.run.plan
        task = Task.from_json(tasks.task(delivery.index // plan.samples))
        it = job(delivery.index, task, plan.samples, plan.seed)
        return ErrorRow(
            trajectory_id=it.id,
            task_id=it.task.id,
            job_index=it.index,
            family=it.task.family,
            sample_index=it.sample,
            seed=it.seed,
            error_type=delivery.error_type,
            message=delivery.message,
            retryable=delivery.retryable,
            model=self.run.identity.model,
            created_at=datetime.now(UTC),
        )

    def _count_earlier(self) -> None:
        """Start the totals from the rows of earlier sessions: budgets are the run's, not the session's."""
        if self.writer.progress.rows:
            for row in Dataset.open(self.directory).rows(columns=list(STATS)):
                self.totals.add(row)

    def _seal(self, warnings: Sequence[str]) -> Report:
        left = self.writer.progress.waiting
        status: Literal["complete", "partial"] = "complete" if left == 0 else "partial"
        reason = self.valve.reason if left else None
        manifest = self.writer.seal(status, {"stopped": reason} if reason else {})
        progress = self.writer.progress
        return Report(
            directory=self.directory,
            status=status,
            reason=reason,
            planned=progress.jobs,
            totals=self.totals,
            given_up=progress.given_up,
            seconds=time.monotonic() - self.began,
            tools=Executed.from_json(manifest["counts"]["tools"]),
            warnings=[*warnings, *self.writer.warnings],
        )


class _CutShortError(Exception):
    """The proving stopped before its end: tasks.parquet is not written."""


class _InOrder:
    """Hands proved tasks from the event loop to the thread that writes them, in the plan's order and few at a time."""

    AHEAD = 4096

    def __init__(self) -> None:
        self._early: dict[int, Task] = {}
        self._next = 0
        self._ready: queue.SimpleQueue[Task | None] = queue.SimpleQueue()

    def room(self, index: int) -> bool:
        """Whether a task this far ahead may be proved already."""
        return index - self._next < self.AHEAD

    def put(self, index: int, task: Task) -> None:
        self._early[index] = task
        while self._next in self._early:
            self._ready.put(self._early.pop(self._next))
            self._next += 1

    def end(self) -> None:
        self._ready.put(None)

    def get(self) -> Task:
        """The next task in order; waits for it. Raises _CutShortError when there will be none."""
        task = self._ready.get()
        if task is None:
            raise _CutShortError
        return task
