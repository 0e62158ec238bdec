"""Near-duplicates among texts: pairs whose shingles have a Jaccard similarity of at least 0.8.

They are found exactly and not estimated: two sets that are so similar share one of their rarest
elements, so only texts that share one are compared (prefix and positional filtering: Chaudhuri et
al., "A Primitive Operator for Similarity Joins in Data Cleaning", 2006; Xiao et al., "Efficient
Similarity Joins for Near Duplicate Detection", 2008). Requests are made from templates, where
MinHash with locality-sensitive hashing fails: every request of a template has a similarity of 0.5
to 0.7 with the others, and lands in their buckets.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b

from synth.core.foundation.json_leaves import named_values

_UNSEPARATED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSEPARATED}]|[^\W{_UNSEPARATED}]+")

SHINGLE = 3
"""Number of words in a shingle."""

SLOT = "\u25a1"
"""Stands for the value of a slot in masked words; no text has it as a word."""


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.casefold())


def number_of(run: Iterable[str]) -> int:
    """The number of a run of words."""
    text = " ".join(run).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


def run_numbers(found: Sequence[str], length: int) -> list[int]:
    """The number of each run of ``length`` words, in order; of all words if there are fewer."""
    return [
        number_of(found[start : start + length]) for start in range(max(1, len(found) - length + 1))
    ]


def shingles(found: Sequence[str]) -> frozenset[int]:
    """The numbers of the runs of three words."""
    return frozenset(run_numbers(found, SHINGLE))


def masked(found: Sequence[str], slots: object) -> list[str]:
    """The words with each value of ``slots`` (JSON at any depth) replaced by :data:`SLOT`."""
    leaves = [leaf for _, leaf in named_values(slots) if isinstance(leaf, str | int | float)]
    values = {tuple(words(str(leaf))) for leaf in leaves if not isinstance(leaf, bool)} - {()}
    text = "".join(f" {word} " for word in found)
    for value in sorted(values, key=lambda value: (-len(value), value)):
        text = text.replace("".join(f" {word} " for word in value), f" {SLOT} ")
    return text.split()


MOST_COMPARED = 400
"""The most texts that one text is compared with, those that share its rarest shingles first."""

_SKETCH = 1 << 20
_FIRST_SORTING = 64
_PLACES = 64


def is_similar(one: frozenset[int], other: Sequence[int]) -> bool:
    """True if two sets of shingles have at least the similarity 0.8; ``other`` has no repetition.

    Integers only: shared / (all - shared) >= 4/5.
    """
    shared = len(one.intersection(other))
    return 9 * shared >= 4 * (len(one) + len(other))


class NearDuplicates:
    """Texts, given as their shingles, among which a near-duplicate of another text is looked for.

    How rare a shingle is, is counted while texts come, and the index is sorted anew whenever the
    number of texts has doubled. Memory is about a kilobyte for a request of 30 words.
    """

    def __init__(self) -> None:
        self._texts: list[array[int]] = []
        self._index: dict[int, list[int]] = {}
        self._counts = array("I", bytes(4 * _SKETCH))
        self._rarity = self._counts[:]
        self._sorted_at = _FIRST_SORTING

    def __len__(self) -> int:
        return len(self._texts)

    def find(self, shingles: frozenset[int]) -> int | None:
        """The number of a text that was added and is a near-duplicate; None if there is none."""
        size, compared = len(shingles), set[int]()
        for place, shingle in enumerate(self._prefix(shingles)):
            for packed in self._index.get(shingle, ()):
                number, other_place = divmod(packed, _PLACES)
                if number in compared:
                    continue
                if len(compared) == MOST_COMPARED:
                    return None
                compared.add(number)
                other = self._texts[number]
                # Nothing before these places is shared.
                most = 1 + min(size - place, len(other) - other_place) - 1
                if 9 * most >= 4 * (size + len(other)) and is_similar(shingles, other):
                    return number
        return None

    def add(self, shingles: frozenset[int]) -> None:
        """Add a text; its number counts the texts before it."""
        for shingle in shingles:
            self._counts[shingle % _SKETCH] += 1
        self._texts.append(array("Q", sorted(shingles)))
        if len(self._texts) == self._sorted_at:
            self._sorted_at *= 2
            self._rarity = self._counts[:]
            self._index.clear()
            for number, text in enumerate(self._texts):
                self._post(number, text)
        else:
            self._post(len(self._texts) - 1, shingles)

    def _post(self, number: int, shingles: Collection[int]) -> None:
        for place, shingle in enumerate(self._prefix(shingles)):
            packed = number * _PLACES + min(place, _PLACES - 1)
            self._index.setdefault(shingle, []).append(packed)

    def _prefix(self, shingles: Collection[int]) -> list[int]:
        """The rarest shingles, one of which every near-duplicate shares."""
        rarity = self._rarity
        ordered = sorted(shingles, key=lambda shingle: (rarity[shingle % _SKETCH], shingle))
        return ordered[: len(ordered) // 5 + 1]
