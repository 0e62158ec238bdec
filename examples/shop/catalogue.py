"""Tools over the catalogue and the warehouse: what is sold, on which terms, and how much of it
there is.
"""

from __future__ import annotations

from typing import Annotated, Any

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import first, fold, rows, words_condition

from .people import Words
from .records import MATCHES, euros, move_stock

Choice = Annotated[str | None, {"minLength": 1, "maxLength": 20}]
Sku = Annotated[str, {"minLength": 1, "maxLength": 20}]


@tool(read_only=True)
def find_variants(
    db: Connection, words: Words, colour: Choice = None, size: Choice = None
) -> dict[str, Any]:
    """Find variants of products, with price, stock and whether they are in the final sale.

    Args:
        words: Words of the product's name, in any order.
        colour: Only this colour.
        size: Only this size.
    """
    condition, binds = words_condition("p.name_folded", words)
    for column, wanted in (("colour", colour), ("size", size)):
        if wanted is not None:
            condition, binds = (
                f"{condition} AND v.{column} = :{column}",
                binds | {column: wanted.strip().lower()},
            )
    found = rows(
        db,
        "SELECT v.variant_id, v.sku, p.name AS product, v.colour, v.size, v.price_cents,"
        " v.final_sale, s.on_hand"
        " FROM variants v JOIN products p ON p.product_id = v.product_id JOIN stock s ON"
        " s.variant_id = v.variant_id"
        f" WHERE {condition} ORDER BY v.variant_id",
        **binds,
    )
    for each in found:
        each |= {"final_sale": bool(each["final_sale"]), "price_eur": euros(each["price_cents"])}
    return {"count": len(found), "variants": found[:MATCHES]}


@tool(read_only=True)
def list_categories(db: Connection) -> dict[str, Any]:
    """List the categories with their return window in days and the fee for opened items in
    percent.
    """
    return {
        "categories": rows(
            db, "SELECT name, return_days, opened_fee_percent FROM categories ORDER BY category_id"
        )
    }


@tool(read_only=True)
def search_stock(
    db: Connection, category: Words, below: Annotated[int, {"minimum": 1, "maximum": 1000}] = 1
) -> dict[str, Any]:
    """Search a category for variants that run low: with fewer than a number on hand.

    Args:
        category: The category's name.
        below: Only variants with less on hand than this; 1 finds what is sold out.
    """
    names = {
        fold(each["name"]): each
        for each in rows(db, "SELECT category_id, name FROM categories ORDER BY name")
    }
    if fold(category) not in names:
        known = ", ".join(each["name"] for each in names.values())
        raise ToolError(
            f"There is no category {category!r}; there are {known}.", category="not_found"
        )
    found = rows(
        db,
        "SELECT v.sku, p.name AS product, v.colour, v.size, s.on_hand FROM variants v"
        " JOIN products p ON p.product_id = v.product_id JOIN stock s ON s.variant_id ="
        " v.variant_id"
        " WHERE p.category_id = :category AND s.on_hand < :below ORDER BY v.variant_id",
        category=names[fold(category)]["category_id"],
        below=below,
    )
    return {"count": len(found), "variants": found}


@tool
def record_count(
    db: Connection, sku: Sku, counted: Annotated[int, {"minimum": 0, "maximum": 100000}]
) -> dict[str, Any]:
    """Set a variant's stock to what was counted in the warehouse; the difference is booked as a
    movement.

    Args:
        sku: The variant's stock-keeping unit.
        counted: How many are there.
    """
    variant = first(
        db,
        "SELECT v.variant_id, v.sku, s.on_hand FROM variants v JOIN stock s ON s.variant_id ="
        " v.variant_id"
        " WHERE v.sku = :sku",
        sku=sku.strip().upper(),
    )
    if variant is None:
        raise ToolError(f"There is no variant with the SKU {sku!r}.", category="not_found")
    difference = counted - variant["on_hand"]
    if difference:
        move_stock(db, variant["variant_id"], "count", difference)
    return {"sku": variant["sku"], "on_hand": counted, "difference": difference}
