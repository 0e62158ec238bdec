"""The address of a model and the manner in which it is asked."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from synth.core.types.events import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens. ``cached_input`` None: cached tokens cost the same as other
    input.
    """

    input: float
    output: float
    cached_input: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """Return dollars, or None if the endpoint did not report its token counts: unknown is not
        free.
        """
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        cached_price = self.input if self.cached_input is None else self.cached_input
        fresh = usage.input_tokens - cached
        return (
            fresh * self.input + cached * cached_price + usage.output_tokens * self.output
        ) / _MILLION


_MOST_DOUBLINGS = 30  # keeps the power finite


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff with jitter, in seconds: between half and all of ``first_s *
    2**attempt``, at most ``longest_s``.

    A wait that the endpoint asks for counts in full, plus jitter, so that workers do not come back
    all at once. A requested wait above ``longest_asked_s`` is not made here: a rollout should not
    hold its sandbox that long.
    """

    first_s: float = 0.5
    longest_s: float = 20.0
    longest_asked_s: float = 60.0

    def wait_s(self, attempt: int, asked_s: float | None) -> float | None:
        """Return the wait after failed attempt number ``attempt`` (from 0); None if it is too
        long.
        """
        if asked_s is not None and asked_s > self.longest_asked_s:
            return None
        own = min(
            self.first_s * 2 ** min(attempt, _MOST_DOUBLINGS), self.longest_s
        ) * random.uniform(0.5, 1.0)
        return own if asked_s is None else asked_s + random.uniform(0.0, min(own, self.first_s))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one OpenAI-compatible endpoint; the options of ``model=openai``.

    ``base_url`` None is OpenAI itself. ``timeout_s`` is wall clock for one attempt, from the wait
    for a connection to the last byte; ``max_retries`` counts further attempts, ``backoff`` sets
    the waits between them. ``stream`` requests every answer in pieces; otherwise only answers that
    have a listener are. ``send_seed`` adds the rollout's seed to each request, which not every
    endpoint accepts. Prices are in US dollars per million tokens. ``headers`` go into each request.
    ``max_tokens_key`` None selects ``max_completion_tokens`` for OpenAI and Azure, ``max_tokens``
    elsewhere. ``echo_reasoning`` names the key under which reasoning goes back with every
    message of the assistant (a blank where a message had none); None sends none.
    """

    name: str
    base_url: str | None = None
    timeout_s: float = 120.0
    max_retries: int = 5
    stream: bool = False
    send_seed: bool = False
    price_input_usd_per_mtok: float | None = None
    price_output_usd_per_mtok: float | None = None
    price_cached_usd_per_mtok: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    backoff: Backoff = field(default_factory=Backoff)
    max_tokens_key: str | None = None
    echo_reasoning: str | None = None
    max_response_bytes: int = 16_000_000
    max_connections: int = 1024

    @property
    def prices(self) -> Prices | None:
        """Prices, known only if input's and output's both are."""
        paid, generated = self.price_input_usd_per_mtok, self.price_output_usd_per_mtok
        if paid is None or generated is None:
            return None
        return Prices(paid, generated, self.price_cached_usd_per_mtok)
