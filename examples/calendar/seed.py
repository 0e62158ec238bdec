"""The calendars of any universe: other people and events in the same two weeks.

`seed.sql` holds the rows of universe 0. No full name is in two universes below 80.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from itertools import product
from random import Random
from typing import Any

from envs.tools.records import fold

STAFF = 14
DAYS = [date(2026, 3, 2) + timedelta(days) for days in (*range(5), *range(7, 12))]
FIRST = """Alma Bram Carin Dagny Eskil Fenja Gunnar Hilde Ingmar Jorun Knut Liv Magnus Nanna Oskar Pernille Ragna Sander
    Thea Ulf Vera Wilhelm Yrsa Anouk Basil Corentin Delia Edgar Flora Gaston Hermine Isidor"""
LAST = """Aasen Bergstrom Cordes Dreyfus Ekdahl Forsman Granlund Hedman Isaksen Juhl Kjeldsen Lofgren Mattsson Nordin
    Olander Palmgren Rask Sandell Tornquist Uggla Vinter Wallin Ahlgren Bexell Cederholm Dalman Engholm Frisk
    Gylling Hallberg Iversen Jansdotter"""
ROOMS = (("Acorn", 3), ("Birch", 4), ("Cedar", 6), ("Dogwood", 10), ("Elm", 16))
TITLES = (
    "Review of supplier {n}",
    "Interview, candidate {n}",
    "Budget line {n}",
    "Photo selection {n}",
    "Stocktake plan {n}",
    "Campaign {n}",
    "Complaints of week {n}",
    "Training session {n}",
    "Site visit {n}",
    "Catalogue page {n}",
)
TWICE = ("Catch-up", "One-to-one", "Planning hour", "Design table")
"""Titles that an organiser has twice in these two weeks."""


def rows(universe: int, random: Random) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every row of one universe, parents before children."""
    base = universe * 10_000
    names = [f"{first} {last}" for first, last in product(FIRST.split(), LAST.split())]
    Random("people of the calendar").shuffle(names)
    start = universe * STAFF % (len(names) - STAFF)
    staff = [base + 201 + 3 * index for index in range(STAFF)]
    for staff_id, name in zip(staff, names[start : start + STAFF], strict=True):
        email = f"{fold(name).replace(' ', '.')}@larkspur.example"
        values = {"staff_id": staff_id, "name": name, "name_folded": fold(name), "email": email}
        yield "staff", values
    rooms = {base + 11 + index: seats for index, (_, seats) in enumerate(ROOMS)}
    for room_id, (name, seats) in zip(rooms, ROOMS, strict=True):
        yield "rooms", {"room_id": room_id, "name": name, "seats": seats}
    numbers = random.sample(range(101, 999), 300)
    planned: list[tuple[str, int, int]] = [
        (title, organiser, many)
        for title in TWICE
        for organiser in random.sample(staff, 5)
        for many in (2, 2)
    ]
    planned += [
        (random.choice(TITLES).format(n=numbers.pop()), random.choice(staff), random.randint(2, 5))
        for _ in range(70)
    ]
    taken: list[tuple[datetime, datetime, set[int], int]] = []
    used: set[tuple[str, int, date]] = set()
    made: list[tuple[dict[str, Any], list[int]]] = []
    for title, organiser, many in planned:
        for _ in range(40):
            minutes = random.choice((30, 30, 60, 60, 90))
            day = random.choice(DAYS)
            begin = datetime.combine(day, time(9)) + timedelta(minutes=30 * random.randrange(13))
            end = begin + timedelta(minutes=minutes)
            others = random.sample([each for each in staff if each != organiser], many - 1)
            people = {organiser, *others}
            fitting = [room for room, seats in rooms.items() if seats >= many]
            at_once = [each for each in taken if each[0] < end and begin < each[1]]
            free = [room for room in fitting if all(each[3] != room for each in at_once)]
            if (
                free
                and (title, organiser, day) not in used
                and not any(each[2] & people for each in at_once)
            ):
                break
        else:
            continue
        used.add((title, organiser, day))
        taken.append((begin, end, people, free[0]))
        event = {
            "title": title,
            "organiser_id": organiser,
            "room_id": free[0],
            "starts_at": f"{begin:%Y-%m-%d %H:%M}",
            "ends_at": f"{end:%Y-%m-%d %H:%M}",
            "minutes": minutes,
            "status": "confirmed",
            "fixed": int(random.random() < 0.2),
        }
        made.append((event, sorted(people)))
    made.sort(key=lambda each: each[0]["starts_at"])
    for index, (event, people) in enumerate(made):
        event_id = base + 701 + 2 * index
        yield "events", {"event_id": event_id, **event}
        for staff_id in people:
            yield "attendees", {"event_id": event_id, "staff_id": staff_id}
