"""The address of a model and the manner in which it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from synth.core.models.openai.backoff import Backoff
from synth.core.models.openai.prices import Prices


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
        """Prices, known only if those of input and output both are."""
        paid, generated = self.price_input_usd_per_mtok, self.price_output_usd_per_mtok
        if paid is None or generated is None:
            return None
        return Prices(paid, generated, self.price_cached_usd_per_mtok)
