"""The situations of a universe: how many orders there are of each kind, and what became of them.

The families of tasks.yaml find their rows by these: whoever adds a family that needs another
situation adds its scene.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from .seed_goods import Variant

Goods = Literal[
    "any",
    "sized",
    "priced",
    "final",
    "beside_sale",
    "pantry",
    "gadget",
    "device",
    "dear",
    "cheap",
    "small",
]

WISHES = ("changed_mind", "not_as_described", "wrong_size")
FAULTS = ("changed_mind", "not_as_described", "wrong_size", "damaged", "defective")
CHANGES = (
    "changed_mind",
    "changed_mind",
    "ordered_twice",
    "too_slow",
    "wrong_item",
    "out_of_stock",
)


@dataclass(frozen=True)
class Scene:
    """A kind of order: `count` of them, whose newest step lies `days_ago` (lowest, highest).

    For a parcel under way the days count from the promised day; a negative number lies in the
    future.
    """

    count: int
    status: Literal["placed", "packed", "in_transit", "lost", "delivered", "cancelled"]
    days_ago: tuple[int, int]
    goods: Goods = "any"
    """What the first line is; further lines are anything."""
    after: Literal["", "open", "exchange", "received", "settled"] = ""
    """What came back of the first line."""
    split: bool = False
    """Paid with a gift card and something else."""
    method: str | None = None
    hold: bool = False
    again: bool = False
    """A second piece of something that the customer bought long ago."""
    pieces: tuple[int, ...] = (1, 1, 1, 2, 2, 3)
    """How many of the first line there may be; dear things come alone."""
    more: tuple[int, ...] = (0, 0, 0, 1, 1, 2)
    """How many other lines there may be."""
    reasons: tuple[str, ...] = CHANGES

    def wants(self, variant: Variant, reduced: Collection[str]) -> bool:
        """True if the first line may be this variant; `reduced` are the products of which a colour
        is in the final sale.
        """
        kind = variant.kind
        match self.goods:
            case "sized":
                return not variant.final and bool(kind.colours and kind.sizes) and not kind.step
            case "priced":
                return not variant.final and bool(kind.step and variant.colour)
            case "beside_sale":
                return not variant.final and variant.product in reduced
            case "final":
                return variant.final
            case "pantry":
                return kind.category == "Pantry"
            case "gadget":
                return kind.category == "Electronics" and not variant.final and variant.full <= 9000
            case "device":
                return kind.category == "Electronics" and not variant.final and variant.full > 9000
            case "dear":
                return variant.price > 20000 and not variant.final
            case "small":
                return variant.full < 2500 and not variant.final and kind.category != "Pantry"
            case "cheap":
                return variant.full < 20000 and not variant.final and kind.category != "Pantry"
        return True


SCENES = (
    # On the way out.
    Scene(10, "placed", (1, 4), "sized"),
    Scene(8, "placed", (1, 4), "priced", pieces=(1,)),
    Scene(5, "placed", (1, 4), "beside_sale", method="wallet", pieces=(1,)),
    Scene(6, "placed", (1, 4), "final", method="card", pieces=(1,)),
    Scene(6, "placed", (1, 5), split=True),
    Scene(5, "placed", (2, 7), hold=True),
    Scene(8, "packed", (2, 5), "sized"),
    Scene(6, "packed", (2, 5), split=True),
    Scene(4, "packed", (3, 9), hold=True),
    # Under way: in time, late, lost by the rule, lost and dear, on hold, known to be lost.
    Scene(15, "in_transit", (-4, 0)),
    Scene(14, "in_transit", (1, 10), "cheap"),
    Scene(12, "in_transit", (11, 26), "cheap"),
    Scene(5, "in_transit", (11, 20), "dear"),
    Scene(3, "in_transit", (3, 14), hold=True),
    Scene(4, "lost", (30, 150)),
    Scene(14, "cancelled", (5, 330)),
    # Delivered long ago, and lately.
    Scene(26, "delivered", (91, 340), pieces=(1,)),
    Scene(6, "delivered", (91, 340), "small", pieces=(2, 3)),
    Scene(22, "delivered", (61, 89)),
    Scene(8, "delivered", (31, 60)),
    Scene(14, "delivered", (1, 13)),
    Scene(16, "delivered", (1, 13), "sized", pieces=(1,)),
    Scene(8, "delivered", (1, 13), "priced", pieces=(1,)),
    Scene(6, "delivered", (1, 13), "gadget", pieces=(1,)),
    Scene(6, "delivered", (1, 13), "device", pieces=(1,)),
    Scene(9, "delivered", (1, 13), "final", pieces=(1,)),
    Scene(6, "delivered", (1, 40), "pantry", pieces=(1,)),
    # Coming back.
    Scene(10, "delivered", (7, 13), "cheap", after="open", reasons=WISHES),
    Scene(4, "delivered", (7, 13), "device", after="open", reasons=WISHES),
    Scene(5, "delivered", (7, 13), "dear", after="open", reasons=WISHES),
    Scene(9, "delivered", (7, 13), "cheap", after="open", split=True, reasons=WISHES),
    Scene(
        4,
        "delivered",
        (7, 13),
        "small",
        after="open",
        split=True,
        pieces=(1,),
        more=(2,),
        reasons=WISHES,
    ),
    Scene(4, "delivered", (7, 13), "sized", after="exchange", pieces=(1,), reasons=("wrong_size",)),
    Scene(
        6, "delivered", (9, 13), "cheap", after="received", method="bank_transfer", reasons=FAULTS
    ),
    Scene(6, "delivered", (9, 13), "cheap", after="received", method="card", reasons=FAULTS),
    Scene(5, "delivered", (9, 13), "cheap", after="received", method="wallet", reasons=FAULTS),
    Scene(20, "delivered", (30, 320), "cheap", after="settled", reasons=FAULTS),
    Scene(4, "delivered", (30, 200), "cheap", after="settled", split=True, reasons=FAULTS),
    Scene(10, "delivered", (1, 13), again=True),
)
