"""The order in which a plan takes grounding rows and varied values.

Everything is a function of an index, so that a plan of ten million tasks is not a list in memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from synth.core.foundation.hashing import canonical, derive_seed
from synth.core.tasks.domains import Domain

Name = TypeVar("Name", bound=Hashable)


def by_text(rows: Iterable[Mapping[str, object]]) -> dict[str, Mapping[str, object]]:
    """Rows without repetition by their canonical JSON, in the order of these texts, which no engine
    decides.
    """
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


def turns(share: Mapping[Name, int], index: int) -> tuple[Name, int]:
    """Name and place within it of the ``index``-th item, where names take turns while their shares
    last. Raises IndexError.
    """
    done = 0
    for size in sorted(set(share.values())):
        alive = [name for name, count in share.items() if count > done]
        block = (size - done) * len(alive)
        if index < block:
            turn, which = divmod(index, len(alive))
            return alive[which], done + turn
        index -= block
        done = size
    raise IndexError(index)
