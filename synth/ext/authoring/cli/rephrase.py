"""``synth rephrase``: a model writes other words for the users of a world's families, and those
that say the same are added.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from contextlib import closing, nullcontext
from dataclasses import dataclass, field

from envs.world.files import PHRASINGS
from envs.world.loader import World, load_world
from synth.core.cli.command import Arguments, command
from synth.core.config.database import DatabaseConfig
from synth.core.foundation.shipped import find_world
from synth.core.foundation.standard_output import say
from synth.core.report.json_output import print_document
from synth.core.runner.setup import database_target
from synth.core.screen import Screen
from synth.core.validation.check import Options
from synth.errors import OperatorError
from synth.ext.authoring.asking.budget import Spending
from synth.ext.authoring.asking.journal import AskingJournal
from synth.ext.authoring.cli.world_job import (
    JOB,
    JobReport,
    WritingSpec,
    check_options,
    locked_state,
    own_folder,
    show_causes,
    writing_spec,
)
from synth.ext.authoring.rephrase import add_phrasings
from synth.ext.authoring.rephrasing.bench import PhrasingBench
from synth.ext.authoring.rephrasing.prompt import JudgedAnswer, messages_for
from synth.ext.authoring.rephrasing.session import (
    FamilyOutcome,
    RephraseJob,
    RephraseSession,
    causes_of,
)
from synth.model import Model

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


@dataclass
class _RephraseReport(JobReport):
    """The report of a job. ``added`` is the number of new lines in the world's file."""

    outcomes: list[FamilyOutcome] = field(default_factory=list[FamilyOutcome])
    added: int = 0

    @property
    def kept(self) -> int:
        return sum(len(outcome.kept) for outcome in self.outcomes)

    @property
    def causes(self) -> Counter[str]:
        return causes_of(self.outcomes)

    def to_json(self) -> dict[str, object]:
        return self.common_json() | {
            "kept": self.kept,
            "added": self.added,
            "left_out": dict(self.causes.most_common()),
            "families": [outcome.to_json() for outcome in self.outcomes],
        }


@command(HELP)
def main(options: Arguments) -> int:
    """Rephrase a world; 0 if a phrasing is kept, 1 if none is, 3 if the job ended early.

    Raises OperatorError, ConfigProblems, ModelError, and the errors of worlds and tasks.
    """
    check_options(options, "rephrase")
    source = find_world(options.world)
    spec = writing_spec(source, options)
    screen = Screen(sys.stderr if options.json or options.dry_run else None)
    world = load_world(source)
    if world.databases:
        raise OperatorError(f"{world.name} has a database for each family: it takes no phrasings")
    if options.dry_run:
        _dry_run(world, spec.database, options)
        return 0
    model = spec.model()
    folder = own_folder(source, options.to, "phrasings")
    report = _RephraseReport(folder, model.name)
    name = spec.journal("phrasings")
    with (
        locked_state(folder) as state,
        closing(AskingJournal(state / name, JudgedAnswer)) as journal,
    ):
        _rephrase(load_world(folder), spec, model, journal, options, report, screen)
        report.spent = Spending.of(list(journal.answers.values()))
    print_document(report.to_json(), lambda shown: _conclude(report, shown), as_json=options.json)
    return report.exit_code


def _proofs(database: DatabaseConfig, options: Arguments) -> Options:
    """The scope of the proofs: words do the same in all universes."""
    families = tuple(options.families) if options.families else None
    engine, place = database.engine, database_target(database)
    return Options(families, per_case=options.tasks, engine=engine, place=place)


def _rephrase(
    world: World,
    spec: WritingSpec,
    model: Model,
    journal: AskingJournal[JudgedAnswer],
    options: Arguments,
    report: _RephraseReport,
    screen: Screen,
) -> None:
    """Ask for the phrasings, and fill in the report, however the job ends."""
    job = RephraseJob(
        world.path,
        _proofs(spec.database, options),
        options.count,
        options.attempts,
        options.seed,
        spec.budget,
        options.concurrency,
    )
    working = nullcontext() if options.json else screen.working(f"{model.name} writes phrasings")
    with closing(RephraseSession(job, model, journal)) as session, working:
        for warning in session.preflight() if spec.preflight else ():
            screen.line(f"warning: {warning}", "yellow")
        with report.recording_end():
            session.run(lambda outcome: _show(outcome, screen))
        report.outcomes = session.outcomes
        report.added = add_phrasings(world.path, session.outcomes, journal.added)
        journal.has_added(one.name for outcome in session.outcomes for one in outcome.kept)


def _dry_run(world: World, database: DatabaseConfig, options: Arguments) -> None:
    """Print the first prompt."""
    with closing(PhrasingBench(world.path, _proofs(database, options))) as bench:
        own = bench.words(bench.families[0])
    for message in messages_for(own, options.count, [], []):
        say(f"[{message['role']}]\n{message['content']}\n")


def _show(outcome: FamilyOutcome, screen: Screen) -> None:
    if outcome.skipped:
        screen.parts([("skipped", "yellow"), (f" {outcome.family}: {outcome.skipped}", "")])
        return
    out = f", {len(outcome.rejected)} left out" if outcome.rejected else ""
    style = "green" if outcome.kept else "yellow"
    screen.parts([(f"{len(outcome.kept)} kept", style), (f" {outcome.family}{out}", "")])
    for one in outcome.rejected:
        screen.line(f"     {one.cause}: {one.reason}")


def _conclude(report: _RephraseReport, screen: Screen) -> None:
    kept = report.kept
    asked = kept + sum(report.causes.values())
    screen.line()
    show_causes(screen, report.causes, "phrasings")
    share = f" ({kept / asked:.0%})" if asked else ""
    screen.line(
        f"{report.world}: {kept} of {asked} phrasings of {report.model} are kept{share};"
        f" {report.expense}"
    )
    if report.added:
        screen.line(f"{report.added} new lines in {report.world / PHRASINGS}")
    if report.ended_early is not None:
        screen.line(f"stopped: {report.ended_early}", "yellow")
        screen.line("The same command goes on from here.")
    elif kept:
        screen.line(f"Next: {shlex.join(['synth', 'check', str(report.world)])}")
