"""The budget of the answers that a job pays for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from synth.ext.authoring.asking.journal import Answer


class AskingStopped(Exception):
    """The job ends before everything is asked; the message says why."""


@dataclass(frozen=True)
class Spending:
    """The sums over some answers; a cost that is not known of each is None."""

    input_tokens: int
    output_tokens: int
    cost_usd: float | None

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> Spending:
        costs = [answer.cost_usd for answer in answers if answer.cost_usd is not None]
        return cls(
            sum(answer.input_tokens or 0 for answer in answers),
            sum(answer.output_tokens or 0 for answer in answers),
            sum(costs) if len(costs) == len(answers) else None,
        )


@dataclass(frozen=True)
class AskingBudget:
    """Limits on the cost of all answers of a job; None: no limit."""

    usd: float | None = None
    tokens: int | None = None

    def check(self, answers: Sequence[Answer]) -> None:
        """Raise :class:`AskingStopped` where nothing more may be asked."""
        if self.tokens is not None:
            spent = [answer.tokens for answer in answers]
            if None in spent:
                raise AskingStopped(_unknown("count of tokens", "tokens"))
            if sum(count or 0 for count in spent) >= self.tokens:
                raise AskingStopped(f"the budget of {self.tokens:,} tokens is spent")
        if self.usd is not None:
            costs = [answer.cost_usd for answer in answers]
            if None in costs:
                raise AskingStopped(_unknown("cost", "usd"))
            if sum(cost or 0.0 for cost in costs) >= self.usd:
                raise AskingStopped(f"the budget of ${self.usd:g} is spent")


def _unknown(what: str, key: str) -> str:
    return (
        f"an answer came without its {what}, so budget.{key} cannot be kept: go on without it, or"
        " ask another endpoint"
    )
