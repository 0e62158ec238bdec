"""More universes of the shop: other people and orders, the same situations, and books that
balance.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from envs.world.loader import World
from tests.unit.examples.alive import plain_database

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[3] / "examples" / "shop"
MADE = range(1, 9)
SHARED = {"categories"}
"""Tables that are the same in each universe, since the policy speaks of them."""

INCOHERENT = {
    "a foreign key that leads nowhere": "SELECT * FROM pragma_foreign_key_check",
    "an order whose total is not its items and its shipping": """
        SELECT o.number FROM orders o WHERE o.total_cents - o.shipping_cents <>
            (SELECT SUM(i.quantity * i.unit_price_cents) FROM order_items i WHERE i.order_id = o.order_id)""",
    "an order that is not paid exactly": """
        SELECT o.number FROM orders o WHERE o.total_cents <>
            (SELECT SUM(p.amount_cents) FROM payments p WHERE p.order_id = o.order_id)""",
    (
        "a payment refunded above what was paid"
    ): "SELECT * FROM payment_balances WHERE refundable_cents < 0",
    "a cancelled or lost order that was not refunded in full": """
        SELECT b.order_id FROM payment_balances b JOIN orders o ON o.order_id = b.order_id
        LEFT JOIN shipments s ON s.order_id = o.order_id
        WHERE (o.status = 'cancelled' OR s.status = 'lost') AND b.refundable_cents <> 0""",
    "stock that is not the sum of its movements": """
        SELECT s.variant_id FROM stock s WHERE s.on_hand <>
            (SELECT SUM(m.quantity) FROM stock_movements m WHERE m.variant_id = s.variant_id)""",
    "stock that was negative once": """
        SELECT * FROM (SELECT SUM(quantity) OVER (PARTITION BY variant_id ORDER BY created_at, movement_id) AS level
                       FROM stock_movements) WHERE level < 0""",
    "a sold item without its movement": """
        SELECT i.order_item_id FROM order_items i WHERE NOT EXISTS (
            SELECT 1 FROM stock_movements m WHERE m.order_id = i.order_id AND m.variant_id = i.variant_id
            AND m.kind = 'sale' AND m.quantity = -i.quantity)""",
    "a state without its shipment, or a shipment without its state": """
        SELECT o.number FROM orders o LEFT JOIN shipments s ON s.order_id = o.order_id
        WHERE CASE o.status WHEN 'delivered' THEN s.status IS NOT 'delivered'
                            WHEN 'shipped' THEN s.status IS NULL OR s.status = 'delivered'
                            ELSE s.status IS NOT NULL END""",
    "a parcel that left before its order": """
        SELECT o.number FROM orders o JOIN shipments s ON s.order_id = o.order_id
        WHERE s.shipped_on < SUBSTR(o.placed_at, 1, 10)""",
    "a return of what was not delivered yet, or of more than was bought": """
        SELECT r.return_id FROM returns r JOIN purchases u ON u.order_item_id = r.order_item_id
        WHERE u.delivered_on IS NULL OR SUBSTR(r.created_at, 1, 10) <= u.delivered_on OR u.returnable < 0""",
    "a return that the rules would not have let in": """
        SELECT r.return_id FROM returns r JOIN purchases u ON u.order_item_id = r.order_item_id
        WHERE u.final_sale = 1 OR julianday(SUBSTR(r.created_at, 1, 10)) - julianday(u.delivered_on) > u.return_days""",
    "a refund for a return that did not come in": """
        SELECT f.refund_id FROM refunds f JOIN returns r ON r.return_id = f.return_id
        WHERE r.received_at IS NULL OR f.created_at < r.received_at""",
    "a gift card whose balance is not its history": """
        SELECT g.code FROM gift_cards g WHERE g.balance_cents <> g.initial_cents
            - COALESCE((SELECT SUM(p.amount_cents) FROM payments p WHERE p.gift_card_id = g.gift_card_id), 0)
            + COALESCE((SELECT SUM(r.amount_cents) FROM refunds r JOIN payments p ON p.payment_id = r.payment_id
                        WHERE p.gift_card_id = g.gift_card_id AND r.destination = 'original_payment'), 0)""",
    "a gift card of somebody else": """
        SELECT g.code FROM gift_cards g JOIN payments p ON p.gift_card_id = g.gift_card_id
        JOIN orders o ON o.order_id = p.order_id
        WHERE o.customer_id <> g.customer_id OR p.paid_at < g.issued_on""",
    "an order to an address of somebody else": """
        SELECT o.number FROM orders o JOIN addresses a ON a.address_id = o.address_id
        WHERE a.customer_id <> o.customer_id""",
    "an order before its customer": """
        SELECT o.number FROM orders o JOIN customers c ON c.customer_id = o.customer_id
        WHERE SUBSTR(o.placed_at, 1, 10) < c.joined_on""",
    "goodwill above the rules' amounts": """
        SELECT * FROM credits WHERE amount_cents <> CASE cause WHEN 'late_parcel' THEN 500
            WHEN 'lost_parcel' THEN 1500 ELSE 1000 END""",
    "two goodwill credits for one customer": """
        SELECT customer_id FROM credits WHERE kind = 'goodwill' GROUP BY customer_id HAVING COUNT(*) > 1""",
    "an entry from the future": """
        SELECT placed_at AS at FROM orders WHERE at >= '2026-03-02' UNION ALL
        SELECT cancelled_at AS at FROM orders WHERE at >= '2026-03-02' UNION ALL
        SELECT created_at AS at FROM refunds WHERE at >= '2026-03-02' UNION ALL
        SELECT created_at AS at FROM returns WHERE at >= '2026-03-02' UNION ALL
        SELECT received_at AS at FROM returns WHERE at >= '2026-03-02' UNION ALL
        SELECT created_at AS at FROM stock_movements WHERE at >= '2026-03-02' UNION ALL
        SELECT created_at AS at FROM messages WHERE at >= '2026-03-02' UNION ALL
        SELECT created_at AS at FROM escalations WHERE at >= '2026-03-02' UNION ALL
        SELECT delivered_on AS at FROM shipments WHERE at >= '2026-03-02'""",
}

FAMILIES = yaml.safe_load((FOLDER / "tasks.yaml").read_text("utf-8"))["families"]


@pytest.fixture(scope="module")
def universes(world: World) -> Iterator[Mapping[int, sqlite3.Connection]]:
    found = {number: plain_database(world, number) for number in (0, *MADE)}
    for made in found.values():
        made.row_factory = sqlite3.Row
    yield found
    for made in found.values():
        made.close()


def column(universe: sqlite3.Connection, sql: str) -> list[Any]:
    return [row[0] for row in universe.execute(sql)]


@pytest.mark.parametrize("what", INCOHERENT)
def test_each_universe_is_coherent(universes: Mapping[int, sqlite3.Connection], what: str) -> None:
    """The books balance: no row contradicts another, or common sense."""
    for number, universe in universes.items():
        assert [tuple(row) for row in universe.execute(INCOHERENT[what])] == [], number


@pytest.mark.parametrize("family", FAMILIES, ids=lambda each: each["id"])
def test_each_family_and_case_has_rows_in_each_universe(
    universes: Mapping[int, sqlite3.Connection], family: dict[str, Any]
) -> None:
    for number, universe in universes.items():
        for case, condition in (family.get("cases") or {"": "1"}).items():
            (count,) = column(
                universe, f"SELECT COUNT(*) FROM ({family['ground']['sql']}) WHERE {condition}"
            )
            assert count > 0, (number, case)


def test_no_full_name_and_no_row_is_in_two_universes(
    universes: Mapping[int, sqlite3.Connection],
) -> None:
    """Not in other spelling either; categories alone stay as they are."""
    names = Counter(
        name
        for each in universes.values()
        for name in column(each, "SELECT DISTINCT name_folded FROM customers")
    )
    assert names.most_common(1)[0][1] == 1
    for table in column(universes[0], "SELECT name FROM sqlite_master WHERE type = 'table'"):
        keys = [set(column(each, f"SELECT * FROM {table}")) for each in universes.values()]
        if table in SHARED:
            assert all(each == keys[0] for each in keys)
        else:
            assert sum(map(len, keys)) == len(set[int]().union(*keys)), table
    for unique in (
        "SELECT number FROM orders",
        "SELECT code FROM gift_cards",
        "SELECT tracking FROM shipments",
    ):
        seen = Counter(value for each in universes.values() for value in column(each, unique))
        assert seen.most_common(1)[0][1] == 1


def test_universes_are_of_the_size_and_the_kind_of_the_shipped_one(
    universes: Mapping[int, sqlite3.Connection],
) -> None:
    """Within a third for orders, lines and customers; namesakes, accents and long-standing
    customers in each.
    """
    for table in ("customers", "orders", "order_items", "shipments", "returns"):
        count = f"SELECT COUNT(*) FROM {table}"
        (shipped,) = column(universes[0], count)
        for number in MADE:
            assert abs(column(universes[number], count)[0] - shipped) <= shipped / 3, (
                number,
                table,
            )
    for number, universe in universes.items():
        holders = Counter(column(universe, "SELECT name_folded FROM customers"))
        assert sum(each > 1 for each in holders.values()) >= 2, number
        assert (
            sum(not name.isascii() for name in column(universe, "SELECT name FROM customers")) >= 10
        ), number


def test_a_name_that_one_customer_has_finds_one(
    universes: Mapping[int, sqlite3.Connection],
) -> None:
    """No name's words begin the words of another one, as a search would see it."""
    for universe in universes.values():
        names = set(column(universe, "SELECT name_folded FROM customers"))
        for name in names:
            found = [
                other
                for other in names
                if all(
                    any(word.startswith(asked) for word in other.split()) for asked in name.split()
                )
            ]
            assert found == [name]


def test_a_universe_is_the_same_each_time(world: World) -> None:
    first, again = (
        [(each.table, dict(each.values)) for each in world.seed_rows(3)] for _ in range(2)
    )
    assert first == again


def test_there_are_universes_enough(world: World) -> None:
    """Past the names that two lists give, people have a second first name, and nobody is met
    again.
    """
    names = [
        each.values["name_folded"]
        for number in (0, 1, 150, 277)
        for each in world.seed_rows(number or 2)
        if each.table == "customers"
    ]
    assert Counter(Counter(names).values())[1] > 150
    assert any(len(name.split()) > 2 for name in names)
