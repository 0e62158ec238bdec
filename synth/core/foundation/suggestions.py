"""The word that somebody probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that ``word`` is most likely a slip of, or None where nothing is close."""
    words = sorted(set(known))
    for other in words:
        if other.lower() == word.lower():
            return other
    return next(iter(difflib.get_close_matches(word, words, n=1)), None)


def nearest_key(key: str, known: Iterable[str]) -> str | None:
    """The same for dotted keys: ``temperature`` finds ``model.temperature``, ``tasks.cuont`` finds
    ``tasks.count``.
    """
    keys = sorted(set(known))
    section, _, tail = key.rpartition(".")
    beside = {
        other.rpartition(".")[2]: other
        for other in keys
        if section and other.rpartition(".")[0] == section
    }
    if close := nearest(tail, beside):
        return beside[close]
    if same_tail := [other for other in keys if other.rpartition(".")[2] == tail]:
        return max(same_tail, key=lambda other: difflib.SequenceMatcher(None, key, other).ratio())
    tails = {other.rpartition(".")[2]: other for other in keys}
    # The section is right, so a word that only shares its name does not help.
    if section in keys or beside:
        return tails.get(nearest(tail, tails) or "")
    return nearest(key, keys) or tails.get(nearest(tail, tails) or "")


def hint(near: str | None) -> str:
    """``; did you mean X?``, or nothing."""
    return f"; did you mean {near}?" if near is not None else ""
