"""What a run may spend: when it is spent, and how much work may be out on what is left."""

from __future__ import annotations

import random
from typing import Any

import pytest

from synth.config import BudgetConfig
from synth.core.runner.breaker import Budget
from synth.core.runner.totals import Totals


def cost(tokens: int = 0, usd: float | None = None, turns: int = 1) -> dict[str, Any]:
    kinds = ("input_tokens", "output_tokens", "cost_usd")
    users = dict.fromkeys(f"{who}_{kind}" for who in ("user", "approver") for kind in kinds)
    spent = {"num_turns": turns, "input_tokens": tokens, "output_tokens": 0, "cost_usd": usd}
    ended = {"reward": 1.0, "outcome": "success", "stop_reason": "finished", "retries": None}
    return {**spent, **ended, **users}


@pytest.mark.parametrize(
    ("budget", "one", "named"),
    [
        (BudgetConfig(tokens=1000), cost(tokens=250), "1,000 tokens"),
        (BudgetConfig(usd=2.0), cost(usd=0.5), "$2"),
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
    assert limit.reached() == f"the budget of {named} is spent"


def test_without_a_budget_there_is_always_room():
    limit = Budget(BudgetConfig(minutes=1.0), Totals())
    assert all(limit.begin("a") and limit.reached() is None for _ in range(1000))


def test_a_budget_of_tokens_that_nobody_counts_is_refused_and_not_ignored():
    limit = Budget(BudgetConfig(tokens=1000), Totals(), metered=True)
    limit.learn("a", {**cost(), "input_tokens": None})
    assert "cannot be kept: the endpoint reports no usage" in (limit.reached() or "")


def test_the_first_rollout_is_alone_until_one_has_come_to_its_end():
    limit = Budget(BudgetConfig(tokens=1000), Totals())
    assert [limit.begin("a"), limit.begin("b")] == [True, False]
    limit.end("a", None)  # it broke: what one costs is still unknown
    assert [limit.begin("b"), limit.begin("b")] == [True, False]
    limit.end("b", cost(tokens=90))
    begun = [limit.begin(family) for family in ("b", "a", "b", "a")]
    assert begun == [True, True, False, False], "90, ten times 90, and no room beside them"


def test_a_resume_goes_on_with_twice_the_budgets_that_are_spent():
    totals = Totals()
    limit = Budget(BudgetConfig(usd=0.05, tokens=1000, turns=99), totals)
    assert limit.higher() == []
    totals.add(cost(usd=0.06, tokens=1000, turns=3))
    assert limit.higher() == ["budget.usd=0.12", "budget.tokens=2000"]


@pytest.mark.parametrize("tokens", [5_000, 20_000, 100_000])
@pytest.mark.parametrize("seed", range(5))
def test_only_the_first_rollout_of_a_family_exceeds_a_budget(seed: int, tokens: int):
    chance, totals = random.Random(seed), Totals()
    limit = Budget(BudgetConfig(tokens=tokens), totals)
    waiting, out, prices = "700", list[str](), ("360", "700", "1500", "3600")
    while limit.reached() is None:
        while len(out) < 64 and limit.begin(waiting):
            out.append(waiting)
            waiting = chance.choice(prices)
        if out:
            ended = out.pop(chance.randrange(len(out)))
            totals.add(cost(tokens=int(ended)))
            limit.end(ended, cost(tokens=int(ended)))
    assert tokens - 3_600 < totals.tokens <= tokens + 3_600 - 700
    assert limit.higher() == [f"budget.tokens={2 * max(tokens, totals.tokens)}"]
