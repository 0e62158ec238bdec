"""The contract of a runtime: where workers live. The driver sees handles, never processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from synth.limits import Grant
from synth.worker import Assignment, Collected, WorkerSetup


class WorkerHandle(ABC):
    """A worker somewhere. Every method raises :class:`synth.errors.WorkerLost` once its process is gone."""

    @abstractmethod
    async def start(self) -> list[str]:
        """Make the worker ready; returns warnings. Raises what :meth:`synth.worker.Worker.start` raises."""

    @abstractmethod
    async def lease(self, work: Sequence[Assignment]) -> None: ...

    @abstractmethod
    async def collect(self, wait_s: float, grant: Grant | None = None) -> Collected: ...

    @abstractmethod
    async def withdraw(self) -> list[int]: ...

    @abstractmethod
    async def close(self) -> None:
        """End the worker. Never raises for one that is gone already."""


class Runtime(ABC):
    """Makes workers."""

    name: str

    @abstractmethod
    async def open(self, setup: WorkerSetup) -> None:
        """Prepare to make workers of this setup. Raises :class:`synth.errors.OperatorError` where it cannot."""

    @abstractmethod
    def worker_count(self, asked: int | None) -> int:
        """How many workers to make when so many were asked for (None: as many as there are processors)."""

    @abstractmethod
    async def spawn(self) -> WorkerHandle:
        """A new worker, not started yet."""

    @abstractmethod
    async def close(self) -> None:
        """Release everything that :meth:`open` took. Safe to call twice."""
