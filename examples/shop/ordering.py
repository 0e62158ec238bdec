"""Tools that change an order before its parcel has arrived.

What is refused here is what cannot be done at all: unknown ids, goods that are not there, orders
that are over. Whether a change is still *allowed* (shipped parcels, holds, prices) is the policy's
business.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import change, first, rows, timestamp

from .people import OrderNumber
from .records import move_stock, require_customer, require_order, require_purchase, require_variant

Line = Annotated[str, {"minLength": 1, "maxLength": 120}]


@tool
def add_address(
    db: Connection,
    customer_id: int,
    street: Line,
    postcode: Annotated[str, {"minLength": 1, "maxLength": 12}],
    city: Annotated[str, {"minLength": 1, "maxLength": 60}],
    country: Annotated[str, {"pattern": "^[A-Z]{2}$"}],
) -> dict[str, Any]:
    """Add an address to a customer's address book; one that is there already is refused.

    Args:
        customer_id: The customer's id.
        street: Street and house number.
        postcode: The postcode.
        city: The city.
        country: The country's code of two letters, for example IE.
    """
    require_customer(db, customer_id)
    given = {
        "street": street.strip(),
        "postcode": postcode.strip(),
        "city": city.strip(),
        "country": country,
    }
    same = first(
        db,
        "SELECT address_id FROM addresses WHERE customer_id = :customer AND street = :street AND"
        " postcode = :postcode",
        customer=customer_id,
        street=given["street"],
        postcode=given["postcode"],
    )
    if same is not None:
        raise ToolError(
            f"This is the customer's address {same['address_id']} already.", category="duplicate"
        )
    made = first(
        db,
        "INSERT INTO addresses (customer_id, street, postcode, city, country)"
        " VALUES (:customer, :street, :postcode, :city, :country) RETURNING address_id",
        customer=customer_id,
        **given,
    )
    return (made or {}) | given


@tool
def change_address(db: Connection, number: OrderNumber, address_id: int) -> dict[str, Any]:
    """Change the address of an order: to another one of its customer. Refused for orders that are
    delivered or cancelled.

    Args:
        number: The order's number.
        address_id: An id from the customer's address book.
    """
    order = require_order(db, number)
    if order["status"] in {"delivered", "cancelled"}:
        raise ToolError(
            f"{order['number']} is {order['status']}; it goes nowhere any more.",
            category="conflict",
        )
    address = first(
        db,
        "SELECT address_id, street, postcode, city, country FROM addresses"
        " WHERE address_id = :id AND customer_id = :customer",
        id=address_id,
        customer=order["customer_id"],
    )
    if address is None:
        raise ToolError(
            f"The customer has no address with the id {address_id}.", category="not_found"
        )
    change(
        db,
        "UPDATE orders SET address_id = :address WHERE order_id = :id",
        address=address_id,
        id=order["order_id"],
    )
    return {"number": order["number"], "address": address}


@tool
def cancel_order(
    db: Connection,
    number: OrderNumber,
    reason: Literal[
        "changed_mind", "ordered_twice", "too_slow", "wrong_item", "fraud", "out_of_stock"
    ],
) -> dict[str, Any]:
    """Cancel an order and put its goods back into stock. Its payments are refunded separately.

    Args:
        number: The order's number.
        reason: Why it is cancelled.
    """
    order = require_order(db, number)
    if order["status"] in {"delivered", "cancelled"}:
        raise ToolError(
            f"{order['number']} is {order['status']}; it cannot be cancelled.", category="conflict"
        )
    change(
        db,
        "UPDATE orders SET status = 'cancelled', cancelled_at = :moment, cancel_reason = :reason"
        " WHERE order_id = :id",
        moment=timestamp(db),
        reason=reason,
        id=order["order_id"],
    )
    lines = rows(
        db,
        "SELECT variant_id, quantity FROM order_items WHERE order_id = :id ORDER BY order_item_id",
        id=order["order_id"],
    )
    for line in lines:
        move_stock(db, line["variant_id"], "cancellation", line["quantity"], order["order_id"])
    return {
        "number": order["number"],
        "status": "cancelled",
        "to_refund_cents": order["total_cents"],
    }


@tool
def swap_item(db: Connection, order_item_id: int, new_variant_id: int) -> dict[str, Any]:
    """Swap an item of an order for another variant, at the new one's price; stock and
    total follow.

    No money moves: what the order costs more or less by it (`difference_cents`) is charged or
    refunded separately. Refused where the goods have left, or where the new variant is not in
    stock.

    Args:
        order_item_id: The line of the order, as get_order gives it.
        new_variant_id: The variant to send instead, as find_variants gives it.
    """
    line = require_purchase(db, order_item_id)
    if line["status"] not in {"placed", "packed"}:
        raise ToolError(
            f"{line['number']} is {line['status']}; its goods are not here any more.",
            category="conflict",
        )
    variant = require_variant(db, new_variant_id)
    present = first(
        db,
        "SELECT order_item_id FROM order_items WHERE order_id = :order AND variant_id = :variant",
        order=line["order_id"],
        variant=new_variant_id,
    )
    if present is not None:
        raise ToolError(
            f"{line['number']} has a line with {variant['sku']} already.", category="duplicate"
        )
    move_stock(db, new_variant_id, "swap", -line["quantity"], line["order_id"])
    move_stock(db, line["variant_id"], "swap", line["quantity"], line["order_id"])
    change(
        db,
        "UPDATE order_items SET variant_id = :variant, unit_price_cents = :price, final_sale ="
        " :final"
        " WHERE order_item_id = :id",
        variant=new_variant_id,
        price=variant["price_cents"],
        final=variant["final_sale"],
        id=order_item_id,
    )
    difference = (variant["price_cents"] - line["unit_price_cents"]) * line["quantity"]
    if difference:
        change(
            db,
            "UPDATE orders SET total_cents = total_cents + :difference WHERE order_id = :id",
            difference=difference,
            id=line["order_id"],
        )
    return {
        "number": line["number"],
        "order_item_id": order_item_id,
        "sku": variant["sku"],
        "difference_cents": difference,
    }
