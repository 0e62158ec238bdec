"""Unused copies of a server's templates: how many are kept, for how long, and what makes room."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from envs.errors import NoRoomError
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.sandboxes.server.admin_session import IDLE_S, MAX_IDLE, IdleCopies
from envs.types import Pins
from tests.servers import server


class Copy:
    dropped = False

    def drop(self) -> None:
        assert not self.dropped
        self.dropped = True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_template_gets_its_own_copies_the_last_used_first():
    idle, first, second, other = IdleCopies(), Copy(), Copy(), Copy()
    idle.keep("a", first, 9)
    idle.keep("a", second, 9)
    idle.keep("b", other, 9)
    assert [idle.take("a"), idle.take("a"), idle.take("a")] == [second, first, None]
    assert idle.take("b") is other


def test_the_longest_unused_of_all_templates_go_first():
    idle = IdleCopies()
    copies = [Copy() for _ in range(MAX_IDLE + 5)]
    for number, copy in enumerate(copies):
        idle.keep(f"template {number % 7}", copy, 99)
    assert [copy.dropped for copy in copies] == [True] * 5 + [False] * MAX_IDLE


def test_a_template_keeps_no_more_than_it_was_told():
    idle, copies = IdleCopies(), [Copy() for _ in range(3)]
    for copy in copies:
        idle.keep("a", copy, 1)
    assert [copy.dropped for copy in copies] == [False, True, True]


def test_what_nobody_took_for_a_while_is_dropped():
    clock = Clock()
    idle, old, new = IdleCopies(clock), Copy(), Copy()
    idle.keep("a", old, 9)
    clock.now = IDLE_S + 1
    idle.keep("b", new, 9)
    assert (old.dropped, new.dropped) == (True, False)


def test_a_full_server_takes_a_session_in_the_place_of_an_unused_copy():
    idle, unused = IdleCopies(), Copy()
    idle.keep("a", unused, 9)

    def connect() -> str:
        if not unused.dropped:
            raise NoRoomError("sorry, too many clients already")
        return "connection"

    assert idle.with_room(connect, 5) == "connection"


def test_a_server_stays_full():
    def connect() -> str:
        raise NoRoomError("sorry, too many clients already")

    with pytest.raises(NoRoomError):
        IdleCopies().with_room(connect, 0)


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
