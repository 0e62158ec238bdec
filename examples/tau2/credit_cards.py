"""The tools of tau2-bench's bank for credit cards, over tables."""

from __future__ import annotations

from sqlalchemy import Connection

from envs import ToolError
from envs.tools.records import Row, first, rows

from .bank import move
from .banking import add, made_id, offer, record, today, update


@offer("Correct the rewards of a credit card payment.", "transaction_id new_rewards_earned")
def update_transaction_rewards_3847(db: Connection, a: Row) -> Row:
    key = a["transaction_id"]
    record(db, "credit_card_transaction_history", key)
    rewards = a["new_rewards_earned"]
    return update(db, "credit_card_transaction_history", key, rewards_earned=rewards)


@offer(
    "File a dispute of a credit card payment.",
    "transaction_id card_action card_last_4_digits full_name user_id phone email address"
    " contacted_merchant purchase_date issue_noticed_date dispute_reason resolution_requested"
    " eligible_for_provisional_credit",
    optional="partial_refund_amount",
    card_action=("keep_active", "cancel_and_reissue"),
    dispute_reason=(
        "unauthorized_fraudulent_charge", "duplicate_charge", "incorrect_amount",
        "goods_services_not_received", "goods_services_not_as_described",
        "canceled_subscription_still_charging", "refund_never_processed",
    ),
    resolution_requested=("full_refund", "partial_refund"),
)  # fmt: skip
def file_credit_card_transaction_dispute_4829(db: Connection, a: Row) -> Row:
    if a["resolution_requested"] == "partial_refund" and "partial_refund_amount" not in a:
        raise ToolError("Say how much a partial refund is.", category="invalid")
    key = made_id("dsp_", f"dispute:{a['user_id']}:{a['transaction_id']}")
    day = today(db)
    return add(
        db, "transaction_disputes", dispute_id=key, **a, submitted_at=day, status="SUBMITTED"
    )


@offer(
    "Order a credit card in place of one, which is closed.",
    "credit_card_account_id user_id shipping_address reason",
    optional="expedited_shipping",
    reason=("fraud_suspected", "lost", "stolen", "damaged", "expired", "other"),
)
def order_replacement_credit_card_7291(db: Connection, a: Row) -> Row:
    account, day = a["credit_card_account_id"], today(db)
    key = made_id("ccord_", f"credit_card_order:{account}:{a['user_id']}:{a['reason']}")
    row = {"expedited_shipping": False, **a, "order_date": day, "status": "ORDERED"}
    ordered = add(db, "credit_card_orders", order_id=key, **row)
    update(db, "credit_card_accounts", account, status="CLOSED", closed_date=day)
    return ordered


@offer(
    "Note why a customer wants to close a credit card account.",
    "credit_card_account_id user_id closure_reason",
    closure_reason=(
        "annual_fee", "not_using_card", "found_better_card", "unhappy_with_rewards",
        "simplifying_finances", "negative_experience", "other",
    ),
)  # fmt: skip
def log_credit_card_closure_reason_4521(db: Connection, a: Row) -> Row:
    key = made_id("clsr_", f"closure_reason:{a['credit_card_account_id']}:{a['user_id']}")
    day = today(db)
    return add(
        db, "credit_card_closure_reasons", record_id=key, **a, logged_at=day, status="LOGGED"
    )


@offer(
    "Put a flag on a credit card account for some time.",
    "credit_card_account_id user_id flag_type expiration_date reason",
    flag_type=("annual_fee_waived", "promotional_apr", "rewards_bonus", "other"),
    reason=("retention_offer", "loyalty_benefit", "promotional", "error_correction", "other"),
)
def apply_credit_card_account_flag_6147(db: Connection, a: Row) -> Row:
    parts = (a["credit_card_account_id"], a["flag_type"], a["expiration_date"])
    key, day = made_id("ccflag_", ":".join(["account_flag", *parts])), today(db)
    return add(
        db, "credit_card_account_flags", flag_id=key, **a, effective_date=day, status="ACTIVE"
    )


@offer("Close a credit card account.", "credit_card_account_id user_id")
def close_credit_card_account_7834(db: Connection, a: Row) -> Row:
    account = a["credit_card_account_id"]
    return update(db, "credit_card_accounts", account, status="CLOSED", closed_date=today(db))


@offer(
    "Credit dollars to a credit card account.",
    "user_id credit_card_account_id amount reason",
    reason=(
        "goodwill_adjustment", "promotional_credit", "annual_fee_reversal", "late_fee_reversal",
        "interest_charge_reversal", "dispute_resolution", "price_match", "retention_offer",
        "error_correction", "other",
    ),
)  # fmt: skip
def apply_statement_credit_8472(db: Connection, a: Row) -> Row:
    seed = f"STATEMENT_CREDIT:{a['reason']}:{a['amount']:.2f}:Statement Credit"
    return add(
        db,
        "credit_card_transaction_history",
        transaction_id=made_id("txn_", f"transaction:{a['user_id']}:{seed}"),
        user_id=a["user_id"],
        credit_card_account_id=a["credit_card_account_id"],
        merchant_name="Rho-Bank Statement Credit",
        transaction_amount=-a["amount"],
        transaction_date=today(db),
        category="Statement Credit",
        status="COMPLETED",
        rewards_earned="0 points",
        credit_reason=a["reason"],
    )


@offer(
    "Pay a credit card's balance, or a part of it, from a checking account of the customer.",
    "user_id checking_account_id credit_card_account_id amount",
)
def pay_credit_card_from_checking_9182(db: Connection, a: Row) -> Row:
    card = record(db, "credit_card_accounts", a["credit_card_account_id"])
    if record(db, "accounts", a["checking_account_id"])["class"] != "checking":
        raise ToolError("It is no checking account.", category="invalid")
    if a["amount"] > card["current_balance"]:
        raise ToolError(f"Only {card['current_balance']} are due.", category="conflict")
    left = move(db, a["checking_account_id"], -a["amount"])
    due = round(card["current_balance"] - a["amount"], 2)
    return {
        "account": left,
        "card": update(db, "credit_card_accounts", card["account_id"], current_balance=due),
    }


LIMIT = "credit_limit_increase_requests"


@offer(
    "Request a higher limit of a credit card.",
    "credit_card_account_id user_id requested_increase_amount",
)
def submit_credit_limit_increase_request_7392(db: Connection, a: Row) -> Row:
    if waiting(db, a):
        raise ToolError("A request waits for its decision.", category="conflict")
    row = {**a, "submitted_date": today(db), "status": "PENDING"}
    return add(db, LIMIT, request_id=next_request(db, a), **row)


@offer("Grant a higher limit of a credit card.", "credit_card_account_id user_id new_credit_limit")
def approve_credit_limit_increase_5847(db: Connection, a: Row) -> Row:
    card = record(db, "credit_card_accounts", a["credit_card_account_id"])
    waits = first(
        db,
        "SELECT 1 FROM transaction_disputes WHERE user_id = :user"
        " AND status IN ('SUBMITTED', 'UNDER_REVIEW', 'PENDING')"
        " UNION ALL SELECT 1 FROM credit_card_orders WHERE credit_card_account_id = :card"
        " AND status IN ('PENDING', 'PROCESSING', 'SHIPPED')",
        user=a["user_id"],
        card=card["account_id"],
    )
    bad = {"PAST_DUE", "DELINQUENT", "COLLECTIONS", "CLOSED"}
    if waits or str(card.get("account_status")).upper() in bad:
        raise ToolError("The limit cannot be raised now.", category="conflict")
    before, after = card.get("credit_limit", 0), a["new_credit_limit"]
    update(db, "credit_card_accounts", card["account_id"], credit_limit=after)
    limits = {"previous_limit": before, "new_limit": after, "status": "APPROVED"}
    return decide(db, a, limits)


@offer(
    "Deny a higher limit of a credit card.",
    "credit_card_account_id user_id denial_reason",
    denial_reason=(
        "insufficient_account_age", "cooldown_period_active", "pending_disputes",
        "pending_replacement_card", "past_due_balance", "high_utilization",
        "insufficient_payment_history", "requested_amount_exceeds_limit", "other",
    ),
)  # fmt: skip
def deny_credit_limit_increase_5848(db: Connection, a: Row) -> Row:
    return decide(db, a, {"denial_reason": a["denial_reason"], "status": "DENIED"})


def waiting(db: Connection, a: Row) -> Row | None:
    """The card's request that is not decided yet."""
    of = "credit_card_account_id = :card AND status = 'PENDING'"
    return first(db, f"SELECT * FROM {LIMIT} WHERE {of}", card=a["credit_card_account_id"])


def next_request(db: Connection, a: Row) -> str:
    card = a["credit_card_account_id"]
    earlier = f"SELECT 1 FROM {LIMIT} WHERE credit_card_account_id = :card"
    return f"cli_{card}_{len(rows(db, earlier, card=card)) + 1}"


def decide(db: Connection, a: Row, decision: Row) -> Row:
    """Decide on the card's request, or on one that nobody wrote down."""
    decision = {**decision, "decision_date": today(db)}
    if found := waiting(db, a):
        return update(db, LIMIT, found["request_id"], **decision)
    who = {name: a[name] for name in ("credit_card_account_id", "user_id")}
    return add(db, LIMIT, request_id=next_request(db, a), **who, **decision)
