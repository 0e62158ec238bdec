"""Prices of a model: the config's own, or else from a public price table.

A price that is neither given nor known is unknown, and never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.plugins import resolve

INPUT, OUTPUT, CACHED = (
    "price_input_usd_per_mtok",
    "price_output_usd_per_mtok",
    "price_cached_usd_per_mtok",
)


def prices_of(section: Mapping[str, Any], name: str | None) -> dict[str, float]:
    """The prices of the model ``name`` under a section's keys; without those that are unknown.

    ``section`` holds the address and the prices that the user gave: if there is one, the table is
    not asked.
    """
    own = {key: section[key] for key in (INPUT, OUTPUT, CACHED) if section.get(key) is not None}
    if own or name is None or section.get("kind", "openai") != "openai":
        return own
    found = resolve("synth.core.config.price_table:lookup")(name, section.get("base_url"))
    return {} if found is None else dict(zip((INPUT, OUTPUT, CACHED), found, strict=True))


def missing_prices(section: Mapping[str, Any], name: str | None) -> list[str]:
    """The keys of the prices without which the cost of a call is unknown."""
    known = prices_of(section, name)
    return [key for key in (INPUT, OUTPUT) if key not in known]
