"""The names that somebody probably meant by a name that is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, candidates: Iterable[str]) -> list[str]:
    """Up to three names, the most similar first; one that contains the other counts as similar."""
    wanted = name.lower()

    def score(candidate: str) -> float:
        other = candidate.lower()
        ratio = difflib.SequenceMatcher(None, wanted, other).ratio()
        contained = (
            wanted in other.split("_") or wanted in other or (len(other) > 2 and other in wanted)
        )
        return max(ratio, 0.7 + ratio / 10) if contained else ratio

    scored = sorted((-score(item), item) for item in candidates)
    return [item for value, item in scored[:3] if value <= -0.6]
