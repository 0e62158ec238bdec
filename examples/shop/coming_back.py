"""Tools for goods that come back: what a return is worth, returns, exchanges, and the warehouse's
receipt.

A quote is arithmetic. Whether a return is in its window, or barred by a final sale, is for the
policy to say.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import Row, change, first, rows, timestamp, today

from .records import euros, move_stock, require_purchase, require_variant

Reason = Literal[
    "changed_mind", "wrong_size", "not_as_described", "wrong_item", "damaged", "defective"
]
Condition = Literal["as_new", "opened", "damaged"]
Quantity = Annotated[int, {"minimum": 1, "maximum": 20}]

OUR_FAULT = frozenset({"wrong_item", "damaged", "defective"})
"""Reasons for which no fee is taken."""


def _require_return(db: Connection, return_id: int) -> Row:
    found = first(
        db,
        "SELECT return_id, order_item_id, kind, quantity, reason, new_variant_id, status,"
        " item_condition, created_at"
        " FROM returns WHERE return_id = :id",
        id=return_id,
    )
    if found is None:
        raise ToolError(f"There is no return with the id {return_id}.", category="not_found")
    return found


def _require_returnable(db: Connection, order_item_id: int, quantity: int) -> Row:
    line = require_purchase(db, order_item_id)
    if line["delivered_on"] is None:
        raise ToolError(
            f"{line['number']} is {line['status']}; there is nothing to send back.",
            category="conflict",
        )
    if quantity > line["returnable"]:
        raise ToolError(
            f"Only {line['returnable']} of this item can still come back.", category="conflict"
        )
    return line


@tool(read_only=True)
def quote_return(
    db: Connection, order_item_id: int, quantity: Quantity, reason: Reason, condition: Condition
) -> dict[str, Any]:
    """Work out what the return of an item is worth: price, fee, refund, and how it divides over the
    payments.

    Pure arithmetic: it does not say whether the return is allowed.

    Args:
        order_item_id: The line of the order.
        quantity: How many come back.
        reason: Why.
        condition: In which state the goods are.
    """
    line = require_purchase(db, order_item_id)
    if quantity > line["quantity"]:
        raise ToolError(f"Only {line['quantity']} were bought.", category="invalid")
    paid = line["unit_price_cents"] * quantity
    percent = line["opened_fee_percent"] if condition == "opened" and reason not in OUR_FAULT else 0
    fee = (paid * percent + 50) // 100
    payments = rows(
        db,
        "SELECT payment_id, method, refundable_cents FROM payment_balances WHERE order_id = :id"
        " ORDER BY CASE WHEN method = 'gift_card' THEN 0 ELSE 1 END, payment_id",
        id=line["order_id"],
    )
    parts: list[Row] = []
    left = paid - fee
    for payment in payments:
        if part := min(left, payment["refundable_cents"]):
            parts.append(
                {
                    "payment_id": payment["payment_id"],
                    "method": payment["method"],
                    "amount_cents": part,
                    "amount_eur": euros(part),
                }
            )
            left -= part
    delivered = line["delivered_on"]
    since = (
        None
        if delivered is None
        else (date.fromisoformat(today(db)) - date.fromisoformat(delivered)).days
    )
    return {
        "product": line["product"],
        "category": line["category"],
        "return_days": line["return_days"],
        "delivered_on": delivered,
        "days_since_delivery": since,
        "paid_cents": paid,
        "fee_cents": fee,
        "refund_cents": paid - fee,
        "fee_eur": euros(fee),
        "refund_eur": euros(paid - fee),
        "parts": parts,
    }


@tool(read_only=True)
def get_return(db: Connection, return_id: int) -> dict[str, Any]:
    """Return one return or exchange: its order and item, quantity, reason, state, and what was
    refunded for it.

    Args:
        return_id: The return's id.
    """
    found = _require_return(db, return_id)
    line = require_purchase(db, found["order_item_id"])
    refunded = first(
        db,
        "SELECT COALESCE(SUM(amount_cents), 0) AS cents FROM refunds WHERE return_id = :id",
        id=return_id,
    )
    order = first(db, "SELECT hold FROM orders WHERE number = :number", number=line["number"])
    return found | {
        "number": line["number"],
        "hold": order["hold"] if order else None,
        "product": line["product"],
        "refunded_cents": refunded["cents"] if refunded else 0,
    }


@tool
def open_return(
    db: Connection, order_item_id: int, quantity: Quantity, reason: Reason
) -> dict[str, Any]:
    """Open the return of an item for a refund, and send the customer a label for it.

    Args:
        order_item_id: The line of the order.
        quantity: How many come back.
        reason: Why.
    """
    line = _require_returnable(db, order_item_id, quantity)
    made = first(
        db,
        "INSERT INTO returns (order_item_id, kind, quantity, reason, status, created_at)"
        " VALUES (:item, 'refund', :quantity, :reason, 'open', :moment) RETURNING return_id",
        item=order_item_id,
        quantity=quantity,
        reason=reason,
        moment=timestamp(db),
    )
    return (made or {}) | {
        "number": line["number"],
        "product": line["product"],
        "quantity": quantity,
    }


@tool
def open_exchange(
    db: Connection, order_item_id: int, quantity: Quantity, reason: Reason, new_variant_id: int
) -> dict[str, Any]:
    """Open an exchange: the item comes back, the new variant is taken from stock and sent out.

    Refused (`out_of_stock`) where there is too little of the new variant.

    Args:
        order_item_id: The line of the order.
        quantity: How many are exchanged.
        reason: Why.
        new_variant_id: The variant to send instead.
    """
    line = _require_returnable(db, order_item_id, quantity)
    variant = require_variant(db, new_variant_id)
    move_stock(db, new_variant_id, "exchange", -quantity, line["order_id"])
    made = first(
        db,
        "INSERT INTO returns (order_item_id, kind, quantity, reason, new_variant_id, status,"
        " created_at)"
        " VALUES (:item, 'exchange', :quantity, :reason, :variant, 'open', :moment) RETURNING"
        " return_id",
        item=order_item_id,
        quantity=quantity,
        reason=reason,
        variant=new_variant_id,
        moment=timestamp(db),
    )
    return (made or {}) | {"number": line["number"], "sends": variant["sku"], "quantity": quantity}


@tool
def receive_return(db: Connection, return_id: int, condition: Condition) -> dict[str, Any]:
    """Book in returned goods with the state that they are in. What is as new goes back into stock.

    Args:
        return_id: The return's id.
        condition: In which state the goods came in.
    """
    found = _require_return(db, return_id)
    if found["status"] == "received":
        raise ToolError(f"Return {return_id} was booked in already.", category="conflict")
    line = require_purchase(db, found["order_item_id"])
    change(
        db,
        "UPDATE returns SET status = 'received', item_condition = :condition, received_at = :moment"
        " WHERE return_id = :id",
        condition=condition,
        moment=timestamp(db),
        id=return_id,
    )
    if condition == "as_new":
        move_stock(db, line["variant_id"], "return", found["quantity"], line["order_id"])
    return {"return_id": return_id, "status": "received", "restocked": condition == "as_new"}
