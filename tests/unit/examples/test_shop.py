"""The second world: its seed holds what tasks need, and its tools do what an order system does, on
real sandboxes.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from envs.sandboxes.base import Template
from envs.types import Pins, RowChange
from envs.world.loader import World
from tests.unit.examples.alive import Alive, plain_database

FOLDER = Path(__file__).parents[3] / "examples" / "shop"
NOW = "2026-03-02T11:30:00"


class Desk(Alive):
    def changes(self, table: str) -> list[RowChange]:
        return [each for each in self.environment.diff().changes if each.table == table]


@pytest.fixture
def desk(world: World, template: Template) -> Iterator[Desk]:
    with world.environment(template, Pins(NOW, 1)) as environment:
        yield Desk(environment)


@pytest.fixture(scope="module")
def rows(world: World) -> Iterator[sqlite3.Connection]:
    connection = plain_database(world)
    connection.row_factory = sqlite3.Row
    yield connection
    connection.close()


def pick(rows: sqlite3.Connection, sql: str) -> sqlite3.Row:
    """The first row of a query that must have one: tests name what they need, not ids of one
    seed.
    """
    found = rows.execute(sql).fetchone()
    assert found is not None, sql
    return found


# The seed data
# --------------------------------------------------------------------------------------


def test_seed_has_what_the_tasks_need(rows: sqlite3.Connection) -> None:
    """Enough of everything, namesakes (some by accent only), and names that break naive SQL."""
    names = [row[0] for row in rows.execute("SELECT name FROM customers")]
    assert len(names) >= 45
    assert {
        "Maria Rossi",
        "María Rossi",
        "Siobhán O'Brien",
        "Giulia D'Angelo",
        "Søren Østergaard",
    } <= set(names)
    assert pick(rows, "SELECT COUNT(*) FROM variants")[0] >= 60
    states = dict(
        tuple(row) for row in rows.execute("SELECT status, COUNT(*) FROM orders GROUP BY status")
    )
    assert sum(states.values()) >= 140
    assert (
        min(states[each] for each in ("placed", "packed", "shipped", "delivered", "cancelled"))
        >= 10
    )
    assert pick(rows, "SELECT MIN(placed_at) FROM orders")[0] < "2025-04"


def test_folded_columns_hold_folded_names(desk: Desk, rows: sqlite3.Connection) -> None:
    """Each customer and product is found by the name as it is written; a unique name finds one
    customer.
    """
    alone = {
        row[0]
        for row in rows.execute(
            "SELECT name FROM customers GROUP BY name_folded HAVING COUNT(*) = 1"
        )
    }
    for row in rows.execute("SELECT customer_id, name, name_folded, email FROM customers"):
        for asked in (row["name"], row["name_folded"], f" {row['name'].upper()} "):
            found = [
                each["customer_id"] for each in desk.ok("find_customers", query=asked)["customers"]
            ]
            assert row["customer_id"] in found
            assert row["name"] not in alone or len(found) == 1
        assert (
            desk.ok("find_customers", query=row["email"].upper())["customers"][0]["customer_id"]
            == row["customer_id"]
        )
    for row in rows.execute("SELECT name FROM products"):
        found = desk.ok("find_variants", words=row["name"])["variants"]
        assert {each["product"] for each in found} == {row["name"]}


@pytest.mark.parametrize("query", ["%", "_", "' OR 1=1 --", "--", "zzz", "%@%"])
def test_searches_take_no_patterns(desk: Desk, query: str) -> None:
    """Wildcards and SQL in a name match nobody by accident."""
    outcome = desk.outcome("find_customers", query=query)
    assert not outcome.result.ok or outcome.result.output["count"] == 0


# Orders
# ---------------------------------------------------------------------------------------------


def test_an_order_is_shown_whole(desk: Desk, rows: sqlite3.Connection) -> None:
    """Items, payments with what is left of them, shipment and returns; an unknown number is
    refused.
    """
    row = pick(
        rows,
        "SELECT u.number, r.return_id FROM returns r JOIN purchases u ON u.order_item_id ="
        " r.order_item_id",
    )
    seen = desk.ok("get_order", number=row["number"].lower())
    assert row["return_id"] in [each["return_id"] for each in seen["returns"]]
    assert sum(each["amount_cents"] for each in seen["payments"]) == seen["total_cents"]
    assert seen["shipment"]["status"] == "delivered"
    assert desk.refused("get_order", number="LP-1") == "not_found"


def test_cancelling_gives_the_goods_back_and_no_money(desk: Desk, rows: sqlite3.Connection) -> None:
    """Stock rises by what was ordered; the payments are refunded by a call of their own, and
    once.
    """
    number = pick(rows, "SELECT number FROM orders WHERE status = 'packed'")["number"]
    order = desk.ok("get_order", number=number)
    desk.ok("cancel_order", number=number, reason="changed_mind")
    moved = [each.after["quantity"] for each in desk.changes("stock_movements") if each.after]
    assert sorted(moved) == sorted(each["quantity"] for each in order["items"])
    assert not desk.changes("refunds")
    assert desk.refused("cancel_order", number=number, reason="changed_mind") == "conflict"
    for payment in order["payments"]:
        refund = {"payment_id": payment["payment_id"], "reason": "cancellation"}
        assert (
            desk.refused("issue_refund", amount_cents=payment["amount_cents"] + 1, **refund)
            == "conflict"
        )
        desk.ok("issue_refund", amount_cents=payment["amount_cents"], **refund)
        assert desk.refused("issue_refund", amount_cents=1, **refund) == "conflict"


def test_an_order_goes_to_its_customers_addresses_only(
    desk: Desk, rows: sqlite3.Connection
) -> None:
    """A new address may be used at once, the same one is not added twice, somebody else's is
    refused.
    """
    number = pick(rows, "SELECT number FROM orders WHERE status = 'placed'")["number"]
    order = desk.ok("get_order", number=number)
    place = {"street": "Harbour Row 12", "postcode": "H91 T2K", "city": "Galway", "country": "IE"}
    customer = order["customer"]["customer_id"]
    made = desk.ok("add_address", customer_id=customer, **place)
    assert desk.refused("add_address", customer_id=customer, **place) == "duplicate"
    desk.ok("change_address", number=number, address_id=made["address_id"])
    assert desk.ok("get_order", number=number)["address"]["city"] == "Galway"
    other = pick(rows, f"SELECT address_id FROM addresses WHERE customer_id <> {customer}")[
        "address_id"
    ]
    assert desk.refused("change_address", number=number, address_id=other) == "not_found"
    over = pick(rows, "SELECT number FROM orders WHERE status = 'delivered'")["number"]
    assert desk.refused("change_address", number=over, address_id=other) == "conflict"


SWAP = """
    SELECT u.order_item_id, u.variant_id, u.quantity, v.variant_id AS other FROM purchases u
    JOIN variants v ON v.product_id = u.product_id AND v.variant_id <> u.variant_id
    JOIN stock s ON s.variant_id = v.variant_id WHERE u.status = '{status}' AND u.returnable > 0 AND {stock}"""


def test_a_swap_moves_both_stocks(desk: Desk, rows: sqlite3.Connection) -> None:
    """The new variant is taken, the old one put back; nothing happens where the new one is sold
    out.
    """
    row = pick(rows, SWAP.format(status="placed", stock="s.on_hand >= u.quantity"))
    desk.ok("swap_item", order_item_id=row["order_item_id"], new_variant_id=row["other"])
    moved = {
        each.after["variant_id"]: each.after["quantity"]
        for each in desk.changes("stock_movements")
        if each.after
    }
    assert moved == {row["variant_id"]: row["quantity"], row["other"]: -row["quantity"]}
    gone = pick(rows, SWAP.format(status="placed", stock="s.on_hand = 0"))
    assert (
        desk.refused("swap_item", order_item_id=gone["order_item_id"], new_variant_id=gone["other"])
        == "out_of_stock"
    )
    sent = pick(rows, SWAP.format(status="shipped", stock="s.on_hand > 0"))
    assert (
        desk.refused("swap_item", order_item_id=sent["order_item_id"], new_variant_id=sent["other"])
        == "conflict"
    )


# Goods that come back
# -------------------------------------------------------------------------------


def test_a_quote_takes_the_fee_for_opened_items_only(desk: Desk, rows: sqlite3.Connection) -> None:
    """15 percent of an opened device, rounded to the cent; nothing of a defective one, nor of
    another category.
    """
    row = pick(
        rows,
        "SELECT * FROM purchases WHERE opened_fee_percent = 15 AND status = 'delivered' AND"
        " returnable > 0",
    )
    asked = {"order_item_id": row["order_item_id"], "quantity": 1}
    price = row["unit_price_cents"]
    opened = desk.ok("quote_return", reason="changed_mind", condition="opened", **asked)
    assert opened["fee_cents"] == (price * 15 + 50) // 100
    assert opened["refund_cents"] == price - opened["fee_cents"]
    assert sum(each["amount_cents"] for each in opened["parts"]) == opened["refund_cents"]
    for reason, condition in (
        ("changed_mind", "as_new"),
        ("defective", "opened"),
        ("wrong_item", "opened"),
    ):
        assert (
            desk.ok("quote_return", reason=reason, condition=condition, **asked)["refund_cents"]
            == price
        )
    plain = pick(
        rows, "SELECT * FROM purchases WHERE opened_fee_percent = 0 AND status = 'delivered'"
    )
    quote = {
        "order_item_id": plain["order_item_id"],
        "quantity": 1,
        "reason": "changed_mind",
        "condition": "opened",
    }
    assert desk.ok("quote_return", **quote)["fee_cents"] == 0


def test_a_quote_divides_over_the_gift_card_first(desk: Desk, rows: sqlite3.Connection) -> None:
    """The gift card gets back what it paid, the other payment the rest, whichever was entered
    first.
    """
    row = pick(
        rows,
        "SELECT u.order_item_id, u.unit_price_cents, b.payment_id, b.refundable_cents FROM"
        " purchases u"
        " JOIN payment_balances b ON b.order_id = u.order_id AND b.method = 'gift_card'"
        " JOIN payment_balances o ON o.order_id = u.order_id AND o.payment_id < b.payment_id"
        " WHERE u.status = 'delivered' AND b.refundable_cents > 0 AND u.unit_price_cents >"
        " b.refundable_cents",
    )
    quote = desk.ok(
        "quote_return",
        order_item_id=row["order_item_id"],
        quantity=1,
        reason="changed_mind",
        condition="as_new",
    )
    assert quote["parts"][0]["payment_id"] == row["payment_id"]
    assert [each["amount_cents"] for each in quote["parts"]] == [
        row["refundable_cents"],
        row["unit_price_cents"] - row["refundable_cents"],
    ]


def test_no_more_comes_back_than_was_bought(desk: Desk, rows: sqlite3.Connection) -> None:
    """A second return of the same piece is refused, and so is one of a parcel that has not
    arrived.
    """
    row = pick(
        rows,
        "SELECT order_item_id, returnable FROM purchases WHERE status ="
        " 'delivered' AND returnable = 1",
    )
    item = {"order_item_id": row["order_item_id"], "reason": "changed_mind"}
    assert desk.refused("open_return", quantity=2, **item) == "conflict"
    desk.ok("open_return", quantity=1, **item)
    assert desk.refused("open_return", quantity=1, **item) == "conflict"
    sent = pick(rows, "SELECT order_item_id FROM purchases WHERE status = 'shipped'")[
        "order_item_id"
    ]
    assert (
        desk.refused("open_return", order_item_id=sent, quantity=1, reason="changed_mind")
        == "conflict"
    )


def test_an_exchange_takes_the_new_variant_from_stock(desk: Desk, rows: sqlite3.Connection) -> None:
    """The new variant leaves at once, the old one returns when it is booked in; sold out is sold
    out.
    """
    row = pick(rows, SWAP.format(status="delivered", stock="s.on_hand > 0 AND u.returnable = 1"))
    item = {"order_item_id": row["order_item_id"], "quantity": 1, "reason": "wrong_size"}
    made = desk.ok("open_exchange", new_variant_id=row["other"], **item)
    desk.ok("receive_return", return_id=made["return_id"], condition="as_new")
    moved = [
        (e.after["variant_id"], e.after["quantity"])
        for e in desk.changes("stock_movements")
        if e.after
    ]
    assert sorted(moved) == sorted([(row["other"], -1), (row["variant_id"], 1)])
    gone = pick(rows, SWAP.format(status="delivered", stock="s.on_hand = 0"))
    wanted = {"order_item_id": gone["order_item_id"], "quantity": 1, "reason": "wrong_size"}
    assert desk.refused("open_exchange", new_variant_id=gone["other"], **wanted) == "out_of_stock"


@pytest.mark.parametrize(
    ("condition", "restocked"), [("as_new", True), ("opened", False), ("damaged", False)]
)
def test_only_what_is_as_new_is_sold_again(
    desk: Desk, rows: sqlite3.Connection, condition: str, *, restocked: bool
) -> None:
    """Booking in happens once; opened and damaged goods are kept out of the stock."""
    number = pick(rows, "SELECT return_id FROM returns WHERE status = 'open'")["return_id"]
    assert (
        desk.ok("receive_return", return_id=number, condition=condition)["restocked"] is restocked
    )
    assert bool(desk.changes("stock_movements")) is restocked
    assert desk.refused("receive_return", return_id=number, condition=condition) == "conflict"
    assert desk.ok("get_return", return_id=number)["item_condition"] == condition


# Money and the desk
# ---------------------------------------------------------------------------------


def test_a_refund_to_a_gift_card_is_on_the_card(desk: Desk, rows: sqlite3.Connection) -> None:
    """The card's balance rises with a refund to the original payment, and store credit is a line of
    its own.
    """
    row = pick(
        rows,
        "SELECT p.payment_id, g.code, g.balance_cents FROM payments p JOIN gift_cards g"
        " ON g.gift_card_id = p.gift_card_id JOIN payment_balances b ON b.payment_id = p.payment_id"
        " WHERE b.refundable_cents >= 1000",
    )
    refund = {"payment_id": row["payment_id"], "amount_cents": 400, "reason": "price_error"}
    desk.ok("issue_refund", **refund)
    assert desk.ok("get_gift_card", code=row["code"])["balance_cents"] == row["balance_cents"] + 400
    desk.ok("issue_refund", destination="store_credit", **refund)
    assert desk.ok("get_gift_card", code=row["code"])["balance_cents"] == row["balance_cents"] + 400
    assert [each.after["amount_cents"] for each in desk.changes("credits") if each.after] == [400]


def test_a_refund_names_a_return_of_its_own_order(desk: Desk, rows: sqlite3.Connection) -> None:
    """A return of another order, or none at all, is refused."""
    row = pick(
        rows, "SELECT payment_id, order_id FROM payment_balances WHERE refundable_cents > 100"
    )
    other = pick(
        rows,
        "SELECT r.return_id FROM returns r JOIN order_items i ON i.order_item_id = r.order_item_id"
        f" WHERE i.order_id <> {row['order_id']}",
    )["return_id"]
    for number in (other, 1):
        refund = {
            "payment_id": row["payment_id"],
            "amount_cents": 100,
            "reason": "return",
            "return_id": number,
        }
        assert desk.refused("issue_refund", **refund) == "not_found"


def test_refunds_are_listed_by_day_and_reason(desk: Desk, rows: sqlite3.Connection) -> None:
    """Both ends of the span count, and the sum is that of the rows."""
    row = pick(
        rows, "SELECT SUBSTR(created_at, 1, 10) AS day, reason FROM refunds WHERE reason = 'return'"
    )
    seen = desk.ok("list_refunds", first_day=row["day"], last_day=row["day"], reason=row["reason"])
    assert seen["count"] >= 1
    assert seen["total_cents"] == sum(each["amount_cents"] for each in seen["refunds"])
    everything = desk.ok("list_refunds", first_day="2025-01-01", last_day="2026-03-01")
    assert everything["count"] == pick(rows, "SELECT COUNT(*) FROM refunds")[0]


def test_a_count_books_the_difference(desk: Desk, rows: sqlite3.Connection) -> None:
    """Stock becomes what was counted; a count that agrees moves nothing."""
    row = pick(
        rows, "SELECT v.sku, s.on_hand FROM variants v JOIN stock s ON s.variant_id = v.variant_id"
    )
    desk.ok("record_count", sku=row["sku"], counted=row["on_hand"])
    assert not desk.changes("stock_movements")
    assert (
        desk.ok("record_count", sku=row["sku"].lower(), counted=row["on_hand"] + 3)["difference"]
        == 3
    )
    (movement,) = desk.changes("stock_movements")
    assert movement.after is not None
    assert (movement.after["kind"], movement.after["quantity"]) == ("count", 3)
    assert desk.refused("record_count", sku="NOTHING-1", counted=1) == "not_found"


def test_a_parcel_is_lost_once(desk: Desk, rows: sqlite3.Connection) -> None:
    """Only what is in transit can get lost."""
    parcel = pick(rows, "SELECT shipment_id FROM shipments WHERE status = 'in_transit'")[
        "shipment_id"
    ]
    desk.ok("report_lost", shipment_id=parcel)
    assert desk.refused("report_lost", shipment_id=parcel) == "conflict"
    assert parcel in [
        each["shipment_id"] for each in desk.ok("list_shipments", status="lost")["shipments"]
    ]


def test_the_tools_permit_what_only_the_policy_forbids(
    desk: Desk, rows: sqlite3.Connection
) -> None:
    """Shipped orders, holds, late returns, final sales, money elsewhere, too much goodwill: all of
    it passes.
    """
    shipped = "SELECT number FROM orders WHERE status = 'shipped' AND hold IS NULL"
    desk.ok("cancel_order", number=pick(rows, shipped)["number"], reason="changed_mind")
    held = pick(rows, "SELECT number FROM orders WHERE hold = 'fraud' AND status = 'placed'")[
        "number"
    ]
    desk.ok("cancel_order", number=held, reason="changed_mind")
    late = (
        "SELECT order_item_id FROM purchases WHERE delivered_on < '2025-11-01' AND returnable > 0"
    )
    final = (
        "SELECT order_item_id FROM purchases WHERE final_sale = 1 AND status = 'delivered' AND"
        " returnable > 0"
    )
    for sql in (late, final):
        item = pick(rows, sql)["order_item_id"]
        desk.ok("open_return", order_item_id=item, quantity=1, reason="changed_mind")
    other = pick(
        rows,
        "SELECT u.order_item_id, v.variant_id FROM purchases u JOIN variants v ON v.product_id <>"
        " u.product_id"
        " JOIN stock s ON s.variant_id = v.variant_id"
        " WHERE u.status = 'delivered' AND u.returnable > 0 AND u.final_sale = 0 AND s.on_hand > 0"
        " AND v.price_cents <> u.unit_price_cents",
    )
    exchange = {"order_item_id": other["order_item_id"], "quantity": 1, "reason": "changed_mind"}
    desk.ok("open_exchange", new_variant_id=other["variant_id"], **exchange)
    cash = pick(
        rows,
        "SELECT payment_id, refundable_cents FROM payment_balances WHERE method = 'gift_card' AND"
        " refundable_cents > 0",
    )
    desk.ok(
        "issue_refund",
        payment_id=cash["payment_id"],
        amount_cents=cash["refundable_cents"],
        reason="return",
        destination="bank_account",
    )
    lucky = pick(rows, "SELECT customer_id FROM credits WHERE created_at > '2025-06'")[
        "customer_id"
    ]
    desk.ok("grant_credit", customer_id=lucky, amount_cents=99900, cause="late_parcel")


def test_tools_that_only_read_cannot_write(world: World) -> None:
    """Each tool that is named like a reading one declares that it reads only, and the other way
    round.
    """
    reading = re.compile(r"^(find|list|get|search|quote)_")
    assert {each.name for each in world.tools if each.read_only} == {
        each.name for each in world.tools if reading.match(each.name)
    }
    assert 20 <= len(world.tools) <= 28
