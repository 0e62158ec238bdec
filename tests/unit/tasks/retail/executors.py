"""The tools of the service desk."""

from sqlalchemy import Connection, text

from envs import ToolError, tool


def rows(db: Connection, sql: str, **binds: object) -> list[dict]:
    return [dict(row) for row in db.execute(text(sql), binds).mappings()]


def one(db: Connection, sql: str, **binds: object) -> dict:
    found = rows(db, sql, **binds)
    if not found:
        raise ToolError("There is no such entry.", category="not_found")
    return found[0]


@tool(read_only=True)
def find_customer(db: Connection, email: str) -> dict:
    """Find a customer by e-mail address.

    Args:
        email: The e-mail address.
    """
    return one(
        db, "SELECT customer_id, name, city FROM customers WHERE email = :email", email=email
    )


@tool(read_only=True)
def list_orders(db: Connection, customer_id: int) -> dict:
    """List a customer's orders with their lines.

    Args:
        customer_id: The customer's number.
    """
    sql = (
        "SELECT o.number, o.status AS order_status, o.city, l.line_id, p.name AS product, v.colour, v.size,"
        " v.price, l.status FROM orders o JOIN lines l ON l.order_id = o.order_id JOIN variants v ON v.variant_id = l.variant_id"
        " JOIN products p ON p.product_id = v.product_id WHERE o.customer_id = :id ORDER BY l.line_id"
    )
    return {"lines": rows(db, sql, id=customer_id)}


@tool(read_only=True)
def list_variants(db: Connection, product: str) -> dict:
    """List the variants of a product, with price in euros and stock.

    Args:
        product: The product's name.
    """
    sql = (
        "SELECT v.variant_id, v.colour, v.size, v.price, v.left_over FROM variants v"
        " JOIN products p ON p.product_id = v.product_id WHERE p.name = :name ORDER BY v.variant_id"
    )
    return {"variants": rows(db, sql, name=product)}


@tool
def exchange_line(db: Connection, line_id: int, variant_id: int) -> dict:
    """Exchange an item of a delivered order for another variant of the same product.

    Args:
        line_id: The number of the order's line.
        variant_id: The number of the new variant.
    """
    line = one(
        db,
        "SELECT v.product_id, o.status FROM lines l JOIN variants v ON v.variant_id = l.variant_id"
        " JOIN orders o ON o.order_id = l.order_id WHERE l.line_id = :id",
        id=line_id,
    )
    new = one(
        db, "SELECT product_id, left_over FROM variants WHERE variant_id = :id", id=variant_id
    )
    if line["status"] != "delivered" or new["product_id"] != line["product_id"]:
        raise ToolError("Only a delivered item, for the same product.", category="not_allowed")
    sql = "UPDATE lines SET variant_id = :variant, status = 'exchanged' WHERE line_id = :line"
    db.execute(text(sql), {"variant": variant_id, "line": line_id})
    return {"line_id": line_id, "status": "exchanged"}


@tool
def refund_line(db: Connection, line_id: int, amount: int) -> dict:
    """Take an item of a delivered order back and refund an amount in euros.

    Args:
        line_id: The number of the order's line.
        amount: The amount in euros.
    """
    one(db, "SELECT line_id FROM lines WHERE line_id = :id", id=line_id)
    db.execute(text("UPDATE lines SET status = 'returned' WHERE line_id = :id"), {"id": line_id})
    db.execute(
        text("INSERT INTO refunds (line_id, amount) VALUES (:id, :amount)"),
        {"id": line_id, "amount": amount},
    )
    return {"line_id": line_id, "refunded": amount}


@tool
def cancel_order(db: Connection, number: str) -> dict:
    """Cancel a pending order.

    Args:
        number: The order's number.
    """
    order = one(db, "SELECT status FROM orders WHERE number = :number", number=number)
    if order["status"] != "pending":
        raise ToolError("Only a pending order can be cancelled.", category="not_allowed")
    db.execute(
        text("UPDATE orders SET status = 'cancelled' WHERE number = :number"), {"number": number}
    )
    return {"number": number, "status": "cancelled"}


@tool
def set_address(db: Connection, number: str, city: str) -> dict:
    """Change the city to which a pending order goes.

    Args:
        number: The order's number.
        city: The new city.
    """
    one(
        db, "SELECT number FROM orders WHERE number = :number AND status = 'pending'", number=number
    )
    db.execute(
        text("UPDATE orders SET city = :city WHERE number = :number"),
        {"city": city, "number": number},
    )
    return {"number": number, "city": city}


@tool
def set_gift_note(db: Connection, number: str, note: str) -> dict:
    """Put a gift note into an order.

    Args:
        number: The order's number.
        note: The words of the note.
    """
    one(db, "SELECT number FROM orders WHERE number = :number", number=number)
    db.execute(
        text("UPDATE orders SET gift_note = :note WHERE number = :number"),
        {"note": note, "number": number},
    )
    return {"number": number, "gift_note": note}
