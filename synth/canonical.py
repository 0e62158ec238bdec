"""One canonical JSON and one digest for everything that is named by its content."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_sorted = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def canonical(value: Any) -> str:
    """JSON with sorted keys, no white space and no escapes beyond need; equal values give equal text.

    Raises ValueError for NaN and infinities, TypeError for what is no JSON.
    """
    return _sorted(value)


def digest(*values: Any, length: int = 16) -> str:
    """Hex digest (SHA-256, first ``length`` digits) of the canonical JSON of the values, in order."""
    text = canonical(list(values))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def derive_seed(*values: Any) -> int:
    """A seed of 63 bits that depends on the values only: fits int64 in Parquet and every random generator."""
    return int(digest(*values), 16) >> 1
