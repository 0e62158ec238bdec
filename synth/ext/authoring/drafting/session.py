"""A job of drafts: a model is asked for families one after another, and what proves itself is kept.

An answer is kept in the journal before it is looked at. The same job goes on after any end: what
is in the journal is not asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from synth.core.foundation.hashing import derive_seed
from synth.ext.authoring.asking.budget import AskingBudget
from synth.ext.authoring.asking.journal import Answer
from synth.ext.authoring.asking.questions import Refusal, ask
from synth.ext.authoring.drafting.answer import LONGEST, read_family
from synth.ext.authoring.drafting.journal import DraftJournal, DraftOutcome
from synth.ext.authoring.drafting.prompt import feedback, opening
from synth.ext.authoring.drafting.workbench import Workbench, numbered
from synth.model import Model
from synth.task import Message


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
    budget: AskingBudget


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
        """The outcome of each draft, earlier sessions first.

        Raises :class:`AskingStopped` where the budget is spent or the endpoint cannot be asked,
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
        answer = self._runner.run(ask(self._model, messages, seed, "a family"))
        self._journal.answered(number, attempt, answer)
        return answer
