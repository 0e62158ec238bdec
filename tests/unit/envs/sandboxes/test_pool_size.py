"""The number of unused copies that a server's template keeps."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.types import Pins
from tests.servers import server


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
@pytest.mark.parametrize(("size", "kept"), [(None, 3), (1, 1)])
def test_so_many_copies_wait_for_the_next_rollout(engine: str, size: int | None, kept: int) -> None:
    target = DatabaseTarget(server(engine), pool_size=size)
    template: Any = find_engine(engine).build(lambda connection: None, target)
    with closing(template):
        sandboxes = [template.open(Pins(seed=1)) for _ in range(3)]
        names = {sandbox._slot.name for sandbox in sandboxes}
        for sandbox in sandboxes:
            sandbox.close()
        again = [template.open(Pins(seed=2)) for _ in range(3)]
        used_again = names & {sandbox._slot.name for sandbox in again}
        assert len(used_again) == kept
        for sandbox in again:
            sandbox.close()
