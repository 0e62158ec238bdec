"""Shared by all tools of this world: rows that must exist, the stock, and amounts of money."""

from __future__ import annotations

from sqlalchemy import Connection

from envs import ToolError
from envs.tools.records import Row, change, first, timestamp

MATCHES = 25
"""Rows that a search by words shows at most; their number beside them lets the caller narrow it."""


def euros(cents: int) -> str:
    """An amount as it is written to people: 127.24 for 12724."""
    return f"{cents // 100}.{cents % 100:02d}"


def require_customer(db: Connection, customer_id: int) -> Row:
    """The customer's row; ToolError ``not_found`` where there is none."""
    found = first(
        db,
        "SELECT customer_id, name, email, joined_on FROM customers WHERE customer_id = :id",
        id=customer_id,
    )
    if found is None:
        raise ToolError(f"There is no customer with the id {customer_id}.", category="not_found")
    return found


def require_order(db: Connection, number: str) -> Row:
    """The order of that number, in whatever case; ToolError ``not_found`` where there is none."""
    found = first(
        db,
        "SELECT order_id, number, customer_id, address_id, status, hold,"
        " placed_at,"
        " shipping_cents, total_cents"
        " FROM orders WHERE number = :number",
        number=number.strip().upper(),
    )
    if found is None:
        raise ToolError(f"There is no order {number!r}.", category="not_found")
    return found


def require_purchase(db: Connection, order_item_id: int) -> Row:
    """One line of an order with product, terms and delivery; ToolError ``not_found`` where there is
    none.
    """
    found = first(
        db,
        "SELECT order_item_id, order_id, number, status, product_id, product,"
        " category,"
        " return_days,"
        " opened_fee_percent, variant_id, quantity, unit_price_cents, delivered_on, returnable"
        " FROM purchases WHERE order_item_id = :id",
        id=order_item_id,
    )
    if found is None:
        raise ToolError(
            f"There is no order item with the id {order_item_id}.", category="not_found"
        )
    return found


def require_variant(db: Connection, variant_id: int) -> Row:
    """The variant with its stock; ToolError ``not_found`` where there is none."""
    found = first(
        db,
        "SELECT v.variant_id, v.sku, v.product_id, v.price_cents,"
        " v.final_sale, s.on_hand FROM"
        " variants v"
        " JOIN stock s ON s.variant_id = v.variant_id WHERE v.variant_id = :id",
        id=variant_id,
    )
    if found is None:
        raise ToolError(f"There is no variant with the id {variant_id}.", category="not_found")
    return found


def move_stock(
    db: Connection, variant_id: int, kind: str, quantity: int, order_id: int | None = None
) -> None:
    """Book a movement and the stock that follows from it; ToolError ``out_of_stock`` where there is
    too little.
    """
    variant = require_variant(db, variant_id)
    if variant["on_hand"] + quantity < 0:
        raise ToolError(
            f"{variant['sku']} is out of stock: {variant['on_hand']} on hand, {-quantity} needed.",
            category="out_of_stock",
        )
    change(
        db,
        "INSERT INTO stock_movements (variant_id, order_id, kind, quantity, created_at)"
        " VALUES (:variant, :order, :kind, :quantity, :moment)",
        variant=variant_id,
        order=order_id,
        kind=kind,
        quantity=quantity,
        moment=timestamp(db),
    )
    change(
        db,
        "UPDATE stock SET on_hand = on_hand + :quantity WHERE variant_id = :id",
        quantity=quantity,
        id=variant_id,
    )
