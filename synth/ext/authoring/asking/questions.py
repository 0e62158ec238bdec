"""One question to a model, and its answer as the journal keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from synth.core.foundation.hashing import derive_seed
from synth.errors import ContextOverflow, ModelError, ModelRefusedRequest
from synth.ext.authoring.asking.budget import AskingBudget, AskingStopped
from synth.ext.authoring.asking.journal import Answer, AskingJournal, Place
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


class AskingSession:
    """The questions of a job to a model, on an event loop of their own. Close it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._runner = asyncio.Runner()

    def preflight(self) -> list[str]:
        """Check without a token spent that the model can be asked. Returns warnings."""
        return self._runner.run(self._model.preflight())

    def close(self) -> None:
        self._runner.run(self._model.aclose())
        self._runner.close()


async def ask(model: Model, messages: Sequence[Message], seed: int, what: str) -> Answer:
    """The answer of a model that is asked for ``what``, such as a family.

    Raises :class:`AskingStopped` where the endpoint does not answer, and
    :class:`ModelRefusedRequest` where it never will.
    """
    conversation = model.start(_NOBODYS, (), seed)
    try:
        return _answer(await conversation.complete(messages), what)
    except ContextOverflow as error:
        return Answer("", error.message, 0, 0, 0.0)
    except ModelRefusedRequest:
        raise
    except ModelError as error:
        if error.retryable:
            raise AskingStopped(f"the endpoint does not answer: {error.message}") from None
        return Answer("", error.message)


async def answer_to(
    place: Place,
    messages: Sequence[Message],
    what: str,
    model: Model,
    seed: int,
    budget: AskingBudget,
    journal: AskingJournal[Any],
) -> Answer:
    """The answer to the question at a place, from the journal or else, within the budget, from the
    model.

    Raises what :func:`ask` raises.
    """
    known = journal.answers.get(place)
    if known is None:
        budget.check(list(journal.answers.values()))
        known = await ask(model, messages, derive_seed(seed, *place), what)
        journal.answered(place, known)
    return known


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
