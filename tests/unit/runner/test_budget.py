"""What a run may spend: when it is spent, and how much work may be out on what is left."""

from __future__ import annotations

import random
from typing import Any

import pytest

from synth.config import BudgetConfig
from synth.core.runner.breaker import FIRST, Budget
from synth.core.runner.totals import Totals


def cost(tokens: int = 0, usd: float | None = None, turns: int = 1) -> dict[str, Any]:
    kinds = ("input_tokens", "output_tokens", "cost_usd")
    users = dict.fromkeys(f"{who}_{kind}" for who in ("user", "approver") for kind in kinds)
    return {
        "num_turns": turns,
        "input_tokens": tokens,
        "output_tokens": 0,
        "cost_usd": usd,
        "reward": 1.0,
        "outcome": "success",
        "stop_reason": "finished",
        "retries": None,
        **users,
    }


@pytest.mark.parametrize(
    ("budget", "one", "named"),
    [
        (BudgetConfig(tokens=1000), cost(tokens=250), "1,000 tokens"),
        (BudgetConfig(usd=2.0), cost(usd=0.5), r"\$2"),
        (BudgetConfig(turns=12), cost(turns=3), "12 turns"),
        (BudgetConfig(usd=99.0, turns=12), cost(usd=0.5, turns=3), "12 turns"),
    ],
)
def test_each_budget_is_reached_by_its_own_measure(
    budget: BudgetConfig, one: dict[str, Any], named: str
):
    totals = Totals()
    limit = Budget(budget, totals)
    for _ in range(3):
        totals.add(one)
        assert limit.reached() is None
    totals.fail(one)  # a rollout that broke has cost as much
    assert (limit.reached() or "").startswith("the budget of")
    assert named.replace("\\", "") in (limit.reached() or "")


def test_without_a_budget_there_is_always_room():
    limit = Budget(BudgetConfig(minutes=1.0), Totals())
    assert limit.reached() is None
    assert limit.has_room(1000)


def test_a_few_rollouts_find_out_what_one_costs():
    limit = Budget(BudgetConfig(tokens=10), Totals())
    assert [limit.has_room(out) for out in (0, FIRST - 1, FIRST)] == [True, True, False]


def test_a_resume_goes_on_with_twice_the_budgets_that_are_spent():
    totals = Totals()
    limit = Budget(BudgetConfig(usd=0.05, tokens=1000, turns=99), totals)
    assert limit.higher() == []
    totals.add(cost(usd=0.06, tokens=1000, turns=3))
    assert limit.higher() == ["budget.usd=0.12", "budget.tokens=2000"]


@pytest.mark.parametrize("seed", range(10))
def test_the_end_is_overshot_by_no_more_than_the_last_rollouts_are_dear(seed: int):
    """Costs between 50 and 150, sixty-four at once, a budget of a thousand averages: it ends half a
    percent above it.
    """
    chance, totals = random.Random(seed), Totals()
    limit = Budget(BudgetConfig(tokens=100_000), totals)
    out = 0
    while limit.reached() is None:
        while out < 64 and limit.has_room(out):
            out += 1
        out -= 1
        totals.add(cost(tokens=chance.randint(50, 150)))
    rest = sum(chance.randint(50, 150) for _ in range(out))
    assert 100_000 <= totals.tokens + rest <= 100_500
