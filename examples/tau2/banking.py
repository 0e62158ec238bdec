"""How the tools of tau2-bench's bank are made: parameters, and rows by their keys."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from envs import ToolError
from envs.tools.records import Row, change, first, now
from envs.tools.tool import Audience, Tool
from envs.types import Json, Limits, ToolResult

Act = Callable[[Connection, Row], Any]
"""What a tool does with its arguments."""

ABOUT: Mapping[str, Mapping[str, str]] = {
    "string": {
        "account_class": "The full name of the kind of account, which ends with Account.",
        "account_id": "The bank account's id.",
        "account_type": "What kind of account it is.",
        "address": "The customer's address.",
        "card_action": "What becomes of the card.",
        "card_design": "How the card looks.",
        "card_id": "The debit card's id.",
        "card_last_4_digits": "The last four digits of the credit card.",
        "card_name": "The name of the credit card.",
        "card_type": "The name of the credit card.",
        "category": "What was bought, such as Groceries or Travel.",
        "checking_account_id": "The id of the checking account that pays.",
        "closure_reason": "Why the customer closes the account.",
        "credit_card_account_id": "The credit card account's id.",
        "credit_card_type": "The name of the credit card.",
        "credit_type": "What the credit is for.",
        "current_pin": "The PIN of now.",
        "customer_name": "First and last name.",
        "cvv": "The three digits on the back of the card.",
        "date_of_birth": "The day of birth, MM/DD/YYYY.",
        "delivery_option": "How fast the card is sent.",
        "denial_reason": "Why the request is denied.",
        "destination_account_id": "The id of the account that gets the money.",
        "discovery_date": "When the customer saw it, MM/DD/YYYY.",
        "dispute_category": "What is wrong.",
        "dispute_reason": "What is wrong.",
        "email": "The customer's email address.",
        "expiration_date": "When it ends.",
        "flag_type": "What the flag means.",
        "full_name": "The customer's name.",
        "issue_noticed_date": "When the customer saw it, MM/DD/YYYY.",
        "last_4_digits": "The last four digits of the card.",
        "limit_type": "Which daily limit.",
        "merchant_name": "The shop.",
        "name": "The customer's name.",
        "new_email": "The email address from now on.",
        "new_pin": "The four digits that the customer chose.",
        "new_rewards_earned": "The right rewards, for example 6300 points.",
        "phone": "The customer's phone number.",
        "phone_number": "The customer's phone number.",
        "pin": "The four digits that the customer chose.",
        "pin_compromised": "Whether somebody else knows the PIN.",
        "purchase_date": "When it was bought, MM/DD/YYYY.",
        "reason": "Why.",
        "resolution_requested": "What the customer wants.",
        "shipping_address": "Where the card is sent.",
        "source_account_id": "The id of the account that the money leaves.",
        "summary": "What the customer wants, in short.",
        "transaction_date": "When it was, MM/DD/YYYY.",
        "transaction_id": "The transaction's id.",
        "transaction_type": "How it was paid.",
        "user_id": "The customer's id.",
    },
    "number": {
        "actual_apy": "The yearly interest that was paid, in percent.",
        "amount": "The dollars.",
        "amount_difference": "The dollars that are missing.",
        "annual_income": "The dollars that the customer earns in a year.",
        "check_amount": "The dollars of the check.",
        "customer_max_liability_amount": "The most that the customer may lose; -1 for no limit.",
        "delivery_fee": "The dollars for sending it.",
        "design_fee": "The dollars for the design.",
        "disputed_amount": "The dollars in dispute.",
        "excess_replacement_fee": "The dollars for one replacement too many.",
        "expected_apy": "The yearly interest that is due, in percent.",
        "partial_refund_amount": "The dollars of a partial refund.",
    },
    "integer": {
        "months": "How many months.",
        "new_credit_limit": "The dollars of the whole limit from now on.",
        "new_limit": "The dollars of the limit for 24 hours.",
        "requested_increase_amount": "The dollars that are added to the limit.",
    },
    "boolean": {
        "block_recurring": "True to block, false to allow.",
        "card_in_possession": "Whether the customer has the card.",
        "contacted_merchant": "Whether the customer asked the shop before.",
        "eligible_for_provisional_credit": "Whether the money is lent until it is decided.",
        "expedited_shipping": "Whether it is sent faster.",
        "police_report_filed": "Whether the police know.",
        "provisional_credit_eligible": "Whether the money is lent until it is decided.",
        "rho_bank_subscription": "Whether the customer has Rho-Bank+.",
        "waive_early_closure_fee": "Whether the fee for an early end is waived.",
        "written_statement_provided": "Whether the customer described it in writing.",
    },
    "array": {
        "document_ids": "The documents' ids, as list_documents gives them.",
        "topics": "Topics of the knowledge base.",
    },
    "object": {"rows": "The rows by their table."},
}
"""The parameters of all tools by their type."""

POSITIVE = {
    "amount", "check_amount", "disputed_amount", "months", "new_limit", "requested_increase_amount",
}  # fmt: skip
SECRET = {"current_pin", "cvv", "new_pin", "pin"}
HOLDERS = {
    "account_id": "accounts",
    "card_id": "debit_cards",
    "checking_account_id": "accounts",
    "credit_card_account_id": "credit_card_accounts",
    "destination_account_id": "accounts",
    "source_account_id": "accounts",
}
"""Arguments of writes that name a row, and its table. It is the user's where one is given."""

KEYS = {
    "accounts": "account_id",
    "bank_account_transaction_history": "transaction_id",
    "credit_card_accounts": "account_id",
    "credit_card_transaction_history": "transaction_id",
    "credit_limit_increase_requests": "request_id",
    "debit_cards": "card_id",
    "users": "user_id",
}
"""The keys of tables that are read or changed by them."""


def offer(
    description: str,
    parameters: str = "",
    *,
    optional: str = "",
    name: str = "",
    to: Audience = "agent",
    read_only: bool = False,
    **choices: Sequence[str],
) -> Callable[[Act], Tool]:
    """Make a tool of a function of a connection and the arguments, named like it unless ``name``
    is given; ``choices`` are the values of parameters.
    """
    properties: dict[str, Json] = {}
    for parameter in f"{parameters} {optional}".split():
        kind = next(kind for kind, texts in ABOUT.items() if parameter in texts)
        schema: dict[str, Json] = {"type": kind, "description": ABOUT[kind][parameter]}
        if kind == "array":
            schema["items"] = {"type": "string"}
        if parameter in choices:
            schema["enum"] = list(choices[parameter])
        if parameter in POSITIVE:
            schema["exclusiveMinimum"] = 0
        properties[parameter] = schema

    def make(act: Act) -> Tool:
        def execute(arguments: Row, db: Connection) -> ToolResult:
            if not read_only:
                check_holders(db, arguments)
            return ToolResult(act(db, arguments))

        return Tool(
            name or act.__name__,
            description,
            {
                "type": "object",
                "properties": properties,
                "required": parameters.split(),
                "additionalProperties": False,
            },
            execute,
            read_only=read_only,
            limits=Limits(read_only, None, None, None),
            secret=frozenset(SECRET.intersection(properties)),
            offered_to=to,
        )

    return make


def check_holders(db: Connection, arguments: Row) -> None:
    """Refuse a row that is not there, or not the customer's."""
    for name, table in HOLDERS.items():
        if name in arguments:
            found = record(db, table, arguments[name])
            if found["user_id"] != arguments.get("user_id", found["user_id"]):
                message = f"{arguments[name]} is not of {arguments['user_id']}."
                raise ToolError(message, category="not_found")


def record(db: Connection, table: str, key: str) -> Row:
    """The row of a table with this key."""
    found = first(db, f"SELECT * FROM {table} WHERE {KEYS[table]} = :key", key=key)
    if found is None:
        raise ToolError(f"No {key} among {table.replace('_', ' ')}.", category="not_found")
    return known(found)


def known(row: Row) -> Row:
    """A row without what is not known."""
    return {name: value for name, value in row.items() if value is not None}


def add(db: Connection, table: str, **row: Any) -> Row:
    """Add a row, the key first, which must be new."""
    key = next(iter(row))
    if first(db, f"SELECT 1 FROM {table} WHERE {key} = :key", key=row[key]):
        raise ToolError(f"{row[key]} is there already.", category="conflict")
    binds = ", ".join(f":{name}" for name in row)
    change(db, f"INSERT INTO {table} ({', '.join(row)}) VALUES ({binds})", **row)
    return known(row)


def update(db: Connection, table: str, key: str, **values: object) -> Row:
    """Change a row, and show it."""
    columns = ", ".join(f"{name} = :{name}" for name in values)
    change(db, f"UPDATE {table} SET {columns} WHERE {KEYS[table]} = :_key", _key=key, **values)
    return record(db, table, key)


def made_id(prefix: str, seed: str, length: int = 12) -> str:
    """An id that follows from a text."""
    return prefix + hashlib.sha256(seed.encode()).hexdigest()[:length]


def digits(seed: str, count: int, length: int) -> str:
    """The first decimal digits of such an id, with zeros in front."""
    return "".join(filter(str.isdigit, made_id("", seed, length)))[:count].zfill(count)


def today(db: Connection) -> str:
    return f"{now(db):%m/%d/%Y}"


def age(db: Connection, day: str) -> int:
    """The days since a day."""
    month, number, year = map(int, day.split("/"))
    return (now(db).date() - dt.date(year, month, number)).days
