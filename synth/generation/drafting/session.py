"""A job of drafts: a model is asked for families one after another, and what proves itself is kept.

An answer is kept in the journal before it is looked at. The same job goes on after any end: what
is in the journal is not asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from synth.errors import ContextOverflow, ModelError, ModelRefusedRequest
from synth.foundation.hashing import derive_seed
from synth.generation.drafting.answer import LONGEST, Refusal, read_family
from synth.generation.drafting.journal import Answer, DraftJournal, DraftOutcome
from synth.generation.drafting.prompt import feedback, opening
from synth.generation.drafting.workbench import Workbench, numbered
from synth.models.base import Model, missing_answer
from synth.types import Completion, Message, Task

_NOBODYS = Task(id="", family="", env="", prompt="", gold=())
"""Task with which a model that writes families is started: it gets no real one."""


class DraftingStopped(Exception):
    """The job ends before all drafts are made; the message says why."""


@dataclass(frozen=True)
class DraftBudget:
    """Limits on the cost of all answers of a job; None: no limit."""

    usd: float | None = None
    tokens: int | None = None

    def check(self, answers: Sequence[Answer]) -> None:
        """Raise :class:`DraftingStopped` where nothing more may be asked."""
        if self.tokens is not None:
            spent = [answer.tokens for answer in answers]
            if None in spent:
                raise DraftingStopped(_unknown("count of tokens", "tokens"))
            if sum(count or 0 for count in spent) >= self.tokens:
                raise DraftingStopped(f"the budget of {self.tokens:,} tokens is spent")
        if self.usd is not None:
            costs = [answer.cost_usd for answer in answers]
            if None in costs:
                raise DraftingStopped(_unknown("cost", "usd"))
            if sum(cost or 0.0 for cost in costs) >= self.usd:
                raise DraftingStopped(f"the budget of ${self.usd:g} is spent")


def _unknown(what: str, key: str) -> str:
    return (
        f"an answer came without its {what}, so budget.{key} cannot be kept: go on without it, or"
        " ask another endpoint"
    )


@dataclass(frozen=True)
class DraftJob:
    """The parameters of a job of drafts. ``world`` is the text by which the model knows the world,
    ``tools`` are the names of the world's tools.
    """

    world: str
    tools: Sequence[str]
    count: int
    attempts: int
    seed: int
    budget: DraftBudget


class DraftSession:
    """Makes the drafts of a job. Close it."""

    def __init__(
        self, job: DraftJob, model: Model, bench: Workbench, journal: DraftJournal
    ) -> None:
        self._job, self._model, self._bench, self._journal = job, model, bench, journal
        self._runner = asyncio.Runner()

    def preflight(self) -> list[str]:
        """Check without a token spent that the model can be asked. Returns warnings."""
        return self._runner.run(self._model.preflight())

    def run(self) -> Iterator[DraftOutcome]:
        """The outcome of each draft, those of earlier sessions first.

        Raises :class:`DraftingStopped` where the budget is spent or the endpoint cannot be asked,
        and :class:`ModelRefusedRequest` where it never will answer.
        """
        for outcome in self._journal.outcomes.values():
            self._add(outcome)
        for number in range(self._job.count):
            outcome = self._journal.outcomes.get(number) or self._drafted(number)
            self._add(outcome)
            yield outcome

    def _add(self, outcome: DraftOutcome) -> None:
        """Add a family that was kept, unless that has been done; its author may delete it again."""
        if outcome.body is not None and outcome.draft not in self._journal.added:
            self._bench.add(outcome.body)
            self._journal.has_added(outcome.draft)

    def close(self) -> None:
        self._runner.run(self._model.aclose())
        self._runner.close()

    def _opening(self, number: int) -> list[Message]:
        ended = self._journal.outcomes.values()
        left_out = [outcome for outcome in ended if not outcome.kept]
        bench = self._bench
        known = bench.known.signatures
        return opening(self._job.world, self._job.tools, number, bench.bodies, known, left_out)

    def _drafted(self, number: int) -> DraftOutcome:
        """One draft, from the first request to the family or the last reason."""
        messages = self._opening(number)
        refusal, family = Refusal("no attempt", ("nothing was asked",)), None
        for attempt in range(1, self._job.attempts + 1):
            answer = self._answer(number, attempt, messages)
            body: dict[str, Any] | None = None
            try:
                body = self._read(answer)
                family = str(body["id"])
                noted = {**body, "source": {"model": self._model.name, "attempts": attempt}}
                found = self._bench.prove(noted)
            except Refusal as error:
                refusal = error
                shown = "" if body is None else numbered(body)
                messages = [
                    *messages,
                    {"role": "assistant", "content": answer.text[:LONGEST] or "(no text)"},
                    {"role": "user", "content": feedback(error, shown)},
                ]
                continue
            self._bench.learn(found)
            outcome = DraftOutcome(number, family, attempt, capacity=found.capacity, body=noted)
            self._journal.ended(outcome)
            return outcome
        outcome = DraftOutcome(number, family, self._job.attempts, refusal.cause, refusal.reason)
        self._journal.ended(outcome)
        return outcome

    def _read(self, answer: Answer) -> dict[str, Any]:
        if answer.problem:
            raise Refusal("no answer", (answer.problem,))
        return read_family(answer.text, self._bench.scratch, self._bench.taken)

    def _answer(self, number: int, attempt: int, messages: Sequence[Message]) -> Answer:
        """The answer to an attempt, from the journal or else from the model."""
        known = self._journal.answers.get((number, attempt))
        if known is not None:
            return known
        self._job.budget.check(list(self._journal.answers.values()))
        seed = derive_seed(self._job.seed, number, attempt)
        conversation = self._model.start(_NOBODYS, (), seed)
        try:
            answer = _read_completion(self._runner.run(conversation.complete(messages)))
        except ContextOverflow as error:
            answer = Answer("", error.message, 0, 0, 0.0)
        except ModelRefusedRequest:
            raise
        except ModelError as error:
            if error.retryable:
                raise DraftingStopped(f"the endpoint does not answer: {error.message}") from None
            answer = Answer("", error.message)
        self._journal.answered(number, attempt, answer)
        return answer


def _read_completion(completion: Completion) -> Answer:
    problem = missing_answer(completion) or ""
    if completion.finish_reason == "length":
        problem = "the answer was cut off at its longest: write a shorter family"
    if completion.refusal is not None or completion.finish_reason == "content_filter":
        problem = f"the model refuses: {completion.refusal or 'its content is filtered'}"
    usage = completion.usage
    return Answer(
        completion.content,
        problem,
        usage.input_tokens,
        usage.output_tokens,
        completion.cost_usd,
    )
