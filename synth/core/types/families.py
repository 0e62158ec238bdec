"""Names of families in rows: a composed task has its parts' families."""

from __future__ import annotations

JOIN = "+"
"""Stands between the families in a composed task's ``family``."""


def folded(family: str) -> str:
    """The family, or for a composed task its number of requests, such as ``2 requests``."""
    parts = family.count(JOIN) + 1
    return family if parts == 1 else f"{parts} requests"
