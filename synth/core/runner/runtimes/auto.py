"""The runtime ``auto``: this process for a job that it ends before Ray has started, else Ray."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from synth.config import RuntimeConfig
from synth.core.runner.runtimes.base import Runtime, WorkerHandle, make_runtime
from synth.core.runner.setup import WorkerSetup, Workload

RAY_START_S = 8.0
"""Seconds from the start of a local Ray to the first rollout of its first worker."""

GAIN = 0.85
"""The share of the time in this process below which Ray is worth its processes."""

ROLLOUT_S = 0.012
"""CPU seconds of one proof or rollout: typed tools on SQLite, no endpoint."""

FREE_SQL = 4
"""Times as much where agents write SQL, which runs in processes of its own."""

SERVER = 2
"""Times as much on a database server."""

ENDPOINT = 3
"""Times as much where an endpoint is asked over HTTP."""

ANSWERS_S = 5.0
"""Seconds that a rollout waits for the answers of an endpoint; a guess."""


class AutoRuntime(Runtime):
    """Chooses between this process and Ray by the work there is, and is then what it chose.

    ``runtime.workers``, ``runtime.address`` and ``runtime.options`` mean Ray.
    """

    name = "auto"

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self._config = RuntimeConfig(**(options or {}))
        self._chosen: Runtime | None = None

    def announce(self, setup: WorkerSetup) -> str:
        return choose(self._config, setup)[1]

    async def open(self, setup: WorkerSetup) -> None:
        kind, _ = choose(self._config, setup)
        self._chosen = make_runtime(self._config, kind)
        self.name = self._chosen.name
        await self._chosen.open(setup)

    def worker_count(self, asked: int | None) -> int:
        return self._open.worker_count(asked)

    async def spawn(self) -> WorkerHandle:
        return await self._open.spawn()

    async def close(self) -> None:
        if self._chosen is not None:
            await self._chosen.close()

    @property
    def _open(self) -> Runtime:
        assert self._chosen is not None, "open() comes first"
        return self._chosen


def choose(
    config: RuntimeConfig, setup: WorkerSetup, workload: Workload | None = None
) -> tuple[str, str]:
    """The kind of runtime for this work (by default the setup's), and a line that says why."""
    if workload is not None:
        setup = replace(setup, workload=workload)
    asked = [name for name in ("address", "workers") if getattr(config, name) is not None]
    asked += [name for name in ("resources", "runtime_env", "options") if getattr(config, name)]
    cpus = os.cpu_count() or 1
    if asked:
        where = f"at {config.address}" if config.address else "on this machine"
        return "ray", f"Ray {where}, as runtime.{asked[0]} is set"
    alone, beside = seconds(setup, 1), RAY_START_S + seconds(setup, cpus)
    rollouts = _counted(setup.workload)
    if GAIN * alone <= beside:
        return "inline", (
            f"{rollouts} in this process: about {alone:.0f} s; Ray, which takes time to start:"
            f" {beside:.0f} s (choose it with runtime=ray)"
        )
    return "ray", (
        f"{rollouts} on Ray, {cpus} workers: about {beside:.0f} s; in this process:"
        f" {alone:.0f} s (choose it with runtime=inline)"
    )


def seconds(setup: WorkerSetup, processes: int) -> float:
    """An estimate of the time that so many processes take, once they have started."""
    work, spec = setup.workload, setup.spec
    factor = FREE_SQL if work.free_sql else 1
    factor *= 1 if spec.engine == "sqlite" else SERVER
    endpoint = ENDPOINT if spec.asks_endpoint else 1
    cpu_s = ROLLOUT_S * factor * (work.tasks + work.jobs * endpoint) / processes
    waves = (
        math.ceil(work.jobs / (spec.runtime.concurrency * processes)) if spec.asks_endpoint else 0
    )
    return max(1.0, cpu_s, waves * ANSWERS_S)


def _counted(work: Workload) -> str:
    rollouts = "1 rollout" if work.jobs == 1 else f"{work.jobs:,} rollouts"
    return f"{work.tasks:,} proofs and {rollouts}" if work.tasks > 1 else rollouts
