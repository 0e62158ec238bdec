"""Histograms: bins of values, and a line of block characters that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BARS = 20
"""The most bars that a histogram has."""

_BLOCKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of values. ``edges[i]`` is where bar i begins.

    Bars of whole numbers stand for one number each, and there are as many edges as bars; other bars
    are equally wide, and the last edge ends the last bar.
    """

    edges: Sequence[float]
    counts: Sequence[int]

    def to_json(self) -> dict[str, object]:
        return {"edges": list(self.edges), "counts": list(self.counts)}

    def blocks(self) -> str:
        """A character for each bar, as high as its count; a dot for an empty one."""
        most = max(self.counts)
        return "".join(
            _BLOCKS[(len(_BLOCKS) * count - 1) // most] if count else "·" for count in self.counts
        )


def histogram_of(values: Sequence[float]) -> Histogram:
    """Count at least one value: a bar for each whole number if there are few, else 20 bars."""
    low, high = min(values), max(values)
    whole = all(float(value).is_integer() for value in values)
    if low == high:
        return Histogram([low, high], [len(values)])
    bars = int(high - low) + 1 if whole and high - low < BARS else BARS
    counts = [0] * bars
    if whole and bars == int(high - low) + 1:
        for value in values:
            counts[int(value - low)] += 1
        return Histogram([low + index for index in range(bars)], counts)
    for value in values:
        counts[min(int((value - low) / (high - low) * bars), bars - 1)] += 1
    return Histogram([low + (high - low) * index / bars for index in range(bars + 1)], counts)
