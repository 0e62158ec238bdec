"""Tokens that completions took."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one completion or of many; None where the endpoint did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None

    def __add__(self, other: Usage) -> Usage:
        def plus(left: int | None, right: int | None) -> int | None:
            return right if left is None else left if right is None else left + right

        return Usage(
            plus(self.input_tokens, other.input_tokens),
            plus(self.output_tokens, other.output_tokens),
            plus(self.cached_tokens, other.cached_tokens),
            plus(self.reasoning_tokens, other.reasoning_tokens),
        )
