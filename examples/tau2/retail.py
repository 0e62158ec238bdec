"""The tools of tau2-bench's online shop, over tables."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import Row, change, first, rows

ADDRESS = ("address1", "address2", "city", "state", "country", "zip")
Items = Annotated[list, {"type": "array", "minItems": 1, "items": {"type": "string"}}]


@tool(read_only=True)
def find_user_id_by_email(db: Connection, email: str) -> dict[str, Any]:
    """Find a customer by e-mail address.

    Args:
        email: The address, for example someone@example.com.
    """
    return found_user(
        first(db, "SELECT user_id FROM users WHERE LOWER(email) = LOWER(:email)", email=email)
    )


@tool(read_only=True)
def find_user_id_by_name_zip(
    db: Connection,
    first_name: str,
    last_name: str,
    zip: str,  # noqa: A002
) -> dict[str, Any]:
    """Find a customer by name and zip code.

    Args:
        first_name: The first name.
        last_name: The last name.
        zip: The zip code of the customer's own address.
    """
    return found_user(
        first(
            db,
            "SELECT user_id FROM users WHERE LOWER(first_name) = LOWER(:first)"
            " AND LOWER(last_name) = LOWER(:last) AND zip = :zip",
            first=first_name,
            last=last_name,
            zip=zip,
        )
    )


@tool(read_only=True)
def get_user_details(db: Connection, user_id: str) -> dict[str, Any]:
    """Show a customer: name, address, payment methods and the numbers of all orders.

    Args:
        user_id: The customer's id, for example sara_doe_496.
    """
    user = require_user(db, user_id)
    return {
        "user_id": user_id,
        "name": {key: user[key] for key in ("first_name", "last_name")},
        "address": {key: user[key] for key in ADDRESS},
        "email": user["email"],
        "payment_methods": [
            {key: value for key, value in method.items() if value is not None}
            for method in rows(
                db,
                "SELECT id, source, brand, last_four, balance FROM payment_methods"
                " WHERE user_id = :user ORDER BY id",
                user=user_id,
            )
        ],
        "orders": [
            order["order_id"]
            for order in rows(
                db,
                "SELECT order_id FROM orders WHERE user_id = :user ORDER BY order_id",
                user=user_id,
            )
        ],
    }


@tool(read_only=True)
def get_order_details(db: Connection, order_id: str) -> dict[str, Any]:
    """Show an order: its status, address, items and payments.

    Args:
        order_id: The order's number with its sign, for example #W0000000.
    """
    return details(db, order_id)


@tool(read_only=True)
def get_product_details(db: Connection, product_id: str) -> dict[str, Any]:
    """Show all variants of a product, with options, price and whether they can be had.

    Args:
        product_id: The product's id, which is not the id of an item.
    """
    product = first(db, "SELECT * FROM products WHERE product_id = :id", id=product_id)
    if product is None:
        raise ToolError("There is no such product.", category="not_found")
    variants = rows(
        db,
        "SELECT item_id, available, price FROM variants WHERE product_id = :id ORDER BY item_id",
        id=product_id,
    )
    for variant in variants:
        variant["available"] = bool(variant["available"])
        variant["options"] = options(db, variant["item_id"])
    return product | {"variants": variants}


@tool(read_only=True)
def list_all_product_types(db: Connection) -> dict[str, Any]:
    """List the names of all products with their ids."""
    return {
        row["name"]: row["product_id"]
        for row in rows(db, "SELECT name, product_id FROM products ORDER BY name")
    }


@tool
def cancel_pending_order(
    db: Connection, order_id: str, reason: Literal["no longer needed", "ordered by mistake"]
) -> dict[str, Any]:
    """Cancel an order that is still pending, and give its price back.

    Args:
        order_id: The order's number with its sign.
        reason: Why; other reasons are not accepted.
    """
    order = require_status(db, order_id, "pending")
    for payment in order["payment_history"]:
        pay(db, order, "refund", payment["amount"], payment["payment_method_id"])
    change(
        db,
        "UPDATE orders SET status = 'cancelled', cancel_reason = :reason WHERE order_id = :id",
        reason=reason,
        id=order_id,
    )
    return details(db, order_id)


@tool
def modify_pending_order_address(
    db: Connection,
    order_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,  # noqa: A002
) -> dict[str, Any]:
    """Send a pending order to another address.

    Args:
        order_id: The order's number with its sign.
        address1: Street and number.
        address2: The rest of the street's line, which may be empty.
        city: The city.
        state: The state.
        country: The country.
        zip: The zip code.
    """
    require_pending(db, order_id)
    move(db, "orders", "order_id", order_id, (address1, address2, city, state, country, zip))
    return details(db, order_id)


@tool
def modify_user_address(
    db: Connection,
    user_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,  # noqa: A002
) -> dict[str, Any]:
    """Change a customer's own address.

    Args:
        user_id: The customer's id.
        address1: Street and number.
        address2: The rest of the street's line, which may be empty.
        city: The city.
        state: The state.
        country: The country.
        zip: The zip code.
    """
    require_user(db, user_id)
    move(db, "users", "user_id", user_id, (address1, address2, city, state, country, zip))
    user = require_user(db, user_id)
    return {"user_id": user_id, "address": {key: user[key] for key in ADDRESS}}


@tool
def modify_pending_order_payment(
    db: Connection, order_id: str, payment_method_id: str
) -> dict[str, Any]:
    """Pay a pending order with another method of the customer.

    Args:
        order_id: The order's number with its sign.
        payment_method_id: The new method's id, from the customer's profile.
    """
    order = require_pending(db, order_id)
    method = require_method(db, order, payment_method_id)
    paid = order["payment_history"]
    if len(paid) != 1 or paid[0]["kind"] != "payment":
        raise ToolError("Only an order with one payment can be paid anew.", category="conflict")
    if paid[0]["payment_method_id"] == payment_method_id:
        raise ToolError("This is how the order is paid already.", category="conflict")
    require_balance(method, paid[0]["amount"])
    pay(db, order, "payment", paid[0]["amount"], payment_method_id)
    pay(db, order, "refund", paid[0]["amount"], paid[0]["payment_method_id"])
    return details(db, order_id)


@tool
def modify_pending_order_items(
    db: Connection, order_id: str, item_ids: Items, new_item_ids: Items, payment_method_id: str
) -> dict[str, Any]:
    """Replace items of a pending order by other variants of their products. Possible once.

    Args:
        order_id: The order's number with its sign.
        item_ids: The items to be replaced; one that is meant twice is listed twice.
        new_item_ids: The items in their places, in the same order.
        payment_method_id: The customer's method for the difference in price.
    """
    order = require_status(db, order_id, "pending")
    pairs, due = replacements(db, order, item_ids, new_item_ids, payment_method_id)
    if any(item["item_id"] == new["item_id"] for item, new in pairs):
        raise ToolError("An item cannot replace itself.", category="conflict")
    pay(db, order, "payment" if due > 0 else "refund", abs(due), payment_method_id)
    for item, new in pairs:
        change(
            db,
            "UPDATE order_items SET item_id = :item, price = :price"
            " WHERE order_id = :id AND position = :position",
            item=new["item_id"],
            price=new["price"],
            id=order_id,
            position=item["position"],
        )
    set_status(db, order_id, "pending (item modified)")
    return details(db, order_id)


@tool
def exchange_delivered_order_items(
    db: Connection, order_id: str, item_ids: Items, new_item_ids: Items, payment_method_id: str
) -> dict[str, Any]:
    """Ask for the exchange of delivered items for other variants of their products. Possible once.

    Args:
        order_id: The order's number with its sign.
        item_ids: The items to be exchanged; one that is meant twice is listed twice.
        new_item_ids: The items in their places, in the same order.
        payment_method_id: The customer's method for the difference in price.
    """
    order = require_status(db, order_id, "delivered")
    pairs, due = replacements(db, order, item_ids, new_item_ids, payment_method_id)
    for item, new in pairs:
        change(
            db,
            "UPDATE order_items SET new_item_id = :item WHERE order_id = :id"
            " AND position = :position",
            item=new["item_id"],
            id=order_id,
            position=item["position"],
        )
    set_status(db, order_id, "exchange requested", payment_method_id, due)
    return details(db, order_id)


@tool
def return_delivered_order_items(
    db: Connection, order_id: str, item_ids: Items, payment_method_id: str
) -> dict[str, Any]:
    """Ask for the return of delivered items. Possible once.

    Args:
        order_id: The order's number with its sign.
        item_ids: The items; one that is meant twice is listed twice.
        payment_method_id: Where the money goes: how the order was paid, or a gift card.
    """
    order = require_status(db, order_id, "delivered")
    method = require_method(db, order, payment_method_id)
    original = order["payment_history"][0]["payment_method_id"]
    if method["source"] != "gift_card" and payment_method_id != original:
        raise ToolError(
            "The money goes to a gift card, or where it came from.", category="conflict"
        )
    for item in items_of(order, item_ids):
        change(
            db,
            "UPDATE order_items SET returned = 1 WHERE order_id = :id AND position = :position",
            id=order_id,
            position=item["position"],
        )
    set_status(db, order_id, "return requested", payment_method_id)
    return details(db, order_id)


def found_user(row: Row | None) -> Row:
    if row is None:
        raise ToolError("There is no such customer.", category="not_found")
    return row


def require_user(db: Connection, user_id: str) -> Row:
    return found_user(first(db, "SELECT * FROM users WHERE user_id = :id", id=user_id))


def options(db: Connection, item_id: str) -> dict[str, str]:
    found = rows(
        db, "SELECT name, value FROM options WHERE item_id = :id ORDER BY name", id=item_id
    )
    return {row["name"]: row["value"] for row in found}


def details(db: Connection, order_id: str) -> Row:
    """An order with all that belongs to it."""
    order = first(db, "SELECT * FROM orders WHERE order_id = :id", id=order_id)
    if order is None:
        raise ToolError("There is no such order.", category="not_found")
    address = {key: order.pop(key) for key in ADDRESS}
    items = rows(
        db,
        "SELECT i.position, p.name, i.product_id, i.item_id, i.price, i.tracking_id, i.new_item_id,"
        " i.returned FROM order_items i JOIN products p ON p.product_id = i.product_id"
        " WHERE order_id = :id ORDER BY position",
        id=order_id,
    )
    for item in items:
        item["options"] = options(db, item["item_id"])
    payments = rows(
        db,
        "SELECT kind, amount, payment_method_id FROM payments WHERE order_id = :id"
        " ORDER BY position",
        id=order_id,
    )
    return order | {"address": address, "items": items, "payment_history": payments}


def require_status(db: Connection, order_id: str, status: str) -> Row:
    order = details(db, order_id)
    if order["status"] != status:
        raise ToolError(f"The order is not {status}: {order['status']}.", category="conflict")
    return order


def require_pending(db: Connection, order_id: str) -> Row:
    """An order that is pending, its items changed or not."""
    order = details(db, order_id)
    if not order["status"].startswith("pending"):
        raise ToolError(f"The order is not pending: {order['status']}.", category="conflict")
    return order


def require_method(db: Connection, order: Row, payment_method_id: str) -> Row:
    method = first(
        db,
        "SELECT * FROM payment_methods WHERE user_id = :user AND id = :id",
        user=order["user_id"],
        id=payment_method_id,
    )
    if method is None:
        raise ToolError("The customer has no such payment method.", category="not_found")
    return method


def require_balance(method: Row, due: float) -> None:
    if method["source"] == "gift_card" and method["balance"] < due:
        raise ToolError("The gift card holds too little.", category="conflict")


def items_of(order: Row, item_ids: list[str]) -> list[Row]:
    """The items of an order with these ids, each item once."""
    left, chosen = list(order["items"]), list[Row]()
    for item_id in item_ids:
        item = next((item for item in left if item["item_id"] == item_id), None)
        if item is None:
            raise ToolError(f"The order has no such item: {item_id}.", category="not_found")
        left.remove(item)
        chosen.append(item)
    return chosen


def replacements(
    db: Connection,
    order: Row,
    item_ids: list[str],
    new_item_ids: list[str],
    payment_method_id: str,
) -> tuple[list[tuple[Row, Row]], float]:
    """Items of an order with the available variants of their products that replace them, and the
    difference in price, which the payment method can pay.
    """
    if len(item_ids) != len(new_item_ids):
        raise ToolError("There must be as many new items as old ones.", category="invalid")
    pairs: list[tuple[Row, Row]] = []
    for item, new_id in zip(items_of(order, item_ids), new_item_ids, strict=True):
        new = first(
            db,
            "SELECT item_id, price FROM variants WHERE item_id = :id AND product_id = :product"
            " AND available = 1",
            id=new_id,
            product=item["product_id"],
        )
        if new is None:
            raise ToolError(f"{new_id} cannot take its place.", category="conflict")
        pairs.append((item, new))
    due = round(sum(new["price"] - item["price"] for item, new in pairs), 2)
    require_balance(require_method(db, order, payment_method_id), due)
    return pairs, due


def pay(db: Connection, order: Row, kind: str, amount: float, payment_method_id: str) -> None:
    """Write a payment or a refund; a gift card's balance follows."""
    change(
        db,
        "INSERT INTO payments SELECT :id, COUNT(*), :kind, :amount, :method FROM payments"
        " WHERE order_id = :id",
        id=order["order_id"],
        kind=kind,
        amount=amount,
        method=payment_method_id,
    )
    change(
        db,
        "UPDATE payment_methods SET balance = ROUND(balance - :amount, 2)"
        " WHERE user_id = :user AND id = :method AND source = 'gift_card'",
        amount=amount if kind == "payment" else -amount,
        user=order["user_id"],
        method=payment_method_id,
    )


def set_status(
    db: Connection,
    order_id: str,
    status: str,
    payment_method_id: str | None = None,
    due: float | None = None,
) -> None:
    change(
        db,
        "UPDATE orders SET status = :status, change_payment_method_id = :method,"
        " price_difference = :due WHERE order_id = :id",
        status=status,
        method=payment_method_id,
        due=due,
        id=order_id,
    )


def move(db: Connection, table: str, key: str, value: str, address: tuple[str, ...]) -> None:
    """Write an address into a row."""
    columns = ", ".join(f"{name} = :{name}" for name in ADDRESS)
    change(
        db,
        f"UPDATE {table} SET {columns} WHERE {key} = :key",
        key=value,
        **dict(zip(ADDRESS, address, strict=True)),
    )
