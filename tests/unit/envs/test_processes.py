"""Children of a pool that end at once, or at rest, leave the process that forks them alive."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import Any

import pytest

from envs.processes import Pool, pool_of

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


def test_a_pool_at_rest_has_no_children() -> None:
    with contextlib.closing(pool_of(__name__, ())) as pool:
        with pool.lease() as first:
            pass
        pool_of(__name__, ()).rest()
        with pytest.raises(ProcessLookupError):
            os.kill(first.pid, 0)
        with pool.lease() as another:
            assert another.zygote is first.zygote


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
