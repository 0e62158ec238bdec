"""The bucket under a clock that the test moves."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.core.runner.rate_limits.governor import Bucket
from tests.unit.runner.rate_limits.clock import Clock


@settings(deadline=None)
@given(
    per_minute=st.integers(1, 100_000),
    burst=st.floats(1, 5_000),
    steps=st.lists(st.tuples(st.floats(0, 90), st.integers(1, 2_000)), max_size=60),
)
def test_no_span_of_time_gives_more_than_the_rate_and_the_burst(
    per_minute: int, burst: float, steps: list[tuple[float, int]]
):
    """Whoever takes what ``has`` allows, in any pattern: only the last taking of a span may reach
    beyond, into debt.
    """
    clock = Clock()
    bucket = Bucket(per_minute, burst, clock)
    taken: list[tuple[float, int]] = []
    for wait, amount in steps:
        clock.now += wait
        while len(taken) < 100 and bucket.has(amount):
            bucket.take(amount)
            taken.append((clock.now, amount))
    for first in range(len(taken)):
        total, began = 0, taken[first][0]
        for at, amount in taken[first:]:
            total += amount
            excess = max(0.0, amount - burst)
            assert total <= per_minute / 60 * (at - began) + burst + excess + 1e-3


def test_what_is_not_saved_up_flows_steadily():
    """Sixty a minute, looked at ten times a second: sixty are taken in a minute, give or take the
    grain.
    """
    clock = Clock()
    bucket = Bucket(60, 2.0, clock)
    count = 0
    for _ in range(600):
        clock.now += 0.1
        while bucket.has(1):
            bucket.take(1)
            count += 1
    assert count in {60, 61}


def test_more_than_the_burst_can_be_taken_once_it_is_full_and_is_paid_off():
    clock = Clock()
    bucket = Bucket(600, 10.0, clock)
    clock.now += 10
    assert bucket.has(50)
    bucket.take(50)
    assert bucket.level == pytest.approx(-40)
    clock.now += 4
    assert not bucket.has(1)
    clock.now += 1
    assert bucket.has(10)


def test_what_comes_back_is_no_more_than_the_burst():
    clock = Clock()
    bucket = Bucket(600, 10.0, clock)
    bucket.take(-1000)
    assert bucket.level == 10.0
