"""One question to a model, and its answer as the journal keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar, Generic

from synth.core.foundation.hashing import derive_seed
from synth.errors import ContextOverflow, ModelError, ModelRefusedRequest
from synth.ext.authoring.asking.budget import AskingBudget, AskingStopped
from synth.ext.authoring.asking.journal import Answer, AskingJournal, End, Place
from synth.model import Completion, Model, missing_answer
from synth.task import Message, Task

_NOBODYS = Task(id="", family="", env="", prompt="", gold=())
"""Task with which a model that writes for a world is started: it gets no real one."""


class Refusal(Exception):
    """The cause for which an answer is not used, in a word or two, and the reasons for the
    model.
    """

    def __init__(self, cause: str, reasons: Sequence[str]) -> None:
        super().__init__(cause, reasons)
        self.cause, self.reasons = cause, reasons

    @property
    def reason(self) -> str:
        return " ".join(self.reasons[0].split())[:300]


class AskingSession(Generic[End]):
    """The questions of a job to a model, on an event loop of their own. Close it."""

    what: ClassVar[str] = "an answer"
    """The thing that the model is asked for."""

    def __init__(
        self, model: Model, journal: AskingJournal[End], seed: int, budget: AskingBudget
    ) -> None:
        self._model, self._journal, self._seed, self._budget = model, journal, seed, budget
        self._runner = asyncio.Runner()

    def preflight(self) -> list[str]:
        """Check without a token spent that the model can be asked. Returns warnings."""
        return self._runner.run(self._model.preflight())

    def close(self) -> None:
        self._runner.run(self._model.aclose())
        self._runner.close()

    async def answer(self, place: Place, messages: Sequence[Message]) -> Answer:
        """The answer to the question at a place, from the journal or else, within the budget, from
        the model.

        Raises :class:`AskingStopped` where the endpoint does not answer, and
        :class:`ModelRefusedRequest` where it never will.
        """
        journal = self._journal
        if place not in journal.answers:
            self._budget.check(list(journal.answers.values()))
            journal.answered(place, await self._ask(messages, derive_seed(self._seed, *place)))
        return journal.answers[place]

    async def _ask(self, messages: Sequence[Message], seed: int) -> Answer:
        conversation = self._model.start(_NOBODYS, (), seed)
        try:
            return _answer(await conversation.complete(messages), self.what)
        except ContextOverflow as error:
            return Answer("", error.message, 0, 0, 0.0)
        except ModelRefusedRequest:
            raise
        except ModelError as error:
            if error.retryable:
                raise AskingStopped(f"the endpoint does not answer: {error.message}") from None
            return Answer("", error.message)


def _answer(completion: Completion, what: str) -> Answer:
    problem = missing_answer(completion) or ""
    if completion.finish_reason == "length":
        problem = f"the answer was cut off at its longest: write {what} that is shorter"
    if completion.refusal is not None or completion.finish_reason == "content_filter":
        problem = f"the model refuses: {completion.refusal or 'its content is filtered'}"
    usage = completion.usage
    return Answer(
        completion.content, problem, usage.input_tokens, usage.output_tokens, completion.cost_usd
    )
