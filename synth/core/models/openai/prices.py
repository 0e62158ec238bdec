"""Prices of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from synth.core.types.usage import Usage

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
