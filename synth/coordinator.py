"""The coordinator of a run: prove, play, journal, seal, in one driver process."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import uvloop
from rich.console import Console

from envs.tools.toolbox import MOST_TOOLS, tool_count
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.counts import RunCounts, ToolExecutions
from synth.core.dataset.store.error_row import ErrorRow
from synth.core.dataset.store.run_writer import RunWriter
from synth.core.dataset.store.task_table import TaskTable
from synth.core.runner.breaker import Breaker, Budget
from synth.core.runner.callbacks import make_callbacks
from synth.core.runner.interrupts import Interrupts
from synth.core.runner.progress import ProgressView, Waiting
from synth.core.runner.proof_log import MOST_ROWS, OrderedTasks, ProofLog, ProvingStopped
from synth.core.runner.provenance import changes_since
from synth.core.runner.run_files import TASKS_FILE, write_proved
from synth.core.runner.runtimes.base import make_runtime
from synth.core.runner.setup import Workload
from synth.core.runner.totals import STATS, Totals
from synth.core.runner.worker_messages import Assignment, Delivery
from synth.core.telemetry import RunStart
from synth.dispatcher import Dispatcher, StopSignal
from synth.errors import OperatorError, TaskError
from synth.plugins import resolve
from synth.prepare import PreparedRun
from synth.task import Task

OPEN_SHARDS = 8
"""A slow rollout holds its shard open; the plan runs ahead of it by at most so many shards."""


@dataclass(frozen=True)
class Failure:
    """A kind of failure among the jobs that have no row: how many there are, and the commonest of
    its ``texts``.
    """

    error_type: str
    message: str
    count: int
    texts: int = 1


@dataclass(frozen=True)
class RunReport:
    """Result of one session of a run.

    ``reason`` says why a partial run stopped; ``given_up`` counts jobs whose errors are terminal.
    ``failures`` explain the jobs without a row, the commonest first.
    ``tools`` describes the executions of all tool calls of the dataset.
    ``higher`` are the overrides that raise the budgets which are spent.
    ``uploaded`` says where the files were sent, ``upload_problem`` why they were not.
    """

    directory: Path
    status: Literal["complete", "partial"]
    reason: str | None
    planned: int
    totals: Totals
    given_up: int
    seconds: float
    tools: ToolExecutions
    warnings: Sequence[str] = ()
    failures: Sequence[Failure] = ()
    uploaded: str | None = None
    upload_problem: str | None = None
    higher: Sequence[str] = ()


class Coordinator:
    """One session of a run in this process, from its first worker to the seal."""

    def __init__(
        self, run: PreparedRun, directory: Path, writer: RunWriter, archive: bytes, console: Console
    ) -> None:
        self.run, self.directory, self.writer, self.console = run, directory, writer, console
        self.spec = run.spec
        session = secrets.token_hex(16)
        setup = run.worker_setup(archive, directory)
        self.setup = replace(setup, workload=self._workload(), session=session)
        self.stop = StopSignal()
        self.totals = Totals()
        self.open_jobs: dict[int, str] = {}
        settings = self.spec.runtime
        self.breaker = Breaker(
            settings.breaker_window, settings.breaker_rate, accepted=writer.progress.rows > 0
        )
        self.began = time.monotonic()
        self.refuted: TaskError | None = None
        self._unproved: dict[int, str] = {}
        self.budget = Budget(self.spec.budget, self.totals, metered=self.spec.asks_endpoint)
        self._interrupts = Interrupts(self._drain, self._stop_now)
        keys = {name: key.value for name, key in run.spec.keys.items()}
        self.callbacks = make_callbacks(
            run.spec.callbacks, directory.name, session, keys, self._say
        )

    def main(self) -> RunReport:
        """Run the session on its own event loop. Raises KeyboardInterrupt if it is stopped."""
        with self._interrupts.restored():
            try:
                return uvloop.run(self._followed())
            # SystemExit is Ray's own answer to SIGTERM while it starts.
            except (asyncio.CancelledError, SystemExit):
                raise KeyboardInterrupt from None

    def interrupt(self) -> None:
        """End the session from another thread: the first call drains it, the second stops it."""
        self._interrupts.request()

    async def _followed(self) -> RunReport:
        """Run the session, and tell the callbacks of its beginning and its end."""
        progress = self.writer.progress
        done = progress.jobs - progress.waiting
        plain = deepcopy(dict(self.spec.record))
        start = RunStart(self.directory.name, self.directory, plain, progress.jobs, done)
        self.callbacks.start(start)
        try:
            report = await self._main()
        except BaseException as error:
            self.callbacks.end("stopped", type(error).__name__)
            raise
        self.callbacks.end(report.status, report.reason)
        return report

    async def _main(self) -> RunReport:
        self._count_earlier()
        runtime = make_runtime(self.spec.runtime)
        try:
            self._interrupts.listen()
            with Waiting(runtime.announce(self.setup), self.console, "starting"):
                await runtime.open(self.setup)
            self._interrupts.listen()  # Ray replaces our handler of SIGTERM with its own
            if self._interrupts.received:  # somebody swallowed it, as a destructor does
                raise KeyboardInterrupt
            self._interrupts.drain_from(asyncio.current_task())
            settings = self.spec.runtime
            count = runtime.worker_count(settings.workers)
            asks_endpoint = self.spec.asks_endpoint
            make_governor = "synth.core.runner.rate_limits.governor:make_governor"
            governor = resolve(make_governor)(self.spec, count) if asks_endpoint else None
            timer = self._watch_clock()
            dispatcher = Dispatcher(
                runtime, count, settings.concurrency, settings.max_attempts, governor, self._say
            )
            try:
                with Waiting(_started(count), self.console):
                    await dispatcher.open(self.stop, self._say_waiting)
                self._check_budgets()  # what earlier sessions spent counts
                if self.stop.reason is None:
                    await self._preflight(dispatcher)
                with ProofLog(self.writer.files.proofs, self.spec.scrubber()) as log:
                    if self.stop.reason is None and not (self.directory / TASKS_FILE).exists():
                        await self._prove(dispatcher, log)
                    if self.stop.reason is None:
                        failed = Counter[str]() if governor is None else governor.failed
                        await self._play(dispatcher, log, failed)
            finally:
                if timer is not None:
                    timer.cancel()
                await dispatcher.close()
        finally:
            await runtime.close()
        self._interrupts.release()
        return self._seal(dispatcher.warnings)

    def _workload(self) -> Workload:
        """The work of this session; what an earlier one did is not counted."""
        return Workload(
            tasks=0 if (self.directory / TASKS_FILE).exists() else self.run.plan.tasks,
            jobs=self.writer.progress.waiting,
            free_sql=self.run.free_sql,
        )

    def _say_waiting(self) -> None:
        self.console.print(
            "Waiting for Ray to have room for a worker; Ctrl-C gives up.", highlight=False
        )

    def _say(self, line: str) -> None:
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def _drain(self) -> None:
        self.stop.reason = self._interrupts.reason
        what = "the rollouts" if self.open_jobs else "the work"
        self._say(f"Finishing {what} in flight; Ctrl-C once more stops at once.")

    def _stop_now(self) -> None:
        self.stop.now = True

    async def _preflight(self, dispatcher: Dispatcher) -> None:
        """Ask the endpoint once, from a worker, before anything else is paid for.

        Raises :class:`OperatorError` for a refusal. A passing failure is a warning: the run has
        patience of its own.
        """
        plan = self.run.plan
        if not (self.spec.preflight and self.spec.asks_endpoint):
            return
        if not self.writer.progress.waiting:
            return
        offered = plan.task(0).extras.get("tools") or self.run.world.toolbox.tools
        if (tools := len(offered)) > MOST_TOOLS:
            self._say(f"note: {tool_count(tools)}")
        first = Assignment(0, job=plan.job(0, plan.task(0)), probe=True)
        answers: list[Delivery] = []
        with Waiting(f"asking {self.spec.model_name} one question", self.console):
            await dispatcher.run(iter([first]), answers.append, self.stop)
        for answer in answers:
            if answer.stats is not None:
                self.totals.charge(answer.stats)
            if answer.kind != "probed" or not answer.error_type:
                continue
            if not answer.retryable:
                raise OperatorError("\n".join([*_refused(answer), *dispatcher.warnings]))
            self._say(f"warning: the first call failed, which may pass: {answer.message}")

    async def _prove(self, dispatcher: Dispatcher, log: ProofLog) -> None:
        """Prove each task once and write tasks.parquet in the plan's order. Where the expert plays,
        the first rollout of a task may prove it.

        The first refuted task stops the run; a composed one is tried with other parts before.
        """
        plan = self.run.plan
        ordered = OrderedTasks()
        attempts: Counter[int] = Counter()

        def sink(delivery: Delivery) -> Assignment | None:
            if delivery.kind == "proved" and delivery.task is not None:
                ordered.put(delivery.index, delivery.task)
                log.add(delivery)
                view.advance()
                return None
            message = delivery.message
            if delivery.kind == "refuted" and plan.is_published(delivery.index):
                ordered.put(delivery.index, plan.task(delivery.index))
                self._unproved[delivery.index] = message
                view.advance()
                return None
            if delivery.kind == "refuted" and plan.is_composed(delivery.index):
                attempts[delivery.index] += 1
                try:
                    task = plan.task(delivery.index, attempts[delivery.index])
                    return Assignment(delivery.index, task=task)
                except TaskError as error:
                    message = f"{error.message}; at last: {message}"
            self.refuted = self.refuted or TaskError(message)
            self.stop.request("a task could not be proved")
            return None

        proved = (ordered.get() for _ in range(plan.tasks))
        scrubber = self.spec.scrubber()
        writing = asyncio.create_task(
            asyncio.to_thread(write_proved, self.directory, self.run.world, proved, scrubber)
        )
        try:
            self._say(f"proving {_counted(plan.tasks, 'task')}")
            with ProgressView("proving", plan.tasks, 0, self.console) as view:
                work = self._to_prove(log, ordered, view)
                await dispatcher.run(
                    work, sink, self.stop, lambda work: ordered.has_room(work.index)
                )
        finally:
            ordered.end()
            with contextlib.suppress(ProvingStopped):
                await writing
        if self.refuted is not None:
            raise self.refuted
        if self._unproved:
            self._account_for_unproved()
        if left_out := attempts.total():
            self._say(
                f"{_counted(left_out, 'composed task')} left out, whose requests get in each"
                " other's way; others took their places"
            )

    def _to_prove(
        self, log: ProofLog, ordered: OrderedTasks, view: ProgressView
    ) -> Iterator[Assignment]:
        """The tasks that the log does not hold; a job beside a task may be played as its proof."""
        plan = self.run.plan
        apart = self.spec.asks_endpoint or self.budget.is_set or self.writer.progress.rows
        for index in range(plan.tasks):
            if (proved := log.task(index)) is not None:
                ordered.put(index, proved)
                view.advance(earlier=True)
                continue
            task = plan.task(index)
            alone = apart or index >= MOST_ROWS
            job = None if alone else plan.job(index * plan.samples, task)
            yield Assignment(index, job=job, task=task)

    def _account_for_unproved(self) -> None:
        """Name the published tasks that do not prove themselves."""
        plan, account = self.run.plan, self.run.account
        account.found("proof", plan.tasks)
        account.use("proof", plan.tasks - len(self._unproved))
        for index, message in sorted(self._unproved.items()):
            account.leave_out("proof", plan.task(index).id, message)
            self._say(f"left out {plan.task(index).id}: {message}")

    async def _play(self, dispatcher: Dispatcher, log: ProofLog, failed: Counter[str]) -> None:
        """Play every job that has no row yet; the rows of the log come first."""
        tasks = TaskTable(self.directory / TASKS_FILE)
        plan, rows_per_shard = self.run.plan, self.spec.output.rows_per_shard
        open_jobs = self.open_jobs

        def work() -> Iterator[Assignment]:
            for index in self.writer.still_to_play():
                task = Task.from_json(tasks.task(index // plan.samples))
                if task.end is None and plan.is_published(index // plan.samples):
                    self._give_up(index, task)
                else:
                    yield Assignment(index, job=plan.job(index, task))

        def has_room(work: Assignment) -> bool:
            if open_jobs and work.index - min(open_jobs) >= OPEN_SHARDS * rows_per_shard:
                return False
            assert work.job is not None
            family = work.job.task.family
            if not self.budget.begin(family):
                self._check_budgets()
                return False
            open_jobs[work.index] = family
            return True

        def sink(delivery: Delivery, *, earlier: bool = False) -> None:
            if (family := open_jobs.pop(delivery.index, None)) is not None:
                self.budget.end(family, delivery.stats if delivery.kind == "row" else None)
            self._take(delivery, tasks)
            view.advance(self.totals, earlier=earlier)

        done = plan.jobs - self.writer.progress.waiting
        self._check_budgets()
        self._say(f"playing {_counted(plan.jobs - done, 'rollout')}")
        with ProgressView("rollouts", plan.jobs, done, self.console, failed) as view:
            for delivery in log.rows():
                if self.writer.is_waiting(job := delivery.index * plan.samples):
                    sink(replace(delivery, index=job), earlier=True)
                await asyncio.sleep(0)
                if self.stop.now:
                    return
            await dispatcher.run(work(), sink, self.stop, has_room)

    def _take(self, delivery: Delivery, tasks: TaskTable) -> None:
        """Journal what a worker delivered, then look at budgets and breaker."""
        reason = self.breaker.hear(delivery)
        if delivery.kind == "row":
            self.writer.add_row(delivery.index, delivery.row)
            self.totals.add(delivery.stats or {})
            self.callbacks.finished(delivery.index, delivery.stats or {})
        else:
            self.totals.fail(delivery.stats)
            self.callbacks.failed(delivery.index, delivery.error_type, delivery.stats)
            self.writer.add_error(delivery.index, self._error_row(delivery, tasks))
        if delivery.error_type == "ModelAuthError":
            self.stop.request(f"the endpoint refuses the key: {delivery.message}")
        if reason is not None:
            self.stop.request(reason)
        self._check_budgets()

    def _check_budgets(self) -> None:
        if (reason := self.budget.reached()) is not None:
            self.stop.request(reason)

    def _watch_clock(self) -> asyncio.TimerHandle | None:
        """Stop the run when the session's minutes are over."""
        minutes = self.spec.budget.minutes
        if minutes is None:
            return None
        left = max(0.0, minutes * 60 - (time.monotonic() - self.began))
        return asyncio.get_running_loop().call_later(
            left, self.stop.request, f"the budget of {minutes:g} minutes is spent"
        )

    def _give_up(self, index: int, task: Task) -> None:
        """Record a rollout of a published task whose gold does not prove itself."""
        message = self._unproved.get(index // self.run.plan.samples, "its gold is not proved")
        row = ErrorRow.of_job(
            self.run.plan.job(index, task),
            error_type=TaskError.__name__,
            message=message,
            retryable=False,
            model=self.spec.model_name,
        )
        self.writer.add_error(index, row)

    def _error_row(self, delivery: Delivery, tasks: TaskTable) -> ErrorRow:
        plan = self.run.plan
        task = Task.from_json(tasks.task(delivery.index // plan.samples))
        planned = plan.job(delivery.index, task)
        counts = self.breaker.counts(delivery)
        return ErrorRow.of_job(
            planned,
            error_type=delivery.error_type,
            message=delivery.message,
            retryable=delivery.retryable or not counts,
            model=self.spec.model_name,
            attempts=None if counts else self.writer.attempts(delivery.index),
            retries=cast("Sequence[Any]", (delivery.stats or {}).get("retries", ())),
        )

    def _count_earlier(self) -> None:
        """Add the rows of earlier sessions to the totals, and the words that were written before:
        a budget is the run's.
        """
        if self.run.rephrased is not None:
            self.totals.charge({"num_turns": 0, **self.run.rephrased})
        if self.writer.progress.rows:
            for row in Dataset.open(self.directory).rows(columns=list(STATS)):
                self.totals.add(row)
                self.budget.learn(row["family"], row)

    def _seal(self, warnings: Sequence[str]) -> RunReport:
        left = self.writer.progress.waiting
        status: Literal["complete", "partial"] = "complete" if left == 0 else "partial"
        reason = self.stop.reason if left else None
        extra: dict[str, object] = {"stopped": reason} if reason else {}
        run = self.run
        if run.account.entries:
            extra["account"] = run.account.to_json()
        changes = changes_since(self.spec, run.world)
        if changes:
            extra["database_changes"] = changes
            moved = f"the attached database changed during the run: {'; '.join(changes)}"
            warnings = [*warnings, f"{moved}. Rewards may be wrong."]
        manifest = self.writer.seal(status, extra)
        progress = self.writer.progress
        return RunReport(
            directory=self.directory,
            status=status,
            reason=reason,
            planned=progress.jobs,
            totals=self.totals,
            given_up=progress.given_up,
            seconds=time.monotonic() - self.began,
            tools=ToolExecutions.from_json(manifest["counts"]["tools"]),
            warnings=[*warnings, *self.writer.warnings, *RunCounts.warnings(manifest)],
            failures=() if progress.rows == progress.jobs else failures(self.directory),
            higher=self.budget.higher() if left else (),
        )


def failures(directory: Path) -> list[Failure]:
    """The failures of a run's jobs that have no row by their type, the commonest first.

    Texts that differ in their numbers only are one text.
    """
    kinds: dict[str, dict[str, list[str]]] = {}
    with Dataset.open(directory) as dataset:
        for error in dataset.errors():
            texts = kinds.setdefault(error["error_type"], {})
            texts.setdefault(re.sub(r"\d+", "0", error["message"]), []).append(error["message"])
    found = [
        Failure(
            name,
            max(texts.values(), key=len)[0],
            sum(len(messages) for messages in texts.values()),
            len(texts),
        )
        for name, texts in kinds.items()
    ]
    return sorted(found, key=lambda kind: -kind.count)


def _refused(answer: Delivery) -> Iterator[str]:
    """The endpoint's words on the first call, and what to do about them."""
    yield f"the endpoint refuses the first call: {answer.message}"
    if answer.error_type == "ContextOverflow":
        yield (
            "The first prompt with its tools is longer than the model's context: serve it with"
            " more (vLLM: --max-model-len), or choose another model or a world with fewer tools."
        )
    yield "No rollout was begun. (preflight=false skips this call)"


def _started(workers: int) -> str:
    return f"starting {_counted(workers, 'worker')}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
