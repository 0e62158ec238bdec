"""Many children of a pool that end at once leave the process that forks them alive."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import Any

import pytest

from envs.processes import Pool

pytestmark = pytest.mark.slow

MANY = 24


def prepare() -> None:
    """Part of the service that this module is."""


def answer(prepared: Any, question: Any, descriptors: list[int]) -> Any:
    """The question itself."""
    return question


def test_many_that_are_killed_at_once() -> None:
    with contextlib.closing(Pool(__name__, (), MANY)) as pool:
        survive(pool)


def survive(pool: Pool) -> None:
    with pool.lease() as first:
        zygote = first.zygote
    for _ in range(8):
        with contextlib.ExitStack() as leases:
            children = [leases.enter_context(pool.lease()) for _ in range(MANY)]
            assert [child.ask(number) for number, child in enumerate(children)] == [*range(MANY)]
        for child in children:
            os.kill(child.pid, signal.SIGKILL)
        assert pool.ask(lambda child: child.ask("alive")) == "alive"
        with pool.lease() as another:
            assert another.zygote is zygote
