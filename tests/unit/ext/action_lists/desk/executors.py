"""The tools of the desk."""

from typing import Literal

from sqlalchemy import Connection, text

from envs import ToolError, tool


def rows(db: Connection, sql: str, **binds: object) -> list[dict]:
    return [dict(row) for row in db.execute(text(sql), binds).mappings()]


def one(db: Connection, what: str, sql: str, **binds: object) -> dict:
    found = rows(db, sql, **binds)
    if not found:
        raise ToolError(f"{what} does not exist.", category="not_found")
    return found[0]


def order_of(db: Connection, order_id: str, status: str) -> dict:
    order = one(db, f"Order {order_id}", "SELECT * FROM orders WHERE order_id = :id", id=order_id)
    if order["status"] != status:
        raise ToolError(
            f"Order {order_id} is {order['status']}, not {status}.", category="not_allowed"
        )
    return order


def check_payment(db: Connection, order: dict, payment_method_id: str) -> None:
    sql = "SELECT 1 FROM payment_methods WHERE payment_method_id = :id AND user_id = :user"
    one(db, f"Payment method {payment_method_id}", sql, id=payment_method_id, user=order["user_id"])


@tool(read_only=True)
def find_user_id_by_email(db: Connection, email: str) -> dict:
    """Find a user's id by e-mail address.

    Args:
        email: The e-mail address.
    """
    return one(db, "This user", "SELECT user_id FROM users WHERE email = :email", email=email)


@tool(read_only=True)
def find_user_id_by_name_zip(
    db: Connection, first_name: str, last_name: str, zip_code: str
) -> dict:
    """Find a user's id by name and zip code.

    Args:
        first_name: The first name.
        last_name: The last name.
        zip_code: The zip code.
    """
    sql = "SELECT user_id FROM users WHERE first_name = :first AND last_name = :last AND zip = :zip"
    return one(db, "This user", sql, first=first_name, last=last_name, zip=zip_code)


@tool(read_only=True)
def get_user_details(db: Connection, user_id: str) -> dict:
    """Get a user's address, payment methods and orders.

    Args:
        user_id: The user's id.
    """
    user = one(db, f"User {user_id}", "SELECT * FROM users WHERE user_id = :id", id=user_id)
    pay = "SELECT payment_method_id, kind, balance FROM payment_methods WHERE user_id = :id ORDER BY 1"
    orders = rows(db, "SELECT order_id FROM orders WHERE user_id = :id ORDER BY 1", id=user_id)
    methods = {row.pop("payment_method_id"): row for row in rows(db, pay, id=user_id)}
    return {**user, "payment_methods": methods, "orders": [row["order_id"] for row in orders]}


@tool(read_only=True)
def get_order_details(db: Connection, order_id: str) -> dict:
    """Get an order with its items.

    Args:
        order_id: The order's id, with its number sign.
    """
    order = one(db, f"Order {order_id}", "SELECT * FROM orders WHERE order_id = :id", id=order_id)
    sql = (
        "SELECT i.item_id, p.name, p.product_id, i.colour, i.size, i.price, o.state FROM order_items o"
        " JOIN items i ON i.item_id = o.item_id JOIN products p ON p.product_id = i.product_id"
        " WHERE o.order_id = :id ORDER BY 1"
    )
    return {**order, "items": rows(db, sql, id=order_id)}


@tool(read_only=True)
def list_all_product_types(db: Connection) -> dict:
    """List the products' names with their ids."""
    return {row["name"]: row["product_id"] for row in rows(db, "SELECT * FROM products ORDER BY 1")}


@tool(read_only=True)
def get_product_details(db: Connection, product_id: str) -> dict:
    """Get a product's items with prices.

    Args:
        product_id: The product's id.
    """
    product = one(
        db, f"Product {product_id}", "SELECT * FROM products WHERE product_id = :id", id=product_id
    )
    sql = "SELECT item_id, colour, size, price, available FROM items WHERE product_id = :id ORDER BY 1"
    variants = {row["item_id"]: row for row in rows(db, sql, id=product_id)}
    return {**product, "variants": variants}


@tool
def cancel_pending_order(
    db: Connection, order_id: str, reason: Literal["no longer needed", "ordered by mistake"]
) -> dict:
    """Cancel a pending order.

    Args:
        order_id: The order's id.
        reason: The customer's reason.
    """
    order_of(db, order_id, "pending")
    sql = "UPDATE orders SET status = 'cancelled', reason = :reason WHERE order_id = :id"
    db.execute(text(sql), {"id": order_id, "reason": reason})
    return {"order_id": order_id, "status": "cancelled"}


@tool
def modify_pending_order_address(
    db: Connection, order_id: str, street: str, city: str, zip_code: str
) -> dict:
    """Send a pending order to another address.

    Args:
        order_id: The order's id.
        street: The street and number.
        city: The city.
        zip_code: The zip code.
    """
    order_of(db, order_id, "pending")
    sql = "UPDATE orders SET street = :street, city = :city, zip = :zip WHERE order_id = :id"
    db.execute(text(sql), {"id": order_id, "street": street, "city": city, "zip": zip_code})
    return {"order_id": order_id, "street": street, "city": city, "zip": zip_code}


@tool
def exchange_delivered_order_items(
    db: Connection,
    order_id: str,
    item_ids: list[str],
    new_item_ids: list[str],
    payment_method_id: str,
) -> dict:
    """Exchange items of a delivered order for other items of the same products.

    Args:
        order_id: The order's id.
        item_ids: The items to take back.
        new_item_ids: The items to send, in the same order.
        payment_method_id: The method that pays the difference.
    """
    order = order_of(db, order_id, "delivered")
    check_payment(db, order, payment_method_id)
    if len(item_ids) != len(new_item_ids):
        raise ToolError("There must be a new item for every old one.", category="invalid_arguments")
    for old, new in zip(item_ids, new_item_ids, strict=True):
        sql = (
            "SELECT n.item_id FROM order_items o JOIN items i ON i.item_id = o.item_id"
            " JOIN items n ON n.product_id = i.product_id AND n.available = 1"
            " WHERE o.order_id = :order AND o.item_id = :old AND n.item_id = :new"
        )
        one(db, f"Item {new} in the place of {old}", sql, order=order_id, old=old, new=new)
        change = (
            "UPDATE order_items SET state = 'exchanged', exchanged_for = :new"
            " WHERE order_id = :order AND item_id = :old"
        )
        db.execute(text(change), {"order": order_id, "old": old, "new": new})
    db.execute(
        text("UPDATE orders SET refund_to = :pay WHERE order_id = :id"),
        {"id": order_id, "pay": payment_method_id},
    )
    return {"order_id": order_id, "exchanged": item_ids}


@tool
def return_delivered_order_items(
    db: Connection, order_id: str, item_ids: list[str], payment_method_id: str
) -> dict:
    """Take items of a delivered order back.

    Args:
        order_id: The order's id.
        item_ids: The items to take back.
        payment_method_id: The method that is refunded.
    """
    order = order_of(db, order_id, "delivered")
    check_payment(db, order, payment_method_id)
    for item in item_ids:
        sql = "SELECT 1 FROM order_items WHERE order_id = :order AND item_id = :item"
        one(db, f"Item {item}", sql, order=order_id, item=item)
        change = (
            "UPDATE order_items SET state = 'returned' WHERE order_id = :order AND item_id = :item"
        )
        db.execute(text(change), {"order": order_id, "item": item})
    db.execute(
        text("UPDATE orders SET refund_to = :pay WHERE order_id = :id"),
        {"id": order_id, "pay": payment_method_id},
    )
    return {"order_id": order_id, "returned": item_ids}


@tool
def modify_user_address(
    db: Connection, user_id: str, street: str, city: str, zip_code: str
) -> dict:
    """Change a user's address.

    Args:
        user_id: The user's id.
        street: The street and number.
        city: The city.
        zip_code: The zip code.
    """
    one(db, f"User {user_id}", "SELECT 1 FROM users WHERE user_id = :id", id=user_id)
    sql = "UPDATE users SET street = :street, city = :city, zip = :zip WHERE user_id = :id"
    db.execute(text(sql), {"id": user_id, "street": street, "city": city, "zip": zip_code})
    return {"user_id": user_id, "street": street, "city": city, "zip": zip_code}


@tool
def transfer_to_human_agents(db: Connection, summary: str) -> dict:
    """Hand the customer over to a person.

    Args:
        summary: What the customer wants.
    """
    return {"transferred": True}
