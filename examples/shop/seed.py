"""More universes of the shop: other people, goods, orders and money in the same situations, as many
as are asked for.

`seed.sql` is universe 0; `rows` makes the others. An order is played from its `Scene`, which says
how far it got and what came back of it, and every table is filled from that one story, so that the
books balance by construction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any

from envs.tools.records import fold

from .seed_books import Books, Row
from .seed_goods import CATEGORIES, Variant, goods
from .seed_people import people, place
from .seed_scenes import SCENES, Scene

TODAY = date(2026, 3, 2)
OPENED = datetime.combine(date(2025, 2, 10), time(7))
"""Today, before which everything lies, and the morning on which the first goods came in."""

CARRIERS = ("Nordpost", "Parcelwing", "Swiftline")
METHODS = ("card",) * 5 + ("wallet",) * 3 + ("bank_transfer",) * 2
FACES = (2500, 5000, 7500, 10000, 15000)
"""What a gift card is sold with, in cents."""
GOODWILL = {"late_parcel": 500, "damaged_item": 1000, "wrong_item": 1000, "lost_parcel": 1500}
OUR_FAULT = ("damaged", "defective", "wrong_item")


def rows(universe: int, random: Random) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every row of one universe, parents before children."""
    year = Year(universe, random)
    for scene in SCENES:
        for _ in range(scene.count):
            year.play(scene)
    year.close()
    yield from year.numbered()


@dataclass(eq=False)
class Customer:
    row: Row
    addresses: list[Row]
    bought: list[tuple[Variant, Row, date | None]]
    """Lines with the day of their delivery."""


class Year(Books):
    """One year of the shop, told order by order."""

    def __init__(self, universe: int, random: Random) -> None:
        super().__init__(universe)
        self.random = random
        self.codes: set[str] = set()
        self.variants = goods(random)
        self.rows_of = self._catalogue()
        self.customers = [
            self._customer(each.name, each.email, each.country) for each in people(universe, random)
        ]
        self.turn = 0

    def at(self, day: date, first: int = 8, last: int = 22) -> datetime:
        """Some moment of a day."""
        minute, second = self.random.choices(range(60), k=2)
        return datetime.combine(day, time(self.random.randint(first, last), minute, second))

    def _catalogue(self) -> dict[Variant, Row]:
        categories = {
            name: self.add(
                "categories",
                category_id=key,
                name=name,
                return_days=days,
                opened_fee_percent=percent,
            )
            for name, (key, days, percent) in CATEGORIES.items()
        }
        products = {
            each.product: self.add(
                "products",
                name=each.product,
                name_folded=fold(each.product),
                category_id=categories[each.kind.category],
            )
            for each in {each.product: each for each in self.variants}.values()
        }
        return {
            each: self.add(
                "variants",
                product_id=products[each.product],
                sku=each.sku,
                colour=each.colour,
                size=each.size,
                price_cents=each.price,
                final_sale=int(each.final),
            )
            for each in self.variants
        }

    def _customer(self, name: str, email: str, country: str) -> Customer:
        joined = date(2023, 1, 9) + timedelta(self.random.randrange(770))
        row = self.add(
            "customers", name=name, name_folded=fold(name), email=email, joined_on=joined
        )
        places = [place(country, self.random) for _ in range(self.random.choice((1, 1, 1, 2)))]
        return Customer(
            row, [self.add("addresses", customer_id=row, **each) for each in places], []
        )

    # One order ------------------------------------------------------------------------------------

    def play(self, scene: Scene) -> None:
        """An order of that scene, with everything that came of it."""
        last = TODAY - timedelta(self.random.randint(*scene.days_ago))
        customer, chosen = self._choose(scene)
        days = self._days(scene, last)
        placed = self.at(days["placed"])
        prices = {
            each: each.price if days["placed"] > date(2026, 1, 10) else each.full for each in chosen
        }
        value = sum(prices[each] * many for each, many in chosen.items())
        shipping = 495 if value < 5000 else 0
        cancelled = (
            self.at(placed.date() + timedelta(1), 6, 20) if scene.status == "cancelled" else None
        )
        order = self.add(
            "orders",
            number="",
            customer_id=customer.row,
            address_id=self.random.choice(customer.addresses),
            status={"in_transit": "shipped", "lost": "shipped"}.get(scene.status, scene.status),
            hold="fraud" if scene.hold else None,
            placed_at=placed,
            shipping_cents=shipping,
            total_cents=value + shipping,
            cancelled_at=cancelled,
            cancel_reason=self.random.choice(scene.reasons) if cancelled else None,
        )
        lines = [
            self.add(
                "order_items",
                order_id=order,
                variant_id=self.rows_of[each],
                quantity=many,
                unit_price_cents=prices[each],
                final_sale=int(prices[each] < each.full),
            )
            for each, many in chosen.items()
        ]
        for line, (each, many) in zip(lines, chosen.items(), strict=True):
            self._move(each, "sale", -many, placed, order)
            customer.bought.append((each, line, days.get("delivered")))
        self._ship(order, scene, days)
        payments = self._pay(order, customer, scene)
        if cancelled:
            for each, many in chosen.items():
                self._move(each, "cancellation", many, cancelled, order)
            self._give_back(
                payments, value + shipping, "cancellation", cancelled + timedelta(minutes=4)
            )
        elif scene.status == "lost":
            reported = self.at(min(days["promised"] + timedelta(12), TODAY - timedelta(1)))
            self.add("messages", order_id=order, template="parcel_lost", created_at=reported)
            self._give_back(
                payments, value + shipping, "lost_parcel", reported + timedelta(hours=1)
            )
        elif scene.after:
            self._come_back(scene, order, lines[0], next(iter(chosen)), payments, days["delivered"])

    def _choose(self, scene: Scene) -> tuple[Customer, dict[Variant, int]]:
        """Whose turn it is, and what is bought: new to this customer, unless the scene wants a
        second one.
        """
        if scene.again:
            known = [
                (customer, variant)
                for customer in self.customers
                for variant, line, delivered in customer.bought
                if delivered and delivered < TODAY - timedelta(75) and line["quantity"] == 1
                if not variant.final and variant.kind.category != "Pantry"
                if sum(each.product == variant.product for each, _, _ in customer.bought) == 1
                if not any(each["order_item_id"] is line for each in self.tables["returns"])
            ]
            customer, variant = self.random.choice(known)
            return customer, {variant: 1}
        reduced = {each.product for each in self.variants if each.final}
        for _ in self.customers:
            self.turn += 1
            customer = self.customers[self.turn * 31 % len(self.customers)]
            bought = {each.product for each, _, _ in customer.bought}
            new = [each for each in self.variants if each.product not in bought]
            if fitting := [each for each in new if scene.wants(each, reduced)]:
                break
        else:
            raise ValueError(f"nobody is left to whom {scene.goods} goods are new")
        first = self.random.choice(fitting)
        many = 1 if first.price > 9000 else self.random.choice(scene.pieces)
        chosen = {first: many}
        others = [each for each in new if each.product != first.product]
        for each in self.random.sample(others, self.random.choice(scene.more)):
            if not any(each.product == other.product for other in chosen):
                chosen[each] = 1 if each.price > 3000 else self.random.randint(1, 3)
        return customer, chosen

    def _days(self, scene: Scene, last: date) -> dict[str, date]:
        """The days of an order's life; `last` is that of its newest step, for parcels under way
        that of the promise.
        """
        some = self.random.randint
        if scene.status in {"placed", "packed"}:
            return {"placed": last}
        if scene.status == "cancelled":
            return {"placed": last - timedelta(1)}
        if scene.status == "delivered":
            shipped = last - timedelta(some(2, 5))
            promised = max(last - timedelta(some(-1, 2)), shipped + timedelta(1))
            days = {"delivered": last}
        else:
            shipped = min(last - timedelta(some(3, 5)), TODAY - timedelta(1))
            promised, days = last, {}
        return days | {
            "placed": shipped - timedelta(some(1, 3)),
            "shipped": shipped,
            "promised": promised,
        }

    def _ship(self, order: Row, scene: Scene, days: Mapping[str, date]) -> None:
        if "shipped" not in days:
            return
        carrier = self.random.choice(CARRIERS)
        self.add(
            "shipments",
            order_id=order,
            carrier=carrier,
            tracking=f"{carrier[:2].upper()}{self.universe % 90 + 10}{self.random.randrange(10**7):07d}",
            status=scene.status,
            shipped_on=days["shipped"],
            promised_on=days["promised"],
            delivered_on=days.get("delivered"),
        )

    # Money and goods
    # --------------------------------------------------------------------------------

    def _pay(self, order: Row, customer: Customer, scene: Scene) -> list[Row]:
        """One payment, or a gift card and another one; the gift card first."""
        total, method = order["total_cents"], scene.method or self.random.choice(METHODS)
        parts: list[tuple[str, int]] = [(method, total)]
        smaller = [each for each in FACES if each < total]
        if scene.split and smaller:
            part = self.random.choice(smaller)
            parts = [("gift_card", part), (method, total - part)]
        elif not scene.method and total <= FACES[-1] and self.random.random() < 0.06:
            parts = [("gift_card", total)]
        return [
            self.add(
                "payments",
                order_id=order,
                method=each,
                gift_card_id=self._gift_card(customer, amount, order["placed_at"])
                if each == "gift_card"
                else None,
                amount_cents=amount,
                paid_at=order["placed_at"],
            )
            for each, amount in parts
        ]

    def _gift_card(self, customer: Customer, spent: int, when: datetime) -> Row:
        letters = "ACDEFGHJKLMNPQRTUVWXY34679"
        code = "-".join(["GIFT", *("".join(self.random.choices(letters, k=4)) for _ in range(2))])
        if code in self.codes:
            return self._gift_card(customer, spent, when)
        self.codes.add(code)
        face = self.random.choice([each for each in FACES if each >= spent][:2])
        issued = max(when.date() - timedelta(self.random.randint(10, 120)), date(2025, 1, 3))
        return self.add(
            "gift_cards",
            code=code,
            customer_id=customer.row,
            initial_cents=face,
            balance_cents=face - spent,
            issued_on=issued,
            expires_on=issued.replace(year=issued.year + 3),
        )

    def _move(
        self, variant: Variant, kind: str, many: int, when: datetime, order: Row | None = None
    ) -> None:
        variant.sold.append((f"{when}", many))
        self.add(
            "stock_movements",
            variant_id=self.rows_of[variant],
            order_id=order,
            kind=kind,
            quantity=many,
            created_at=when,
        )

    def _give_back(
        self,
        payments: list[Row],
        amount: int,
        reason: str,
        when: datetime,
        returned: Row | None = None,
    ) -> None:
        """Refund an amount: the gift card first, then the other payment."""
        for payment in payments:
            if part := min(amount, payment["amount_cents"]):
                self.add(
                    "refunds",
                    payment_id=payment,
                    return_id=returned,
                    amount_cents=part,
                    reason=reason,
                    destination="original_payment",
                    created_at=when,
                )
                if card := payment["gift_card_id"]:
                    card["balance_cents"] += part
                amount -= part

    def _come_back(
        self,
        scene: Scene,
        order: Row,
        line: Row,
        variant: Variant,
        payments: list[Row],
        delivered: date,
    ) -> None:
        """The first line comes back: announced, exchanged, booked in, or refunded too."""
        asked = self.at(delivered + timedelta(self.random.randint(1, 3)))
        reason = self.random.choice(scene.reasons)
        returned = self.add(
            "returns",
            order_item_id=line,
            kind="refund",
            quantity=line["quantity"],
            reason=reason,
            new_variant_id=None,
            status="open",
            item_condition=None,
            created_at=asked,
            received_at=None,
        )
        self.add("messages", order_id=order, template="return_label", created_at=asked)
        if scene.after == "exchange":
            others = [
                each
                for each in self.variants
                if each.product == variant.product and each is not variant
            ]
            other = self.random.choice([each for each in others if each.full == variant.full])
            returned |= {
                "kind": "exchange",
                "reason": "wrong_size",
                "new_variant_id": self.rows_of[other],
            }
            self._move(other, "exchange", -line["quantity"], asked, order)
        if scene.after in {"received", "settled"}:
            state = {"damaged": "damaged", "defective": "opened"}.get(reason) or self.random.choice(
                ("as_new", "as_new", "opened")
            )
            came = self.at(asked.date() + timedelta(self.random.randint(2, 4)))
            returned |= {"status": "received", "item_condition": state, "received_at": came}
            if state == "as_new":
                self._move(variant, "return", line["quantity"], came, order)
            if scene.after == "settled":
                paid = line["unit_price_cents"] * line["quantity"]
                percent = CATEGORIES[variant.kind.category][2]
                fee = (
                    (paid * percent + 50) // 100
                    if state == "opened" and reason not in OUR_FAULT
                    else 0
                )
                when = self.at(came.date() + timedelta(1))
                self._give_back(payments, paid - fee, "return", when, returned)
                self.add("messages", order_id=order, template="refund_issued", created_at=when)

    # The end of the year
    # ----------------------------------------------------------------------------

    def close(self) -> None:
        """Rows that belong to no single order: supplies, unused gift cards, goodwill, and reports
        to the risk team.
        """
        for variant in self.variants:
            level = lowest = 0
            for _, change in sorted(variant.sold):
                level += change
                lowest = min(lowest, level)
            wanted = self.random.choice((0, 0, 0, 1, 2, 3, *range(4, 26, 2)))
            supply = max(wanted - level, -lowest, 1)
            when = OPENED + timedelta(
                days=self.random.randrange(9), minutes=self.random.randrange(120)
            )
            self._move(variant, "supply", supply, when)
            on_hand = level + supply
            if wanted == 0 < on_hand:
                self._move(variant, "count", -on_hand, self.at(TODAY - timedelta(1), 17, 20))
                on_hand = 0
            self.add("stock", variant_id=self.rows_of[variant], on_hand=on_hand)
        for customer in self.random.sample(self.customers, 12):
            self._gift_card(customer, 0, self.at(TODAY - timedelta(self.random.randint(20, 300))))
        holders = Counter(each.row["name_folded"] for each in self.customers)
        namesakes = [each for each in self.customers if holders[each.row["name_folded"]] > 1][:2]
        others = [each for each in self.customers if each not in namesakes]
        for index, customer in enumerate([*self.random.sample(others, 24), *namesakes]):
            ago = self.random.randint(372, 640) if index < 12 else self.random.randint(4, 364)
            cause = self.random.choice([*GOODWILL, "late_parcel"])
            self.add(
                "credits",
                customer_id=customer.row,
                kind="goodwill",
                cause=cause,
                amount_cents=GOODWILL[cause],
                created_at=self.at(TODAY - timedelta(ago)),
            )
        for order in [each for each in self.tables["orders"] if each["hold"]][:3]:
            escalated = order["placed_at"] + timedelta(minutes=self.random.randint(20, 300))
            self.add(
                "escalations",
                order_id=order,
                team="risk",
                reason="fraud_hold",
                created_at=escalated,
            )
