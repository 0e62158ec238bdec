"""Other right ends than gold's: condition and frame, on a real database."""

from __future__ import annotations

from typing import Any

import pytest

from synth.core.rewards.state.verifier import StateVerifier
from synth.core.types.checks import AlternativeEnd
from synth.errors import TaskError
from synth.evidence import Evidence
from synth.verdict import Verdict
from tests.unit.rewards.desk import Desk, swap

END: dict[str, Any] = {
    "bind": {"new": "SELECT product_id FROM order_items WHERE item_id = :item_id"},
    "must": [
        "SELECT colour = :colour AND price <= 900 + :budget FROM products WHERE product_id = :new"
    ],
    "may_change": {
        "order_items": {
            "where": "order_items.order_id = :order_id AND item_id = :item_id",
            "columns": ["product_id"],
        },
        "payments": {"where": "order_id = :order_id", "ops": ["insert"], "at_most": 1},
        "stock": {
            "where": "product_id IN (:old, :new)",
            "columns": ["quantity"],
            "ops": ["update"],
            "at_most": 2,
        },
    },
}
SLOTS = {"order_id": 7, "item_id": 70, "old": 1, "colour": "blue", "budget": 200}


def judged(*acts: str, **fields: Any) -> Verdict:
    """The verdict on what was done, where gold swaps for product 2."""
    given = {"slots": SLOTS, "alternatives": [END]} | fields
    given["alternatives"] = [AlternativeEnd.from_json(end) for end in given["alternatives"]]
    return StateVerifier().verify(Desk(*acts).evidence(Desk(*swap(2)), **given), None)


def test_gold_and_every_other_end_within_the_condition_are_right():
    assert judged(*swap(2)).detail == {"accepted": "gold"}
    verdict = judged(*swap(3))
    assert (verdict.score, verdict.detail) == (1.0, {"accepted": "alternative 1"})
    assert judged(*swap(3), alternatives=[{**END, "must": ["SELECT 1 = 0"]}, END]).detail == {
        "accepted": "alternative 2"
    }


WRONG = {
    "nothing": ((), "condition 1 is not true"),
    "too dear": (swap(4), "condition 1 is not true"),
    "another colour": (swap(5), "condition 1 is not true"),
    "another's order": (swap(3, item=80), "condition 1 is not true"),
    "one of another's as well": (
        (*swap(3), "UPDATE order_items SET product_id = 3 WHERE item_id = 80"),
        "1 outside its frame: update order_items(item_id=80): product_id=3",
    ),
    "another item of the order as well": (
        (*swap(3), "UPDATE order_items SET product_id = 3 WHERE item_id = 71"),
        "1 outside its frame: update order_items(item_id=71): product_id=3",
    ),
    "paid twice": (
        (*swap(3), "INSERT INTO payments (order_id, cents) VALUES (7, 200)"),
        "1 outside its frame: insert payments(payment_id=702): order_id=7, cents=200",
    ),
    "paid by another": (
        (*swap(3)[:3], "INSERT INTO payments (order_id, cents) VALUES (8, 200)"),
        "1 outside its frame: insert payments(payment_id=701): order_id=8, cents=200",
    ),
    "a payment gone": (
        (*swap(3)[:3], "DELETE FROM payments"),
        "1 outside its frame: delete payments(payment_id=700)",
    ),
    "a third product's stock": (
        (*swap(3), "UPDATE stock SET quantity = 0 WHERE product_id = 2"),
        "1 outside its frame: update stock(product_id=2): quantity=0",
    ),
    "a table that the frame does not name": (
        (*swap(3), "UPDATE products SET price = 1 WHERE product_id = 3"),
        "1 outside its frame: update products(product_id=3): price=1",
    ),
    "a table with a trigger": (
        (*swap(3), "UPDATE orders SET status = 'paid' WHERE order_id = 7"),
        (
            "2 outside its frame: insert log(rowid=4): text='placed>paid', about=7; update"
            " orders(order_id=7): status='paid'"
        ),
    ),
    "the item carried to another order": (
        (*swap(3), "UPDATE order_items SET order_id = 8 WHERE item_id = 70"),
        "1 outside its frame: update order_items(item_id=70): order_id=8, product_id=3",
    ),
    "the item deleted": (
        ("DELETE FROM order_items WHERE item_id = 70",),
        "bind new finds 0 values where one is due",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_off_the_condition_or_out_of_the_frame_is_wrong(case: str):
    acts, why = WRONG[case]
    verdict = judged(*acts)
    assert verdict.score == 0.0
    assert verdict.detail["alternatives"][0].startswith(why)
    assert f"alternative 1: {why}" in verdict.reason


def test_the_first_wrong_write_is_one_that_no_accepted_end_allows():
    """The swap for product 3 is not gold's, but it is right; the price is not."""
    verdict = judged(*swap(3), "UPDATE products SET price = 1 WHERE product_id = 3")
    assert verdict.detail["first_wrong"]["call"] == 4
    assert verdict.detail["first_wrong"]["row"]["table"] == "products"


def test_a_row_must_lie_in_the_frame_before_and_after():
    frame = {"order_items": {"where": "product_id = 1"}}
    into, out = "SET product_id = 1 WHERE item_id = 71", "SET product_id = 5 WHERE item_id = 70"
    for change in (into, out):
        end = {"bind": {}, "must": ["SELECT 1"], "may_change": frame}
        assert judged(f"UPDATE order_items {change}", alternatives=[end]).score == 0.0
    end = {
        "bind": {},
        "must": ["SELECT 1"],
        "may_change": {"order_items": {"where": "product_id IN (1, 5)"}},
    }
    assert (
        judged(f"UPDATE order_items {into}", f"UPDATE order_items {out}", alternatives=[end]).score
        == 1.0
    )


@pytest.mark.parametrize(
    ("frame", "updated", "deleted"),
    [
        ({"where": "about = 7"}, 1.0, 1.0),
        ({"where": "about = 7", "ops": ["update"]}, 1.0, 0.0),
        ({"where": "about = 7", "ops": ["delete"]}, 0.0, 1.0),
        ({"where": "about = 7", "columns": ["text"]}, 1.0, 0.0),
        ({"where": "about = 7", "columns": ["about"]}, 0.0, 0.0),
        ({"where": "about = 7", "columns": ["about"], "ops": ["update", "delete"]}, 0.0, 1.0),
        ({"where": "about = 8"}, 0.0, 0.0),
        ({"where": "about = 7 OR about IS NULL -- whatever"}, 1.0, 1.0),
        (
            {
                "where": (
                    "EXISTS (SELECT 1 FROM orders o WHERE o.order_id = log.about AND"
                    " o.customer = 'Ada')"
                )
            },
            1.0,
            1.0,
        ),
    ],
)
def test_frames_say_which_changes_of_which_rows_also_without_keys(
    frame: Any, updated: float, deleted: float
):
    end = {"bind": {}, "must": ["SELECT 1"], "may_change": {"log": frame}}
    assert judged("UPDATE log SET text = 'x' WHERE about = 7", alternatives=[end]).score == updated
    assert judged("DELETE FROM log WHERE about = 7", alternatives=[end]).score == deleted


def test_ignored_columns_never_break_a_frame():
    touch = "UPDATE orders SET changed = 'now'"
    more = "UPDATE order_items SET product_id = 3 WHERE item_id = 70"
    rules = {"orders.changed": "ignore"}
    assert judged(*swap(3), touch).score == 0.0
    assert judged(*swap(3), touch, compare=rules).score == 1.0
    assert judged(*swap(3), more, compare={"order_items.product_id": "ignore"}).score == 1.0


def test_append_only_and_transient_hold_for_other_ends_as_well():
    detour = (
        "INSERT INTO payments (order_id, cents) VALUES (7, 5)",
        "DELETE FROM payments WHERE cents = 5",
    )
    assert judged(*detour, *swap(3)).score == 1.0
    assert judged(*detour, *swap(3), compare={"payments": "append_only"}).score == 0.0
    verdict = judged(*detour, *swap(3), transient="forbid")
    assert verdict.score == 0.0
    assert verdict.detail["accepted"] == "alternative 1"
    assert verdict.detail["first_wrong"]["call"] == 0


def test_words_of_sql_may_name_tables_and_columns():
    end = {
        "bind": {},
        "must": ["SELECT 1"],
        "may_change": {"order": {"where": '"order"."from" IN (:a, :b)'}},
    }
    fields = {"alternatives": [end], "slots": {"a": "a", "b": "z"}}
    assert judged("""UPDATE "order" SET "from" = 'z' WHERE "select" = 1""", **fields).score == 1.0
    assert judged("""UPDATE "order" SET "from" = 'q' WHERE "select" = 1""", **fields).score == 0.0
    assert judged("""DELETE FROM "order" WHERE "select" = 1""", **fields).score == 1.0
    assert judged("""DELETE FROM "order" WHERE "select" = 2""", **fields).score == 0.0


def test_hundreds_of_changes_are_asked_in_portions():
    end = {"bind": {}, "must": ["SELECT 1"], "may_change": {"log": {"where": "about < 400"}}}
    rows = (
        "INSERT INTO log WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE"
        " i < {}) SELECT 'x', i FROM n"
    )
    assert judged(rows.format(399), alternatives=[end]).score == 1.0
    assert judged(rows.format(400), alternatives=[end]).score == 0.0


@pytest.mark.parametrize(
    ("value", "score"),
    [("1", 1.0), ("2.5", 1.0), ("0", 0.0), ("NULL", 0.0), ("'yes'", 0.0), ("0.0", 0.0)],
)
def test_a_condition_is_true_as_databases_say_it(value: str, score: float):
    end = {"bind": {}, "must": [f"SELECT {value}"], "may_change": {"log": {"where": "1 = 1"}}}
    assert judged("DELETE FROM log", alternatives=[end]).score == score
    end = {**end, "must": ["SELECT 1", f"SELECT {value} UNION ALL SELECT {value}"]}
    assert judged("DELETE FROM log", alternatives=[end]).score == 0.0, "two rows are no answer"


def test_binds_see_slots_and_earlier_binds_and_find_one_value():
    bind = {
        "first": "SELECT min(item_id) FROM order_items WHERE order_id = :order_id",
        "next": "SELECT :first + 1",
    }
    end = {
        "bind": bind,
        "must": ["SELECT :next = 71"],
        "may_change": {"log": {"where": "about = :next - 64"}},
    }
    assert judged("DELETE FROM log WHERE about = 7", alternatives=[end]).score == 1.0
    two = {**end, "bind": {"next": "SELECT item_id FROM order_items"}}
    verdict = judged("DELETE FROM log WHERE about = 7", alternatives=[two])
    assert verdict.detail["alternatives"] == ["bind next finds 3 values where one is due"]


def test_a_query_that_fails_is_its_authors():
    end = {"bind": {}, "must": ["SELECT 1 FROM nowhere"], "may_change": {}}
    with pytest.raises(TaskError, match="nowhere"):
        judged("DELETE FROM log", alternatives=[end])
    end = {"bind": {}, "must": ["SELECT 1"], "may_change": {"log": {"where": "colour = 1"}}}
    with pytest.raises(TaskError, match="colour"):
        judged("DELETE FROM log", alternatives=[end])


def test_an_end_that_is_gone_cannot_be_judged_but_golds_can():
    for acts, score in ((swap(3), None), (swap(2), 1.0)):
        ends = [AlternativeEnd.from_json(END)]
        seen = Desk(*acts).evidence(Desk(*swap(2)), slots=SLOTS, alternatives=ends)
        gone = Evidence(seen.task, seen.changes, seen.calls, None, seen.tables)
        assert StateVerifier().verify(gone, None).score == score
