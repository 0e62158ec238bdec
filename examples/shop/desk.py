"""Tools of the desk: refunds, credit, parcels, messages and escalations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import change, first, rows, timestamp

from .people import OrderNumber
from .records import euros, require_customer, require_order

Day = Annotated[str | None, {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}]
Cents = Annotated[int, {"minimum": 1, "maximum": 10000000}]
Carrier = Literal["Nordpost", "Parcelwing", "Swiftline"]
RefundReason = Literal["cancellation", "return", "lost_parcel", "price_error", "price_difference"]


@tool
def issue_refund(
    db: Connection,
    payment_id: int,
    amount_cents: Cents,
    reason: RefundReason,
    return_id: int | None = None,
    destination: Literal["original_payment", "bank_account", "store_credit"] = "original_payment",
) -> dict[str, Any]:
    """Refund a payment or a part of it. Refused above what is left of the payment.

    Args:
        payment_id: The payment, as get_order gives it.
        amount_cents: How much, in cents.
        reason: What for.
        return_id: The return that it is for, if it is for one.
        destination: Where the money goes.
    """
    payment = first(
        db,
        "SELECT p.payment_id, p.gift_card_id, b.refundable_cents, o.customer_id, o.number FROM"
        " payments p"
        " JOIN payment_balances b ON b.payment_id = p.payment_id JOIN orders o ON o.order_id ="
        " p.order_id"
        " WHERE p.payment_id = :id",
        id=payment_id,
    )
    if payment is None:
        raise ToolError(f"There is no payment with the id {payment_id}.", category="not_found")
    if amount_cents > payment["refundable_cents"]:
        raise ToolError(
            f"Only {payment['refundable_cents']} cents are left of this payment.",
            category="conflict",
        )
    if return_id is not None:
        owner = first(
            db,
            "SELECT o.number FROM returns r JOIN order_items i ON i.order_item_id = r.order_item_id"
            " JOIN orders o ON o.order_id = i.order_id WHERE r.return_id = :id",
            id=return_id,
        )
        if owner is None or owner["number"] != payment["number"]:
            raise ToolError(
                f"Order {payment['number']} has no return {return_id}.", category="not_found"
            )
    stamp = timestamp(db)
    made = first(
        db,
        "INSERT INTO refunds (payment_id, return_id, amount_cents, reason, destination, created_at)"
        " VALUES (:payment, :for_return, :amount, :reason, :destination, :moment) RETURNING"
        " refund_id",
        payment=payment_id,
        for_return=return_id,
        amount=amount_cents,
        reason=reason,
        destination=destination,
        moment=stamp,
    )
    if destination == "store_credit":
        change(
            db,
            "INSERT INTO credits (customer_id, kind, amount_cents, created_at)"
            " VALUES (:customer, 'refund', :amount, :moment)",
            customer=payment["customer_id"],
            amount=amount_cents,
            moment=stamp,
        )
    elif destination == "original_payment" and payment["gift_card_id"] is not None:
        change(
            db,
            "UPDATE gift_cards SET balance_cents = balance_cents +"
            " :amount WHERE gift_card_id = :id",
            amount=amount_cents,
            id=payment["gift_card_id"],
        )
    return (made or {}) | {
        "number": payment["number"],
        "amount_cents": amount_cents,
        "destination": destination,
    }


@tool
def charge_difference(db: Connection, number: OrderNumber, amount_cents: Cents) -> dict[str, Any]:
    """Charge a difference to the customer of an order, by the card, wallet or bank account that the order
    was paid with.

    Refused (`conflict`) where the order was paid with a gift card alone: a gift card cannot be
    charged again.

    Args:
        number: The order's number.
        amount_cents: How much, in cents.
    """
    order = require_order(db, number)
    used = first(
        db,
        "SELECT method FROM payments WHERE order_id = :id AND gift_card_id IS NULL ORDER BY"
        " payment_id",
        id=order["order_id"],
    )
    if used is None:
        raise ToolError(
            f"{order['number']} was paid with a gift card alone; there is nothing to charge.",
            category="conflict",
        )
    made = first(
        db,
        "INSERT INTO payments (order_id, method, amount_cents, paid_at)"
        " VALUES (:order, :method, :amount, :moment) RETURNING payment_id",
        order=order["order_id"],
        method=used["method"],
        amount=amount_cents,
        moment=timestamp(db),
    )
    return (made or {}) | {
        "number": order["number"],
        "method": used["method"],
        "amount_eur": euros(amount_cents),
    }


@tool(read_only=True)
def list_refunds(
    db: Connection,
    first_day: Annotated[str, {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}],
    last_day: Annotated[str, {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}],
    reason: RefundReason | None = None,
) -> dict[str, Any]:
    """List refunds of a span of days, oldest first, with their count and sum.

    Args:
        first_day: The first day (YYYY-MM-DD).
        last_day: The last day, included (YYYY-MM-DD).
        reason: Only refunds for this reason.
    """
    only = "" if reason is None else " AND r.reason = :reason"
    binds = {} if reason is None else {"reason": reason}
    found = rows(
        db,
        "SELECT r.refund_id, o.number, p.method, r.amount_cents, r.reason, r.destination,"
        " r.created_at FROM refunds r"
        " JOIN payments p ON p.payment_id = r.payment_id JOIN orders o ON o.order_id = p.order_id"
        f" WHERE SUBSTR(r.created_at, 1, 10) BETWEEN :first AND :last{only} ORDER BY r.created_at,"
        " r.refund_id",
        first=first_day,
        last=last_day,
        **binds,
    )
    total = sum(each["amount_cents"] for each in found)
    return {"count": len(found), "total_cents": total, "total_eur": euros(total), "refunds": found}


@tool
def grant_credit(
    db: Connection,
    customer_id: int,
    amount_cents: Cents,
    cause: Literal["late_parcel", "damaged_item", "wrong_item", "lost_parcel"],
) -> dict[str, Any]:
    """Give a customer store credit as goodwill.

    Args:
        customer_id: The customer's id.
        amount_cents: How much, in cents.
        cause: What we make good for.
    """
    customer = require_customer(db, customer_id)
    change(
        db,
        "INSERT INTO credits (customer_id, kind, cause, amount_cents, created_at)"
        " VALUES (:customer, 'goodwill', :cause, :amount, :moment)",
        customer=customer_id,
        cause=cause,
        amount=amount_cents,
        moment=timestamp(db),
    )
    return {
        "customer_id": customer_id,
        "name": customer["name"],
        "amount_eur": euros(amount_cents),
        "cause": cause,
    }


@tool(read_only=True)
def list_shipments(
    db: Connection,
    status: Literal["in_transit", "delivered", "lost"] = "in_transit",
    carrier: Carrier | None = None,
    promised_before: Day = None,
    shipped_before: Day = None,
) -> dict[str, Any]:
    """List parcels with their orders, the earliest promised first.

    Args:
        status: Where the parcels are.
        carrier: Only parcels of this carrier.
        promised_before: Only parcels promised for a day before this one (YYYY-MM-DD).
        shipped_before: Only parcels that left before this day (YYYY-MM-DD).
    """
    conditions = {
        "status": ("s.status = :status", status),
        "carrier": ("s.carrier = :carrier", carrier),
        "promised": ("s.promised_on < :promised", promised_before),
        "shipped": ("s.shipped_on < :shipped", shipped_before),
    }
    asked = {key: pair for key, pair in conditions.items() if pair[1] is not None}
    found = rows(
        db,
        "SELECT s.shipment_id, o.number, o.hold, s.carrier, s.tracking, s.shipped_on,"
        " s.promised_on, s.delivered_on"
        f" FROM shipments s JOIN orders o ON o.order_id = s.order_id WHERE"
        f" {' AND '.join(pair[0] for pair in asked.values())} ORDER BY s.promised_on,"
        " s.shipment_id",
        **{key: pair[1] for key, pair in asked.items()},
    )
    return {"count": len(found), "shipments": found}


@tool
def report_lost(db: Connection, shipment_id: int) -> dict[str, Any]:
    """Report a parcel in transit to its carrier as lost.

    Args:
        shipment_id: The shipment's id, as get_order gives it.
    """
    found = first(
        db,
        "SELECT status, carrier, tracking FROM shipments WHERE shipment_id = :id",
        id=shipment_id,
    )
    if found is None:
        raise ToolError(f"There is no shipment with the id {shipment_id}.", category="not_found")
    if found["status"] != "in_transit":
        raise ToolError(f"The parcel is {found['status']}, not in transit.", category="conflict")
    change(db, "UPDATE shipments SET status = 'lost' WHERE shipment_id = :id", id=shipment_id)
    return {"shipment_id": shipment_id, "carrier": found["carrier"], "status": "lost"}


@tool
def send_message(
    db: Connection,
    number: OrderNumber,
    template: Literal["delay_apology", "parcel_lost", "return_label", "refund_issued"],
) -> dict[str, Any]:
    """Send a standard message to the customer of an order, by e-mail.

    Args:
        number: The order's number.
        template: Which message.
    """
    order = require_order(db, number)
    change(
        db,
        "INSERT INTO messages (order_id, template, created_at) VALUES (:order, :template, :moment)",
        order=order["order_id"],
        template=template,
        moment=timestamp(db),
    )
    return {
        "number": order["number"],
        "to": require_customer(db, order["customer_id"])["email"],
        "template": template,
    }


@tool
def escalate(
    db: Connection,
    number: OrderNumber,
    team: Literal["supervisor", "risk", "warehouse"],
    reason: Literal["refund_over_limit", "fraud_hold", "stock_discrepancy"],
) -> dict[str, Any]:
    """Hand an order over to another team.

    Args:
        number: The order's number.
        team: Who has to decide.
        reason: Why.
    """
    order = require_order(db, number)
    made = first(
        db,
        "INSERT INTO escalations (order_id, team, reason, created_at) VALUES (:order, :team,"
        " :reason, :moment)"
        " RETURNING escalation_id",
        order=order["order_id"],
        team=team,
        reason=reason,
        moment=timestamp(db),
    )
    return (made or {}) | {"number": order["number"], "team": team, "reason": reason}
