"""The tools of tau2-bench's bank, over tables: what is read, which rows are added, and money."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from envs import ToolError
from envs.tools.records import Row, change, first, rows, timestamp

from .banking import add, age, known, made_id, offer, record, today, update

READS = (
    ("get_user_information_by_id", "Show a customer.", "users", "user_id", "user_id"),
    ("get_user_information_by_name", "Show the customers of a name.", "users", "customer_name",
     "name"),
    ("get_user_information_by_email", "Show a customer.", "users", "email", "email"),
    ("get_referrals_by_user", "List whom a customer has referred, and how far that is.",
     "referrals", "user_id", "referrer_id"),
    ("get_credit_card_transactions_by_user", "List what a customer paid by credit card.",
     "credit_card_transaction_history", "user_id", "user_id"),
    ("get_credit_card_accounts_by_user", "List a customer's credit cards.",
     "credit_card_accounts", "user_id", "user_id"),
    ("get_user_dispute_history_7291", "List a customer's disputes of credit card payments.",
     "transaction_disputes", "user_id", "user_id"),
    ("get_debit_dispute_status_7483", "List a customer's disputes of debit card payments.",
     "debit_card_disputes", "user_id", "user_id"),
    ("get_pending_replacement_orders_5765", "List the cards ordered for a credit card account.",
     "credit_card_orders", "credit_card_account_id", "credit_card_account_id"),
    ("get_closure_reason_history_8293", "List why a credit card account was to be closed before.",
     "credit_card_closure_reasons", "credit_card_account_id", "credit_card_account_id"),
    ("get_credit_limit_increase_history_4829", "List the requests for a higher credit limit.",
     "credit_limit_increase_requests", "credit_card_account_id", "credit_card_account_id"),
    ("get_bank_account_transactions_9173", "List what came to a bank account and left it.",
     "bank_account_transaction_history", "account_id", "account_id"),
    ("get_debit_cards_by_account_id_7823", "List the debit cards of a checking account.",
     "debit_cards", "account_id", "account_id"),
)  # fmt: skip
"""Each read with its description, a table, and the parameter that a column must equal."""


@offer("Show the time and the day.", read_only=True)
def get_current_time(db: Connection, a: Row) -> Row:
    return {"time": f"{timestamp(db)} EST", "day": today(db)}


for _name, _about, _table, _parameter, _column in READS:

    def _read(
        db: Connection,
        a: Row,
        sql: str = f"SELECT * FROM {_table} WHERE {_column} = :value",
        parameter: str = _parameter,
    ) -> list[Row]:
        return [known(row) for row in rows(db, sql, value=a[parameter])]

    globals()[_name] = offer(_about, _parameter, name=_name, read_only=True)(_read)


@offer("List the documents of topics of the knowledge base.", "topics", read_only=True)
def list_documents(db: Connection, a: Row) -> list[Row]:
    return found_in(db, "SELECT document_id, title FROM documents WHERE topic", a["topics"])


@offer("Read documents of the knowledge base.", "document_ids", read_only=True)
def read_documents(db: Connection, a: Row) -> list[Row]:
    return found_in(db, "SELECT title, content FROM documents WHERE document_id", a["document_ids"])


def found_in(db: Connection, query: str, values: Sequence[str]) -> list[Row]:
    """The rows of a query that ends with a column, which has one of these values."""
    binds = {f"value{number}": value for number, value in enumerate(values)}
    names = ", ".join(f":{name}" for name in binds)
    return rows(db, f"{query} IN ({names}) ORDER BY document_id", **binds)


@offer("List a customer's bank accounts and credit cards.", "user_id", read_only=True)
def get_all_user_accounts_by_user_id_3847(db: Connection, a: Row) -> Row:
    return {
        table: [
            known(row) for row in rows(db, f"SELECT * FROM {table} WHERE user_id = :user_id", **a)
        ]
        for table in ("accounts", "credit_card_accounts")
    }


@offer(
    "List the last payments of a credit card's bills.",
    "credit_card_account_id months",
    read_only=True,
)
def get_payment_history_6183(db: Connection, a: Row) -> list[Row]:
    return rows(
        db,
        "SELECT payment_date, amount, status FROM payment_history"
        " WHERE credit_card_account_id = :credit_card_account_id"
        " ORDER BY substr(payment_date, 7) DESC, payment_date DESC LIMIT :months",
        **a,
    )


@offer(
    "Hand the customer over to a human agent.",
    "summary",
    optional="reason",
    reason=(
        "fraud_or_security_concern", "account_closure_request", "deceased_account_holder",
        "legal_or_regulatory_matter", "account_ownership_dispute", "complex_billing_dispute",
        "abusive_customer_behavior", "third_party_inquiry", "technical_system_error",
        "unconfirmed_external_communication", "customer_demands_after_unavailable_offer_refusal",
        "kb_search_unsuccessful_customer_requests_transfer", "specialized_department_required",
        "accessibility_or_special_needs", "customer_frustrated_demands_human",
        "supervisor_request_service_complaint", "customer_requests_human_no_specific_reason",
        "request_completed_customer_wants_human_followup", "other",
    ),
)  # fmt: skip
def transfer_to_human_agents(db: Connection, a: Row) -> Row:
    return {"transferred": True}


for _name, _about, _told in (
    ("initial_transfer_to_human_agent_0218", "Request a human agent.", "The lines are busy."),
    ("initial_transfer_to_human_agent_1822", "Request a human agent.",
     "No human agent yet. Ask the customer about what the case may be, and try to help."),
    ("emergency_credit_bureau_incident_transfer_1114",
     "Note a case of the credit bureau's incident of 11/14.",
     "The case is noted. Hand the customer over to a human agent now."),
):  # fmt: skip

    def _request(db: Connection, a: Row, made_by: str = _name, told: str = _told) -> Row:
        add(db, "human_transfer_requests", request_id=None, made_by=made_by, requested_at=today(db))
        return {"told": told}

    globals()[_name] = offer(_about, name=_name)(_request)


@offer("Change a customer's email address.", "user_id new_email")
def change_user_email(db: Connection, a: Row) -> Row:
    record(db, "users", a["user_id"])
    return update(db, "users", a["user_id"], email=a["new_email"])


@offer(
    "Note that a customer's identity is verified.",
    "name user_id address email phone_number date_of_birth",
)
def log_verification(db: Connection, a: Row) -> Row:
    time = f"{timestamp(db)} EST"
    key = f"{a['user_id']} {time}"
    return add(db, "verification_history", record_id=key, **a, time_verified=time)


# Credit cards.


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


# Bank accounts.

EARLY: dict[str, dict[str, tuple[int, int]]] = {
    "checking": {
        "Light Blue Account": (15, 30),
        "Light Green Account": (15, 30),
        "Green Fee-Free Account": (15, 30),
        "Blue Account": (25, 60),
        "Green Account": (25, 60),
        "Evergreen Account": (50, 90),
        "Bluest Account": (100, 180),
    },
    "saving": {
        "Bronze Account": (20, 60),
        **dict.fromkeys(("Silver Account", "Silver Plus Account"), (35, 90)),
        **dict.fromkeys(("Gold Account", "Gold Plus Account", "Gold Years Account"), (75, 180)),
        **dict.fromkeys(
            ("Platinum Account", "Platinum Plus Account", "Diamond Elite Account"), (150, 270)
        ),
    },
}
"""The fee for closing a kind of account before so many days."""


@offer(
    "Open a bank account.",
    "user_id account_type account_class",
    account_type=("checking", "savings", "business_checking", "business_savings"),
)
def open_bank_account_4821(db: Connection, a: Row) -> Row:
    user, kind, level = a["user_id"], a["account_type"], a["account_class"]
    held = rows(db, "SELECT * FROM accounts WHERE user_id = :user", user=user)

    def holds(needed: str, days: int = 0) -> bool:
        return any(
            account["class"] == needed
            and account["status"] in ("OPEN", "ACTIVE")
            and age(db, account["date_opened"]) >= days
            for account in held
        )

    allowed = {
        "checking": True,
        "savings": holds("checking", 14),
        "business_checking": holds("checking")
        and all(account["status"] != "CLOSED" for account in held),
        "business_savings": holds("business_checking", 30)
        and all(account["current_holdings"] >= 0 for account in held),
    }
    if not allowed[kind]:
        raise ToolError("The customer may not open such an account.", category="conflict")
    return add(
        db,
        "accounts",
        account_id=made_id("", f"account:{user}:{kind}:{level}", 16),
        user_id=user,
        **{"class": kind},
        level=level,
        date_opened=today(db),
        status="OPEN",
        current_holdings=0,
    )


@offer(
    "Close a bank account, which must hold nothing but the fee for an early end.",
    "account_id",
    optional="reason waive_early_closure_fee",
)
def close_bank_account_7392(db: Connection, a: Row) -> Row:
    account, waived = (
        record(db, "accounts", a["account_id"]),
        a.get("waive_early_closure_fee", False),
    )
    if account["status"] == "CLOSED":
        raise ToolError("The account is closed.", category="conflict")
    fee, days = EARLY.get(account["class"].removesuffix("s"), {}).get(account["level"], (0, 0))
    due = 0 if waived or age(db, account["date_opened"]) >= days else fee
    if account["current_holdings"] != due:
        message = f"The account holds {account['current_holdings']}, and {due} are due."
        raise ToolError(message, category="conflict")
    return update(
        db,
        "accounts",
        a["account_id"],
        status="CLOSED",
        date_closed=today(db),
        closure_reason=a.get("reason", "Customer requested closure"),
        early_closure_fee_waived=int(waived),
    )


@offer(
    "Move money from one bank account to another.",
    "source_account_id destination_account_id amount",
)
def transfer_funds_between_bank_accounts_7291(db: Connection, a: Row) -> Row:
    if a["source_account_id"] == a["destination_account_id"]:
        raise ToolError("It is the same account.", category="invalid")
    left = move(db, a["source_account_id"], -a["amount"])
    return {"from": left, "to": move(db, a["destination_account_id"], a["amount"])}


for _name, _kind, _types in (
    ("apply_checking_account_credit_5829", "checking", ("rebate_credit", "fee_refund")),
    ("apply_savings_account_credit_6831", "saving",
     ("interest_correction", "fee_refund", "goodwill_credit")),
):  # fmt: skip

    def _credit(db: Connection, a: Row, kind: str = _kind) -> Row:
        account, amount, day = a["account_id"], a["amount"], today(db)
        if not record(db, "accounts", account)["class"].startswith(kind):
            raise ToolError(f"It is no {kind} account.", category="invalid")
        seed = f"{kind}_credit:{account}:{a['credit_type']}:{amount:.2f}:{day}"
        about = f"{a['credit_type'].replace('_', ' ').upper()} - CUSTOMER SERVICE"
        post(db, made_id("txn_", seed, 16), account, amount, about, a["credit_type"])
        return move(db, account, amount)

    globals()[_name] = offer(
        f"Credit dollars to a {_kind} account.", "account_id amount credit_type", name=_name,
        credit_type=_types,
    )(_credit)  # fmt: skip


def move(db: Connection, account_id: str, amount: float) -> Row:
    """Put money on an account, or take it where the amount is negative."""
    account = record(db, "accounts", account_id)
    if account["status"] not in ("OPEN", "ACTIVE"):
        raise ToolError(f"{account_id} is not open.", category="conflict")
    after = round(account["current_holdings"] + amount, 2)
    if amount < 0 and after < 0:
        raise ToolError(f"{account_id} holds {account['current_holdings']}.", category="conflict")
    return update(db, "accounts", account_id, current_holdings=after)


def post(
    db: Connection, key: str, account_id: str, amount: float, description: str, kind: str
) -> None:
    """Note what came to an account or left it."""
    add(
        db,
        "bank_account_transaction_history",
        transaction_id=key,
        account_id=account_id,
        date=today(db),
        description=description,
        amount=amount,
        type=kind,
        status="posted",
    )


@offer(
    "Report interest that was not paid as due.",
    "account_id user_id expected_apy actual_apy amount_difference",
)
def submit_interest_discrepancy_report_7294(db: Connection, a: Row) -> Row:
    seed = f"{a['account_id']}:{a['user_id']}:{a['expected_apy']}:{a['actual_apy']}"
    key, day = made_id("idr_", seed), today(db)
    return add(
        db,
        "interest_discrepancy_reports",
        report_id=key,
        **a,
        submitted_date=day,
        status="PENDING_REVIEW",
    )


@offer("Rows that a task begins with.", "rows", to="nobody")
def initialization_data(db: Connection, a: Row) -> None:
    for table, added in a["rows"].items():
        for row in added:
            binds = ", ".join(f":{name}" for name in row)
            change(db, f"REPLACE INTO {table} ({', '.join(row)}) VALUES ({binds})", **row)
