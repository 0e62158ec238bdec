"""The rows of a universe while it is made: foreign keys hold the rows that they lead to, and keys
come last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

KEYS = {
    "customers": ("customer_id", 2001, 7),
    "addresses": ("address_id", 501, 3),
    "categories": ("category_id", 1, 1),
    "products": ("product_id", 11, 1),
    "variants": ("variant_id", 301, 2),
    "stock": ("", 0, 0),
    "orders": ("order_id", 30001, 3),
    "order_items": ("order_item_id", 40001, 2),
    "stock_movements": ("movement_id", 20001, 1),
    "shipments": ("shipment_id", 80001, 2),
    "gift_cards": ("gift_card_id", 901, 4),
    "payments": ("payment_id", 60001, 2),
    "returns": ("return_id", 7001, 2),
    "refunds": ("refund_id", 90001, 2),
    "credits": ("credit_id", 5001, 1),
    "messages": ("message_id", 12001, 1),
    "escalations": ("escalation_id", 1401, 1),
}
"""Tables in an order that foreign keys allow: the key's column, the first key of universe 0, and
the step to the next.
"""

Row = dict[str, Any]
"""A row whose foreign keys are the rows that they lead to, until keys are given out."""


class Books:
    """Rows by table."""

    def __init__(self, universe: int) -> None:
        self.universe = universe
        self.tables: dict[str, list[Row]] = {name: [] for name in KEYS}

    def add(self, table: str, **columns: Any) -> Row:
        self.tables[table].append(columns)
        return columns

    def numbered(self) -> Iterator[tuple[str, Row]]:
        """All rows with their keys given out in the order of time, and rows in foreign keys
        replaced by theirs.
        """
        keys: dict[int, int] = {}
        for table, (column, first, step) in KEYS.items():
            made = sorted(self.tables[table], key=_moment)
            for index, row in enumerate(made):
                fresh = (
                    {}
                    if not column or column in row
                    else {column: self.universe * 100_000 + first + step * index}
                )
                keys[id(row)] = row[column] if column in row else fresh.get(column, 0)
                if table == "orders":
                    row["number"] = f"LP-{10101 + 2000 * self.universe + 7 * index}"
                yield table, fresh | {name: _plain(value, keys) for name, value in row.items()}


def _moment(row: Row) -> str:
    """Time at which a row was written: its own or its order's; other tables stay as they are."""
    if own := next(
        (each for each in ("placed_at", "paid_at", "created_at", "issued_on") if each in row), None
    ):
        return f"{row[own]}"
    return _moment(row["order_id"]) if "order_id" in row else ""


def _plain(value: Any, keys: Mapping[int, int]) -> Any:
    if isinstance(value, dict):
        return keys[id(value)]
    return f"{value}" if isinstance(value, date) else value
