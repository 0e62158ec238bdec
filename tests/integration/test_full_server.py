"""A server with few connections: unused copies make room for others."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from envs.errors import NoRoomError
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.types import Pins
from tests.faults.own_server import OwnMariaDB, OwnPostgres, OwnServer, own_server

CONNECTIONS = 20


@pytest.mark.parametrize(("engine", "kind"), [("postgresql", OwnPostgres), ("mariadb", OwnMariaDB)])
def test_rollouts_of_many_templates_share_few_connections(
    engine: str, kind: type[OwnServer]
) -> None:
    def open_some(template: Any, count: int) -> list[Any]:
        return [template.open(Pins(seed=seed)) for seed in range(count)]

    with own_server(kind, CONNECTIONS) as server:
        target = DatabaseTarget(server.url)
        first: Any = find_engine(engine).build(lambda connection: None, target)
        second: Any = find_engine(engine).build(lambda connection: None, target)
        with closing(first), closing(second):
            for template in (first, second, first):
                for sandbox in open_some(template, 10):
                    sandbox.close()
            held: list[Any] = []
            with pytest.raises(
                NoRoomError, match="has no connection left; one rollout at a time needs 7"
            ):
                for _ in range(CONNECTIONS + 1):
                    held += open_some(second, 1)
            held.pop().close()
            held += open_some(first, 1)
            for sandbox in held:
                sandbox.close()
