"""The column that each column refers to, in one form for the foreign keys of every engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple


class ColumnReference(NamedTuple):
    """One column of one foreign key, and the parent's column that must hold its value."""

    table: str
    constraint: object
    column: str
    parent: str
    target: str


def references_of(links: Iterable[ColumnReference]) -> dict[tuple[str, str], tuple[str, str]]:
    """Map (table, column) to (parent, column). Foreign keys of one column come before others."""
    found: dict[tuple[str, str], list[tuple[int, str, str]]] = defaultdict(list)
    keys: dict[tuple[str, object], list[ColumnReference]] = defaultdict(list)
    for link in links:
        keys[link.table, link.constraint].append(link)
    for parts in keys.values():
        for link in parts:
            found[link.table, link.column].append((len(parts), link.parent, link.target))
    return {place: min(targets)[1:] for place, targets in found.items()}
