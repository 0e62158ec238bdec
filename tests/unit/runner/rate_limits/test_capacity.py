"""The search for an endpoint's capacity against endpoints that refuse what is above it, round by
round.
"""

from __future__ import annotations

import random

import pytest

from synth.core.runner.rate_limits.governor import Capacity


def rounds(capacity: Capacity, sharp: int, count: int) -> tuple[int, int]:
    """So many rounds in which the limit is used to the full; returns answers and refusals."""
    answered = refused = 0
    for _ in range(count):
        asked = capacity.limit
        over = max(0, asked - sharp)
        capacity.hear(asked - over, over, full=True)
        answered, refused = answered + asked - over, refused + over
    return answered, refused


@pytest.mark.parametrize("sharp", [3, 8, 23])
def test_refusals_that_come_before_the_answers_do_not_mislead_it(sharp: int):
    """An endpoint refuses at once and answers later: what it can take is found all the same, in a
    few dozen rounds.
    """
    capacity = Capacity(1, 1000, 32)
    for _ in range(60):
        over = max(0, capacity.limit - sharp)
        if over:
            capacity.hear(0, over, full=True)
        else:
            capacity.hear(capacity.limit, 0, full=True)
    assert 0.75 * sharp <= capacity.limit <= sharp + 1


@pytest.mark.parametrize("sharp", [1, 2, 5, 8, 23, 64, 500])
@pytest.mark.parametrize("start", [1, 32])
def test_it_finds_a_sharp_limit_and_holds_there(sharp: int, start: int):
    """Whatever it starts at: settled, it uses 90 percent of what there is, and under three percent
    is refused.
    """
    capacity = Capacity(1, 1000, start)
    rounds(capacity, sharp, 600)
    answered, refused = rounds(capacity, sharp, 2000)
    assert answered >= 0.9 * sharp * 2000
    assert refused <= 0.03 * answered


def test_it_grows_to_its_bound_where_nothing_is_refused():
    capacity = Capacity(1, 100, 4)
    rounds(capacity, 10_000, 10)
    assert capacity.limit == 100


def test_it_does_not_grow_on_what_was_not_asked():
    """Answers say nothing about a limit that was not reached."""
    capacity = Capacity(1, 100, 4)
    for _ in range(50):
        capacity.hear(3, 0, full=False)
    assert capacity.limit == 4


def test_it_follows_an_endpoint_that_changes():
    capacity = Capacity(1, 1000, 8)
    rounds(capacity, 20, 300)
    assert 15 <= capacity.limit <= 23
    rounds(capacity, 5, 300)
    assert 3 <= capacity.limit <= 6
    rounds(capacity, 60, 3000)
    assert capacity.limit >= 50


def test_single_failures_of_a_large_endpoint_do_not_cut_it():
    """One answer in two hundred is a 503 for reasons of its own."""
    chance, capacity = random.Random(3), Capacity(1, 200, 200)
    for _ in range(500):
        failed = sum(chance.random() < 0.005 for _ in range(capacity.limit))
        capacity.hear(capacity.limit - failed, failed, full=True)
    assert capacity.limit > 100


def test_it_never_leaves_its_bounds():
    chance, capacity = random.Random(5), Capacity(3, 17, 9)
    for _ in range(2000):
        failed = chance.randint(0, capacity.limit)
        capacity.hear(capacity.limit - failed, failed, full=chance.random() < 0.9)
        assert 3 <= capacity.limit <= 17


def test_equal_bounds_fix_it():
    capacity = Capacity(6, 6, 32)
    rounds(capacity, 4, 50)
    assert capacity.limit == 6
