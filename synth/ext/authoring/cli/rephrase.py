"""``synth rephrase``: a model writes other words for the users of a world's families, and those
that say the same are added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing

from envs.world.files import PHRASINGS
from envs.world.loader import World
from synth.core.cli.command import Arguments, command
from synth.core.runner.setup import database_target
from synth.core.validation.check import Options
from synth.errors import OperatorError
from synth.ext.authoring.asking.journal import AskingJournal
from synth.ext.authoring.cli.world_job import JOB, WorldJob
from synth.ext.authoring.rephrase import add_phrasings
from synth.ext.authoring.rephrasing.bench import PhrasingBench
from synth.ext.authoring.rephrasing.prompt import JudgedAnswer, messages_for
from synth.ext.authoring.rephrasing.session import (
    FamilyOutcome,
    RephraseJob,
    RephraseSession,
    causes_of,
)
from synth.task import Message

HELP = f"""synth rephrase

Let a model write other words for the users of a world's families. A phrasing is kept in
phrasings.jsonl if it has every value, gives nothing of gold away, repeats no other, and its family
proves itself with it.

{JOB}
  --tasks N           tasks to prove per case of a family [default: 1]
  --families A,B      only these, separated by commas
  --count N           phrasings of each family [default: 4]
  --attempts N        questions about each family, with what was wrong before [default: 3]
  --concurrency N     families that are asked about at once [default: 8]

examples:
  synth rephrase my_world --model gpt-4.1-mini --count 8 budget.usd=2
  synth rephrase library --to my_library --model my-model --base-url http://localhost:8000/v1
  synth rephrase my_world --families lend_book --model my-model --dry-run

The same command goes on where it was stopped, and pays for no answer twice: they are kept in the
world's folder `.synth`. A higher --count asks for more.
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Rephrase a world, as :meth:`WorldJob.run` does it."""
    return _Rephrasings(options).run()


class _Rephrasings(WorldJob[FamilyOutcome]):
    """A job that asks for phrasings. ``added`` is the number of new lines in the world's file."""

    command = "rephrase"
    nouns = ("phrasings", "phrasings")
    does = "writes phrasings"
    end = JudgedAnswer
    added = 0

    @property
    def kept(self) -> int:
        return sum(len(outcome.kept) for outcome in self.outcomes)

    @property
    def causes(self) -> Counter[str]:
        return causes_of(self.outcomes)

    def to_json(self) -> dict[str, object]:
        return {"added": self.added, "families": [outcome.to_json() for outcome in self.outcomes]}

    def first_prompt(self, world: World) -> Sequence[Message]:
        with closing(PhrasingBench(world.path, self._proofs(world))) as bench:
            own = bench.words(bench.families[0])
        return messages_for(own, self.options.count, [], [])

    def ask(self, world: World, journal: AskingJournal[JudgedAnswer]) -> None:
        options = self.options
        job = RephraseJob(
            world.path,
            self._proofs(world),
            options.count,
            options.attempts,
            options.seed,
            self.spec.budget,
            options.concurrency,
        )
        session = RephraseSession(job, self.model, journal)
        with self.asking(session):
            session.run(self._show)
        self.outcomes = session.outcomes
        self.added = add_phrasings(world.path, session.outcomes, journal.added)
        journal.has_added(one.name for outcome in session.outcomes for one in outcome.kept)

    def _proofs(self, world: World) -> Options:
        """The scope of the proofs: words do the same in all universes."""
        if world.databases:
            message = f"{world.name} has a database for each family: it takes no phrasings"
            raise OperatorError(message)
        families = tuple(self.options.families) if self.options.families else None
        engine, place = self.spec.database.engine, database_target(self.spec.database)
        return Options(families, per_case=self.options.tasks, engine=engine, place=place)

    def _show(self, outcome: FamilyOutcome) -> None:
        if outcome.skipped:
            why = f" {outcome.family}: {outcome.skipped}"
            self.screen.parts([("skipped", "yellow"), (why, "")])
            return
        out = f", {len(outcome.rejected)} left out" if outcome.rejected else ""
        style = "green" if outcome.kept else "yellow"
        self.screen.parts([(f"{len(outcome.kept)} kept", style), (f" {outcome.family}{out}", "")])
        for one in outcome.rejected:
            self.screen.line(f"     {one.cause}: {one.reason}")

    def conclusion(self) -> Iterator[tuple[str, str]]:
        asked = self.kept + self.causes.total()
        kept = f"{self.kept} of {asked} phrasings of {self.model.name} are kept{self.expense}"
        yield f"{self.folder}: {kept}", ""
        if self.added:
            yield f"{self.added} new lines in {self.folder / PHRASINGS}", ""
        if self.ended_early is not None:
            yield f"stopped: {self.ended_early}", "yellow"
