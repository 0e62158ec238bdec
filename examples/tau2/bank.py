"""The tools of tau2-bench's bank, over tables: what is read, the customer, and bank accounts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from envs import ToolError
from envs.tools.records import Row, change, rows, timestamp

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
