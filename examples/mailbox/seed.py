"""The mailbox of any universe: other people, companies and threads in the same situations.

`seed.sql` holds the rows of universe 0. No full name and no company is in two universes below 30.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import product
from random import Random
from typing import Any

from envs.tools.records import fold

OWN = "office@larkspur.example"
TODAY = datetime.combine(date(2026, 3, 2), time(9))
COLLEAGUES, OUTSIDERS, NAMESAKES, COMPANIES = 9, 24, 3, 9

FIRST = """Ada Bent Cilla Dov Elke Finn Greta Hamid Ida Jonas Kaja Levi Mira Nils Olga Pia Ralf Suna Tove Viggo
    Amara Boris Corin Dunja Emre Freja Gideon Hedda Ivo Jelka Kemal Lotte Malik Noor Otis Petra Rune Selma Timo Ylva"""
LAST = """Aldane Birkholm Castell Dahlberg Eastwood Fenner Gradin Holloway Istvan Jespers Karelius Lundmark Merrow Norling
    Ostberg Pellworm Quist Rosendal Stavik Thornby Ulvang Vesting Wexley Yarborough Arvidson Brandvik Colmar Drewitz
    Elsner Falkner Gerlach Hartwig Ibsler Janssens Kolbe Lindgaard Mortens Nybakk Overbeck Pedrak"""
TRADES = """Mills Print Logistics Textiles Packaging Interiors Studio Leather Optics Paper Hardware Catering"""
PLACES = """Northfield Tessel Brightwater Harrowgate Silverdale Eastmere Kingsbrook Oakhaven Stonebridge Fairlight
    Windrush Merriton Ashcombe Larchwood Redcliff Marlow Penhallow Glenmore Rushford Thornbury"""
WISHES = (
    ("Delivery slot for pallet {n}", "On which day and at what time can we deliver pallet {n}?"),
    ("Visit to your warehouse, {n}", "We are {n} people. When would a visit suit you?"),
    ("Sample box {n}", "Our driver could collect sample box {n}. When is somebody there?"),
    ("Call about contract {n}", "Could we speak about contract {n}? Please name a day and a time."),
    ("Fitting for display {n}", "Display {n} has to be put up. Tell us when we may come."),
)
NEWS = (
    ("Price list {n}", "Attached is price list {n}, valid from the first of next month."),
    ("Invoice {n}", "Invoice {n} is due within 30 days."),
    ("Stock notice {n}", "Article {n} is back in stock."),
    ("Holiday notice {n}", "Our office is closed in week 16. Your contact number is {n}."),
)
INSIDE = (
    ("Rota for store {n}", "Here is who is in store {n} when. Please keep it among us."),
    ("Margins of line {n}", "The margins of line {n} for the meeting. Not for suppliers."),
    ("Notes on offer {n}", "My notes on offer {n}. We should not go above last year's price."),
)
DRAFTS = (
    ("Offer {n}", "Please find our offer {n} below."),
    ("Order {n}", "We would like to place order {n}."),
)


def rows(universe: int, random: Random) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every row of one universe, parents before children."""
    box = Mailbox(universe, random)
    box.fill()
    yield from box.rows()


@dataclass
class Contact:
    name: str
    email: str
    company: str


@dataclass
class Mail:
    thread: int
    folder: str
    sender: str
    body: str
    sent_at: datetime
    to: list[str]
    copies: list[str]
    labels: list[str]
    unread: bool = False


class Mailbox:
    """Rows of one universe while they are made."""

    def __init__(self, universe: int, random: Random) -> None:
        self.universe, self.random = universe, random
        self.threads: list[str] = []
        self.mails: list[Mail] = []
        order = Random("people of the mailbox")
        pairs = [f"{first} {last}" for first, last in product(FIRST.split(), LAST.split())]
        firms = [f"{place} {trade}" for place, trade in product(PLACES.split(), TRADES.split())]
        order.shuffle(pairs)
        order.shuffle(firms)
        names = _slice(pairs, universe, COLLEAGUES + OUTSIDERS)
        self.firms = _slice(firms, universe, COMPANIES + 4)
        self.inside = [_contact(name, "Larkspur & Pine", "larkspur") for name in names[:COLLEAGUES]]
        self.outside = [
            _contact(name, self.firms[index % COMPANIES])
            for index, name in enumerate(names[COLLEAGUES:])
        ]
        self.doubles = [  # the same name at another company
            _contact(each.name, self.firms[(index + 4) % COMPANIES])
            for index, each in enumerate(self.outside[:NAMESAKES])
        ]
        self.machines = [
            Contact(f"{firm} Bookings", f"noreply@{_domain(firm)}", firm)
            for firm in self.firms[COMPANIES:]
        ]
        self.numbers = random.sample(range(1010, 9990), 400)

    def fill(self) -> None:
        for index, each in enumerate([*self.outside, *self.doubles]):
            for turn in range(2 + index % 2):
                self.asked(each, index + turn, turn)
            self.told(each, index)
        for each in self.machines:
            for turn in range(2):
                self.asked(each, turn, 0)
        for index, each in enumerate(self.inside):
            for turn in range(2):
                self.shared(each, index + turn)
        for index, each in enumerate(self.outside):
            self.drafted(each, index)

    def asked(self, contact: Contact, style: int, turn: int) -> None:
        """Somebody asks for a day: not answered, answered, or with other people in copy."""
        subject, body = self.texts(WISHES[style % len(WISHES)])
        thread, when = self.thread(subject), self.moment()
        copies: list[str] = []
        if turn == 1:
            others = self.random.sample(self.outside, 2)
            copies = sorted({each.email for each in others} - {contact.email})
        self.received(thread, contact, body, when, copies, unread=self.random.random() < 0.4)
        if turn == 2:
            self.mails[-1].labels.append("answered")
            self.mails[-1].unread = False
            self.sent(thread, contact, "Thank you, we will come back to you.", when)

    def told(self, contact: Contact, style: int) -> None:
        """News, some of it a matter for the lawyers."""
        for turn in range(3):
            subject, body = self.texts(NEWS[(style + turn) % len(NEWS)])
            self.received(self.thread(subject), contact, body, self.moment(), [], unread=turn == 2)
            if subject.startswith("Invoice"):
                self.mails[-1].labels.append("invoice")
            if (style + turn) % 4 == 1:
                self.mails[-1].labels.append("hold")

    def shared(self, contact: Contact, style: int) -> None:
        subject, body = self.texts(INSIDE[style % len(INSIDE)])
        self.received(self.thread(subject), contact, body, self.moment(), [], unread=False)

    def drafted(self, contact: Contact, style: int) -> None:
        subject, body = self.texts(DRAFTS[style % len(DRAFTS)])
        thread = self.thread(subject)
        labels = ["hold"] if style % 3 == 2 else []
        self.mails.append(Mail(thread, "drafts", OWN, body, TODAY, [contact.email], [], labels))

    def texts(self, pair: tuple[str, str]) -> tuple[str, str]:
        number = self.numbers.pop()
        return pair[0].format(n=number), pair[1].format(n=number)

    def thread(self, subject: str) -> int:
        self.threads.append(subject)
        return len(self.threads) - 1

    def moment(self) -> datetime:
        return TODAY - timedelta(minutes=self.random.randint(900, 60 * 24 * 45))

    def received(
        self,
        thread: int,
        contact: Contact,
        body: str,
        when: datetime,
        copies: list[str],
        *,
        unread: bool,
    ) -> None:
        folder = "inbox" if unread or self.random.random() < 0.8 else "archive"
        text = f"Hello,\n\n{body}\n\n{contact.name}, {contact.company}"
        self.mails.append(
            Mail(thread, folder, contact.email, text, when, [OWN], copies, [], unread)
        )

    def sent(self, thread: int, contact: Contact, body: str, after: datetime) -> None:
        when = after + timedelta(minutes=self.random.randint(5, 600))
        self.mails.append(Mail(thread, "sent", OWN, body, when, [contact.email], [], []))

    def rows(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        base = self.universe * 10_000
        people = [*self.inside, *self.outside, *self.doubles, *self.machines]
        for index, each in enumerate(people):
            yield (
                "contacts",
                {
                    "contact_id": base + 101 + 2 * index,
                    "name": each.name,
                    "name_folded": fold(each.name),
                    "email": each.email,
                    "company": each.company,
                },
            )
        for index, subject in enumerate(self.threads):
            yield "threads", {"thread_id": base + 1001 + index, "subject": subject}
        for index, mail in enumerate(sorted(self.mails, key=lambda mail: mail.sent_at)):
            mail_id = base + 3001 + 3 * index
            yield (
                "mails",
                {
                    "mail_id": mail_id,
                    "thread_id": base + 1001 + mail.thread,
                    "folder": mail.folder,
                    "sender": mail.sender,
                    "body": mail.body,
                    "sent_at": None if mail.folder == "drafts" else f"{mail.sent_at}",
                    "unread": int(mail.unread),
                },
            )
            kinds = dict.fromkeys(mail.copies, "cc") | dict.fromkeys(mail.to, "to")
            for email, kind in kinds.items():
                yield "recipients", {"mail_id": mail_id, "email": email, "kind": kind}
            for label in mail.labels:
                yield "mail_labels", {"mail_id": mail_id, "label": label}


def _slice(pool: list[str], universe: int, count: int) -> list[str]:
    start = universe * count % (len(pool) - count)
    return pool[start : start + count]


def _domain(company: str) -> str:
    return f"{fold(company).replace(' ', '-')}.example"


def _contact(name: str, company: str, house: str = "") -> Contact:
    domain = f"{house}.example" if house else _domain(company)
    return Contact(name, f"{fold(name).replace(' ', '.')}@{domain}", company)
