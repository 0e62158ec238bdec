"""Workers as Ray actors, on this machine or on a cluster.

Local Ray starts quietly: no dashboard, no log forwarding, no usage statistics, and without the hook that would
build a second environment under ``uv run``. Its token authentication stays as Ray sets it. An address is
passed on as given. Restarts are the driver's business, so that a job that kills its worker is counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Awaitable, Coroutine, Generator, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray
import ray.exceptions

from synth.errors import OperatorError, WorkerHeld, WorkerLost
from synth.limits import Grant
from synth.runtime.base import Runtime, WorkerHandle
from synth.worker import Assignment, Collected, Worker, WorkerSetup

T = TypeVar("T")

_RAY: Any = ray  # its annotations leave too much unknown for strict typing

OBJECT_STORE_BYTES = 256 * 1024**2
"""Only the workers' setup is stored: a small store starts faster."""

SILENCE_S = 120.0
"""A worker that has not answered for so long is given up. Its rollouts share an event loop, on which tools run in place:
the limit is on the longest stretch that one rollout may hold it."""

LOOK_S = 5.0
"""Seconds between two looks at a worker that does not answer."""

CLOSE_S = 2.0
"""Longest wait for a worker to end by itself before it is killed."""

REACH_S = 10.0
"""Longest wait for a connection to ``runtime.address``; Ray itself tries for a quarter of an hour."""

_WATCH = "watch"


class _Actor(Worker):
    """The worker inside its Ray process."""

    @_RAY.method(concurrency_group=_WATCH)
    async def held_by(self) -> int | None:
        """:meth:`holding`, on a thread of its own, which answers while the worker's event loop does not."""
        return self.holding()


class RayWorker(WorkerHandle):
    """``silence_s`` and ``look_s`` as :data:`SILENCE_S` and :data:`LOOK_S`."""

    def __init__(self, actor: Any, silence_s: float = SILENCE_S, look_s: float = LOOK_S) -> None:
        self._actor = actor
        self._silence_s = silence_s
        self._look_s = look_s

    async def _ask(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except ray.exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            raise (cause if isinstance(cause, Exception) else error) from None
        except ray.exceptions.RayError as error:  # the actor, its node, Ray itself
            raise WorkerLost(f"a worker process ended: {str(error).splitlines()[0]}") from None

    async def _watched(self, asking: Coroutine[Any, Any, T]) -> T:
        """The answer, or WorkerLost after a long silence: WorkerHeld where one job was seen to hold the worker."""
        answer = asyncio.ensure_future(asking)
        holder, since = None, time.monotonic()
        try:
            while True:
                await asyncio.wait({answer}, timeout=self._look_s)
                if answer.done():
                    return answer.result()
                before, holder = holder, await self._look()
                if holder != before:
                    since = time.monotonic()
                elif time.monotonic() - since >= self._silence_s:
                    break
        finally:
            answer.cancel()
        message = f"a worker did not answer for {self._silence_s:g} s"
        if holder is None:
            raise WorkerLost(message)
        raise WorkerHeld(f"{message}: this rollout held it, in a tool call that does not return", holder)

    async def _look(self) -> int | None:
        """The job that holds the worker's event loop; None where that cannot be known."""
        with contextlib.suppress(TimeoutError, WorkerLost):  # whoever waits for the answer hears of the loss
            async with asyncio.timeout(self._look_s):
                return await self._ask(self._actor.held_by.remote())
        return None

    async def start(self) -> list[str]:
        return await self._ask(self._actor.start.remote())

    async def lease(self, work: Sequence[Assignment]) -> None:
        await self._watched(self._ask(self._actor.lease.remote(list(work))))

    async def collect(self, wait_s: float, grant: Grant | None = None) -> Collected:
        return await self._watched(self._ask(self._actor.collect.remote(wait_s, grant)))

    async def withdraw(self) -> list[int]:
        return await self._watched(self._ask(self._actor.withdraw.remote()))

    async def close(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._ask(self._actor.close.remote())
        except (WorkerLost, TimeoutError):
            pass
        _RAY.kill(self._actor)


class RayRuntime(Runtime):
    name = "ray"

    def __init__(self, address: str | None = None, silence_s: float = SILENCE_S, look_s: float = LOOK_S) -> None:
        self._address = address
        self._patience = (silence_s, look_s)
        self._setup: Any = None
        self._actor_class: Any = None
        self._ours = False

    async def open(self, setup: WorkerSetup) -> None:
        if not _RAY.is_initialized():
            quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
            local: dict[str, Any] = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
            where = self._address or "a local Ray"
            try:
                if self._address is None:
                    _RAY.init(address="local", **quiet, **local)
                else:
                    _reach(self._address)
                    with _one_attempt():
                        _RAY.init(address=self._address, **quiet)
            except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
                reason = str(error).partition("Traceback")[0].strip() or type(error).__name__
                raise OperatorError(f"runtime.address: cannot use {where}: {reason}") from None
            self._ours = True
        self._setup = _RAY.put(setup)
        place: dict[str, Any] = {"num_cpus": 1, "scheduling_strategy": "SPREAD"} if self._address else {"num_cpus": 0}
        self._actor_class = _RAY.remote(max_restarts=0, max_task_retries=0, concurrency_groups={_WATCH: 1}, **place)(
            _Actor
        )

    def worker_count(self, asked: int | None) -> int:
        return asked or max(1, int(_RAY.cluster_resources().get("CPU", 1)))

    async def spawn(self) -> WorkerHandle:
        return RayWorker(self._actor_class.options(max_concurrency=1000).remote(self._setup), *self._patience)

    async def close(self) -> None:
        self._setup = None
        if self._ours and _RAY.is_initialized():
            _RAY.shutdown()
        self._ours = False


def _reach(address: str) -> None:
    """Raise OSError where nobody listens at ``host:port``; other forms of address are Ray's to judge."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return
    if host is not None and port is not None:
        socket.create_connection((host, port), REACH_S).close()


@contextlib.contextmanager
def _one_attempt() -> Generator[None]:
    """Let Ray try a cluster once (about 40 s) and not 20 times: somebody listens there, though it may be no Ray."""
    name = "RAY_gcs_server_port_wait_time_s"
    if name in os.environ:
        yield
        return
    os.environ[name] = "1"
    try:
        yield
    finally:
        del os.environ[name]
