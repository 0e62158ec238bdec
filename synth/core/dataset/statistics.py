"""The contract of statistics that a manifest and ``synth inspect`` show besides their own counts.

They are found by name (:data:`synth.plugins.STATISTICS`), which is their key in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from synth.plugins import STATISTICS


class RowStatistics(Protocol):
    """Figures from the verdicts of rows. Constructed without arguments."""

    def add(self, verdicts: Iterable[Mapping[str, Any] | str]) -> None:
        """Count a row by its verdicts, given as values or as JSON."""
        ...

    def to_json(self) -> list[dict[str, object]]:
        """Return the figures; empty if no row has any."""
        ...


def all_statistics() -> dict[str, RowStatistics]:
    """The statistics that ship, by name, without a row."""
    return {one.name: one.load()() for one in STATISTICS.shipped()}
