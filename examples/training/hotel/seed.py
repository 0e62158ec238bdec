"""More universes of the hotel: other rooms, prices and guests, as many as are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from random import Random
from typing import Any

TODAY = date(2026, 3, 2)
ROOMS, GUESTS = 18, 12
FIRST = (
    *("Ada", "Ben", "Chloe", "Dan", "Edith", "Femi", "Grace", "Hugo", "Ines", "Jonas", "Kaya"),
    *("Lars", "Mina", "Noor", "Oscar", "Pia", "Quentin", "Rosa", "Sven", "Tara", "Umar", "Vera"),
    *("Wim", "Yara", "Zoe", "Amir", "Bela", "Carla", "Dora", "Elio", "Fritz", "Gita", "Hana"),
)
LAST = (
    *("Kern", "Ortiz", "Ruiz", "Adler", "Brandt", "Costa", "Dahl", "Endo", "Falk", "Gomez"),
    *("Hale", "Ito", "Jansen", "Klein", "Lopez", "Moreau", "Novak", "Okafor", "Pohl", "Reyes"),
    *("Sato", "Tran", "Ulrich", "Vogel", "Weber", "Young", "Zeman", "Baker", "Cruz", "Diaz"),
)


def rows(universe: int, random: Random) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every row of one universe, parents before children."""
    numbers = random.sample([100 * f + n for f in range(1, 10) for n in range(1, 60)], ROOMS)
    states = ["clean"] * 7 + ["dirty"] * 8 + ["blocked"] * 3
    random.shuffle(states)
    for number, state in zip(numbers, states, strict=True):
        yield (
            "rooms",
            {
                "number": number,
                "floor": number // 100,
                "beds": random.randint(1, 5),
                "price": random.randint(40, 260),
                "state": state,
            },
        )
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    rooms = random.sample(numbers, GUESTS)
    for index, (name, room) in enumerate(zip(random.sample(names, GUESTS), rooms, strict=True)):
        leaves = TODAY + timedelta(days=random.randint(1, 28))
        yield (
            "guests",
            {
                "guest_id": 1000 * universe + 11 + index,
                "name": name,
                "room": room,
                "phone": f"555-{random.randint(1000, 9999)}",
                "leaves": leaves.isoformat(),
            },
        )
