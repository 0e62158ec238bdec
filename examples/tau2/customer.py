"""The tools of the customers of tau2-bench's bank, over tables."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from envs.tools.records import Row, first

from .bank import move
from .banking import add, digits, made_id, offer, today

CARD_TYPES = (
    "Bronze Rewards Card", "Silver Rewards Card", "Gold Rewards Card", "Platinum Rewards Card",
    "Business Bronze Rewards Card", "Business Silver Rewards Card", "Green Rewards Card",
    "Business Gold Rewards Card", "Business Platinum Rewards Card", "Silver Zoom Card",
    "Diamond Elite Card", "EcoCard", "Crypto-Cash Back",
)  # fmt: skip
REWARDS: Mapping[str, Mapping[str, float]] = {
    "Silver Rewards Card": {"Travel": 4, "Software": 4},
    "Gold Rewards Card": {"": 2.5},
    "Platinum Rewards Card": {"": 10},
    "Business Silver Rewards Card": {"Travel": 10, "Software": 10},
    "Green Rewards Card": {"Sustainable": 3},
    "Business Gold Rewards Card": {"Operations": 2.5},
    "Business Platinum Rewards Card": {"Travel": 4, "Software": 4, "Media": 4, "": 1.5},
    "Silver Zoom Card": {"Transportation": 3},
    "Diamond Elite Card": {"": 5},
    "EcoCard": {"Green": 5},
    "Crypto-Cash Back": {"": 2},
}
"""Points for a dollar by the category, "" for any other; 1 where neither is listed."""


@offer(
    "Apply for a credit card.",
    "card_type customer_name annual_income",
    optional="rho_bank_subscription",
    to="user",
    card_type=CARD_TYPES,
)
def apply_for_credit_card(db: Connection, a: Row) -> Row:
    a = {"rho_bank_subscription": False, **a}
    key = made_id("", ":".join(["credit_card", *(str(a[name]) for name in sorted(a))]), 16)
    day = today(db)
    return add(db, "credit_card_applications", application_id=key, **a, status="PENDING", date=day)


@offer("Refer somebody to the bank.", "user_id account_type", to="user")
def submit_referral(db: Connection, a: Row) -> Row:
    return refer(
        db, f"referral:{a['user_id']}:{a['account_type']}", a["user_id"], a["account_type"]
    )


@offer("Get a link by which somebody can apply for a card.", "user_id card_name", to="user")
def get_referral_link(db: Connection, a: Row) -> Row:
    return refer(db, f"referral_link:{a['user_id']}:{a['card_name']}", a["user_id"], a["card_name"])


def refer(db: Connection, seed: str, user_id: str, what: str) -> Row:
    return add(
        db,
        "referrals",
        referral_id=made_id("", seed, 16),
        referrer_id=user_id,
        referred_account_type=what,
        referral_status="NO_PROGRESS",
        date=today(db),
    )


@offer(
    "Pay by credit card.",
    "user_id credit_card_type merchant_name amount category",
    to="user",
    credit_card_type=CARD_TYPES,
)
def submit_transaction(db: Connection, a: Row) -> Row:
    rates = REWARDS.get(a["credit_card_type"], {})
    points = int(a["amount"] * rates.get(a["category"], rates.get("", 1)))
    parts = ("user_id", "credit_card_type", "merchant_name", "amount", "category")
    return add(
        db,
        "credit_card_transaction_history",
        transaction_id=made_id(
            "txn_", ":".join(["transaction", *(str(a[name]) for name in parts)])
        ),
        user_id=a["user_id"],
        credit_card_type=a["credit_card_type"],
        merchant_name=a["merchant_name"],
        transaction_amount=a["amount"],
        transaction_date=today(db),
        category=a["category"],
        status="COMPLETED",
        rewards_earned=f"{points} points",
    )


@offer("Ask the bank for a human agent.", to="user")
def request_human_agent_transfer(db: Connection, a: Row) -> Row:
    return add(
        db, "human_transfer_requests", request_id=None, made_by="user", requested_at=today(db)
    )


@offer("Dispute the rewards of a credit card payment.", "user_id transaction_id", to="user")
def submit_cash_back_dispute_0589(db: Connection, a: Row) -> Row:
    settled = first(db, "SELECT 1 FROM task_config WHERE auto_resolve_disputes = 1")
    return add(
        db,
        "cash_back_disputes",
        dispute_id=made_id("dsp_", f"dispute:{a['user_id']}:{a['transaction_id']}"),
        **a,
        submitted_at=today(db),
        status="APPROVED" if settled else "SUBMITTED",
    )


@offer(
    "Show the last four digits.",
    "credit_card_account_id",
    to="user",
    read_only=True,
)
def get_card_last_4_digits(db: Connection, a: Row) -> Row:
    return {"last_4_digits": digits(f"card_last4:{a['credit_card_account_id']}", 4, 64)}


@offer("Deposit a check by its photo.", "account_id check_amount", to="user")
def deposit_check_3847(db: Connection, a: Row) -> Row:
    return move(db, a["account_id"], a["check_amount"])
