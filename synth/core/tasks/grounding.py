"""The order in which a plan takes grounding rows and varied values.

Everything is a function of an index, so that a plan of ten million tasks is no list in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synth.core.foundation.hashing import canonical, derive_seed
from synth.core.tasks.domains import Domain


def distinct_sorted(rows: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Rows without repetition in an order that no engine decides: by their canonical JSON."""
    return list(by_text(rows).values())


def by_text(rows: Sequence[Mapping[str, object]]) -> dict[str, Mapping[str, object]]:
    """Rows without repetition by their canonical JSON, in the order of these texts."""
    unique = {canonical(row): row for row in rows}
    return {text: unique[text] for text in sorted(unique)}


def permuted(index: int, size: int, key: str) -> int:
    """The place of ``index`` in a pseudo-random permutation of range(size) that ``key`` chooses.

    A four-round Feistel network over the next even number of bits, walked until it lands inside
    (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).
    """
    half = max(1, (max(1, size - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    while True:
        left, right = index >> half, index & mask
        for turn in range(4):
            left, right = right, left ^ (derive_seed(key, turn, right) & mask)
        index = (left << half) | right
        if index < size:
            return index


def combination(index: int, domains: Mapping[str, Domain]) -> dict[str, object]:
    """The ``index``-th combination of the domains' values, the last domain turning fastest."""
    out: dict[str, object] = {}
    for name in reversed(list(domains)):
        index, digit = divmod(index, len(domains[name]))
        out[name] = domains[name][digit]
    return {name: out[name] for name in domains}
