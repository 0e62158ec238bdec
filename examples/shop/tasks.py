"""Task families that need more than one row: a delivery of several returns, each in its own
state.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, cycle, islice
from typing import Any

from sqlalchemy import Connection, text

from .coming_back import OUR_FAULT

DESK_LIMIT = 20000
"""What the desk may refund for one return, in cents; the policy says so."""

STATES = (
    ("as_new", "as new"),
    ("opened", "opened"),
    ("as_new", "like new, sealed"),
    ("opened", "opened and used"),
)

OPEN_RETURNS = """
    SELECT r.return_id, r.reason, u.number, u.unit_price_cents * r.quantity AS paid, u.opened_fee_percent AS percent
    FROM returns r JOIN purchases u ON u.order_item_id = r.order_item_id
    WHERE r.status = 'open' AND r.kind = 'refund' ORDER BY r.return_id"""

SAYS = (
    (
        "Morning! This is what came in today: {parcels}. Please book everything in and settle it by"
        " the rules."
    ),
    (
        "Trolley from the gate, checked: {parcels}. Receive them all and see to the money, one after"
        " the other."
    ),
    "returns bench, {many} parcels: {parcels}. book + refund pls",
    (
        "I've unpacked {many} returns, namely {parcels}. Could you take them"
        " in and pay back what is due?"
    ),
)


def mornings_returns(db: Connection) -> Iterator[dict[str, Any]]:
    """Several returns at once: some with a fee, some over two payments, some a supervisor's."""
    waiting = db.execute(text(OPEN_RETURNS)).mappings().all()
    for start in range(len(waiting)):
        chosen = waiting[start : start + 2 + start % 3]
        if len(chosen) < 2 or len({each["number"] for each in chosen}) < len(chosen):
            continue
        found = list(zip(chosen, islice(cycle(STATES), start, start + len(chosen)), strict=True))
        settled: list[list[dict[str, Any]]] = []
        refunded = 0
        over, paid_back = list[str](), list[str]()
        for place, (each, (state, _)) in enumerate(found):
            opened = state == "opened" and each["reason"] not in OUR_FAULT
            fee = (each["paid"] * each["percent"] + 50) // 100 if opened else 0
            worth = each["paid"] - fee
            if worth > DESK_LIMIT:
                over.append(each["number"])
            else:
                refunded += worth
                less = f" (€{fee / 100:.2f} less, as it was opened)" if fee else ""
                paid_back.append(f"€{worth / 100:.2f} for return {each['return_id']}{less}")
            settled.append(_settled(place, each["return_id"], state, release=worth > DESK_LIMIT))
        money = f"Refunded: {', '.join(paid_back)}." if refunded else "Nothing is refunded yet."
        if over:
            money += f" Above our limit, so with a supervisor: {', '.join(over)}."
        yield {
            "slots": {
                "parcels": ", ".join(
                    f"return {each['return_id']} ({words})" for each, (_, words) in found
                ),
                "many": len(found),
                "refunded": refunded,
            },
            "key": chosen[0]["return_id"],
            "user": {"says": SAYS},
            "answer": {
                "refunded_cents": {
                    "type": "integer",
                    "description": "What was refunded in all, in cents.",
                },
                "escalated": {
                    "type": "array",
                    "items": "string",
                    "compare": "set",
                    "description": "Numbers of the orders that were handed to a supervisor.",
                },
            },
            "oracle": {"refunded_cents": "SELECT :refunded"},
            "gold": [
                *chain.from_iterable(zip(*settled, strict=True)),  # each step for all of them
                {"submit": {"refunded_cents": refunded, "escalated": over}},
                {
                    "say": [
                        f"I have booked in {len(found)} parcels. {money}",
                        f"Done, {len(found)} returns are in. {money}",
                    ]
                },
            ],
        }


def _settled(place: int, return_id: int, state: str, *, release: bool) -> list[dict[str, Any]]:
    """Book one return in, and refund it or hand it over."""
    item, many, why, order, parts = (
        f"{name}_{place}" for name in ("item", "many", "why", "order", "parts")
    )
    looked_up: list[dict[str, Any]] = [
        {
            "get_return": {"return_id": return_id},
            "save": {
                item: "$.order_item_id",
                many: "$.quantity",
                why: "$.reason",
                order: "$.number",
            },
        },
        {"receive_return": {"return_id": return_id, "condition": state}},
        {
            "quote_return": {
                "order_item_id": f"${item}",
                "quantity": f"${many}",
                "reason": f"${why}",
                "condition": state,
            },
            "save": {parts: "$.parts"},
        },
    ]
    if release:
        return [
            *looked_up,
            {
                "escalate": {
                    "number": f"${order}",
                    "team": "supervisor",
                    "reason": "refund_over_limit",
                }
            },
        ]
    refund = {
        "payment_id": "$part.payment_id",
        "amount_cents": "$part.amount_cents",
        "reason": "return",
        "return_id": return_id,
    }
    return [*looked_up, {"for_each": {"part": f"${parts}", "do": [{"issue_refund": refund}]}}]
