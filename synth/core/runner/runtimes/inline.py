"""A runtime in the driver's own process and on its event loop: for debugging and small jobs."""

from __future__ import annotations

from dataclasses import dataclass

from synth.core.runner.runtimes.base import Runtime, WorkerHandle
from synth.core.runner.setup import WorkerSetup
from synth.worker import Worker


@dataclass(frozen=True)
class _InlineOptions:
    """Options of ``runtime=inline``, which has none."""


class InlineRuntime(Runtime):
    """Makes one worker, in this process."""

    name = "inline"
    Options = _InlineOptions
    ignores = ("workers",)

    def __init__(self, options: _InlineOptions | None = None) -> None:
        self._setup: WorkerSetup | None = None

    def announce(self, setup: WorkerSetup) -> str:
        return "working in this process"

    async def open(self, setup: WorkerSetup) -> None:
        self._setup = setup

    def worker_count(self, asked: int | None) -> int:
        return 1  # a second worker on the same loop would only add overhead

    async def spawn(self) -> WorkerHandle:
        assert self._setup is not None, "open() comes first"
        return Worker(self._setup)

    async def close(self) -> None:
        self._setup = None
