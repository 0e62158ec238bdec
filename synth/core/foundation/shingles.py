"""Words of a text, and runs of them as numbers, for comparisons of whole texts.

Case and punctuation do not count. Scripts that do not separate words (Chinese, Japanese, Thai) have
a word for each character. A number is the first 64 bits of a BLAKE2b digest, so it is the same in
every process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
