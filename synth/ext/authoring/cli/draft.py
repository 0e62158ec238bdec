"""``synth draft``: a model writes task families for a world, and what proves itself is added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict

from envs.world.loader import World
from synth.core.cli.command import Arguments, command
from synth.core.foundation.tempdirs import Scratch
from synth.core.runner.setup import database_target
from synth.core.validation.check import Options
from synth.errors import OperatorError
from synth.ext.authoring.asking.journal import AskingJournal
from synth.ext.authoring.cli.world_job import JOB, WorldJob
from synth.ext.authoring.drafting.prompt import DraftOutcome, opening, world_part
from synth.ext.authoring.drafting.session import DraftJob, DraftSession
from synth.ext.authoring.drafting.workbench import Workbench, check_insertion
from synth.task import Message

HELP = f"""synth draft

Let a model write task families for a world. Each is proved as `synth check` does; what proves
itself is added to tasks.yaml, what does not is left out with its reason.

{JOB}
  --tasks N           tasks to prove per case of a family [default: 4]
  --count N           drafts to ask for [default: 10]
  --attempts N        attempts at each draft: the checker's messages go back [default: 3]
  --rows N|0          rows of each table that the model is shown [default: 3]
  --proof-timeout SECONDS  seconds that a proof may take [default: 180]

examples:
  synth draft my_world --model gpt-4.1-mini --count 20 budget.usd=2
  synth draft library --to my_library --model my-model --base-url http://localhost:8000/v1
  synth draft my_world --model my-model --base-url http://localhost:8000/v1 --dry-run

The same command goes on where it was stopped, and pays for no answer twice: they are kept in the
world's folder `.synth`. A higher --count asks for more.
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Draft families, as :meth:`WorldJob.run` does it."""
    return _Drafts(options).run()


class _Drafts(WorldJob[DraftOutcome]):
    """A job that asks for ``--count`` drafts."""

    command = "draft"
    nouns = ("families", "drafts")
    does = "drafts families"
    end = DraftOutcome

    @property
    def kept(self) -> int:
        return sum(outcome.kept for outcome in self.outcomes)

    @property
    def causes(self) -> Counter[str]:
        return Counter(outcome.cause for outcome in self.outcomes if not outcome.kept)

    def to_json(self) -> dict[str, object]:
        return {
            "count": self.options.count,
            "made": len(self.outcomes),
            "drafts": [asdict(outcome) for outcome in self.outcomes],
        }

    def first_prompt(self, world: World) -> Sequence[Message]:
        with self._bench(world) as bench:
            job, known = self._job(world), bench.known.signatures
            return opening(job.world, job.tools, 0, bench.bodies, known, [])

    def ask(self, world: World, journal: AskingJournal[DraftOutcome]) -> None:
        with self._bench(world) as bench:
            session = DraftSession(self._job(world), self.model, bench, journal)
            with self.asking(session):
                for outcome in session.run():
                    self.outcomes.append(outcome)
                    self._show(outcome)

    def _job(self, world: World) -> DraftJob:
        options, database = self.options, self.spec.database
        engine, place = database.engine, database_target(database)
        with closing(world.template(engine, place=place)) as template:
            text = world_part(world, template, engine, options.rows)
        return DraftJob(
            text,
            [tool.name for tool in world.tools],
            options.count,
            options.attempts,
            options.seed,
            self.spec.budget,
        )

    @contextmanager
    def _bench(self, world: World) -> Generator[Workbench]:
        """The copy of the world in which drafts are proved.

        Raises OperatorError for a world to which no family can be added.
        """
        if world.databases:
            raise OperatorError(f"{world.name} has a database for each family: it takes no drafts")
        check_insertion(world.path / "tasks.yaml")
        proofs = Options(
            per_case=self.options.tasks,
            universes=2 if world.universes else 1,
            engine=self.spec.database.engine,
            place=database_target(self.spec.database),
        )
        with Scratch("draft") as scratch:
            yield Workbench(world, scratch.path, proofs, self.options.proof_timeout)

    def _show(self, outcome: DraftOutcome) -> None:
        name = outcome.family or f"draft {outcome.draft + 1}"
        tries = f"attempt {outcome.attempts}" if outcome.kept else f"{outcome.attempts} attempts"
        if outcome.kept:
            why = f" {name}: {outcome.capacity:,} tasks, {tries}"
            self.screen.parts([("kept", "green"), (why, "")])
        else:
            why = f" {name}: {outcome.cause}: {outcome.reason} ({tries})"
            self.screen.parts([("out ", "yellow"), (why, "")])

    def conclusion(self) -> Iterator[tuple[str, str]]:
        made, count = len(self.outcomes), self.options.count
        kept = f"{self.kept} of {made} drafts of {self.model.name} prove themselves"
        yield f"{self.folder}: {kept}{self.expense}", ""
        if self.ended_early is not None:
            yield f"stopped after {made} of {count} drafts: {self.ended_early}", "yellow"
        if self.stopped is None and made == count:
            yield "A higher --count, or another --seed, asks for more.", ""
