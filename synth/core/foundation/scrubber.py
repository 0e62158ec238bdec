"""Removal of the secrets that a run knows from everything that it writes."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit

from synth.core.foundation.credentials import Redactor, hide

_SHORTEST, _SHORTEST_MIXED = 8, 6
"""Characters of a secret, and of one with letters and digits. A shorter value (postgres's "test")
is a word, and would be found everywhere.
"""


class Scrubber:
    """Replaces known secrets by a placeholder: plain, as a URL and as JSON (also in JSON) write
    them, in base64 (also as a part of the encoded text) and in hexadecimal digits.

    ``secrets`` are keys and URLs of servers; of a URL also its password is one.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        known = [part for secret in secrets for part in (secret, *_passwords(secret))]
        known = [secret for secret in known if _is_no_word(secret)]
        self._forms = frozenset(form for secret in known for form in _forms(secret))
        self._bytes = tuple(form.encode("utf-8", "surrogatepass") for form in self._forms)
        self._redact = Redactor(known)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def message(self, text: str) -> str:
        """Return an error's text without the secrets and without anything that looks like one."""
        return self._redact(hide(text, self._forms))

    def text(self, text: str) -> str:
        """Return a text without the secrets."""
        return hide(text, self._forms)

    def in_bytes(self, data: bytes) -> bool:
        """Tell whether encoded data holds any of the secrets."""
        return any(form in data for form in self._bytes)

    def value(self, value: Any) -> Any:
        """Return a JSON value without the secrets, in texts and in keys."""
        if isinstance(value, str):
            return hide(value, self._forms)
        if isinstance(value, Mapping):
            entries = cast("Mapping[Any, Any]", value)
            return {self.value(key): self.value(item) for key, item in entries.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in cast("list[Any]", value)]
        return value


def _passwords(secret: str) -> list[str]:
    """The password of a URL, unless it is just the name of its user or database."""
    try:
        parts = urlsplit(secret)
        password = unquote(parts.password or "")
    except ValueError:
        return []
    names = {unquote(parts.username or ""), parts.path.strip("/"), parts.hostname}
    return [password] if password and password not in names else []


def _is_no_word(secret: str) -> bool:
    if len(secret) >= _SHORTEST:
        return True
    mixed = any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))
    return mixed and len(secret) >= _SHORTEST_MIXED


def _forms(secret: str) -> set[str]:
    forms = {secret}
    for _ in range(2):
        forms |= {
            json.dumps(form, ensure_ascii=plain)[1:-1] for form in forms for plain in (False, True)
        }
    forms |= {quote(secret), quote(secret, safe="")}
    data = secret.encode("utf-8", "surrogatepass")
    return forms | {data.hex(), data.hex().upper(), *_base64(data)}


def _base64(data: bytes) -> Iterator[str]:
    """What of its base64 is the same in any text, at each of the three places where it may begin
    in a group of bytes.
    """
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data)
        # A group that other bytes share differs: at the start, and at the end unless it is full.
        first = (before * 8 + 5) // 6
        whole = encoded[first : (before + len(data)) * 8 // 6].decode()
        yield whole
        yield whole.translate(_URL_SAFE)


_URL_SAFE = str.maketrans("+/", "-_")
