"""Classification of an endpoint's refusal: the error type names the party that has to act and the
use of a retry.

The statuses are OpenAI's, the wordings come from common servers (OpenAI, Azure, vLLM, llama.cpp,
SGLang, TGI, Ollama, Anthropic, Gemini, Mistral, OpenRouter, Groq). A wording decides only if the
endpoint sends no code.
"""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from synth.core.foundation.credentials import Redactor
from synth.core.models.openai.dialects import advice
from synth.errors import ContextOverflow, ModelAuthError, ModelError, ModelRefusedRequest

_RETRYABLE = frozenset({408, 409, 424, 425, 429, 498, 499})
"""Time-outs, conflicts, too early, too many; Bedrock's failed model (424), Groq's full flex tier
(498), nginx's 499.
"""

_NOT_IMPLEMENTED = 501
_OVERFLOW_CODES = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "exceed_context_size_error",
        "model_max_prompt_tokens_exceeded",
        "tokens_limit_reached",  # GitHub Models, with 413
    }
)
_AUTH_CODES = frozenset(
    {
        "insufficient_quota",
        "insufficient_credits",
        "insufficient_balance",
        "exceeded_current_quota_error",  # Moonshot
        "invalid_api_key",
        "incorrect_api_key_error",  # Moonshot
        "billing_hard_limit_reached",
        "billing_not_active",
        "account_deactivated",
        "access_terminated",
    }
)
_NO_RATE = r"(?!.{0,80}(?:per (?:minute|day|second|hour)|\btpm\b|try again|wait))"
_OVERFLOW_WORDINGS = (
    r"maximum context length",
    r"maximum prompt length",
    r"exceeds? (?:the )?(?:available |model'?s? )?context (?:size|length|window|limit)",
    r"exceeds? the (?:model'?s |maximum )(?:context|number of tokens allowed|model length)",
    (
        r"longer than the (?:maximum model length|model'?s context length|context length|maximum"
        r" context)"
    ),
    r"greater than the context length",
    r"context (?:length|window|size) (?:was |is |has been )?exceeded",
    r"context the overflows",  # LM Studio's own spelling
    r"prompt is too long",
    r"`?inputs`? tokens \+ `?max_new_tokens`? must be",
    r"reduce the length of the (?:messages|prompt|input)",
    r"input length \(\d+ tokens?\) exceeds the maximum allowed length",  # SGLang
    r"`?inputs`? must have less than \d+ tokens",  # TGI
    r"input is too large to process",  # llama.cpp
    # Cohere, Bedrock; one that bids to wait is a limit per minute
    r"too many (?:input )?tokens\b(?!.{0,80}(?:wait|try again|per (?:minute|day|second)))",
    r"(?:input|prompt|request|conversation) (?:is|was) too long",
    r"total length of (?:all )?(?:the )?messages is too long",
    r"total number of tokens in the prompt cannot exceed",
    r"exceeded model token limit",  # Moonshot
    r"prompt exceeds max length",  # Zhipu
    r"range of input length should be",  # DashScope
    r"context window exceeds limit",  # MiniMax
    # Copilot, OpenAI
    r"(?:prompt|input) tokens? (?:count of \d+ exceeds the|exceed the configured) limit",
    r"prompt length \(\d+\).{0,40}exceed",  # TensorRT-LLM
    r"input (?:token count|length).{0,40}exceeds? the (?:maximum|model)",
    r"exceed(?:s|ed)? (?:the )?(?:model'?s )?max(?:imum)? (?:sequence|model|context) len(?:gth)?",
    r"(?:prompt|input|conversation|messages?|context) too long",
    # vLLM, of the room that the prompt leaves
    r"max_(?:completion_)?tokens must be at least 1, got (?:-[1-9]|0\b(?!\.\d))",
    # A number of tokens, a comparison, and a limit of the model, not of a minute
    (
        r"(?:prompt|input|messages?|request|conversation)\b[^.]{0,30}\b\d+\)? ?(?:input |prompt )?"
        r"tokens?\b[^.]{0,30}(?:more|longer|greater|larger|higher) than (?:the )?"
        rf"(?:model'?s? )?(?:maximum|limit|context|\d){_NO_RATE}"
    ),
    rf"(?:prompt|input) tokens? \(\d+\)[^.]{{0,30}}(?:more|longer|greater|larger) than{_NO_RATE}",
    r"(?:prompt|input) (?:token )?(?:count|length) is \d+ but[^.]{0,40}(?:up to|at most|only) \d+",
    r"(?:prompt|input|sequence) length is longer than",
    (
        r"(?:prompt|input|messages?|request|conversation)\b[^.]{0,40}exceeds? the "
        rf"(?:model'?s )?(?:\d+ )?token limit\b{_NO_RATE}"
    ),
    rf"(?:request|prompt) would exceed the model'?s (?:\d+ )?token limit{_NO_RATE}",
    r"shorten your (?:messages|prompt|input)\b",
)
_OVERFLOW = re.compile("|".join(_OVERFLOW_WORDINGS), re.IGNORECASE)
_ANSWER_TOO_LONG = re.compile(
    r"max_(?:completion_)?tokens'? is too large: (\d+).*?maximum context length is (\d+)",
    re.IGNORECASE | re.DOTALL,
)
_NO_CREDIT = re.compile(
    r"credit balance is too low|insufficient (?:credit|balance|funds|quota)|exceeded your current"
    r" quota"
    r"|(?:incorrect|invalid) api[ _-]?key|api key not valid",
    re.IGNORECASE,
)
_MOST_WORDS = 4_000
_MOST_OF_A_PAGE = 100_000
_MODERATED = re.compile(r"moderation|flagged", re.IGNORECASE)
_FILTERED_CODES = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "responsibleaipolicyviolation",
        "data_inspection_failed",
        "1301",
    }
)
"""OpenAI, Azure, DashScope, Zhipu."""
_FILTERED = re.compile(
    r"content management policy|content[ _-]?filter|content policy|usage policy|potentially"
    r" sensitive|content exists risk",
    re.IGNORECASE,
)
_STATUS = re.compile(r"[45][0-9]{2}")
_NEVER_FITS = re.compile(r"request too large", re.IGNORECASE)
_WAITS = (("retry-after-ms", 1000.0), ("retry-after", 1.0))
_LIMITS = ("requests", "tokens")
_SPAN = re.compile(
    r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?"
)
_EPOCH = 1e9  # seconds: a larger number is a moment, no span


@dataclass(frozen=True, slots=True)
class _BodyError:
    """Contents of an error body: its message and its machine-readable codes, in lower case."""

    message: str
    codes: frozenset[str]


def read_error(body: bytes) -> _BodyError:
    """Return message and codes of an error body in any of the usual forms; the body's own text as a
    last resort.
    """
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _BodyError(_plain(text[:_MOST_OF_A_PAGE])[:_MOST_WORDS], frozenset())
    if isinstance(value, list) and value:  # Gemini wraps the object in a list
        value = cast("list[object]", value)[0]
    if not isinstance(value, dict):
        return _BodyError(text[:_MOST_WORDS], frozenset())
    outer = cast("dict[str, object]", value)
    inner = outer.get("error")
    error = cast("dict[str, object]", inner) if isinstance(inner, dict) else outer
    message = next(
        (error[key] for key in ("message", "detail", "msg", "error") if error.get(key)), text
    )
    codes = frozenset(
        str(error[key]).lower() for key in ("code", "type", "status") if error.get(key) is not None
    )
    words = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
    return _BodyError(words[:_MOST_WORDS], codes)


def _plain(text: str) -> str:
    """Reduce a proxy's HTML page to its words."""
    if text.lstrip()[:1] != "<":
        return text
    return re.sub(r"<[^>]*>", " ", re.sub(r"(?is)<(script|style)\b.*?</\1>", " ", text))


def failure(
    url: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    redact: Redactor,
    echoed: str | None = None,
    way: str = "",
) -> ModelError:
    """Return the error for a response other than 2xx (or for an error inside a 200, by its own
    code). ``echoed`` is the key under which reasoning was sent back, ``way`` a remark on a proxy.
    """
    body_error = read_error(body)
    words = redact.excerpt(body_error.message, 400)
    prefix = f"{url}{way} answered HTTP {status}"
    message = f"{prefix}: {words}" if words else prefix
    if 300 <= status < 400:
        target = redact.excerpt(headers.get("location", "").partition("?")[0]) or "another address"
        return ModelRefusedRequest(
            f"{prefix}, a redirect to {target}; redirects are not followed, set the base URL to"
            " the final address",
            False,
            status,
        )
    if filtered(status, body_error):
        return ModelRefusedRequest(message, False, status)
    if _rejects_key(status, body_error):
        return ModelAuthError(
            f"{message} (the variable that model.api_key_env names must hold a key with rights"
            " and credit)",
            False,
            status,
        )
    if status == 429:
        never_fits = _NEVER_FITS.search(body_error.message) is not None
        return (
            # OpenAI's limit per minute is smaller than this one request: waiting does not heal it.
            ModelRefusedRequest(message, False, status)
            if never_fits
            else _passing(message, status, headers)
        )
    if body_error.codes & _OVERFLOW_CODES or _OVERFLOW.search(body_error.message):
        return _too_long(body_error.message, message, status)
    if status in _RETRYABLE or (status >= 500 and status != _NOT_IMPLEMENTED):
        return _passing(message, status, headers)
    if status == 413:  # whatever a proxy's page calls it
        return ContextOverflow(message, False, status)
    base = re.sub(r"/(?:models|chat/completions|messages|responses)$", "", url)
    mends = advice(status, body_error.message, base, echoed)
    return ModelRefusedRequest(f"{message} ({mends})" if mends else message, False, status)


def _rejects_key(status: int, body_error: _BodyError) -> bool:
    # On a 429 only a code counts: Gemini words a limit per minute as OpenAI words an empty account.
    no_credit = status < 500 and status != 429 and _NO_CREDIT.search(body_error.message) is not None
    return status in (401, 402, 403) or bool(body_error.codes & _AUTH_CODES) or no_credit


def _passing(message: str, status: int, headers: Mapping[str, str]) -> ModelError:
    """Return the error of a failure that another attempt may heal, unless the endpoint denies
    it.
    """
    retryable = headers.get("x-should-retry", "").lower() != "false"
    return ModelError(message, retryable, status, retry_after(headers) if retryable else None)


def filtered(status: int, body_error: _BodyError) -> bool:
    """Tell whether a refusal concerns the prompt's content: an outcome of this rollout, not a fault
    of request or key.
    """
    if status not in (400, 403, 422, 451):
        return False
    if body_error.codes & _FILTERED_CODES:
        return True
    return (_MODERATED if status == 403 else _FILTERED).search(body_error.message) is not None


def _too_long(text: str, message: str, status: int) -> ModelError:
    """Return the error of a conversation that is too long, or of a ``max_tokens`` that never fits,
    which the operator has to lower.
    """
    asked = _ANSWER_TOO_LONG.search(text)
    if asked is not None and int(asked[1]) >= int(asked[2]):
        return ModelRefusedRequest(f"{message} (lower model.max_tokens)", False, status)
    return ContextOverflow(message, False, status)


def error_in_body(body: Mapping[str, object]) -> int | None:
    """Return the status of an error sent with HTTP 200 in place of choices (502 if it names none);
    None without an error.
    """
    error = body if body.get("object") == "error" else body.get("error")
    if not error or body.get("choices"):
        return None
    fields = cast("dict[str, object]", error) if isinstance(error, Mapping) else {}
    for code in (fields.get("code"), fields.get("status")):
        status = int(code) if isinstance(code, str) and _STATUS.fullmatch(code) else code
        if type(status) is int and 400 <= status < 600:
            return status
    return 502


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the endpoint asks to wait, from milliseconds, seconds, a date, or a
    limit's reset; None if it does not.
    """
    for name, per_second in _WAITS:
        try:
            wait = float(headers.get(name, "")) / per_second
        except ValueError:
            continue
        if math.isfinite(wait):
            return max(wait, 0.0)
    when = _date(headers.get("retry-after", ""))
    if when is not None:
        return max(when - time.time(), 0.0)
    return _reset(headers)


def _date(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until all exhausted limits are reset (``x-ratelimit-reset-tokens: 6m0s``);
    without an exhausted one, until the first reset.
    """
    resets = {kind: _span(headers.get(f"x-ratelimit-reset-{kind}", "")) for kind in _LIMITS}
    known = {kind: wait for kind, wait in resets.items() if wait is not None}
    used_up = [
        wait for kind, wait in known.items() if headers.get(f"x-ratelimit-remaining-{kind}") == "0"
    ]
    if known:
        return max(used_up) if used_up else min(known.values())
    return _span(headers.get("x-ratelimit-reset", ""))


def _span(text: str) -> float | None:
    """Return the seconds of ``1h6m0s``, ``120ms``, ``1.5``, or until a time given in seconds or
    milliseconds since 1970.
    """
    try:
        seconds = float(text)
    except ValueError:
        parts = _SPAN.fullmatch(text.strip()) if text.strip() else None
        if parts is None:
            return None
        days, hours, minutes, whole, milli = (float(part or 0) for part in parts.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + whole + milli / 1000
    if not math.isfinite(seconds):
        return None
    if seconds > _EPOCH:
        seconds = (seconds / 1000 if seconds > _EPOCH * 1000 else seconds) - time.time()
    return max(seconds, 0.0)
