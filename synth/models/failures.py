"""An endpoint's refusal as one of our errors: who has to act, and whether asking again can help.

The statuses are OpenAI's, the wordings those of the servers that are met in practice (OpenAI, Azure, vLLM,
llama.cpp, SGLang, TGI, Ollama, Anthropic, Gemini, Mistral, OpenRouter, Groq). A wording decides only where
the endpoint sends no code.
"""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from synth.errors import ContextOverflow, ModelAuthError, ModelError, ModelRefusedRequest
from synth.models.redact import Redactor

Json = Any

_RETRYABLE = frozenset({408, 409, 425, 429})
_NOT_IMPLEMENTED = 501
_OVERFLOW_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded"}
)
_AUTH_CODES = frozenset(
    {
        "insufficient_quota",
        "invalid_api_key",
        "billing_hard_limit_reached",
        "billing_not_active",
        "account_deactivated",
        "access_terminated",
    }
)
_OVERFLOW_WORDINGS = (
    r"maximum context length",
    r"maximum prompt length",
    r"exceeds? (?:the )?(?:available |model'?s? )?context (?:size|length|window|limit)",
    r"exceeds? the (?:model'?s |maximum )(?:context|number of tokens allowed|model length)",
    r"longer than the (?:maximum model length|model'?s context length|context length|maximum context)",
    r"greater than the context length",
    r"context (?:length|window|size) (?:was |is |has been )?exceeded",
    r"context the overflows",  # LM Studio's own spelling
    r"prompt is too long",
    r"input is too long for (?:the )?requested model",
    r"`?inputs`? tokens \+ `?max_new_tokens`? must be",
    r"reduce the length of the (?:messages|prompt|input)",
)
_OVERFLOW = re.compile("|".join(_OVERFLOW_WORDINGS), re.IGNORECASE)
_ANSWER_TOO_LONG = re.compile(
    r"max_(?:completion_)?tokens'? is too large: (\d+).*?maximum context length is (\d+)", re.IGNORECASE | re.DOTALL
)
_NO_CREDIT = re.compile(
    r"credit balance is too low|insufficient (?:credit|balance|funds|quota)|exceeded your current quota"
    r"|(?:incorrect|invalid) api[ _-]?key|api key not valid",
    re.IGNORECASE,
)
_MODERATED = re.compile(r"moderation|flagged", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """What an error body says: its message and the machine-readable words, lower case."""

    message: str
    codes: frozenset[str]


def read_error(body: bytes) -> Said:
    """The message and codes of an error body in any of the usual forms; the body's own text as a last resort."""
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Said(_plain(text), frozenset())
    if isinstance(value, list) and value:  # Gemini wraps the object in a list
        value = cast("list[Json]", value)[0]
    if not isinstance(value, dict):
        return Said(text, frozenset())
    outer = cast("dict[str, Json]", value)
    inner = outer.get("error")
    error = cast("dict[str, Json]", inner) if isinstance(inner, dict) else outer
    message = next((error[key] for key in ("message", "detail", "msg", "error") if error.get(key)), text)
    codes = frozenset(str(error[key]).lower() for key in ("code", "type", "status") if error.get(key) is not None)
    return Said(message if isinstance(message, str) else json.dumps(message, ensure_ascii=False), codes)


def _plain(text: str) -> str:
    """A proxy's HTML page reduced to its words."""
    if text.lstrip()[:1] != "<":
        return text
    return re.sub(r"<[^>]*>", " ", re.sub(r"(?is)<(script|style)\b.*?</\1>", " ", text))


def failure(url: str, status: int, headers: Mapping[str, str], body: bytes, redact: Redactor) -> ModelError:
    """The error that stands for a response other than 2xx (or for an error inside a 200, by its own code)."""
    said = read_error(body)
    words = redact.excerpt(said.message, 400)
    prefix = f"{url} answered HTTP {status}"
    message = f"{prefix}: {words}" if words else prefix
    if 300 <= status < 400:
        target = redact.excerpt(headers.get("location", "").partition("?")[0]) or "another address"
        return ModelRefusedRequest(
            f"{prefix}, a redirect to {target}; redirects are not followed, set the base URL to the final address",
            False,
            status,
        )
    if status == 403 and _MODERATED.search(said.message):
        return ModelRefusedRequest(message, False, status)
    # On a 429 only a code counts: Gemini words a limit per minute as OpenAI words an empty account.
    no_credit = status < 500 and status != 429 and _NO_CREDIT.search(said.message) is not None
    if status in (401, 402, 403) or said.codes & _AUTH_CODES or no_credit:
        return ModelAuthError(f"{message} (check the key, its rights and the account's quota)", False, status)
    if status != 429 and (said.codes & _OVERFLOW_CODES or _OVERFLOW.search(said.message)):
        return _too_long(said.message, message, status)
    if status in _RETRYABLE or (status >= 500 and status != _NOT_IMPLEMENTED):
        retryable = headers.get("x-should-retry", "").lower() != "false"
        return ModelError(message, retryable, status, retry_after(headers))
    if status == 404:
        message += " (check the base URL, which usually ends in /v1, and the model's name)"
    return ModelRefusedRequest(message, False, status)


def _too_long(said: str, message: str, status: int) -> ModelError:
    """Too long by the conversation, or by an answer that would never fit: that one is the operator's mistake."""
    asked = _ANSWER_TOO_LONG.search(said)
    if asked is not None and int(asked[1]) >= int(asked[2]):
        return ModelRefusedRequest(f"{message} (lower model.max_tokens)", False, status)
    return ContextOverflow(message, False, status)


def error_in_body(body: Mapping[str, Json]) -> int | None:
    """The status of an error that came with HTTP 200 in place of choices (502 where it names none); None without one."""
    error = body.get("error")
    if not error or body.get("choices"):
        return None
    code = cast("dict[str, Json]", error).get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 502


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the endpoint asks to wait (milliseconds, seconds or a date); None where it asks for nothing."""
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            wait = float(headers.get(name, "")) / per_second
        except ValueError:
            continue
        if math.isfinite(wait):
            return max(wait, 0.0)
    when = email.utils.parsedate_tz(headers.get("retry-after", ""))
    return None if when is None else max(email.utils.mktime_tz(when) - time.time(), 0.0)
