"""The contract of a runtime: the processes that workers run in. The driver sees handles only.

A runtime extension is a callable or class ``(options) -> Runtime``, named in ``runtime.kind``. An
optional attribute ``Options`` on it, a dataclass or pydantic model, types its options: fields that
are also keys of the config's ``runtime`` section (``address``) take the section's values, the
others come from ``runtime.options``. The extension gets an instance; without ``Options`` it
gets the section as a mapping. :class:`synth.testing.RuntimeConformance` tests the contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from typing import Protocol

from envs.plugins import Contract
from synth.config import RuntimeConfig
from synth.core.config.options import load_extension, options_for
from synth.core.runner.setup import WorkerSetup
from synth.core.runner.worker_messages import Assignment, Collected, Grant
from synth.plugins import RUNTIMES


class WorkerHandle(Protocol):
    """A worker in some process; :class:`synth.worker.Worker` is the one in this process.

    Every method raises :class:`synth.errors.WorkerLost` once that process is gone.
    """

    @abstractmethod
    async def start(self) -> list[str]:
        """Make the worker ready; returns warnings.

        Raises what :meth:`synth.worker.Worker.start` raises.
        """

    @abstractmethod
    async def lease(self, work: Sequence[Assignment]) -> None:
        """Hand assignments to the worker, which starts them as it has room."""

    @abstractmethod
    async def collect(self, wait_s: float, grant: Grant | None = None) -> Collected:
        """Return what has finished, after at most ``wait_s`` seconds.

        ``grant`` is the worker's lease of the endpoint until the next call.
        """

    @abstractmethod
    async def withdraw(self) -> list[int]:
        """Take back the assignments that have not started; returns their indices."""

    @abstractmethod
    async def close(self) -> None:
        """End the worker. Never raises for one that is gone already."""


class Runtime(Contract, ABC):
    """Makes workers, all from one setup. ``ignores`` are keys of the section ``runtime`` that it
    does not read.
    """

    name: str
    ignores: tuple[str, ...] = ()

    def announce(self, setup: WorkerSetup) -> str:
        """One line for the operator, before :meth:`open`: the place of the work, and why there."""
        return f"starting the runtime {self.name}"

    @abstractmethod
    async def open(self, setup: WorkerSetup) -> None:
        """Prepare to make workers of this setup.

        Raises :class:`synth.errors.OperatorError` if it cannot.
        """

    @abstractmethod
    def worker_count(self, asked: int | None) -> int:
        """The number of workers to make; ``asked`` None: as many as there are processors."""

    @abstractmethod
    async def spawn(self) -> WorkerHandle:
        """Make a worker, not started yet."""

    @abstractmethod
    async def close(self) -> None:
        """Release everything that :meth:`open` took. Safe to call twice."""


def make_runtime(config: RuntimeConfig, kind: str | None = None) -> Runtime:
    """The runtime ``kind``, by default the one that ``runtime.kind`` names; only now is it
    imported.

    Raises :class:`~synth.errors.OperatorError` if it cannot be imported or does not take its
    options.
    """
    factory = load_extension(RUNTIMES, kind or config.kind, "runtime.kind")
    return factory(options_for(factory, asdict(config), config.options, "runtime.options"))
