"""What a run's budgets are measured by: tokens and money of the agent's model and of the user's."""

from __future__ import annotations

from typing import Any

from synth.core.runner.totals import Totals, stats_of
from tests.sample_rows import row, unscored


def totals(*rows: dict[str, Any]) -> Totals:
    out = Totals()
    for each in rows:
        out.add(stats_of(each))
    return out


def test_the_users_tokens_and_money_are_the_runs():
    alone = totals(row(0, input_tokens=100, output_tokens=7, cost_usd=0.5))
    both = totals(
        row(0, input_tokens=100, output_tokens=7, cost_usd=0.5),
        unscored(1) | {"input_tokens": None},
    )
    assert (alone.tokens, alone.cost_usd) == (107, 0.5)
    assert both.tokens == 107 + 13 + (row(1)["output_tokens"] or 0)
    assert both.cost_usd == 0.5 + 0.25 + (row(1)["cost_usd"] or 0)


def test_a_cost_is_unknown_only_where_neither_is_known():
    free = {"cost_usd": None, "user_cost_usd": None}
    assert totals(row(0, **free)).cost() == "unknown"
    assert totals(row(0, **free), row(1, cost_usd=None, user_cost_usd=0.25)).cost() == "$0.25"
