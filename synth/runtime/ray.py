"""Workers as Ray actors, on this machine or on a cluster.

Local Ray starts quietly: no dashboard, no log forwarding, no usage statistics, and without the hook that would
build a second environment under ``uv run``. Its token authentication stays as Ray sets it. An address is
passed on as given. Restarts are the driver's business, so that a job that kills its worker is counted.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray
import ray.exceptions

from synth.errors import OperatorError, WorkerLost
from synth.runtime.base import Runtime, WorkerHandle
from synth.worker import Assignment, Delivery, Worker, WorkerSetup

T = TypeVar("T")

_RAY: Any = ray  # its annotations leave too much unknown for strict typing

OBJECT_STORE_BYTES = 256 * 1024**2
"""Only the workers' setup is stored: a small store starts faster."""


class _Actor(Worker):
    """The worker inside its Ray process."""

    async def ping(self) -> int:
        """Its process id."""
        return os.getpid()


class RayWorker(WorkerHandle):
    def __init__(self, actor: Any) -> None:
        self._actor = actor

    async def _ask(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except ray.exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            raise (cause if isinstance(cause, Exception) else error) from None
        except (ray.exceptions.RayActorError, ray.exceptions.RaySystemError) as error:
            raise WorkerLost(f"a worker process ended: {str(error).splitlines()[0]}") from None

    async def start(self) -> list[str]:
        return await self._ask(self._actor.start.remote())

    async def lease(self, work: Sequence[Assignment]) -> None:
        await self._ask(self._actor.lease.remote(list(work)))

    async def collect(self, wait_s: float) -> list[Delivery]:
        return await self._ask(self._actor.collect.remote(wait_s))

    async def withdraw(self) -> list[int]:
        return await self._ask(self._actor.withdraw.remote())

    async def close(self) -> None:
        try:
            async with asyncio.timeout(5):
                await self._ask(self._actor.close.remote())
        except (WorkerLost, TimeoutError):
            pass
        _RAY.kill(self._actor)


class RayRuntime(Runtime):
    name = "ray"

    def __init__(self, address: str | None = None) -> None:
        self._address = address
        self._setup: Any = None
        self._actor_class: Any = None
        self._ours = False

    async def open(self, setup: WorkerSetup) -> None:
        if not _RAY.is_initialized():
            quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
            local: dict[str, Any] = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
            try:
                _RAY.init(address=self._address or "local", **quiet, **({} if self._address else local))
            except (ConnectionError, ValueError, RuntimeError) as error:
                where = self._address or "a local Ray"
                raise OperatorError(f"runtime.address: cannot use {where}: {error}") from None
            self._ours = True
        self._setup = _RAY.put(setup)
        place: dict[str, Any] = {"num_cpus": 1, "scheduling_strategy": "SPREAD"} if self._address else {"num_cpus": 0}
        self._actor_class = _RAY.remote(max_restarts=0, max_task_retries=0, **place)(_Actor)

    def worker_count(self, asked: int | None) -> int:
        return asked or max(1, int(_RAY.cluster_resources().get("CPU", 1)))

    async def spawn(self) -> WorkerHandle:
        return RayWorker(self._actor_class.options(max_concurrency=1000).remote(self._setup))

    async def close(self) -> None:
        self._setup = None
        if self._ours and _RAY.is_initialized():
            _RAY.shutdown()
        self._ours = False
