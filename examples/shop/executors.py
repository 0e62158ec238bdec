"""The tools of this world, in the order in which a model is shown them."""

from __future__ import annotations

from .catalogue import find_variants, list_categories, record_count, search_stock
from .coming_back import get_return, open_exchange, open_return, quote_return, receive_return
from .desk import (
    charge_difference,
    escalate,
    grant_credit,
    issue_refund,
    list_refunds,
    list_shipments,
    report_lost,
    send_message,
)
from .ordering import add_address, cancel_order, change_address, swap_item
from .people import (
    find_customers,
    find_purchases,
    get_customer,
    get_gift_card,
    get_order,
    list_orders,
)

__all__ = [
    "add_address",
    "cancel_order",
    "change_address",
    "charge_difference",
    "escalate",
    "find_customers",
    "find_purchases",
    "find_variants",
    "get_customer",
    "get_gift_card",
    "get_order",
    "get_return",
    "grant_credit",
    "issue_refund",
    "list_categories",
    "list_orders",
    "list_refunds",
    "list_shipments",
    "open_exchange",
    "open_return",
    "quote_return",
    "receive_return",
    "record_count",
    "report_lost",
    "search_stock",
    "send_message",
    "swap_item",
]
