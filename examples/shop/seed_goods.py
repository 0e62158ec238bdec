"""Invented goods: what a shop of this trade sells, in which choices and at which prices.

A universe has its own products (a series' name and a kind of thing), prices, colours and final
sales; the categories with their terms are the same everywhere, since the policy speaks of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

CATEGORIES = {
    "Clothing": (1, 30, 0),
    "Footwear": (2, 30, 0),
    "Home": (3, 30, 0),
    "Electronics": (4, 14, 15),
    "Outdoor": (5, 60, 0),
    "Beauty": (6, 14, 0),
    "Pantry": (7, 0, 0),
    "Stationery": (8, 21, 0),
}
"""Key, days in which a return is possible, and percent kept of an opened item, as in seed.sql."""

ON_OFFER = {
    "Clothing": 4,
    "Footwear": 2,
    "Home": 4,
    "Electronics": 5,
    "Outdoor": 4,
    "Beauty": 3,
    "Pantry": 3,
    "Stationery": 2,
}
"""How many products of each category a universe sells."""

IN_FINAL_SALE = 6
"""How many products are sold off in one of their colours."""

SERIES = """
Alcove Bramble Crag Dunlin Elder Fathom Gannet Heron Islet Jetty Kittiwake Lichen Mallow Nettle Otter Plover
Quartz Rowan Sorrel Tansy Umber Verbena Willow Yarrow Zephyr Bluff Cairn Delta Ermine Fennel Grouse Hazel Ivy
Knoll Lapwing Moor Nuthatch Oriole Puffin Redstart Skerry Thistle Upland Vetch Whinchat Bracken Curlew
"""

SIZES = ("s", "m", "l", "xl")
SHOES = ("38", "39", "40", "41", "42")


@dataclass(frozen=True)
class Kind:
    """A kind of thing: category, lowest and highest price in cents, its choices, and what the next
    size costs more.
    """

    name: str
    category: str
    price: tuple[int, int]
    colours: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    step: int = 0


CLOTH = ("navy", "moss", "rust", "ecru", "plum", "charcoal")
GEAR = ("olive", "orange", "petrol", "sand")

KINDS = (
    Kind("fleece jacket", "Clothing", (7900, 10900), CLOTH, SIZES),
    Kind("wool cardigan", "Clothing", (8900, 11900), CLOTH, SIZES),
    Kind("cotton shirt", "Clothing", (4500, 6900), CLOTH, SIZES),
    Kind("walking trousers", "Clothing", (6900, 9900), CLOTH, ("30", "32", "34", "36")),
    Kind("storm parka", "Clothing", (13900, 18900), CLOTH, SIZES),
    Kind("running shoes", "Footwear", (9900, 13900), ("black", "teal", "grey"), SHOES),
    Kind("winter boots", "Footwear", (14900, 19900), ("brown", "black"), SHOES),
    Kind("canvas sneakers", "Footwear", (5900, 7900), ("white", "navy", "red"), SHOES),
    Kind("floor lamp", "Home", (7900, 12900), ("brass", "black")),
    Kind(
        "wool blanket", "Home", (5900, 8900), ("grey", "rust", "moss"), ("single", "double"), 2500
    ),
    Kind("enamel teapot", "Home", (3400, 4900), ("blue", "cream", "green")),
    Kind("roasting dish", "Home", (3900, 5400), (), ("small", "large"), 1500),
    Kind("linen tablecloth", "Home", (4900, 6900), ("white", "sage"), ("180 cm", "240 cm"), 2000),
    Kind("noise-cancelling headphones", "Electronics", (17900, 24900), ("black", "silver")),
    Kind("fitness tracker", "Electronics", (5900, 8900), ("black", "coral", "mint")),
    Kind("instant camera", "Electronics", (9900, 12900), ("white", "blue")),
    Kind("smart scale", "Electronics", (4900, 6900)),
    Kind("kitchen radio", "Electronics", (8900, 11900), ("cream", "red")),
    Kind("tablet", "Electronics", (21900, 27900), (), ("64 gb", "128 gb"), 6000),
    Kind("power bank", "Electronics", (2900, 3900), (), ("10 ah", "20 ah"), 1800),
    Kind("travel pack", "Outdoor", (10900, 13900), GEAR, ("35 l", "50 l"), 3000),
    Kind("dome tent", "Outdoor", (22900, 28900), ("green", "orange")),
    Kind("down sleeping bag", "Outdoor", (20900, 24900), GEAR, ("regular", "long"), 2000),
    Kind("trekking poles", "Outdoor", (5900, 8900)),
    Kind("camping lantern", "Outdoor", (3900, 5900), ("sand", "petrol")),
    Kind("face cream", "Beauty", (1900, 2900)),
    Kind("soap bar", "Beauty", (700, 1200)),
    Kind("beard oil", "Beauty", (1500, 2200)),
    Kind("bath salts", "Beauty", (1200, 1900)),
    Kind("coffee beans", "Pantry", (1300, 1900)),
    Kind("olive oil", "Pantry", (1400, 2200)),
    Kind("chutney trio", "Pantry", (1600, 2400)),
    Kind("oat biscuits", "Pantry", (600, 950)),
    Kind("brass ruler", "Stationery", (1400, 2200)),
    Kind("dot-grid notebook", "Stationery", (1200, 1900), ("ink", "copper", "sage")),
    Kind("desk calendar", "Stationery", (1700, 2600)),
)


@dataclass(eq=False)
class Variant:
    product: str
    kind: Kind
    sku: str
    colour: str | None
    size: str | None
    full: int
    price: int
    """What it cost before any final sale, and what it costs today, in cents."""
    sold: list[tuple[str, int]] = field(default_factory=list)
    """Movements of its stock so far: moment and change."""

    @property
    def final(self) -> bool:
        return self.price < self.full


def goods(random: Random) -> list[Variant]:
    """The variants of a universe, product by product."""
    series = iter(random.sample(SERIES.split(), sum(ON_OFFER.values())))
    chosen: list[Kind] = []
    for category, many in ON_OFFER.items():
        pool = [each for each in KINDS if each.category == category]
        chosen += sorted(random.sample(pool, many), key=pool.index)
    on_sale = random.sample([each for each in chosen if len(each.colours) > 1], IN_FINAL_SALE)
    return [
        each
        for kind in chosen
        for each in _variants(kind, next(series), random, sale=kind in on_sale)
    ]


def _variants(kind: Kind, series: str, random: Random, *, sale: bool) -> list[Variant]:
    price = random.randrange(*kind.price, 100) - random.choice((0, 10, 50))
    colours = random.sample(kind.colours, min(len(kind.colours), 3)) or [None]
    reduced = random.choice(colours) if sale else ""
    made: list[Variant] = []
    for colour in colours:
        for index, size in enumerate(kind.sizes or (None,)):
            parts = [series[:4], *(each.replace(" ", "")[:6] for each in (colour, size) if each)]
            full = price + index * kind.step
            today = full * 2 // 3 // 100 * 100 if colour == reduced else full
            made.append(
                Variant(
                    f"{series} {kind.name}",
                    kind,
                    "-".join(parts).upper(),
                    colour,
                    size,
                    full,
                    today,
                )
            )
    return made
