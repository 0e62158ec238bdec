"""A worker: jobs in, finished rows out as encoded bytes.

One worker carries many rollouts on one event loop. It stays in its process, whatever started it.
"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from envs.errors import EnvsError, ExecutorError, NoRoomError
from envs.sandboxes.base import find_engine
from envs.world.loader import load_world
from envs.world.template_cache import Templates
from synth.core.dataset.store.wire import encode_clean
from synth.core.foundation.archive import unpack_world
from synth.core.foundation.own_process import THRESHOLDS
from synth.core.foundation.tempdirs import Scratch
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.runner.build import (
    build_middleware,
    build_model,
    build_user,
    build_wrapper,
    reachable,
    run_id,
    worker_home,
    worker_id,
)
from synth.core.runner.provenance import check_installed
from synth.core.runner.setup import RunSpec, WorkerSetup
from synth.core.runner.totals import spent, stats_of
from synth.core.runner.worker_messages import Assignment, Collected, Delivery, Grant, broken
from synth.core.types.renaming import renaming_of
from synth.core.users.scripted.user import ScriptedUser
from synth.core.validation.prove import prove
from synth.errors import ModelAuthError, ModelError, ModelRefusedRequest, SynthError, TaskError
from synth.plugins import resolve
from synth.rollout import PartialUsage, RolloutContext, play, play_as_proof, probe
from synth.task import Job, Task

if TYPE_CHECKING:
    from synth.core.runner.audit_files import AuditLog
    from synth.core.runner.rate_limits.limiter import LeasedRateLimiter

MAX_LOCAL = 4
"""Proofs in flight; also rollouts in flight that ask nobody, if sandboxes are on a server. One
process computes them one after the other, and each has a session.
"""

ROOM_S = 60.0
"""Seconds that a rollout waits to begin while the database server has no session left."""

_AGAIN_S = 0.5


class Worker:
    """Plays and proves what it is leased. Not thread-safe: all calls come from one event loop."""

    def __init__(self, setup: WorkerSetup) -> None:
        self._setup, spec = setup, setup.spec
        self._queue: deque[Assignment] = deque()
        self._running: dict[asyncio.Task[Delivery], Assignment] = {}
        self._finished: list[Delivery] = []
        self._news = asyncio.Event()
        self._proofs = asyncio.Semaphore(MAX_LOCAL)
        concurrency = spec.runtime.concurrency
        local = _asks_nobody(spec) and find_engine(spec.engine).needs_server
        self._concurrency = min(concurrency, MAX_LOCAL) if local else concurrency
        self._limiter: LeasedRateLimiter | None = None
        if spec.asks_endpoint:
            limiter = resolve("synth.core.runner.rate_limits.limiter:LeasedRateLimiter")
            self._limiter = limiter(self._news.set)
        self._context: RolloutContext | None = None
        self._audit: AuditLog | None = None
        self._scratch: Scratch | None = None
        self._scrubber = setup.spec.scrubber()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._collector: tuple[int, int, int] | None = None

    async def start(self) -> list[str]:
        """Unpack the world and, with ``preflight``, test addresses and keys of model, user and
        judge; returns warnings.

        Raises :class:`~synth.errors.OperatorError` if an extension has another version here than
        in the driver.
        """
        setup, spec = self._setup, self._setup.spec
        self._loop = asyncio.get_running_loop()
        check_installed(spec.extensions, f"worker {worker_id()}")
        if gc.get_threshold() != THRESHOLDS:
            self._collector = gc.get_threshold()
            gc.set_threshold(*THRESHOLDS)
        self._scratch = Scratch("worker")
        folder = self._scratch.path / setup.world_name
        world = load_world(unpack_world(setup.world_archive, folder))
        model, user = build_model(spec.model), build_user(spec, self._limiter)
        home = worker_home(setup, self._scratch.path, self._scrubber)
        makers = [(one.name, build_middleware(one, home)) for one in spec.middlewares]
        wrappers = [build_wrapper(one, home) for one in spec.wrappers]
        warnings = self._open_audit()
        self._context = RolloutContext(
            middlewares=makers,
            audit=self._audit,
            world=world,
            templates=Templates(world, spec.engine, place=spec.target),
            model=model,
            user=user,
            wrappers=wrappers,
            limits=spec.limits,
            agent=spec.agent,
            sampling=spec.model.sampling,
            config_digest=spec.config_digest,
            synth_version=setup.synth_version,
        )
        if spec.preflight:
            for asked in (model, user, *wrappers):
                warnings += await asked.preflight()
        model.limiter = self._limiter  # closed until the first grant
        return warnings

    def _open_audit(self) -> list[str]:
        """Begin the worker's audit if the run has one; returns warnings."""
        setup = self._setup
        if setup.spec.audit is None:
            return []
        run_dir = reachable(setup)
        self._audit = resolve("synth.core.runner.audit_files:AuditLog")(
            run_id(setup), worker_id(), setup.spec.audit, run_dir, self._scrubber.text
        )
        if run_dir is not None:
            return []
        return [
            f"worker {worker_id()} cannot reach {setup.run_dir}: its audit is on its standard error"
        ]

    async def lease(self, work: Sequence[Assignment]) -> None:
        """Accept assignments; they start as rollouts finish."""
        self._queue.extend(work)
        self._fill()

    async def collect(self, wait_s: float, grant: Grant | None = None) -> Collected:
        """Return what has finished since the last call; waits up to ``wait_s`` for something.

        ``grant`` replaces the lease of the endpoint from now on.
        """
        if self._limiter is not None and grant is not None:
            self._limiter.apply_lease(grant)
        if not self._finished and (self._running or self._queue):
            try:
                async with asyncio.timeout(wait_s):
                    await self._news.wait()
            except TimeoutError:
                pass
        self._news.clear()
        finished, self._finished = self._finished, []
        return Collected(finished, None if self._limiter is None else self._limiter.report_usage())

    async def withdraw(self) -> list[int]:
        """Give back what has not started; returns its indices."""
        indices = [work.index for work in self._queue]
        self._queue.clear()
        return indices

    async def close(self) -> None:
        """End what still runs and release everything. Safe to call twice."""
        if self._collector is not None:
            gc.set_threshold(*self._collector)
            self._collector = None
        self._queue.clear()
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._context is not None:
            for _, maker in self._context.middlewares:
                await maker.aclose()
            await self._context.model.aclose()
            for wrapper in self._context.wrappers:
                await wrapper.aclose()
            if self._context.user is not None:
                await self._context.user.aclose()
            self._context.templates.close()
            self._context = None
        if self._audit is not None:
            self._audit.close()
        if self._scratch is not None:
            self._scratch.remove()

    def holding(self) -> int | None:
        """The index of the assignment whose code occupies the event loop at this moment.

        The only method that another thread may call.
        """
        task = None if self._loop is None else asyncio.current_task(self._loop)
        held = None if task is None else self._running.get(cast("asyncio.Task[Delivery]", task))
        return None if held is None else held.index

    def _fill(self) -> None:
        while self._queue and len(self._running) < self._concurrency:
            work = self._queue.popleft()
            task = asyncio.create_task(self._with_room(work))
            self._running[task] = work
            task.add_done_callback(partial(self._done, work))

    def _done(self, work: Assignment, task: asyncio.Task[Delivery]) -> None:
        """Account for the assignment of a task that has ended in any way."""
        self._running.pop(task, None)
        if task.cancelled():
            delivery = broken(work.index, "Cancelled", "cancelled")
        elif (error := task.exception()) is not None:
            words = self._scrubber.message(f"{type(error).__name__}: {error}")
            delivery = broken(work.index, "UnexpectedError", words)
        else:
            delivery = task.result()
        self._finished.append(delivery)
        self._news.set()
        self._fill()

    async def _with_room(self, work: Assignment) -> Delivery:
        """Deliver. Work that finds the database server full before it has cost anything begins
        again, for ROOM_S at most.
        """
        deadline = time.monotonic() + ROOM_S
        while True:
            delivery = await self._deliver(work)
            full = delivery.error_type == NoRoomError.__name__ and delivery.stats is None
            if not full or time.monotonic() > deadline:
                return delivery
            await asyncio.sleep(_AGAIN_S)

    async def _deliver(self, work: Assignment) -> Delivery:
        context, usage = self._context, PartialUsage()
        assert context is not None, "start() comes first"
        try:
            if work.task is not None:
                async with self._proofs:
                    return await self._prove(work.index, work.task, work.job, context)
            assert work.job is not None
            if work.probe:
                return await self._probe(work.index, work.job, context)
            row = await play(work.job, context, usage)
            return Delivery(
                work.index, "row", row=encode_clean(row, self._scrubber), stats=stats_of(row)
            )
        except TaskError as error:
            return Delivery(
                work.index,
                "refuted",
                error_type="TaskError",
                message=self._message(error, work),
                fatal=True,
            )
        except (SynthError, EnvsError) as error:
            return Delivery(
                work.index,
                "error",
                error_type=type(error).__name__,
                message=self._message(error, work),
                retryable=error.retryable or _heals(error),
                fatal=isinstance(error, ExecutorError) and work.task is not None,
                fault=_fault(error),
                stats=usage.stats,
            )
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise  # ours: the worker is being closed
            return self._unexpected(work, error, usage)
        except KeyboardInterrupt as error:
            if threading.current_thread() is threading.main_thread():
                raise  # the person's: signals arrive in the main thread only
            return self._unexpected(work, error, usage)
        # A bug of ours or of an extension becomes typed data, never a dead worker.
        except BaseException as error:
            return self._unexpected(work, error, usage)

    async def _prove(
        self, index: int, task: Task, job: Job | None, context: RolloutContext
    ) -> Delivery:
        """Prove a task, by playing its job if the plain expert plays it with nothing around it."""
        played = None
        if job is not None and self._proves_by_playing(task, context):
            played = await play_as_proof(job, context)
        if played is not None:
            proved, row = played
            data = encode_clean(row, self._scrubber)
            return Delivery(index, "proved", data, proved, stats=stats_of(row))
        with context.templates.use(task.universe) as template:
            proved = await prove(task, context.world, template, context.limits)
        return Delivery(index, "proved", task=proved)

    def _proves_by_playing(self, task: Task, context: RolloutContext) -> bool:
        """True if a rollout of the task is what its proof does: the plain expert and the scripted
        user, nothing around them, and the task in its own names and in one piece.
        """
        expert = isinstance(context.model, ScriptedModel) and context.model.plays_gold
        plain = expert and isinstance(context.user, ScriptedUser) and context.audit is None
        whole = renaming_of(task) is None and not task.parts
        return plain and whole and _asks_nobody(self._setup.spec)

    async def _probe(self, index: int, job: Job, context: RolloutContext) -> Delivery:
        """Send the first prompt of a job; what the endpoint says against it is a result."""
        try:
            completion = await probe(job, context)
        except ModelError as error:
            return Delivery(
                index,
                "probed",
                error_type=type(error).__name__,
                message=str(error),
                retryable=error.retryable,
            )
        return Delivery(index, "probed", stats=None if completion is None else spent(completion))

    def _message(self, error: SynthError | EnvsError, work: Assignment) -> str:
        """The error's text, with files of the world named relative to the world's folder."""
        scratch = "" if self._scratch is None else f"{self._scratch.path.resolve()}{os.sep}"
        universe = work.task.universe if work.task is not None else 0
        where = f"universe {universe}: " if universe else ""
        text = str(error).replace(scratch, "") if scratch else str(error)
        return self._scrubber.message(where + text)

    def _unexpected(self, work: Assignment, error: BaseException, usage: PartialUsage) -> Delivery:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        message = self._scrubber.message(f"{type(error).__name__}: {error} ({place})")
        return replace(broken(work.index, "UnexpectedError", message), stats=usage.stats)


def _asks_nobody(spec: RunSpec) -> bool:
    """True if nothing that a rollout does asks an endpoint or a person."""
    asked = spec.asks_endpoint or spec.user.model is not None
    return not (asked or spec.wrappers or spec.middlewares)


def _fault(error: SynthError | EnvsError) -> Literal["", "endpoint", "refused"]:
    if isinstance(error, ModelRefusedRequest):
        return "refused"
    return "endpoint" if isinstance(error, ModelError) else ""


def _heals(error: SynthError | EnvsError) -> bool:
    """Tell whether the operator can mend a refusal: it concerns key, address or model, not this
    request.
    """
    if isinstance(error, ModelAuthError):
        return True
    status = error.status if isinstance(error, ModelError) else None
    return status in (404, 405) or (status is not None and 300 <= status < 400)
