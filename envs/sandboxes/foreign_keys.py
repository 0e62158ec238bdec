"""What each column refers to, said alike of every engine's foreign keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple


class Link(NamedTuple):
    """One column of one foreign key, and the column of the parent table that it must be found in."""

    table: str
    constraint: object
    column: str
    parent: str
    target: str


def references_of(links: Iterable[Link]) -> dict[tuple[str, str], tuple[str, str]]:
    """(table, column) -> (parent, column). Of several, a foreign key of its own comes before one of many columns."""
    found: dict[tuple[str, str], list[tuple[int, str, str]]] = defaultdict(list)
    keys: dict[tuple[str, object], list[Link]] = defaultdict(list)
    for link in links:
        keys[link.table, link.constraint].append(link)
    for parts in keys.values():
        for link in parts:
            found[link.table, link.column].append((len(parts), link.parent, link.target))
    return {place: min(targets)[1:] for place, targets in found.items()}
