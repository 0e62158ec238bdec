"""Which error a refusal becomes, for the wordings of many servers."""

import json
import pickle
from email.utils import formatdate
from typing import Any

import pytest

from synth.core.foundation.credentials import Redactor
from synth.core.models.openai.endpoint import Backoff, Prices
from synth.core.models.openai.failures import (
    error_in_body,
    failure,
    filtered,
    read_error,
    retry_after,
)
from synth.core.types.events import Usage
from synth.errors import ContextOverflow, ModelAuthError, ModelError, ModelRefusedRequest

SECRET = "Xy9-secret-value"


def fail(
    status: int, message: str = "", headers: dict[str, str] | None = None, /, **error: Any
) -> ModelError:
    body = json.dumps({"error": {"message": message} | error}).encode()
    return failure("http://host/v1", status, headers or {}, body, Redactor([SECRET]))


OVERFLOWS = [
    (
        "This model's maximum context length is 8192 tokens. However,"
        " your messages resulted in 9001"
        " tokens."
    ),
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    (
        "'max_tokens' is too large: 500. This model's maximum context"
        " length is 4096 tokens and your"
        " request has 4000"
    ),
    "the request exceeds the available context size, try increasing it",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens",
    "The number of tokens to keep from the initial prompt is greater than the context length",
    "Trying to keep the first 9000 tokens when context the overflows.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Please reduce the length of the messages or completion.",
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "Input is too long for requested model.",
    (
        "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a"
        " shorter"
        " input"
    ),
    (
        "You passed 9001 input tokens and requested 100 output tokens."
        " Please reduce the length of the"
        " input prompt."
    ),
    "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
    "input is too large to process. increase the physical batch size",
    "Request has too many input tokens (9 > 8)",
    "The total length of all messages is too long",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "Invalid request: Your request exceeded model token limit: 8192",
    "Prompt exceeds max length",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
    "invalid params, context window exceeds limit",
    "prompt token count of 130000 exceeds the limit of 128000",
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in"
        " 300000"
        " tokens."
    ),
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "the input length exceeds the context length",
    "prompt too long; exceeded max context length by 20 tokens",  # Ollama
    "max_tokens must be at least 1, got -80",
    "max_completion_tokens must be at least 1, got 0.",
    "Prompt has 9001 tokens, which is more than the limit 8192",
    "The prompt contains 9001 tokens, which is greater than the maximum of 8192",
    "Your request has 9001 input tokens, which is larger than the model's limit of 8192",
    "Input tokens (9000) is longer than the model's limit (8192)",
    "The sequence length is longer than the specified maximum sequence length",
    "input token count is 9000 but model only supports up to 8192",
    "Please shorten your messages: token limit exceeded",
    "This request would exceed the model's 8192 token limit",
    "Conversation exceeds the token limit",
]


@pytest.mark.parametrize("message", OVERFLOWS)
@pytest.mark.parametrize("status", [400, 422, 500])
def test_context_overflow_by_wording(message: str, status: int) -> None:
    """An outcome, never an infrastructure error, whatever status it comes with."""
    error = fail(status, message)
    assert type(error) is ContextOverflow
    assert not error.retryable


@pytest.mark.parametrize(
    "error",
    [
        {"code": "context_length_exceeded"},
        {"type": "exceed_context_size_error"},
        {"code": "tokens_limit_reached"},
    ],
)
def test_context_overflow_by_code(error: dict[str, str]) -> None:
    """The code decides, whatever the words."""
    assert type(fail(400, "no", **error)) is ContextOverflow


@pytest.mark.parametrize("status", [300, 304, 400, 404, 405, 407, 410, 415, 422, 431, 451, 501])
def test_what_the_operator_has_to_mend_is_refused(status: int) -> None:
    """Whatever a proxy's page calls it."""
    for body in (b"", b"<html>nginx</html>", b'{"detail":[{"msg":"field required"}]}'):
        error = failure("http://host/v1", status, {}, body, Redactor([]))
        assert (type(error), error.retryable) == (ModelRefusedRequest, False)


def test_a_limit_per_minute_is_told_from_a_request_that_never_fits() -> None:
    """OpenAI's 429 for one request above the limit does not heal; a bid to wait does."""
    large = fail(429, "Request too large for m: Limit 30000, Requested 40000")
    assert (type(large), large.retryable) == (ModelRefusedRequest, False)
    assert fail(503, "Too many tokens, please wait before trying again.").retryable


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens must be at least 1",
        "Invalid 'messages': array too long. Expected an array with maximum length 2048",
        "'name' is longer than 64 characters",
        "The context of the request is invalid",
        "Rate limit reached: too many requests, tokens are limited",
        "Input should be a valid dictionary",
        "max_tokens must be at least 1, got 0.5",
        "max_tokens (9000) is larger than the maximum of 4096 output tokens of this model",
        "max_tokens must be less than or equal to 8192, the maximum for this model",
        "temperature must be less than or equal to 2, got 3; more than the limit 2",
        "This request has 9000 tokens, more than the limit of 8000 tokens per minute",
        "Your request exceeds the token limit per minute, please try again in 20 s",
        "The request has 200 tools, which is more than the limit 128",
        "The prompt has 9 images, which is more than the limit 8",
    ],
)
def test_other_bad_requests_are_no_overflow(message: str) -> None:
    """Words that are near do not count."""
    assert type(fail(400, message)) is ModelRefusedRequest


def test_an_answer_that_could_never_fit_is_the_operators_mistake() -> None:
    """max_tokens above the whole window is no overflow of this conversation: it would score every
    rollout.
    """
    error = fail(
        400, "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens"
    )
    assert type(error) is ModelRefusedRequest
    assert "lower model.max_tokens" in str(error)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, {}),
        (402, {}),
        (403, {}),
        (429, {"code": "insufficient_quota"}),
        (429, {"type": "insufficient_quota"}),
        (
            403,
            {
                "message": (
                    "You exceeded your current quota, please check your plan and billing details."
                )
            },
        ),
        (
            400,
            {
                "message": "API key not valid. Please pass a valid API key.",
                "status": "INVALID_ARGUMENT",
            },
        ),
        (400, {"message": "Your credit balance is too low to access the API."}),
    ],
)
def test_keys_and_quotas_are_not_retried(status: int, error: dict[str, str]) -> None:
    """They never heal by themselves."""
    found = fail(status, **error)
    assert type(found) is ModelAuthError
    assert not found.retryable


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"code": "content_filter", "message": "The response was filtered"}),
        (400, {"message": "the prompt triggering Azure OpenAI's content management policy"}),
        (
            400,
            {
                "message": (
                    "Invalid prompt: your prompt was flagged as potentially violating our"
                    " usage policy"
                )
            },
        ),
        (400, {"code": "data_inspection_failed"}),
        (403, {"message": "Your chosen model requires moderation and your input was flagged"}),
    ],
)
def test_a_filtered_prompt_is_told_from_a_bad_request(status: int, error: dict[str, str]) -> None:
    """Azure, OpenAI, DashScope, OpenRouter: it concerns this conversation only."""
    assert filtered(status, read_error(json.dumps({"error": error}).encode()))


@pytest.mark.parametrize(
    ("status", "message"),
    [(400, "Unsupported parameter"), (403, "no access"), (500, "content filter")],
)
def test_other_refusals_are_no_filter(status: int, message: str) -> None:
    """A broken filter is an outage, a missing right the key's."""
    assert not filtered(status, read_error(json.dumps({"error": {"message": message}}).encode()))


def test_a_quota_per_minute_heals() -> None:
    """Gemini says of it what OpenAI says of an empty account; without OpenAI's code it is a rate
    limit.
    """
    error = fail(
        429,
        "You exceeded your current quota, please check your plan",
        code=429,
        status="RESOURCE_EXHAUSTED",
    )
    assert error.retryable


def test_a_moderated_prompt_is_no_broken_key() -> None:
    """OpenRouter's 403 concerns one prompt, not the run."""
    assert (
        type(fail(403, "Your chosen model requires moderation and your input was flagged"))
        is ModelRefusedRequest
    )


@pytest.mark.parametrize(
    "status", [408, 409, 424, 425, 429, 498, 499, 500, 502, 503, 504, 507, 520, 529, 599, 999]
)
def test_what_can_heal_is_retryable(status: int) -> None:
    """Busy, broken and restarting endpoints."""
    error = fail(status, "later", {"retry-after": "7"})
    assert type(error) is ModelError
    assert (error.retryable, error.status, error.retry_after_s) == (True, status, 7.0)


def test_an_endpoint_may_say_that_retrying_is_no_use() -> None:
    """`x-should-retry` is OpenAI's own header for it."""
    assert not fail(500, "no", {"x-should-retry": "false"}).retryable
    assert not fail(501, "not implemented").retryable


def test_redirects_are_named_and_not_followed() -> None:
    """Without the query, which may hold a token."""
    error = fail(307, "", {"location": "https://elsewhere/v1?token=abc"})
    assert type(error) is ModelRefusedRequest
    assert "https://elsewhere/v1;" in str(error)
    assert "token" not in str(error)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "m"}}', "m"),
        (b'{"error": "m"}', "m"),
        (b'{"object": "error", "message": "m", "code": 400}', "m"),
        (b'{"detail": "m"}', "m"),
        (b'{"detail": [{"msg": "m"}]}', '[{"msg": "m"}]'),
        (b'[{"error": {"message": "m"}}]', "m"),
        (b"plain", "plain"),
        (b'"m"', '"m"'),
        (b"", ""),
        (b"<html><style>p {}</style><p>502 Bad Gateway</p></html>", "502 Bad Gateway"),
        (b"\xff", "\ufffd"),
    ],
)
def test_every_form_of_error_body_gives_its_message(body: bytes, message: str) -> None:
    """OpenAI, vLLM, FastAPI, Gemini, proxies."""
    assert read_error(body).message.strip() == message


def test_no_key_in_an_error() -> None:
    """Neither ours, nor one that the endpoint repeats half masked, nor one cut in two by the
    excerpt.
    """
    half = "sk-proj-********************abcd"
    error = fail(401, f"Incorrect key {SECRET}, {half}, Bearer abcdef " + "x" * 300 + SECRET)
    assert SECRET not in str(error)
    assert "abcd" not in str(error)
    long = fail(400, "y" * 392 + SECRET)
    assert SECRET[:5] not in str(long)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan", "retry-after-ms": "nan"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
        ({"retry-after": "Mon, 99 Foo 2026"}, None),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 1.0),
        ({"x-ratelimit-reset-tokens": "1h1m1.5s", "x-ratelimit-remaining-tokens": "0"}, 3661.5),
        (
            {
                "x-ratelimit-reset-requests": "2s",
                "x-ratelimit-remaining-requests": "100",
                "x-ratelimit-reset-tokens": "30s",
                "x-ratelimit-remaining-tokens": "0",
            },
            30.0,
        ),
        ({"x-ratelimit-reset-requests": "120ms"}, 0.12),
        ({"x-ratelimit-reset": "17"}, 17.0),
        ({"x-ratelimit-reset": "1700000000"}, 0.0),
        ({"x-ratelimit-reset": "1700000000000"}, 0.0),
        ({"x-ratelimit-reset": "soon"}, None),
        ({"x-ratelimit-reset": "-inf"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    """Milliseconds, seconds, a date; nonsense counts as nothing."""
    assert retry_after(headers) == seconds


def test_the_wait_doubles_to_its_limit_and_honours_what_was_asked() -> None:
    """A wait that is too long to hold a sandbox for is not waited."""
    backoff = Backoff(first_s=1.0, longest_s=8.0, longest_asked_s=30.0)
    for attempt, most in ((0, 1.0), (1, 2.0), (3, 8.0), (1000, 8.0)):
        wait = backoff.wait_s(attempt, None)
        assert wait is not None
        assert most / 2 <= wait <= most
    asked = backoff.wait_s(0, 30.0)
    assert asked is not None
    assert 30.0 <= asked <= 31.0
    assert backoff.wait_s(0, 30.1) is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"message": "x", "code": 429}}, 429),
        ({"error": {"message": "x", "code": "oops"}}, 502),
        ({"error": "x"}, 502),
        ({"error": {"code": "429"}}, 429),
        ({"error": {"code": "x", "status": 404}}, 404),
        ({"error": {"code": True}}, 502),
        ({"object": "error", "code": 400}, 400),
        ({"choices": [{}], "error": None}, None),
        ({"choices": [{}], "error": "also"}, None),
    ],
)
def test_an_error_inside_a_200(body: dict[str, Any], status: int | None) -> None:
    """OpenRouter reports a provider's failure so."""
    assert error_in_body(body) == status


def test_cost_is_dollars_or_unknown() -> None:
    """Never 0 for want of numbers; cached tokens at their own price where there is one."""
    usage = Usage(1_000_000, 500_000, 400_000, None)
    assert Prices(2.0, 8.0).cost(usage) == pytest.approx(6.0)
    assert Prices(2.0, 8.0, 0.5).cost(usage) == pytest.approx(5.4)
    assert Prices(2.0, 8.0).cost(Usage(output_tokens=3)) is None
    assert Prices(2.0, 8.0).cost(Usage()) is None


@pytest.mark.parametrize("status", [400, 401, 429, 307])
def test_errors_survive_pickling(status: int) -> None:
    """Ray moves them between processes."""
    error = fail(status, "m", {"retry-after": "1"})
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), back.args, str(back)) == (type(error), error.args, str(error))
