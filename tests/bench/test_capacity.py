"""The adaptive limit at an endpoint with a sharp one: ratios of one run."""

from __future__ import annotations

import asyncio

import pytest

from tests.bench.capacity import compare


@pytest.mark.long
@pytest.mark.parametrize("at_once", [4, 20])
def test_the_adaptive_limit_comes_near_the_best_fixed_one_and_is_seldom_refused(at_once: int):
    adaptive, fixed = asyncio.run(compare(at_once, 0.1, 10.0, 20.0))
    assert adaptive.per_second >= 0.8 * max(each.per_second for each in fixed.values())
    assert adaptive.refused <= 0.04
