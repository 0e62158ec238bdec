"""``transient: forbid``: writes that the end does not show, on a real database."""

from __future__ import annotations

from typing import Any

import pytest

from synth.core.rewards.state.verifier import StateVerifier
from synth.verdict import Verdict
from tests.unit.rewards.desk import Desk

SHIP = "UPDATE orders SET status = 'shipped' WHERE order_id = 7"
PLACE = "UPDATE orders SET status = 'placed' WHERE order_id = 7"


def judged(*acts: str, gold: tuple[str, ...] = (), **fields: Any) -> Verdict:
    return StateVerifier().verify(
        Desk(*acts).evidence(Desk(*gold), **({"transient": "forbid"} | fields)), None
    )


DETOURS = {
    "a value there and back": (
        "UPDATE orders SET customer = 'Eve' WHERE order_id = 7",
        "UPDATE orders SET customer = 'Ada' WHERE order_id = 7",
    ),
    "a row that comes and goes": (
        "INSERT INTO payments VALUES (900, 7, 1)",
        "DELETE FROM payments WHERE payment_id = 900",
    ),
    "a row that goes and comes": (
        "DELETE FROM payments",
        "INSERT INTO payments VALUES (700, 7, 1800)",
    ),
    "a row without a key": ("INSERT INTO log VALUES ('x', 1)", "DELETE FROM log WHERE text = 'x'"),
}


@pytest.mark.parametrize("case", DETOURS)
def test_work_that_leaves_nothing_is_seen_on_the_way(case: str):
    there, back = DETOURS[case]
    assert judged(there, back, transient="allow").score == 1.0, "the end is equal row by row"
    verdict = judged(there, back)
    assert verdict.score == 0.0
    assert verdict.detail["accepted"] == "gold"
    assert verdict.detail["first_wrong"]["call"] == 0, "the write, not its undoing"
    assert "forbidden on the way" in verdict.reason
    done = judged(SHIP, there, back, gold=(SHIP,))
    assert (done.score, done.detail["first_wrong"]["call"]) == (0.0, 1)


def test_done_undone_and_done_again_is_not_done_once():
    assert judged(SHIP, gold=(SHIP,)).score == 1.0
    pay, unpay = (
        "INSERT INTO payments VALUES (900, 7, 1)",
        "DELETE FROM payments WHERE payment_id = 900",
    )
    assert judged(pay, gold=(pay,)).score == 1.0
    assert judged(pay, unpay, pay, gold=(pay,)).score == 0.0
    assert judged(pay, unpay, pay, gold=(pay,), transient="allow").score == 1.0
    drop = "DELETE FROM payments WHERE payment_id = 700"
    assert (
        judged(drop, "INSERT INTO payments VALUES (700, 7, 1800)", drop, gold=(drop,)).score == 0.0
    )


def test_delete_and_create_anew_with_another_value_is_no_update():
    changed = "UPDATE payments SET cents = 5 WHERE payment_id = 700"
    assert judged(changed, gold=(changed,)).score == 1.0
    anew = ("DELETE FROM payments", "INSERT INTO payments VALUES (700, 7, 5)")
    assert judged(*anew, gold=(changed,), transient="allow").score == 1.0, (
        "the same rows in the end"
    )
    assert judged(*anew, gold=(changed,)).score == 0.0


def test_one_column_put_back_while_another_stays_changed():
    both = (
        "UPDATE stock SET quantity = 1 WHERE product_id = 1; UPDATE orders SET status = 'x',"
        " customer = 'Eve' WHERE order_id = 8"
    )
    back = "UPDATE orders SET customer = 'Bo' WHERE order_id = 8"
    gold = (
        (
            "UPDATE stock SET quantity = 1 WHERE product_id = 1; UPDATE orders SET status = 'x' WHERE"
            " order_id = 8"
        ),
    )
    assert judged(both, back, gold=gold, transient="allow").score == 1.0
    verdict = judged(both, back, gold=gold)
    assert verdict.score == 0.0
    assert [each["call"] for each in verdict.detail["forbidden"]] == [0, 1]


def test_ways_that_lead_on_are_no_detours():
    """Totals pass through values, new rows are filled in, rows are marked before they are
    deleted.
    """
    count = [f"UPDATE stock SET quantity = {left} WHERE product_id = 1" for left in (4, 3, 2)]
    assert judged(*count, gold=tuple(count)).score == 1.0
    assert judged(count[2], gold=tuple(count)).score == 1.0
    fill = (
        "INSERT INTO payments VALUES (900, 7, NULL)",
        "UPDATE payments SET cents = 1 WHERE payment_id = 900",
    )
    assert judged(*fill, gold=fill).score == 1.0
    mark = ("UPDATE payments SET cents = 0", "DELETE FROM payments")
    assert judged(*mark, gold=("DELETE FROM payments",)).score == 1.0


def test_ignored_columns_may_come_and_go():
    touch, again = (
        f"UPDATE orders SET changed = {each} WHERE order_id = 7" for each in ("'now'", "NULL")
    )
    assert judged(touch, again).score == 0.0
    assert judged(touch, again, compare={"orders.changed": "ignore"}).score == 1.0


def test_what_a_trigger_leaves_behind_gives_the_detour_away_even_where_it_is_allowed():
    verdict = judged(SHIP, PLACE, transient="allow")
    assert verdict.score == 0.0
    assert [each["table"] for each in verdict.detail["collateral"]] == ["log", "log"]


def test_the_first_wrong_write_is_the_one_that_made_the_wrong_value():
    """A right write to the same row came before it, and another after it."""
    right = (
        "UPDATE orders SET status = 'shipped' WHERE order_id = 7",
        "UPDATE orders SET changed = 'now' WHERE order_id = 7",
    )
    wrong = "UPDATE orders SET customer = 'Eve' WHERE order_id = 7"
    verdict = judged(right[0], wrong, right[1], gold=right)
    assert verdict.detail["first_wrong"]["call"] == 1
    verdict = judged("UPDATE orders SET status = 'lost' WHERE order_id = 7", right[1], gold=right)
    assert verdict.detail["first_wrong"]["call"] == 0
    assert judged(right[0], gold=right).detail["first_wrong"] is None, (
        "what is missing is no wrong write"
    )
