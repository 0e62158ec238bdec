"""``synth draft``: a model writes task families for a world, and what proves itself is added."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field

from envs.world.loader import World, load_world
from synth.core.cli.command import Arguments, command
from synth.core.config.database import DatabaseConfig
from synth.core.foundation.shipped import find_world
from synth.core.foundation.standard_output import say
from synth.core.foundation.tempdirs import Scratch
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
from synth.ext.authoring.drafting.prompt import DraftOutcome, opening, world_part
from synth.ext.authoring.drafting.session import DraftJob, DraftSession
from synth.ext.authoring.drafting.workbench import Workbench, check_insertion
from synth.model import Model

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


@dataclass
class _DraftReport(JobReport):
    """The report of a job that asked for ``count`` drafts."""

    count: int
    outcomes: list[DraftOutcome] = field(default_factory=list[DraftOutcome])

    @property
    def kept(self) -> int:
        return sum(outcome.kept for outcome in self.outcomes)

    @property
    def causes(self) -> Counter[str]:
        return Counter(outcome.cause for outcome in self.outcomes if not outcome.kept)

    def to_json(self) -> dict[str, object]:
        return self.common_json() | {
            "count": self.count,
            "made": len(self.outcomes),
            "kept": self.kept,
            "left_out": dict(self.causes.most_common()),
            "drafts": [asdict(outcome) for outcome in self.outcomes],
        }


@command(HELP)
def main(options: Arguments) -> int:
    """Draft families; 0 if one was added, 1 if none was, 3 if the job ended early.

    Raises OperatorError, ConfigProblems, ModelError, and the errors of worlds and tasks.
    """
    check_options(options, "draft")
    source = find_world(options.world)
    spec = writing_spec(source, options)
    screen = Screen(sys.stderr if options.json or options.dry_run else None)
    if options.dry_run:
        _dry_run(load_world(source), spec.database, options)
        return 0
    model = spec.model()
    folder = own_folder(source, options.to, "families")
    report = _DraftReport(folder, model.name, options.count)
    name = spec.journal("drafts")
    with (
        locked_state(folder) as state,
        closing(AskingJournal(state / name, DraftOutcome)) as journal,
    ):
        _draft(load_world(folder), spec, model, journal, options, report, screen)
        report.spent = Spending.of(list(journal.answers.values()))
    print_document(report.to_json(), lambda shown: _conclude(report, shown), as_json=options.json)
    return report.exit_code


def _draft(
    world: World,
    spec: WritingSpec,
    model: Model,
    journal: AskingJournal[DraftOutcome],
    options: Arguments,
    report: _DraftReport,
    screen: Screen,
) -> None:
    """Make the drafts, and fill in the report, however the job ends."""
    working = nullcontext() if options.json else screen.working(f"{model.name} drafts families")
    with _bench(world, spec.database, options) as bench:
        job = DraftJob(
            _world_text(world, spec.database, options.rows),
            [tool.name for tool in world.tools],
            options.count,
            options.attempts,
            options.seed,
            spec.budget,
        )
        with closing(DraftSession(job, model, bench, journal)) as session, working:
            for warning in session.preflight() if spec.preflight else ():
                screen.line(f"warning: {warning}", "yellow")
            with report.recording_end():
                for outcome in session.run():
                    report.outcomes.append(outcome)
                    _show(outcome, screen)


@contextmanager
def _bench(world: World, database: DatabaseConfig, options: Arguments) -> Generator[Workbench]:
    """The copy of the world in which drafts are proved.

    Raises OperatorError for a world to which no family can be added.
    """
    if world.databases:
        raise OperatorError(f"{world.name} has a database for each family: it takes no drafts")
    check_insertion(world.path / "tasks.yaml")
    proofs = Options(
        per_case=options.tasks,
        universes=2 if world.universes else 1,
        engine=database.engine,
        place=database_target(database),
    )
    with Scratch("draft") as scratch:
        yield Workbench(world, scratch.path, proofs, options.proof_timeout)


def _world_text(world: World, database: DatabaseConfig, rows: int) -> str:
    engine = database.engine
    with closing(world.template(engine, place=database_target(database))) as template:
        return world_part(world, template, engine, rows)


def _dry_run(world: World, database: DatabaseConfig, options: Arguments) -> None:
    """Print the first prompt."""
    with _bench(world, database, options) as bench:
        text = _world_text(world, database, options.rows)
        tools = [tool.name for tool in world.tools]
        messages = opening(text, tools, 0, bench.bodies, bench.known.signatures, [])
    for message in messages:
        say(f"[{message['role']}]\n{message['content']}\n")


def _show(outcome: DraftOutcome, screen: Screen) -> None:
    name = outcome.family or f"draft {outcome.draft + 1}"
    tries = f"attempt {outcome.attempts}" if outcome.kept else f"{outcome.attempts} attempts"
    if outcome.kept:
        screen.parts([("kept", "green"), (f" {name}: {outcome.capacity:,} tasks, {tries}", "")])
    else:
        why = f" {name}: {outcome.cause}: {outcome.reason} ({tries})"
        screen.parts([("out ", "yellow"), (why, "")])


def _conclude(report: _DraftReport, screen: Screen) -> None:
    made = len(report.outcomes)
    screen.line()
    show_causes(screen, report.causes, "drafts")
    share = f" ({report.kept / made:.0%})" if made else ""
    screen.line(
        f"{report.world}: {report.kept} of {made} drafts of {report.model} prove"
        f" themselves{share}; {report.expense}"
    )
    if report.ended_early is not None:
        why = f"stopped after {made} of {report.count} drafts: {report.ended_early}"
        screen.line(why, "yellow")
        screen.line("The same command goes on from here.")
    elif report.kept:
        screen.line(f"Next: {shlex.join(['synth', 'check', str(report.world)])}")
    if report.stopped is None and made == report.count:
        screen.line("A higher --count, or another --seed, asks for more.")
