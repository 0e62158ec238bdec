"""Removal of the secrets that a run knows from everything that it writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import IO, Any, cast
from urllib.parse import quote, unquote, urlsplit

from synth.foundation.credentials import Redactor, hide

_SHORTEST = 8  # a shorter value (postgres's "test") is a word, and would be found everywhere


class Scrubber:
    """Replaces known secrets by a placeholder, in any form in which JSON or a URL writes them.

    ``secrets`` are keys and URLs of servers; of a URL also its password is one.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        known = [part for secret in secrets for part in (secret, *_passwords(secret))]
        known = [secret for secret in known if len(secret) >= _SHORTEST]
        self._forms = frozenset(form for secret in known for form in _forms(secret))
        self._bytes = tuple(form.encode("utf-8", "surrogatepass") for form in self._forms)
        self._redact = Redactor(known)

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


class ScrubbedStream:
    """A text stream that writes to another one without the secrets."""

    def __init__(self, stream: IO[str], scrubber: Scrubber) -> None:
        self._stream = stream
        self._scrubber = scrubber

    def write(self, text: str) -> int:
        self._stream.write(self._scrubber.text(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _passwords(secret: str) -> list[str]:
    """The password of a URL, unless it is just the name of its user or database."""
    try:
        parts = urlsplit(secret)
        password = unquote(parts.password or "")
    except ValueError:
        return []
    names = {unquote(parts.username or ""), parts.path.strip("/"), parts.hostname}
    return [password] if password and password not in names else []


def _forms(secret: str) -> set[str]:
    return {
        secret,
        quote(secret),
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
    }
