"""One canonical JSON and one digest for everything that is named by its content."""

from __future__ import annotations

import hashlib
from typing import Any

from envs.json_text import canonical

__all__ = ["canonical", "derive_seed", "digest"]


def digest(*values: Any, length: int = 16) -> str:
    """Hex digest (SHA-256, first ``length`` digits) of the canonical JSON of the values, in
    order.
    """
    text = canonical(values).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:length]


def derive_seed(*values: Any) -> int:
    """A seed of 63 bits that depends on the values only: fits int64 in Parquet and every random
    generator.
    """
    return int(digest(*values), 16) >> 1
