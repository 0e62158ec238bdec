"""Advice on what an endpoint refuses at the first call."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from synth.core.runner.worker_messages import Delivery

SKIP = "preflight=false skips this call"

ADVICE = (
    (
        r"tool[ _-]?choice|tool[ _-]call[ _-]?parser|enable-auto-tool",
        (
            "The server takes no tool calls: start vLLM with --enable-auto-tool-choice and"
            " --tool-call-parser NAME, SGLang with --tool-call-parser NAME, llama.cpp with --jinja"
        ),
    ),
    (
        r"does(?: not|n't) support tool|tools? (?:is|are) not supported|tool use",
        (
            "This model takes no tools: choose another one, or agent.text_calls=parse with a server"
            " that ignores them"
        ),
    ),
    (
        r"model.{0,80}(?:not found|does not exist|not exist)|no such model|unknown model",
        "model.name must be a name that the endpoint serves: GET {base}/models lists them",
    ),
    (
        r"^(?:(?!max_completion_tokens).)*\bmax_tokens\b.*max_completion_tokens",
        "model.options.max_tokens_key=max_completion_tokens sends model.max_tokens by that name",
    ),
    (
        r"max_completion_tokens.{0,60}(?:unsupported|not supported|extra|permitted)",
        "model.options.max_tokens_key=max_tokens sends model.max_tokens by that name",
    ),
    (
        r"unsupported|unrecognized|unknown (?:parameter|field)|extra inputs|not permitted",
        (
            "Leave the parameter out: model.temperature, model.top_p, model.max_tokens,"
            " model.send_seed and model.extra_body are what a run adds to a request"
        ),
    ),
)
"""Patterns in an endpoint's words, and what to do."""


def refused(answer: Delivery, base_url: str | None) -> str:
    """The operator's message: the endpoint's own words, and what to do about them."""
    lines = [f"the endpoint refuses the first call: {answer.message}"]
    if advice := _advice(answer, base_url):
        lines.append(advice)
    return "\n".join([*lines, f"No rollout was begun. ({SKIP})"])


def _advice(answer: Delivery, base_url: str | None) -> str:
    if answer.error_type == "ContextOverflow":
        return (
            "The first prompt with its tools is longer than the model's context: serve it with"
            " more (vLLM: --max-model-len), or choose another model or a world with fewer tools."
        )
    if answer.error_type == "ModelAuthError":
        return "The variable that model.api_key_env names must hold a key with rights and credit."
    words = answer.message
    if "HTTP 404" in words and base_url and not _ends_in_version(base_url):
        return (
            f"The address has no version at its end; try model.base_url={base_url.rstrip('/')}/v1"
        )
    base = base_url or "https://api.openai.com/v1"
    for pattern, advice in ADVICE:
        if re.search(pattern, words, re.IGNORECASE):
            return advice.replace("{base}", base.rstrip("/"))
    return ""


def _ends_in_version(url: str) -> bool:
    return re.search(r"/v\d+\w*/?$", urlsplit(url).path) is not None
