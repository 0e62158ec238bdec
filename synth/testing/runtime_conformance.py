"""Contract tests of a runtime."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from synth.config import from_dict
from synth.core.foundation.archive import pack_world
from synth.core.foundation.shipped import find_world
from synth.core.runner.runtimes.base import Runtime, WorkerHandle
from synth.core.runner.worker_messages import Assignment, Delivery
from synth.plan import job
from synth.prepare import PreparedRun, prepare


class RuntimeConformance(ABC):
    """Contract tests of a runtime. Subclass it as ``Test...`` and implement :meth:`make`."""

    WORLD = "ehr_db"
    WAIT_S = 60.0

    @abstractmethod
    def make(self) -> Runtime:
        """A runtime that is not open yet."""

    def prepared(self) -> PreparedRun:
        """A plan of three small jobs."""
        return prepare(
            from_dict({"env": {"path": str(find_world(self.WORLD))}, "tasks": {"count": 3}})
        )

    @asynccontextmanager
    async def opened(self, run: PreparedRun) -> AsyncGenerator[Runtime]:
        """The runtime, open for the workers of a run; closed twice at the end."""
        runtime = self.make()
        try:
            await runtime.open(run.worker_setup(pack_world(Path(run.world.path))))
            yield runtime
        finally:
            await runtime.close()
            await runtime.close()

    async def deliveries(self, worker: WorkerHandle, count: int) -> list[Delivery]:
        """Collect until so many deliveries have come."""
        found: list[Delivery] = []
        async with asyncio.timeout(self.WAIT_S):
            while len(found) < count:
                found += (await worker.collect(0.25)).deliveries
        return found

    async def test_a_worker_proves_and_plays_what_it_is_leased(self) -> None:
        """The runtime has a name and room for a worker."""
        run = self.prepared()
        async with self.opened(run) as runtime:
            assert runtime.name
            assert runtime.worker_count(None) >= 1
            assert 1 <= runtime.worker_count(2) <= 2
            worker = await runtime.spawn()
            await worker.start()
            await worker.lease([Assignment(n, task=run.plan.task(n)) for n in range(3)])
            proved = await self.deliveries(worker, 3)
            assert {delivery.kind for delivery in proved} == {"proved"}
            jobs = [
                Assignment(delivery.index, job=job(delivery.index, delivery.task, 1, run.plan.seed))
                for delivery in proved
                if delivery.task is not None
            ]
            await worker.lease(jobs)
            rows = await self.deliveries(worker, 3)
            assert sorted(delivery.index for delivery in rows) == [0, 1, 2]
            assert all(delivery.kind == "row" and delivery.row for delivery in rows)
            await worker.close()
            await worker.close()

    async def test_what_has_not_started_is_withdrawn(self) -> None:
        run = self.prepared()
        async with self.opened(run) as runtime:
            worker = await runtime.spawn()
            await worker.start()
            await worker.lease([Assignment(n, task=run.plan.task(n % 3)) for n in range(200)])
            withdrawn = await worker.withdraw()
            rest = await self.deliveries(worker, 200 - len(withdrawn))
            assert sorted([*withdrawn, *(delivery.index for delivery in rest)]) == list(range(200))
            await worker.close()
