"""Tools that look up customers, their purchases and orders; none of them writes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import first, rows, words_condition

from .records import MATCHES, euros, require_customer, require_order

OrderNumber = Annotated[str, {"minLength": 1, "maxLength": 20}]
OrderStatus = Literal["placed", "packed", "shipped", "delivered", "cancelled"]
Words = Annotated[str, {"minLength": 1, "maxLength": 120}]


@tool(read_only=True)
def find_customers(db: Connection, query: Words) -> dict[str, Any]:
    """Find customers by name or by e-mail address. Case and accents do not matter; several people
    may match.

    Args:
        query: A whole e-mail address, or a name or a part of it.
    """
    if "@" in query:
        condition, binds = "email = :email", {"email": query.strip().lower()}
    else:
        condition, binds = words_condition("name_folded", query)
    found = rows(
        db,
        f"SELECT customer_id, name, email, joined_on FROM customers WHERE {condition} ORDER BY"
        " customer_id",
        **binds,
    )
    return {"count": len(found), "customers": found[:MATCHES]}


@tool(read_only=True)
def get_customer(db: Connection, customer_id: int) -> dict[str, Any]:
    """Return one customer: address book, store credit with its history, gift cards.

    Args:
        customer_id: The customer's id, as find_customers gives it.
    """
    customer = require_customer(db, customer_id)
    addresses = rows(
        db,
        "SELECT address_id, street, postcode, city, country FROM addresses WHERE customer_id = :id"
        " ORDER BY address_id",
        id=customer_id,
    )
    credits_ = rows(
        db,
        "SELECT kind, cause, amount_cents, created_at FROM credits WHERE customer_id = :id ORDER"
        " BY credit_id",
        id=customer_id,
    )
    cards = rows(
        db,
        "SELECT code, balance_cents, expires_on FROM gift_cards WHERE customer_id = :id ORDER BY"
        " gift_card_id",
        id=customer_id,
    )
    return customer | {
        "addresses": addresses,
        "credit_cents": sum(each["amount_cents"] for each in credits_),
        "credits": credits_,
        "gift_cards": cards,
    }


@tool(read_only=True)
def list_orders(
    db: Connection, customer_id: int, status: OrderStatus | None = None
) -> dict[str, Any]:
    """List a customer's orders, newest first, with their count and the sum of their totals.

    Args:
        customer_id: The customer's id.
        status: Only orders in this state.
    """
    require_customer(db, customer_id)
    only = "" if status is None else " AND o.status = :status"
    binds = {} if status is None else {"status": status}
    found = rows(
        db,
        "SELECT o.number, o.status, o.hold, o.placed_at, o.total_cents, s.promised_on,"
        " s.delivered_on FROM orders o"
        f" LEFT JOIN shipments s ON s.order_id = o.order_id WHERE o.customer_id = :id{only}"
        " ORDER BY o.placed_at DESC, o.order_id DESC",
        id=customer_id,
        **binds,
    )
    total = sum(each["total_cents"] for each in found)
    return {"count": len(found), "total_cents": total, "total_eur": euros(total), "orders": found}


@tool(read_only=True)
def get_order(db: Connection, number: OrderNumber) -> dict[str, Any]:
    """Return one order: customer, state, address, items, payments with what is left of each,
    shipment, returns.

    Args:
        number: The order's number, for example LP-10001.
    """
    order = require_order(db, number)
    order_id, customer_id, address_id = (
        order.pop(key) for key in ("order_id", "customer_id", "address_id")
    )
    items = rows(
        db,
        "SELECT order_item_id, product, category, sku, colour, size, quantity, unit_price_cents,"
        " final_sale"
        " FROM purchases WHERE order_id = :id ORDER BY order_item_id",
        id=order_id,
    )
    payments = rows(
        db,
        "SELECT b.payment_id, b.method, g.code AS gift_card, b.amount_cents, b.refundable_cents"
        " FROM payment_balances b JOIN payments p ON p.payment_id = b.payment_id"
        " LEFT JOIN gift_cards g ON g.gift_card_id = p.gift_card_id WHERE b.order_id = :id ORDER"
        " BY b.payment_id",
        id=order_id,
    )
    returns = rows(
        db,
        "SELECT r.return_id, r.order_item_id, r.kind, r.quantity, r.reason, r.status FROM returns r"
        " JOIN order_items i ON i.order_item_id = r.order_item_id WHERE i.order_id = :id ORDER BY"
        " r.return_id",
        id=order_id,
    )
    return {
        **order,
        "customer": require_customer(db, customer_id),
        "address": first(
            db,
            "SELECT address_id, street, postcode, city, country FROM"
            " addresses WHERE address_id = :id",
            id=address_id,
        ),
        "items": [each | {"final_sale": bool(each["final_sale"])} for each in items],
        "total_eur": euros(order["total_cents"]),
        "payments": [
            each | {"refundable_eur": euros(each["refundable_cents"])} for each in payments
        ],
        "shipment": first(
            db,
            "SELECT shipment_id, carrier, tracking, status, shipped_on, promised_on, delivered_on"
            " FROM shipments"
            " WHERE order_id = :id",
            id=order_id,
        ),
        "returns": returns,
    }


@tool(read_only=True)
def find_purchases(db: Connection, customer_id: int, words: Words) -> dict[str, Any]:
    """Find what a customer bought by words of the product's name, newest order first.

    Args:
        customer_id: The customer's id.
        words: Words of the product's name, in any order.
    """
    require_customer(db, customer_id)
    condition, binds = words_condition("product_folded", words)
    found = rows(
        db,
        "SELECT order_item_id, number, status, placed_at, delivered_on, product, category,"
        " return_days, variant_id,"
        " colour, size, quantity, unit_price_cents, final_sale, returnable,"
        " (SELECT o.hold FROM orders o WHERE o.number = purchases.number) AS hold FROM purchases"
        f" WHERE customer_id = :customer AND {condition} ORDER BY"
        " placed_at DESC, order_item_id DESC",
        customer=customer_id,
        **binds,
    )
    for each in found:
        each |= {
            "final_sale": bool(each["final_sale"]),
            "unit_price_eur": euros(each["unit_price_cents"]),
        }
    return {"count": len(found), "purchases": found}


@tool(read_only=True)
def get_gift_card(
    db: Connection, code: Annotated[str, {"minLength": 1, "maxLength": 30}]
) -> dict[str, Any]:
    """Return a gift card's owner, balance and last day.

    Args:
        code: The code on the card, for example GIFT-7Q2K-MXWA.
    """
    found = first(
        db,
        "SELECT g.code, c.name, c.email, g.initial_cents, g.balance_cents, g.issued_on,"
        " g.expires_on FROM gift_cards g"
        " JOIN customers c ON c.customer_id = g.customer_id WHERE g.code = :code",
        code=code.strip().upper(),
    )
    if found is None:
        raise ToolError(f"There is no gift card {code!r}.", category="not_found")
    return found | {"balance_eur": euros(found["balance_cents"])}
