"""A job of phrasings: a model is asked about each family, and what passes all checks is kept.

Families are asked about at the same time, and judged one after another in a thread of their own.
An answer is kept in the journal before it is looked at. The same job goes on after any end: what is
in the journal is neither asked nor proved again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from envs.errors import EnvsError
from synth.core.tasks.phrasings import REQUEST, UserPhrasing
from synth.core.validation.check import Options
from synth.errors import SynthError
from synth.ext.authoring.asking.budget import AskingBudget, AskingStopped
from synth.ext.authoring.asking.journal import Answer, AskingJournal
from synth.ext.authoring.asking.questions import AskingSession, Refusal
from synth.ext.authoring.rephrasing.bench import NotRephrased, PhrasingBench
from synth.ext.authoring.rephrasing.checks import FamilyWords, repeated
from synth.ext.authoring.rephrasing.prompt import (
    JudgedAnswer,
    Rejection,
    judged_whole,
    messages_for,
    read_answer,
)
from synth.model import Model

T = TypeVar("T")


@dataclass(frozen=True)
class RephraseJob:
    """The parameters of a job: how many phrasings each family gets, how often it is asked about at
    most, and how many are asked about at once. ``options`` name the families.
    """

    folder: Path
    options: Options
    count: int
    attempts: int
    seed: int
    budget: AskingBudget
    concurrency: int = 8


@dataclass
class FamilyOutcome:
    """The phrasings of a family. ``skipped`` says why it was not asked about."""

    family: str
    of: str = ""
    questions: int = 0
    kept: list[UserPhrasing] = field(default_factory=list[UserPhrasing])
    rejected: list[Rejection] = field(default_factory=list[Rejection])
    skipped: str = ""

    @property
    def requests(self) -> list[str]:
        return [one.texts[REQUEST] for one in self.kept]

    def to_json(self) -> dict[str, object]:
        return {
            "family": self.family,
            "questions": self.questions,
            "kept": len(self.kept),
            "left_out": dict(causes_of([self]).most_common()),
            "reasons": [f"{one.cause}: {one.reason}" for one in self.rejected],
            **({"skipped": self.skipped} if self.skipped else {}),
        }


def causes_of(outcomes: Sequence[FamilyOutcome]) -> Counter[str]:
    """The number of phrasings that are not kept, by cause."""
    return Counter(one.cause for outcome in outcomes for one in outcome.rejected)


class RephraseSession(AskingSession[JudgedAnswer]):
    """Asks for the phrasings of a job. ``outcomes`` are of the finished families. Close it."""

    def __init__(
        self, job: RephraseJob, model: Model, journal: AskingJournal[JudgedAnswer]
    ) -> None:
        super().__init__(model, journal, job.seed, job.budget)
        self._job = job
        self._thread = ThreadPoolExecutor(1, "proofs")
        self._bench: PhrasingBench | None = None
        self._stopped: AskingStopped | SynthError | EnvsError | None = None
        self.outcomes: list[FamilyOutcome] = []

    def run(self, done: Callable[[FamilyOutcome], None]) -> None:
        """Ask about all families; ``done`` gets each as it is finished.

        Raises :class:`AskingStopped` where the budget is spent or the endpoint cannot be asked,
        :class:`~synth.errors.ModelRefusedRequest` where it never will answer, and the errors of
        worlds and tasks.
        """
        bench = self._thread.submit(PhrasingBench, self._job.folder, self._job.options).result()
        self._bench = bench
        names = bench.families
        try:
            self._runner.run(self._all(iter(names), done))
        finally:
            place = {name: number for number, name in enumerate(names)}
            self.outcomes.sort(key=lambda outcome: place[outcome.family])
            self._leave_out_repetitions()
        if self._stopped is not None:
            raise self._stopped

    def close(self) -> None:
        if self._bench is not None:
            self._thread.submit(self._bench.close).result()
        self._thread.shutdown()
        super().close()

    async def _all(self, names: Iterator[str], done: Callable[[FamilyOutcome], None]) -> None:
        async def work() -> None:
            for name in names:
                if self._stopped is not None:
                    return
                try:
                    outcome = await self._family(name)
                except (AskingStopped, SynthError, EnvsError) as error:
                    self._stopped = self._stopped or error
                    return
                self.outcomes.append(outcome)
                done(outcome)

        # What is in flight when the job stops is paid for, so it is waited for.
        async with asyncio.TaskGroup() as group:
            for _ in range(self._job.concurrency):
                group.create_task(work())

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def _family(self, name: str) -> FamilyOutcome:
        bench = self._bench
        assert bench is not None, "the world is read at the beginning"
        outcome = FamilyOutcome(name)
        try:
            own = await self._in_thread(partial(bench.words, name))
        except NotRephrased as error:
            outcome.skipped = str(error)
            return outcome
        outcome.of = own.of
        for number in range(self._job.attempts):
            wanted = self._job.count - len(outcome.kept)
            if wanted <= 0:
                break
            place = name, own.of, number
            messages = messages_for(own, wanted, outcome.requests, outcome.rejected)
            answer = await self.answer(place, messages)
            judged = self._journal.ends.get(place)
            if judged is None:
                judging = partial(self._judge, answer, own, wanted, outcome.requests)
                judged = await self._in_thread(judging)
                self._journal.ended(place, judged)
            outcome.questions += 1
            outcome.kept += judged.kept[:wanted]
            outcome.rejected += judged.rejected
        return outcome

    def _judge(
        self, answer: Answer, own: FamilyWords, wanted: int, kept: Sequence[str]
    ) -> JudgedAnswer:
        if answer.problem:
            return judged_whole("no answer", answer.problem, answer.text)
        try:
            found = read_answer(answer.text, wanted)
        except Refusal as error:
            return judged_whole(error.cause, error.reason, answer.text)
        assert self._bench is not None, "the world is read at the beginning"
        source = {"model": self._model.name}
        fine: list[UserPhrasing] = []
        rejected: list[Rejection] = []
        for texts, persona in found:
            phrasing = UserPhrasing(own.family, texts, persona, own.of, source)
            known = [*kept, *(one.texts[REQUEST] for one in fine)]
            try:
                self._bench.judge(phrasing, own, known)
            except Refusal as error:
                rejected.append(Rejection(error.cause, error.reason, texts.get(REQUEST, "")[:300]))
            else:
                fine.append(phrasing)
        return JudgedAnswer(tuple(fine), tuple(rejected))

    def _leave_out_repetitions(self) -> None:
        """Leave out a phrasing that nearly repeats one of a family before."""
        known: list[str] = []
        for outcome in self.outcomes:
            kept: list[UserPhrasing] = []
            for one in outcome.kept:
                if (same := repeated(one.texts[REQUEST], known)) is None:
                    kept.append(one)
                else:
                    reason = f"nearly repeats a request of another family: {same!r}"
                    outcome.rejected.append(Rejection("near-duplicate", reason, one.texts[REQUEST]))
            outcome.kept = kept
            known += outcome.requests
