"""Keeps keys out of everything that a person or a dataset gets to read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit, urlunsplit

_SHORTEST_SECRET = 6
_MASK = "***"
_KEY_LIKE = re.compile(r"\b(?:sk|rk|pk|gsk|xai|hf|AIza)[-_A-Za-z0-9]*[-_*][-_*A-Za-z0-9]{4,}|\bBearer\s+[^\s\"',}]+")
"""Keys as vendors write them, also half masked, as some endpoints repeat them in a 401."""


_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")


class Redactor:
    """Removes known secrets, and what looks like a key, from text."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {form for secret in secrets if len(secret) >= _SHORTEST_SECRET for form in (secret, quote(secret))}
        # Longest first, so that a secret that holds another one disappears as a whole.
        self._secrets = sorted(known, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return _KEY_LIKE.sub(_MASK, text)

    def excerpt(self, text: str, length: int = 200) -> str:
        """One line of at most ``length`` characters that any file can hold, cut only after the secrets are gone."""
        line = " ".join(_UNREADABLE.sub("\ufffd", self(text)).split())
        return line if len(line) <= length else line[: length - 1] + "…"


def public_url(url: str) -> str:
    """The URL without user, password, query and fragment; a placeholder for what is no URL at all."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(not a URL)"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
