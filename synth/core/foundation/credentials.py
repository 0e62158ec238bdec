"""Telling a secret when one turns up where it must not be: in a config, an override, an error
message.

Secrets are named (``model.api_key_env``), never stored. What is here errs on the side of refusing
and hiding.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from synth.errors import OperatorError

HIDDEN = "<hidden>"

ADVICE = (
    "keys are named, never stored: put the key into an environment variable "
    "and give that variable's name, as in model.api_key_env=OPENAI_API_KEY"
)

# Prefixes that OpenAI, Anthropic, Hugging Face, GitHub, Groq, xAI, Google, NVIDIA, AWS and Slack
# give their keys. A digit is asked for, and no letter before, so that risk-assessment or
# sk-learn-experiments are left alone.
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk[-_]|github_pat_|xai-|AIza|nvapi-|xox[abp]-)(?=\S*\d)[A-Za-z0-9_\-]{16,}"
    r"|(?:hf_|gh[opsu]_|gsk_|AKIA)(?=\S*\d)[A-Za-z0-9]{16,}"
    r"|(?i:bearer)\s+[A-Za-z0-9_\-.=]{16,})"
)
_KEY_LIKE = re.compile(
    r"\b(?:sk|rk|pk|gsk|xai|hf|AIza)[-_A-Za-z0-9]*[-_*][-_*A-Za-z0-9]{4,}|\bBearer\s+[^\s\"',}]+"
)
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_SHORTEST_GIVEN = 6
_SECRET_KEY = re.compile(
    r"(?:^|[._-])(?:api[_-]?key|access[_-]?key|(?:access|auth|api|hf)[_-]?token|bearer"
    r"|authorization|secret|(?:ssl)?password|passwd|passphrase|credentials?)$|(?:^|\.)token$",
    re.IGNORECASE,
)
_SECRET_VARIABLE = re.compile(
    r"(?:^|_)(?:API_?KEY|ACCESS_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$",
    re.IGNORECASE,
)
_USER_OF_URL = re.compile(r"(?<=://)[^/\s@'\"]+@")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHORTEST = 8  # a shorter value (EMPTY, none, test) is no secret, and would be found everywhere


def is_secret_key(key: str) -> bool:
    """True if a (dotted) key is the name of a secret's place: ``model.api_key``,
    ``headers.Authorization``.
    """
    return _SECRET_KEY.search(key) is not None


def is_secret_variable(name: str) -> bool:
    """True if an environment variable of that name is taken to hold a secret."""
    return _SECRET_VARIABLE.search(name) is not None


def looks_secret(text: str) -> bool:
    """True if the text holds something with the shape of a provider's key."""
    return _PREFIXED.search(text) is not None


def is_variable_name(text: str) -> bool:
    """True if the text can be the name of an environment variable, and is not rather a key
    itself.
    """
    if _VARIABLE.fullmatch(text) is None or looks_secret(text):
        return False
    digits = sum(letter.isdigit() for letter in text)
    return not (len(text) >= 20 and digits >= 3 and any(letter.islower() for letter in text))


def variable_value(option: str, name: str) -> str:
    """The value of the environment variable that an option, or a key of the config, names.

    Raises :class:`OperatorError` for one that is not set.
    """
    if not is_variable_name(name):
        raise OperatorError(
            f"{option} takes the name of an environment variable, and this is none: {ADVICE}"
        )
    value = os.environ.get(name, "").strip()
    if not value:
        raise OperatorError(f"{option}: the variable {name} is not set; export it, or name another")
    return value


def known_secrets(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The values of this process's secret-looking environment variables, each with its variable's
    name.
    """
    source = os.environ if environ is None else environ
    return {
        value: name
        for name, value in source.items()
        if is_secret_variable(name) and len(value) >= _SHORTEST
    }


def hide(text: str, secrets: Iterable[str]) -> str:
    """Replace the secrets in a text, the longest first, so that one inside another leaves no
    rest.
    """
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


class Redactor:
    """Removal of given secrets, and of anything that :func:`redact` removes, from messages.

    It also removes what may be a key, half masked ones included, as some endpoints repeat them in a
    401. Secrets of fewer than six characters are left in place.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = {
            form
            for secret in secrets
            if len(secret) >= _SHORTEST_GIVEN
            for form in (secret, quote(secret))
        }

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        return _KEY_LIKE.sub(HIDDEN, redact(hide(text, self._secrets)))

    def excerpt(self, text: str, length: int = 200) -> str:
        """Return one printable line of at most ``length`` characters, cut after the redaction."""
        line = " ".join(_UNREADABLE.sub("\ufffd", self(text)).split())
        return line if len(line) <= length else line[: length - 1] + "…"


def public_url(url: str) -> str:
    """Return the URL without user, password, query and fragment, or a placeholder for no URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(not a URL)"
    return urlunsplit(
        (parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", "")
    )


def redact(text: str) -> str:
    """Return the text without anything that is, or looks like, a secret."""
    text = hide(text, known_secrets())
    return _PREFIXED.sub(HIDDEN, _USER_OF_URL.sub(f"{HIDDEN}@", text))


def shown(key: str, value: Any) -> str:
    """A config value as a message may show it."""
    if is_secret_key(key):
        return HIDDEN
    text = redact(repr(value))
    return text if len(text) <= 80 else text[:77] + "..."
