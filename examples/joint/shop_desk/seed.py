"""Mails of the shop's customers, and collections in the calendars, from the rows of the other parts.

`seed.sql` holds those of universe 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any

OFFICE = "office@larkspur.example"
TODAY = datetime.combine(date(2026, 3, 2), time(9))
DAYS = ("2026-03-04", "2026-03-05", "2026-03-06", "2026-03-09", "2026-03-10", "2026-03-11")
HOURS = ("09:00", "10:30", "11:00", "13:30", "14:00", "15:30")
CANCEL = (
    "please cancel my order {number}. {why}.",
    "this is about order {number}. I would like to cancel it and get my money back. {why}.",
    "can you still stop {number}? I want to cancel the whole order. {why}.",
)
REASONS = (
    ("I changed my mind", "changed_mind"),
    ("I have ordered it twice", "ordered_twice"),
    ("It is too slow for me", "too_slow"),
    ("I picked the wrong item", "wrong_item"),
)
WHERE = (
    "where is my parcel for order {number}? Who brings it, and what is the tracking number?",
    "I would like to follow order {number}. Please send me carrier and tracking number.",
    "how do I track order {number}? I can't find the code any more.",
)
RETURN = (
    "I would like to send back the {product} of order {number}. It is unopened, I changed my mind.",
    "the {product} does not please me after all. It came with order {number}. Never opened. Can it go back?",
    "I changed my mind about the {product}. Still sealed, from order {number}. How do I return it?",
)
COLLECT = (
    "may I collect order {number} at your place? I could come on {day} at {hour}.",
    "please don't send {number}. I'd rather pick it up on {day} at {hour}.",
    "I am in town on {day}. Could I have {number} at the door, at {hour}?",
)


def rows(
    universe: int, random: Random, made: list[tuple[str, Mapping[str, Any]]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of this part; ``made`` holds those of the parts before it."""
    tables: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for table, row in made:
        tables[table].append(row)
    customers = {row["customer_id"]: row for row in tables["customers"]}
    everybody = list(customers.values())
    promised = {row["order_id"]: row["promised_on"] for row in tables["shipments"]}
    variants = {row["variant_id"]: row["product_id"] for row in tables["variants"]}
    products = {row["product_id"]: row["name"] for row in tables["products"]}
    cases = random.sample(range(20_000, 99_000), 900)
    box = _Box(universe, random)
    for order in tables["orders"]:
        owner = customers[order["customer_id"]]
        state, number = order["status"], order["number"]
        stranger = random.choice([one for one in everybody if one is not owner])
        lost = state == "shipped" and str(promised[order["order_id"]]) < "2026-02-20"
        if state in {"placed", "packed"} or (state == "shipped" and not lost):
            why = random.choice(REASONS)[0]
            writer = stranger if random.random() < 0.2 else owner
            subject = f"Cancellation, case {cases.pop()}"
            yield from box.mail(subject, writer, random.choice(CANCEL), number=number, why=why)
        if state == "shipped" and not lost and not order["hold"]:
            for writer in (owner, stranger):
                subject = f"My parcel, case {cases.pop()}"
                yield from box.mail(subject, writer, random.choice(WHERE), number=number)
        if state in {"placed", "packed", "shipped"} and not lost and not order["hold"]:
            for _ in range(2):
                subject, day, hour = (
                    f"Collection, case {cases.pop()}",
                    *map(random.choice, (DAYS, HOURS)),
                )
                text = random.choice(COLLECT)
                yield from box.mail(subject, owner, text, number=number, day=day, hour=hour)
    owners = {row["order_id"]: row for row in tables["orders"]}
    for item in tables["order_items"]:
        order = owners[item["order_id"]]
        if order["status"] == "delivered" and item["quantity"] == 1:
            product = products[variants[item["variant_id"]]]
            subject, writer = f"Return, case {cases.pop()}", customers[order["customer_id"]]
            text = random.choice(RETURN)
            yield from box.mail(subject, writer, text, number=order["number"], product=product)
    yield from box.collections(tables)


class _Box:
    """Gives out keys behind those of the other parts."""

    def __init__(self, universe: int, random: Random) -> None:
        self.base, self.random, self.count = universe * 10_000, random, 0

    def mail(
        self, subject: str, writer: Mapping[str, Any], text: str, **values: str
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        self.count += 1
        thread, mail = self.base + 5000 + self.count, self.base + 6000 + self.count
        when = TODAY - timedelta(minutes=self.random.randint(20, 4000))
        body = f"Hello,\n\n{text.format(**values)}\n\n{writer['name']}"
        yield "threads", {"thread_id": thread, "subject": subject}
        yield (
            "mails",
            {
                "mail_id": mail,
                "thread_id": thread,
                "folder": "inbox",
                "sender": writer["email"],
                "body": body,
                "sent_at": f"{when}",
                "unread": 1,
            },
        )
        yield "recipients", {"mail_id": mail, "email": OFFICE, "kind": "to"}

    def collections(
        self, tables: Mapping[str, list[Mapping[str, Any]]]
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Collections that are entered already, each where its clerk is free."""
        starts = {row["event_id"]: (row["starts_at"], row["ends_at"]) for row in tables["events"]}
        taken = [(row["staff_id"], *starts[row["event_id"]]) for row in tables["attendees"]]
        open_orders = [
            row
            for row in tables["orders"]
            if row["status"] in {"placed", "packed"} and not row["hold"]
        ]
        for index, order in enumerate(open_orders[::2]):
            clerk = self.random.choice(tables["staff"])["staff_id"]
            event = self.base + 5001 + index
            day, hour = self.random.choice(DAYS), self.random.choice(HOURS)
            begin = f"{day} {hour}"
            end = f"{datetime.fromisoformat(begin) + timedelta(minutes=30):%Y-%m-%d %H:%M}"
            if any(who == clerk and one < end and begin < other for who, one, other in taken):
                continue
            taken.append((clerk, begin, end))
            yield (
                "events",
                {
                    "event_id": event,
                    "title": order["number"],
                    "organiser_id": clerk,
                    "room_id": None,
                    "starts_at": begin,
                    "ends_at": end,
                    "minutes": 30,
                    "status": "confirmed",
                    "fixed": 0,
                },
            )
            yield "attendees", {"event_id": event, "staff_id": clerk}
