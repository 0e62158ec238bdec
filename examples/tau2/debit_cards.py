"""The tools of tau2-bench's bank for debit cards, over tables."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from envs import ToolError
from envs.tools.records import Row, first, now, rows

from .bank import move, post
from .banking import add, age, digits, made_id, offer, record, today, update

RISING = "0123456789"
WHY_CLOSED = ("lost", "stolen", "fraud_suspected", "damaged", "no_longer_needed", "account_closing")

CHANGES = (
    ("freeze_debit_card_3892", "Freeze a debit card until it is unfrozen.", "card_id",
     ("ACTIVE",), False, {"status": "FROZEN", "frozen_date": "{today}"}, {}),
    ("unfreeze_debit_card_3893", "Let a frozen debit card be used again.", "card_id",
     ("FROZEN",), True, {"status": "ACTIVE", "unfrozen_date": "{today}"}, {}),
    ("close_debit_card_4721", "Close a debit card for good.", "card_id reason",
     ("ACTIVE", "PENDING"), False,
     {"status": "CLOSED", "closed_date": "{today}", "closure_reason": "{reason}"},
     {"reason": WHY_CLOSED}),
    ("set_debit_card_recurring_block_7382", "Block or allow a debit card's recurring payments.",
     "card_id block_recurring", ("ACTIVE",), False, {"recurring_blocked": "{block_recurring:d}"},
     {}),
    ("reset_debit_card_pin_6284", "Set a PIN where the customer has forgotten the old one.",
     "card_id last_4_digits new_pin", ("ACTIVE",), False,
     {"pin_last_changed": "{today}", "pin_locked": "0", "pin_attempts_remaining": "3"}, {}),
    ("change_debit_card_pin_6285", "Set a PIN where the customer knows the old one.",
     "card_id current_pin new_pin", ("ACTIVE",), False, {"pin_last_changed": "{today}"}, {}),
)  # fmt: skip
"""Tools that change a debit card: the parameters, the statuses that allow it, whether the account
must be open, what changes, and choices.
"""

ACTIVATIONS = (
    ("activate_debit_card_8291", "Activate the first debit card of an account.",
     ("new_account", "first_card"), {"status": "DEACTIVATED", "deactivated_date": "{today}"}),
    ("activate_debit_card_8292", "Activate a debit card in place of a lost or stolen one.",
     ("lost", "stolen", "fraud"), {"status": "DEACTIVATED", "deactivated_date": "{today}"}),
    ("activate_debit_card_8293", "Activate a debit card that was reissued.",
     ("expired", "damaged", "upgrade", "bank_reissue"),
     {"status": "GRACE_PERIOD", "grace_period_ends": "{today}"}),
)  # fmt: skip
"""Each with the reasons of issue that it is for, and what becomes of other cards."""


def check_card(
    db: Connection, a: Row, statuses: Sequence[str], *, account_open: bool = False
) -> Row:
    """The card, if its status, its account and the given digits allow a change."""
    card = record(db, "debit_cards", a["card_id"])
    if card["status"] not in statuses:
        raise ToolError(f"The card is {card['status']}.", category="conflict")
    if account_open and record(db, "accounts", card["account_id"])["status"] != "OPEN":
        raise ToolError("The card's account is not open.", category="conflict")
    if a.get("last_4_digits", card["last_4_digits"]) != card["last_4_digits"]:
        raise ToolError("These are not the card's last digits.", category="conflict")
    pin = a.get("new_pin", a.get("pin"))
    if pin is not None and (
        len(pin) != 4
        or not pin.isdigit()
        or len(set(pin)) == 1
        or pin in RISING
        or pin[::-1] in RISING
    ):
        raise ToolError("A PIN has four digits that are no row.", category="invalid")
    if pin is not None and pin == a.get("current_pin"):
        raise ToolError("This is the PIN of now.", category="conflict")
    return card


def values_of(db: Connection, a: Row, templates: dict[str, str]) -> dict[str, str]:
    return {name: text.format(today=today(db), **a) for name, text in templates.items()}


for _name, _about, _needs, _statuses, _open, _values, _choices in CHANGES:

    def _change(
        db: Connection,
        a: Row,
        statuses: Sequence[str] = _statuses,
        account_open: bool = _open,
        values: dict[str, str] = _values,
    ) -> Row:
        check_card(db, a, statuses, account_open=account_open)
        return update(db, "debit_cards", a["card_id"], **values_of(db, a, values))

    globals()[_name] = offer(_about, _needs, name=_name, **_choices)(_change)

for _name, _about, _reasons, _others in ACTIVATIONS:

    def _activate(
        db: Connection,
        a: Row,
        reasons: Sequence[str] = _reasons,
        others: dict[str, str] = _others,
    ) -> Row:
        card = check_card(db, a, ("PENDING",), account_open=True)
        if card["issue_reason"] not in reasons:
            raise ToolError(f"The card was issued as {card['issue_reason']}.", category="conflict")
        sql = "SELECT card_id FROM debit_cards WHERE account_id = :account AND status = 'ACTIVE'"
        for other in rows(db, sql, account=card["account_id"]):
            update(db, "debit_cards", other["card_id"], **values_of(db, a, others))
        return update(db, "debit_cards", a["card_id"], status="ACTIVE", activated_date=today(db))

    globals()[_name] = offer(_about, "card_id last_4_digits expiration_date cvv pin", name=_name)(
        _activate
    )


@offer(
    "End the fraud alert of a debit card, or its block for too many payments.",
    "card_id reason",
    reason=("customer_verified", "velocity_clear"),
)
def clear_debit_card_fraud_alert_4892(db: Connection, a: Row) -> Row:
    card = record(db, "debit_cards", a["card_id"])
    flag, cleared = {
        "customer_verified": ("fraud_alert_active", "fraud_alert_cleared_date"),
        "velocity_clear": ("velocity_blocked", "velocity_cleared_date"),
    }[a["reason"]]
    if not card.get(flag):
        raise ToolError("The card has none.", category="conflict")
    if flag == "fraud_alert_active":
        if card.get("alert_source") == "bank_initiated":
            raise ToolError("The bank set it: only the security team ends it.", category="conflict")
        update(db, "debit_cards", a["card_id"], alert_source=None)
    return update(db, "debit_cards", a["card_id"], **{flag: 0, cleared: today(db)})


@offer(
    "File a dispute of a debit card payment.",
    "transaction_id account_id card_id user_id dispute_category transaction_date discovery_date"
    " disputed_amount transaction_type card_in_possession pin_compromised contacted_merchant"
    " police_report_filed written_statement_provided provisional_credit_eligible"
    " customer_max_liability_amount card_action",
    dispute_category=(
        "unauthorized_transaction", "atm_cash_discrepancy", "atm_deposit_not_credited",
        "duplicate_charge", "incorrect_amount", "goods_services_not_received",
        "recurring_charge_after_cancellation", "card_present_fraud", "card_not_present_fraud",
    ),
    transaction_type=(
        "pin_purchase", "signature_purchase", "online_purchase", "atm_withdrawal", "atm_deposit",
        "recurring_payment", "person_to_person",
    ),
    pin_compromised=("yes_shared", "yes_observed", "no", "unknown"),
    card_action=("keep_active", "freeze_pending_investigation", "close_and_reissue"),
)  # fmt: skip
def file_debit_card_transaction_dispute_6281(db: Connection, a: Row) -> Row:
    key = made_id("dsp_", f"dispute:{a['user_id']}:{a['transaction_id']}")
    row = {**a, "filing_date": today(db), "status": "OPEN"}
    return add(db, "debit_card_disputes", dispute_id=key, **row)


FEES = "delivery_fee design_fee excess_replacement_fee"


@offer(
    "Order a debit card for a checking account, which pays the fees.",
    "account_id user_id delivery_option delivery_fee card_design design_fee shipping_address",
    optional="excess_replacement_fee",
    delivery_option=("STANDARD", "EXPEDITED", "RUSH"),
    card_design=("CLASSIC", "PREMIUM", "CUSTOM"),
)
def order_debit_card_5739(db: Connection, a: Row) -> Row:
    account, user, day = record(db, "accounts", a["account_id"]), a["user_id"], today(db)
    key = account["account_id"]
    if account["class"] != "checking" or account["status"] != "OPEN":
        raise ToolError("It is no open checking account.", category="conflict")
    fee = sum(a.get(name, 0) for name in FEES.split())
    if account["current_holdings"] < max(fee, 25):
        raise ToolError("The account holds too little.", category="conflict")
    cards = rows(db, "SELECT * FROM debit_cards WHERE account_id = :key ORDER BY rowid", key=key)
    waiting = "SELECT 1 FROM debit_card_orders WHERE account_id = :key AND status = 'PENDING'"
    if first(db, waiting, key=key) or any(card["status"] == "ACTIVE" for card in cards):
        raise ToolError("The account has a card, or awaits one.", category="conflict")
    order = made_id("dcord_", f"debit_card_order:{key}:{user}:{a['delivery_option']}")
    paid = {"excess_replacement_fee": 0, **a}
    add(db, "debit_card_orders", order_id=order, **paid, order_date=day, status="PENDING")
    if fee > 0:
        move(db, key, -fee)
        post(db, f"btxn_dcfee_{order[-8:]}", key, -fee, "DEBIT CARD ORDER FEE", "debit_card_fee")
    card = made_id("dbc_", f"debit_card:{key}:{user}:{day}")
    return add(
        db,
        "debit_cards",
        card_id=card,
        account_id=key,
        user_id=user,
        cardholder_name=record(db, "users", user)["name"].upper(),
        last_4_digits=digits(f"card_details:{card}:last4", 4, 8),
        cvv=digits(f"card_details:{card}:cvv", 3, 6),
        status="PENDING",
        issue_date=day,
        expiration_date=f"{now(db):%m}/30/{now(db).year + 4}",
        issue_reason=issue_reason(cards),
        card_design=a["card_design"],
    )


def issue_reason(cards: Sequence[Row]) -> str:
    """Why an account with these cards gets another one."""
    if not cards:
        return "new_account"
    why = next((card["closure_reason"] for card in cards if card["status"] == "CLOSED"), "")
    return {"lost": "lost", "stolen": "stolen", "fraud_suspected": "fraud"}.get(why, "first_card")


ATM_LIMITS = {
    "Blue Account": 500,
    "Green Account": 600,
    "Light Blue Account": 400,
    "Green Fee-Free Account": 500,
    "Evergreen Account": 750,
    "Bluest Account": 1500,
    "Dark Green Account": 300,
    "Gold Years Account": 600,
    "Purple Account": 1000,
}
"""The dollars a day where a card says nothing."""


@offer(
    "Raise a daily limit of a debit card for 24 hours, by half at most.",
    "card_id limit_type new_limit",
    limit_type=("atm", "purchase"),
)
def request_temporary_debit_card_limit_increase_8374(db: Connection, a: Row) -> Row:
    card = check_card(db, a, ("ACTIVE",), account_open=True)
    account = record(db, "accounts", card["account_id"])
    if age(db, account["date_opened"]) < 60:
        raise ToolError("The account is younger than 60 days.", category="conflict")
    column = f"daily_{a['limit_type']}_limit"
    limit = card.get(column)
    if limit is None and a["limit_type"] == "atm":
        limit = ATM_LIMITS.get(account["level"])
    if limit is None:
        raise ToolError("The card's limit cannot be changed.", category="conflict")
    if not limit < a["new_limit"] <= int(limit * 1.5):
        message = f"A limit of {limit} can rise up to {int(limit * 1.5)}."
        raise ToolError(message, category="conflict")
    raised = {column: a["new_limit"], f"original_{a['limit_type']}_limit": limit}
    return update(db, "debit_cards", a["card_id"], **raised)
