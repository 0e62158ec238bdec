"""Everything in this process, on the driver's own event loop: for debugging, and where Ray is too much."""

from __future__ import annotations

from collections.abc import Sequence

from synth.limits import Grant
from synth.runtime.base import Runtime, WorkerHandle
from synth.worker import Assignment, Collected, Worker, WorkerSetup


class InlineWorker(WorkerHandle):
    def __init__(self, setup: WorkerSetup) -> None:
        self._worker = Worker(setup)

    async def start(self) -> list[str]:
        return await self._worker.start()

    async def lease(self, work: Sequence[Assignment]) -> None:
        await self._worker.lease(work)

    async def collect(self, wait_s: float, grant: Grant | None = None) -> Collected:
        return await self._worker.collect(wait_s, grant)

    async def withdraw(self) -> list[int]:
        return await self._worker.withdraw()

    async def close(self) -> None:
        await self._worker.close()


class InlineRuntime(Runtime):
    name = "inline"

    def __init__(self) -> None:
        self._setup: WorkerSetup | None = None

    async def open(self, setup: WorkerSetup) -> None:
        self._setup = setup

    def worker_count(self, asked: int | None) -> int:
        return 1  # a second worker on the same loop would only add hand-overs

    async def spawn(self) -> WorkerHandle:
        assert self._setup is not None, "open() comes first"
        return InlineWorker(self._setup)

    async def close(self) -> None:
        self._setup = None
