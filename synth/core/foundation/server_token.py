"""The check of the token with which a client may use one of our servers."""

from __future__ import annotations

import hmac


def is_token(given: str | bytes, expected: str | bytes) -> bool:
    """Compare a given token with the server's, in a time that tells nothing of it."""
    return hmac.compare_digest(_bytes(given), _bytes(expected))


def _bytes(token: str | bytes) -> bytes:
    return token.encode("utf-8", "surrogateescape") if isinstance(token, str) else token
