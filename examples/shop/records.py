"""What all tools of this world share: queries, the clock, folded names, stock, and rows that must exist."""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from functools import cache
from typing import Any

from sqlalchemy import Connection, TextClause, text

import envs
from envs import ToolError

Row = dict[str, Any]

MATCHES = 25
"""Rows that a search by words shows at most; the count is told beside them, so that the caller can narrow it."""

APOSTROPHES = frozenset("'`\u2019\u02bc")

LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"})
"""Letters of Latin alphabets that Unicode does not take apart into a base letter and a mark."""


def fold(name: str) -> str:
    """The form in which names compare: lower case, no accents or apostrophes, other punctuation as one blank."""
    apart = unicodedata.normalize("NFKD", name.casefold().translate(LETTERS))
    bare = (each for each in apart if not unicodedata.combining(each) and each not in APOSTROPHES)
    return " ".join("".join(each if each.isalnum() else " " for each in bare).split())


@cache
def _statement(sql: str) -> TextClause:
    return text(sql)


def _plain(value: Any) -> Any:
    """Whole numbers as integers, whatever the driver makes of a SUM."""
    if isinstance(value, Decimal):
        value = float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def rows(db: Connection, sql: str, **binds: Any) -> list[Row]:
    """All rows of a query as dicts."""
    found = db.execute(_statement(sql), binds).mappings()
    return [{key: _plain(value) for key, value in row.items()} for row in found]


def first(db: Connection, sql: str, **binds: Any) -> Row | None:
    """The first row of a query, or None."""
    return next(iter(rows(db, sql, **binds)), None)


def change(db: Connection, sql: str, **binds: Any) -> None:
    """Run a statement that writes."""
    db.execute(_statement(sql), binds)


def moment(db: Connection) -> str:
    """The rollout's clock in UTC as text, to the second."""
    return envs.now(db).replace(microsecond=0).isoformat(sep=" ")


def today(db: Connection) -> str:
    return moment(db)[:10]


def words_condition(column: str, words: str) -> tuple[str, dict[str, str]]:
    """SQL that holds where each word begins a word of a folded column, and its binds. ToolError for no words."""
    wanted = fold(words).split()[:8]
    if not wanted:
        raise ToolError("Give at least one letter to search for.", category="invalid")
    parts = [f"({column} LIKE :begin{at} OR {column} LIKE :inside{at})" for at in range(len(wanted))]
    binds = {f"begin{at}": f"{word}%" for at, word in enumerate(wanted)}
    return " AND ".join(parts), binds | {f"inside{at}": f"% {word}%" for at, word in enumerate(wanted)}


def euros(cents: int) -> str:
    """An amount as it is written to people: 127.24 for 12724."""
    return f"{cents // 100}.{cents % 100:02d}"


def require_customer(db: Connection, customer_id: int) -> Row:
    """The customer's row; ToolError ``not_found`` where there is none."""
    found = first(
        db, "SELECT customer_id, name, email, joined_on FROM customers WHERE customer_id = :id", id=customer_id
    )
    if found is None:
        raise ToolError(f"There is no customer with the id {customer_id}.", category="not_found")
    return found


def require_order(db: Connection, number: str) -> Row:
    """The order of that number, in whatever case; ToolError ``not_found`` where there is none."""
    found = first(
        db,
        "SELECT order_id, number, customer_id, address_id, status, hold, placed_at, shipping_cents, total_cents"
        " FROM orders WHERE number = :number",
        number=number.strip().upper(),
    )
    if found is None:
        raise ToolError(f"There is no order {number!r}.", category="not_found")
    return found


def require_purchase(db: Connection, order_item_id: int) -> Row:
    """One line of an order with product, terms and delivery; ToolError ``not_found`` where there is none."""
    found = first(
        db,
        "SELECT order_item_id, order_id, number, status, product_id, product, category, return_days,"
        " opened_fee_percent, variant_id, quantity, unit_price_cents, delivered_on, returnable"
        " FROM purchases WHERE order_item_id = :id",
        id=order_item_id,
    )
    if found is None:
        raise ToolError(f"There is no order item with the id {order_item_id}.", category="not_found")
    return found


def require_variant(db: Connection, variant_id: int) -> Row:
    """The variant with its stock; ToolError ``not_found`` where there is none."""
    found = first(
        db,
        "SELECT v.variant_id, v.sku, v.product_id, v.price_cents, v.final_sale, s.on_hand FROM variants v"
        " JOIN stock s ON s.variant_id = v.variant_id WHERE v.variant_id = :id",
        id=variant_id,
    )
    if found is None:
        raise ToolError(f"There is no variant with the id {variant_id}.", category="not_found")
    return found


def move_stock(db: Connection, variant_id: int, kind: str, quantity: int, order_id: int | None = None) -> None:
    """Book a movement and the stock that follows from it; ToolError ``out_of_stock`` where there is too little."""
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
        moment=moment(db),
    )
    change(
        db, "UPDATE stock SET on_hand = on_hand + :quantity WHERE variant_id = :id", quantity=quantity, id=variant_id
    )
