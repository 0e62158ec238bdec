"""The tools of tau2-bench's telephone company over tables."""

from __future__ import annotations

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import Row, change, first, rows, today


@tool(read_only=True)
def get_customer_by_phone(db: Connection, phone_number: str) -> Row:
    """Show the customer who has a number, as the contact or on a line.

    Args:
        phone_number: The number, for example 555-010-9999.
    """
    found = first(
        db,
        "SELECT customer_id FROM customers WHERE phone_number = :number"
        " UNION ALL SELECT customer_id FROM lines WHERE phone_number = :number",
        number=phone_number,
    )
    if found is None:
        raise ToolError(f"Nobody has the number {phone_number}.", category="not_found")
    return customer_of(db, found["customer_id"])


@tool(read_only=True)
def get_customer_by_id(db: Connection, customer_id: str) -> Row:
    """Show a customer: profile, payment methods, ids of lines and bills.

    Args:
        customer_id: The customer's id, with a C in front.
    """
    return customer_of(db, customer_id)


@tool(read_only=True)
def get_customer_by_name(db: Connection, full_name: str, dob: str) -> list[Row]:
    """Show all customers with this name who were born on this day.

    Args:
        full_name: First and last name; case does not matter.
        dob: The day of birth, YYYY-MM-DD.
    """
    found = rows(
        db,
        "SELECT customer_id FROM customers WHERE lower(full_name) = lower(:name)"
        " AND date_of_birth = :day ORDER BY customer_id",
        name=full_name,
        day=dob,
    )
    return [customer_of(db, row["customer_id"]) for row in found]


@tool(read_only=True)
def get_details_by_id(db: Connection, id: str) -> Row:  # noqa: A002
    """Show a customer, a line, a device, a bill or a plan.

    Args:
        id: Its id, which begins with C, L, D, B or P.
    """
    if id.startswith("C"):
        return customer_of(db, id)
    if id.startswith("B"):
        return bill_of(db, id)
    kind = {"L": "line", "D": "device", "P": "plan"}.get(id[:1])
    if kind is None:
        raise ToolError(f"{id} begins with none of C, L, D, B and P.", category="invalid")
    return record(db, kind, id)


@tool(read_only=True)
def get_bills_for_customer(db: Connection, customer_id: str, limit: int = 12) -> list[Row]:
    """List a customer's bills with their items; the latest is the first.

    Args:
        customer_id: The customer's id.
        limit: How many at most.
    """
    return [
        bill_of(db, row["bill_id"])
        for row in rows(
            db,
            "SELECT bill_id FROM bills WHERE customer_id = :customer"
            " ORDER BY issue_date DESC, bill_id LIMIT :limit",
            customer=record(db, "customer", customer_id)["customer_id"],
            limit=limit,
        )
    ]


@tool(read_only=True)
def get_data_usage(db: Connection, customer_id: str, line_id: str) -> Row:
    """Show how much data a line has used this month, how much its plan has, and what was added.

    Args:
        customer_id: The id of the line's customer.
        line_id: The line's id.
    """
    line = line_of(db, customer_id, line_id)
    plan = record(db, "plan", line["plan_id"])
    end = first(
        db, "SELECT date(:day, 'start of month', '+1 month', '-1 day') AS day", day=today(db)
    )
    return {
        "line_id": line_id,
        "data_used_gb": line["data_used_gb"],
        "data_limit_gb": plan["data_limit_gb"],
        "data_refueling_gb": line["data_refueling_gb"],
        "cycle_end_date": end and end["day"],
    }


@tool
def suspend_line(db: Connection, customer_id: str, line_id: str, reason: str) -> Row:
    """Suspend an active line, for half a year at most.

    Args:
        customer_id: The id of the line's customer.
        line_id: The line's id.
        reason: Why it is suspended.
    """
    if line_of(db, customer_id, line_id)["status"] != "Active":
        raise ToolError("The line is not active.", category="conflict")
    set_line(db, line_id, status="Suspended", suspension_start_date=today(db))
    return record(db, "line", line_id)


@tool
def resume_line(db: Connection, customer_id: str, line_id: str) -> Row:
    """Make a line active that is suspended or waits for its activation.

    Args:
        customer_id: The id of the line's customer.
        line_id: The line's id.
    """
    if line_of(db, customer_id, line_id)["status"] not in ("Suspended", "Pending Activation"):
        raise ToolError("The line is not suspended.", category="conflict")
    set_line(db, line_id, status="Active", suspension_start_date=None)
    return record(db, "line", line_id)


@tool
def enable_roaming(db: Connection, customer_id: str, line_id: str) -> Row:
    """Let a line use the networks of other countries.

    Args:
        customer_id: The id of the line's customer.
        line_id: The line's id.
    """
    line_of(db, customer_id, line_id)
    set_line(db, line_id, roaming_enabled=1)
    return {"line_id": line_id, "roaming_enabled": True}


@tool
def disable_roaming(db: Connection, customer_id: str, line_id: str) -> Row:
    """Keep a line from the networks of other countries.

    Args:
        customer_id: The id of the line's customer.
        line_id: The line's id.
    """
    line_of(db, customer_id, line_id)
    set_line(db, line_id, roaming_enabled=0)
    return {"line_id": line_id, "roaming_enabled": False}


@tool
def refuel_data(db: Connection, customer_id: str, line_id: str, gb_amount: float) -> Row:
    """Add data to a line for this month; its price goes on the customer's next bill.

    Args:
        customer_id: The id of the line's customer.
        line_id: The line's id.
        gb_amount: How many gigabytes.
    """
    line = line_of(db, customer_id, line_id)
    if gb_amount <= 0:
        raise ToolError("Add more than 0 gigabytes.", category="invalid")
    price = gb_amount * record(db, "plan", line["plan_id"])["data_refueling_price_per_gb"]
    added = line["data_refueling_gb"] + gb_amount
    set_line(db, line_id, data_refueling_gb=added)
    drafts = "SELECT bill_id FROM bills WHERE customer_id = :customer AND status = 'Draft'"
    draft = first(db, f"{drafts} ORDER BY bill_id", customer=customer_id)
    bill_id = draft["bill_id"] if draft else f"B-next-{customer_id}"
    if draft is None:
        add_bill(db, bill_id, customer_id, "+1 month", "Draft")
    add_item(db, bill_id, f"{gb_amount:g} GB of data for {line_id}", price)
    return {"line_id": line_id, "data_refueling_gb": added, "charge": price, "bill_id": bill_id}


@tool
def send_payment_request(db: Connection, customer_id: str, bill_id: str) -> Row:
    """Ask a customer to pay a bill, while no other bill of the customer awaits its payment. Look
    at the bill before: it may be paid.

    Args:
        customer_id: The id of the bill's customer.
        bill_id: The bill's id.
    """
    if bill_of(db, bill_id)["customer_id"] != customer_id:
        raise ToolError(f"{customer_id} has no bill {bill_id}.", category="not_found")
    awaiting = "SELECT 1 FROM bills WHERE customer_id = :customer AND status = 'Awaiting Payment'"
    if first(db, awaiting, customer=customer_id):
        raise ToolError("Another bill awaits its payment.", category="conflict")
    change(db, "UPDATE bills SET status = 'Awaiting Payment' WHERE bill_id = :bill", bill=bill_id)
    return bill_of(db, bill_id)


def record(db: Connection, kind: str, key: str) -> Row:
    """The row of a customer, line, device, bill or plan."""
    found = first(db, f"SELECT * FROM {kind}s WHERE {kind}_id = :key", key=key)
    if found is None:
        raise ToolError(f"No {kind} {key}.", category="not_found")
    return found


def customer_of(db: Connection, customer_id: str) -> Row:
    """A customer with payment methods and the ids of lines and bills."""
    found = record(db, "customer", customer_id)
    of = "WHERE customer_id = :customer ORDER BY"
    methods = f"SELECT * FROM payment_methods {of} position"
    found["payment_methods"] = [
        {name: row[name] for name in ("method_type", "account_number_last_4", "expiration_date")}
        for row in rows(db, methods, customer=customer_id)
    ]
    for kind in ("line", "bill"):
        ids = f"SELECT {kind}_id AS id FROM {kind}s {of} {kind}_id"
        found[f"{kind}_ids"] = [row["id"] for row in rows(db, ids, customer=customer_id)]
    return found


def line_of(db: Connection, customer_id: str, line_id: str) -> Row:
    """A line, which must be the customer's."""
    line = record(db, "line", line_id)
    if line["customer_id"] != customer_id:
        raise ToolError(f"{customer_id} has no line {line_id}.", category="not_found")
    return line


def bill_of(db: Connection, bill_id: str) -> Row:
    """A bill with its items."""
    items = (
        "SELECT description, amount, date, item_type FROM line_items WHERE bill_id = :bill"
        " ORDER BY item_id"
    )
    return record(db, "bill", bill_id) | {"line_items": rows(db, items, bill=bill_id)}


def set_line(db: Connection, line_id: str, **values: object) -> None:
    columns = ", ".join(f"{name} = :{name}" for name in values)
    change(db, f"UPDATE lines SET {columns} WHERE line_id = :line", line=line_id, **values)


def add_bill(db: Connection, bill_id: str, customer_id: str, months: str, status: str) -> None:
    """Add an empty bill for the month that is so many months from now."""
    first_day = "date(:today, 'start of month', :months"
    change(
        db,
        f"INSERT INTO bills VALUES (:bill, :customer, {first_day}), {first_day}, '+1 month',"
        f" '-1 day'), {first_day}), 0, {first_day}, '+14 days'), :status)",
        bill=bill_id,
        customer=customer_id,
        today=today(db),
        months=months,
        status=status,
    )


def add_item(db: Connection, bill_id: str, description: str, amount: float) -> None:
    change(
        db,
        "INSERT INTO line_items (bill_id, description, amount, date, item_type)"
        " VALUES (:bill, :description, :amount, :day, 'Charge')",
        bill=bill_id,
        description=description,
        amount=amount,
        day=today(db),
    )
    sql = "UPDATE bills SET total_due = total_due + :amount WHERE bill_id = :bill"
    change(db, sql, amount=amount, bill=bill_id)


# Tools of nobody: how a task begins and ends.


@tool(offered_to="nobody")
def set_data_usage(db: Connection, customer_id: str, line_id: str, data_used_gb: float) -> None:
    """A line has used so much data this month.

    Args:
        customer_id: The id of the line's customer.
        line_id: The line's id.
        data_used_gb: The gigabytes.
    """
    line_of(db, customer_id, line_id)
    set_line(db, line_id, data_used_gb=data_used_gb)


@tool(offered_to="nobody")
def suspend_line_for_overdue_bill(
    db: Connection, customer_id: str, line_id: str, new_bill_id: str, contract_ended: bool
) -> None:
    """A line is suspended, as last month's bill was not paid.

    Args:
        customer_id: The id of the line's customer.
        line_id: The line's id.
        new_bill_id: The id that the bill gets.
        contract_ended: Whether the line's contract ended with last month.
    """
    line = line_of(db, customer_id, line_id)
    if line["status"] != "Active":
        raise ToolError("The line is not active.", category="conflict")
    add_bill(db, new_bill_id, customer_id, "-1 month", "Overdue")
    price = record(db, "plan", line["plan_id"])["price_per_month"]
    add_item(db, new_bill_id, f"Month of {line_id}", price)
    ended = {"contract_end_date": bill_of(db, new_bill_id)["period_end"]} if contract_ended else {}
    set_line(db, line_id, status="Suspended", suspension_start_date=today(db), **ended)


@tool(offered_to="nobody", read_only=True)
def assert_data_refueling_amount(
    db: Connection, customer_id: str, line_id: str, expected_amount: float
) -> bool:
    """Tell whether so much data was added to a line this month.

    Args:
        customer_id: The id of the line's customer.
        line_id: The line's id.
        expected_amount: The gigabytes.
    """
    return abs(line_of(db, customer_id, line_id)["data_refueling_gb"] - expected_amount) < 1e-6


@tool(offered_to="nobody", read_only=True)
def assert_no_overdue_bill(db: Connection, overdue_bill_id: str) -> bool:
    """Tell whether a bill is paid, or was never made.

    Args:
        overdue_bill_id: The bill's id.
    """
    unpaid = "SELECT 1 FROM bills WHERE bill_id = :bill AND status <> 'Paid'"
    return first(db, unpaid, bill=overdue_bill_id) is None
