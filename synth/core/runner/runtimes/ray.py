"""A runtime of Ray actors, on this machine or on a cluster.

Local Ray starts quietly: no dashboard, no log forwarding, no usage statistics, no idle workers for
tasks (one a processor), and without the hook that would build a second environment under
``uv run``. Its token authentication stays as Ray sets it. An address is passed on as given. The
driver restarts workers itself, so that it can count the jobs that kill them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import time
from collections.abc import Awaitable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
os.environ.setdefault("RAY_prestart_worker_first_driver", "0")

import ray
import ray.exceptions

from synth.core.config.types import MoreThanZero
from synth.core.foundation.shipped import DISTRIBUTION, version
from synth.core.runner.runtimes import orphans
from synth.core.runner.runtimes.base import Runtime, WorkerHandle
from synth.core.runner.setup import WorkerSetup
from synth.core.runner.worker_messages import Assignment, Collected, Grant
from synth.errors import OperatorError, WorkerHeld, WorkerLost
from synth.worker import Worker

T = TypeVar("T")

_RAY: Any = ray  # its annotations leave too much unknown for strict typing

OBJECT_STORE_BYTES = 256 * 1024**2
"""Size of Ray's object store: only the workers' setup is stored, and a small store starts
faster.
"""

SILENCE_S = 120.0
"""Seconds without an answer after which a worker is given up.

Its rollouts share an event loop, on which tools run in place: this limits how long one rollout may
occupy it.
"""

LOOK_S = 5.0
"""Seconds between two checks of a worker that does not answer."""

CLOSE_S = 2.0
"""Longest wait for a worker to end by itself before it is killed."""

STARTS = 2
"""Attempts to start a local Ray: a machine that was too busy for the first may do for the second.
"""

REACH_S = 10.0
"""Longest wait for a connection to ``runtime.address``; Ray itself tries for a quarter of an hour.
"""

_WATCH = "watch"


class _Actor(Worker):
    """The worker inside its Ray process."""

    @_RAY.method(concurrency_group=_WATCH)
    async def held_by(self) -> int | None:
        """Call :meth:`holding` on a separate thread, which answers while the event loop is
        blocked.
        """
        return self.holding()


class _RayWorker(WorkerHandle):
    """A worker in a Ray actor. See :data:`SILENCE_S` and :data:`LOOK_S` for the two times."""

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
            if lacking := lacking_module(str(error)):
                raise OperatorError(lacking) from None
            raise WorkerLost(f"a worker process ended: {str(error).splitlines()[0]}") from None

    async def _watched(self, asking: Coroutine[Any, Any, T]) -> T:
        """Return the answer, or raise WorkerLost after a long silence.

        Raises WorkerHeld if one job was seen to occupy the worker.
        """
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
        raise WorkerHeld(
            f"{message}: this rollout held it, in a tool call that does not return", holder
        )

    async def _look(self) -> int | None:
        """The job that occupies the worker's event loop; None if that cannot be found out."""
        # The call that waits for the answer reports the loss.
        with contextlib.suppress(TimeoutError, WorkerLost):
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


@dataclass(frozen=True, kw_only=True)
class RayOptions:
    """Options of ``runtime=ray``; see :data:`SILENCE_S` and :data:`LOOK_S` for the two times.

    ``resources`` is what each worker takes of a node: ``CPU``, ``GPU``, ``memory`` (bytes) or a
    resource of the cluster's own. ``runtime_env`` is Ray's, for the whole job; no secret belongs
    in it, as Ray writes it to its logs.
    """

    address: str | None = None
    resources: Mapping[str, float] = field(default_factory=dict[str, float])
    runtime_env: Mapping[str, Any] = field(default_factory=dict[str, Any])
    silence_s: MoreThanZero = SILENCE_S
    look_s: MoreThanZero = LOOK_S


class RayRuntime(Runtime):
    """Ray actors: on a local Ray that it starts and stops, or on the cluster at ``address``."""

    name = "ray"
    Options = RayOptions

    def __init__(self, options: RayOptions | None = None) -> None:
        options = options or RayOptions()
        self._address = options.address
        self._resources, self._env = dict(options.resources), dict(options.runtime_env)
        self._patience = (options.silence_s, options.look_s)
        self._setup: Any = None
        self._actor_class: Any = None
        self._ours = False

    def announce(self, setup: WorkerSetup) -> str:
        if self._address is not None:
            return f"connecting to Ray at {self._address}"
        return "starting Ray on this machine (runtime=inline stays in this process)"

    async def open(self, setup: WorkerSetup) -> None:
        if not _RAY.is_initialized():
            quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
            if self._env:
                quiet["runtime_env"] = self._env
            if self._address is None:
                _start_local(quiet)
            else:
                _connect(self._address, quiet)
            self._ours = True
        self._setup = _RAY.put(setup)
        place: dict[str, Any] = (
            {"num_cpus": 1, "scheduling_strategy": "SPREAD"} if self._address else {"num_cpus": 0}
        ) | worker_resources(self._resources)
        self._actor_class = _RAY.remote(
            max_restarts=0, max_task_retries=0, concurrency_groups={_WATCH: 1}, **place
        )(_Actor)

    def worker_count(self, asked: int | None) -> int:
        return asked or max(1, int(_RAY.cluster_resources().get("CPU", 1)))

    async def spawn(self) -> WorkerHandle:
        return _RayWorker(
            self._actor_class.options(max_concurrency=1000).remote(self._setup), *self._patience
        )

    async def close(self) -> None:
        self._setup = None
        if self._ours and _RAY.is_initialized():
            _RAY.shutdown()
        self._ours = False


def lacking_module(words: str) -> str | None:
    """The operator's message if Ray says in ``words`` that a node lacks a module, else None."""
    missing = re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", words)
    if missing is None:
        return None
    node = re.search(r"\bip=([^,)\s]+)", words)
    where = f"the node {node[1]}" if node else "a node"
    name = missing[1].partition(".")[0]
    if name in {"synth", "envs"}:
        return (
            f"runtime.address: {where} of the cluster has no synth: install the same wheel of"
            f" {DISTRIBUTION} on every node, use one image, or let Ray install it:"
            f" 'runtime.runtime_env={{pip:[{DISTRIBUTION}=={version()}]}}'"
        )
    return (
        f"runtime.address: {where} of the cluster lacks the module {name}, which this run needs:"
        " install it on every node, or bring it with runtime.runtime_env"
    )


def worker_resources(resources: Mapping[str, float]) -> dict[str, Any]:
    """The arguments by which Ray sets these resources aside for each worker."""
    named = {"CPU": "num_cpus", "GPU": "num_gpus", "memory": "memory"}
    known = {named[name]: value for name, value in resources.items() if name in named}
    own = {name: value for name, value in resources.items() if name not in named}
    return known | ({"resources": own} if own else {})


def _start_local(options: Mapping[str, Any]) -> None:
    """Start Ray on this machine, a second time if it was too slow at first.

    Processes that a killed driver left behind are ended first.

    Whatever Ray raises becomes an :class:`OperatorError`: some of it is a bare ``Exception``.
    """
    local = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
    problem = ""
    orphans.end_orphans()
    for _ in range(STARTS):
        try:
            with orphans.inherited():
                _RAY.init(address="local", **options, **local)
            return
        except Exception as error:
            _RAY.shutdown()
            problem = _reason(error)
        if "timed out" not in problem:
            break
    raise OperatorError(
        f"runtime: Ray does not start on this machine: {problem}\nIt may be short of"
        " memory or processes, or very busy: try again, or runtime=inline for this process. Ray's"
        " own logs are in /tmp/ray/session_latest/logs."
    ) from None


def _connect(address: str, options: Mapping[str, Any]) -> None:
    """Connect to a cluster. Whatever Ray raises becomes an :class:`OperatorError`."""
    try:
        _reach(address)
        with _one_attempt():
            _RAY.init(address=address, **options)
    except Exception as error:
        raise OperatorError(f"runtime.address: cannot use {address}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return str(error).partition("Traceback")[0].strip() or type(error).__name__


def _reach(address: str) -> None:
    """Raise OSError if nobody listens at ``host:port``; Ray judges other forms of address."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return
    if host is not None and port is not None:
        socket.create_connection((host, port), REACH_S).close()


@contextlib.contextmanager
def _one_attempt() -> Generator[None]:
    """Let Ray try a cluster once (about 40 s) and not 20 times: the server may not be Ray."""
    name = "RAY_gcs_server_port_wait_time_s"
    if name in os.environ:
        yield
        return
    os.environ[name] = "1"
    try:
        yield
    finally:
        del os.environ[name]
