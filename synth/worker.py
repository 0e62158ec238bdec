"""What runs in a worker process: jobs in, finished rows out as encoded bytes.

One worker carries many rollouts on one event loop. It is a resident of its process, whatever started it.
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import threading
import traceback
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from envs.errors import EnvsError, ExecutorError
from envs.folder import load_world
from envs.sandboxes.base import Place
from envs.templates import Templates
from envs.types import Limits
from synth.admission.proof import prove
from synth.agent.middleware.base import Factory, MiddlewareHome, MiddlewareMaker
from synth.agent.run import AgentLimits
from synth.archive import unpack_world
from synth.audit import AuditBook, AuditLevel
from synth.dataset.wire import encode, to_wire
from synth.errors import ModelAuthError, SynthError, TaskError
from synth.limits import Grant, LeasedGate, Report
from synth.models.base import Gate, Model, Sampling
from synth.rollout import Spent, Stage, play
from synth.scratch import Scratch
from synth.types import Job, Task
from synth.users import USERS
from synth.users.base import User

Json = Any


COLLECTOR = (50_000, 20, 10)
"""Thresholds of Python's garbage collector while a worker runs. Python's own have it look through all rollouts in flight so often
that with a thousand of them a call costs half as much again; a rollout leaves next to no garbage that it alone can find.
"""


@dataclass(frozen=True)
class Secret:
    """A key on its way to a worker: it travels as an argument and never prints."""

    value: str = field(repr=False)


@dataclass(frozen=True)
class MiddlewareSetup:
    """A middleware as the config names it, its factory (``package.module:attribute``) and its options."""

    name: str
    factory: str
    options: Json


@dataclass(frozen=True)
class ModelSetup:
    """A model to be built in a worker, as plain data; ``factory`` is ``package.module:attribute``."""

    factory: str
    options: Json
    sampling: Sampling
    api_key: Secret | None = None


@dataclass(frozen=True)
class WorkerSetup:
    """All that a worker needs, as plain data. ``model`` and ``user`` name factories: ``package.module:attribute``.

    ``keys`` are the values of the variables that options of middlewares name, ``run_dir`` is where the run's driver writes.
    ``gated``: the model is asked as the driver's grants allow, and not before the first of them.
    """

    world_name: str
    world_archive: bytes = field(repr=False)
    engine: str
    place: Place
    model: str
    model_options: Json
    sampling: Sampling
    limits: Limits
    agent: AgentLimits
    concurrency: int
    config_digest: str
    synth_version: str
    api_key: Secret | None = None
    user: str = USERS["scripted"]
    user_options: Json = None
    middlewares: Sequence[MiddlewareSetup] = ()
    keys: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    run_dir: Path | None = None
    gated: bool = False
    user_model: ModelSetup | None = None
    audit: AuditLevel | None = None


@dataclass(frozen=True)
class Assignment:
    """Work for one place in the plan: a rollout to play, or a task to prove."""

    index: int
    job: Job | None = None
    task: Task | None = None


@dataclass(frozen=True)
class Delivery:
    """What became of one assignment. ``stats`` is what the run's totals need of a row, or of what broke: what it cost."""

    index: int
    kind: Literal["row", "error", "proved", "refuted"]
    row: bytes = b""
    task: Task | None = None
    error_type: str = ""
    message: str = ""
    retryable: bool = False
    fatal: bool = False
    stats: Json = None


@dataclass(frozen=True)
class Collected:
    """What a worker hands over: what has finished, and what became of its lease of the endpoint (None: it has none)."""

    deliveries: Sequence[Delivery] = ()
    report: Report | None = None


class Worker:
    """Plays and proves what it is leased. Not thread-safe: all calls come from one event loop."""

    def __init__(self, setup: WorkerSetup) -> None:
        self._setup = setup
        self._queue: deque[Assignment] = deque()
        self._running: dict[asyncio.Task[Delivery], Assignment] = {}
        self._finished: list[Delivery] = []
        self._news = asyncio.Event()
        self._gate = LeasedGate(self._news.set) if setup.gated else None
        self._stage: Stage | None = None
        self._audit: AuditBook | None = None
        self._home: Scratch | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._collector: tuple[int, int, int] | None = None

    async def start(self) -> list[str]:
        """Unpack the world and ask the model's preflight; returns warnings."""
        setup = self._setup
        self._loop = asyncio.get_running_loop()
        if gc.get_threshold() != COLLECTOR:
            self._collector = gc.get_threshold()
            gc.set_threshold(*COLLECTOR)
        self._home = Scratch("worker")
        world = load_world(unpack_world(setup.world_archive, self._home.path / setup.world_name))
        model, user = make_model(setup), make_user(setup, self._gate)
        makers = [(each.name, make_middleware(each, setup, self._home.path)) for each in setup.middlewares]
        warnings = self._open_audit()
        self._stage = Stage(
            middlewares=makers,
            audit=self._audit,
            world=world,
            templates=Templates(world, setup.engine, place=setup.place),
            model=model,
            user=user,
            limits=setup.limits,
            agent=setup.agent,
            sampling=setup.sampling,
            config_digest=setup.config_digest,
            synth_version=setup.synth_version,
        )
        warnings += [*await model.preflight(), *(await user.preflight() if user is not None else ())]
        model.gate = self._gate  # which opens with the first grant
        return warnings

    def _open_audit(self) -> list[str]:
        """Begin the worker's audit where the run wants one; returns warnings."""
        setup = self._setup
        if setup.audit is None:
            return []
        home = _reachable(setup)
        self._audit = AuditBook(_run_id(setup), _worker_id(), setup.audit, home)
        if home is not None:
            return []
        return [f"worker {_worker_id()} cannot reach {setup.run_dir}: its audit is on its standard error"]

    async def lease(self, work: Sequence[Assignment]) -> None:
        """Take on work; it starts as places become free."""
        self._queue.extend(work)
        self._fill()

    async def collect(self, wait_s: float, grant: Grant | None = None) -> Collected:
        """What has finished since the last call; waits up to ``wait_s`` for something to. ``grant`` holds from now on."""
        if self._gate is not None and grant is not None:
            self._gate.take(grant)
        if not self._finished and (self._running or self._queue):
            try:
                async with asyncio.timeout(wait_s):
                    await self._news.wait()
            except TimeoutError:
                pass
        self._news.clear()
        out, self._finished = self._finished, []
        return Collected(out, None if self._gate is None else self._gate.give())

    async def withdraw(self) -> list[int]:
        """Give back what has not started; returns its indices."""
        out = [each.index for each in self._queue]
        self._queue.clear()
        return out

    async def close(self) -> None:
        """End what still runs and release everything. Safe to call twice."""
        if self._collector is not None:
            gc.set_threshold(*self._collector)
            self._collector = None
        self._queue.clear()
        running = list(self._running)
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._stage is not None:
            for _, maker in self._stage.middlewares:
                await maker.aclose()
            await self._stage.model.aclose()
            if self._stage.user is not None:
                await self._stage.user.aclose()
            self._stage.templates.close()
            self._stage = None
        if self._audit is not None:
            self._audit.close()
        if self._home is not None:
            self._home.remove()

    def holding(self) -> int | None:
        """The assignment whose code has the event loop at this moment. The one method for another thread to call."""
        task = None if self._loop is None else asyncio.current_task(self._loop)
        held = None if task is None else self._running.get(cast("asyncio.Task[Delivery]", task))
        return None if held is None else held.index

    def _fill(self) -> None:
        while self._queue and len(self._running) < self._setup.concurrency:
            work = self._queue.popleft()
            task = asyncio.create_task(self._deliver(work))
            self._running[task] = work
            task.add_done_callback(partial(self._done, work))

    def _done(self, work: Assignment, task: asyncio.Task[Delivery]) -> None:
        """Whatever became of the task, its assignment is accounted for."""
        self._running.pop(task, None)
        if task.cancelled():
            lost = Delivery(work.index, "error", error_type="Cancelled", message="cancelled", retryable=True)
            self._finished.append(lost)
        elif (error := task.exception()) is not None:
            message = f"{type(error).__name__}: {error}"
            broken = Delivery(work.index, "error", error_type="UnexpectedError", message=message, retryable=True)
            self._finished.append(broken)
        else:
            self._finished.append(task.result())
        self._news.set()
        self._fill()

    async def _deliver(self, work: Assignment) -> Delivery:
        stage, spent = self._stage, Spent()
        assert stage is not None, "start() comes first"
        try:
            if work.task is not None:
                with stage.templates.use(work.task.universe) as template:
                    proved = await prove(work.task, stage.world, template, stage.limits)
                return Delivery(work.index, "proved", task=proved)
            assert work.job is not None
            row = await play(work.job, stage, spent)
            return Delivery(work.index, "row", row=encode(to_wire(row)), stats=stats_of(row))
        except TaskError as error:
            return Delivery(work.index, "refuted", error_type="TaskError", message=self._told(error, work), fatal=True)
        except (SynthError, EnvsError) as error:
            return Delivery(
                work.index,
                "error",
                error_type=type(error).__name__,
                message=self._told(error, work),
                retryable=error.retryable or isinstance(error, ModelAuthError),
                fatal=isinstance(error, ExecutorError) and work.task is not None,
                stats=spent.stats,
            )
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise  # ours: the worker is being closed
            return _unexpected(work, error, spent)
        except KeyboardInterrupt as error:
            if threading.current_thread() is threading.main_thread():
                raise  # the person's: signals arrive in the main thread only
            return _unexpected(work, error, spent)
        except BaseException as error:  # a bug of ours or of an extension: typed data, never a dead worker
            return _unexpected(work, error, spent)

    def _told(self, error: SynthError | EnvsError, work: Assignment) -> str:
        """An error in words. A file of the world stands without the scratch folder that it was unpacked to."""
        scratch = "" if self._home is None else f"{self._home.path.resolve()}{os.sep}"
        universe = work.task.universe if work.task is not None else 0
        where = f"universe {universe}: " if universe else ""
        return where + (str(error).replace(scratch, "") if scratch else str(error))


def _unexpected(work: Assignment, error: BaseException, spent: Spent) -> Delivery:
    where = traceback.extract_tb(error.__traceback__)[-1]
    message = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    return Delivery(
        work.index, "error", error_type="UnexpectedError", message=message, retryable=True, stats=spent.stats
    )


def make_model(setup: WorkerSetup) -> Model:
    """The model that a setup names, built in this process by ``factory(options, sampling, api_key)``."""
    return _build(_asked(setup))


def _asked(setup: WorkerSetup) -> ModelSetup:
    return ModelSetup(setup.model, setup.model_options, setup.sampling, setup.api_key)


def _endpoint(setup: ModelSetup) -> tuple[Json, ...]:
    """What an endpoint's limits go by."""
    return setup.factory, setup.api_key, *(setup.options.get(key) for key in ("name", "base_url"))


def make_user(setup: WorkerSetup, gate: Gate | None = None) -> User | None:
    """The user that a setup names, built in this process by ``factory(options, model)``; None: nobody. ``gate`` stands before
    the agent's model, and before the user's where that is the same one at the same endpoint.
    """
    model = None if setup.user_model is None else _build(setup.user_model)
    if model is not None and setup.user_model is not None and _endpoint(setup.user_model) == _endpoint(_asked(setup)):
        model.gate = gate
    return _factory(setup.user)(setup.user_options, model)


def _build(setup: ModelSetup) -> Model:
    return _factory(setup.factory)(setup.options, setup.sampling, setup.api_key.value if setup.api_key else None)


def _factory(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def _run_id(setup: WorkerSetup) -> str:
    return "" if setup.run_dir is None else setup.run_dir.name


def _worker_id() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"


def _reachable(setup: WorkerSetup) -> Path | None:
    """The run's directory, where this worker sees it."""
    return setup.run_dir if setup.run_dir is not None and setup.run_dir.is_dir() else None


def make_middleware(which: MiddlewareSetup, setup: WorkerSetup, scratch: Path) -> MiddlewareMaker:
    """The maker of a middleware, built in this process by ``factory(options, home)``."""
    module, _, attribute = which.factory.partition(":")
    factory: Factory = getattr(import_module(module), attribute)
    home = MiddlewareHome(
        scratch=scratch,
        run_id=_run_id(setup),
        worker=_worker_id(),
        run_dir=_reachable(setup),
        engine=setup.engine,
        keys={name: key.value for name, key in setup.keys.items()},
    )
    return factory(which.options, home)


STATS = (
    *("family", "reward", "outcome", "stop_reason", "num_tool_calls", "num_turns"),
    *("input_tokens", "output_tokens", "cost_usd", "user_input_tokens", "user_output_tokens", "user_cost_usd"),
    *("policy_input_tokens", "policy_output_tokens", "policy_cost_usd"),
)
"""The columns that totals and progress are made of."""


def stats_of(row: dict[str, Json]) -> Json:
    """The figures of a row that the run's totals need."""
    return {name: row[name] for name in STATS}
