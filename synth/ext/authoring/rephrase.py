"""Phrasings of a run (``tasks.rephrase``): a step before the plan.

A model writes other words for the families of a copy of the world, which then is the world of the
run: its archive holds them, and a resume reads them there. Each answer is kept in the run directory
before it is looked at, so that a step that was stopped goes on and pays for nothing twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from envs.world.files import PHRASINGS
from synth.config import RunConfig, to_yaml
from synth.core.dataset.store.acquire import refuse_occupied
from synth.core.dataset.store.atomic_files import disk
from synth.core.dataset.store.lock import RunLock
from synth.core.dataset.store.run_info import RunFiles
from synth.core.foundation.archive import pack_world, unpack_world
from synth.core.foundation.consent import config_part, remember
from synth.core.foundation.hashing import digest
from synth.core.foundation.shipped import find_world
from synth.core.foundation.tempdirs import Scratch
from synth.core.runner.build import build_model
from synth.core.runner.progress import Waiting
from synth.core.runner.run_files import CONFIG_FILE, write_whole
from synth.core.runner.setup import database_target, rephrase_setup
from synth.core.validation.check import Options
from synth.errors import OperatorError
from synth.ext.authoring.asking.budget import AskingBudget, AskingStopped, Spending
from synth.ext.authoring.rephrasing.journal import RephraseJournal
from synth.ext.authoring.rephrasing.phrasings_file import add_phrasings
from synth.ext.authoring.rephrasing.session import (
    FamilyOutcome,
    RephraseJob,
    RephraseSession,
    causes_of,
)
from synth.hook import RunHook
from synth.prepare import PreparedRun, prepare


@dataclass(frozen=True)
class RephrasedWorld:
    """A copy of a world with phrasings, in ``home``. ``source`` is the world, ``summary`` what was
    written, for the manifest.
    """

    source: Path
    folder: Path
    home: Scratch
    summary: Mapping[str, object]


class Rephrase(RunHook):
    """Has a model write other words for the users, before the run is planned again."""

    writes = frozenset((PHRASINGS,))

    def planned(self, run: PreparedRun, directory: Path, console: Console) -> PreparedRun:
        config = run.config
        found = rephrase_world(config, directory, console)
        with Waiting(f"planning the tasks of {config.world_folder}", console):
            again = prepare(config, found.folder)
        return replace(again, home=found.home, rephrased=found.summary)

    def keeps(self, directory: Path) -> bool:
        return bool(paid_answers(directory))


def paid_answers(directory: Path) -> list[Path]:
    """The files of a run directory that hold answers."""
    found = RunFiles(directory).private.glob("rephrase-*.jsonl")
    return sorted(file for file in found if file.stat().st_size)


def _journal_file(config: RunConfig, directory: Path) -> Path:
    """The journal of the config's model, sampling and seed: others have their own."""
    own = config.tasks.rephrase
    model = [own.kind, own.model, own.temperature, own.max_tokens, own.extra_body]
    return RunFiles(directory).private / f"rephrase-{digest(*model, config.seed)}.jsonl"


def rephrase_world(config: RunConfig, directory: Path, console: Console) -> RephrasedWorld:
    """Have phrasings written for a run in a new directory, or in one where that was stopped.

    Raises :class:`OperatorError` if the budget does not suffice, the endpoint cannot be asked, or
    the directory holds anything else; and the errors of worlds and tasks.
    """
    files = RunFiles(directory)
    with disk(directory, "create"):
        refuse_occupied(files)
        files.private.mkdir(parents=True, exist_ok=True)
    lock = RunLock(files.lock)
    try:
        text = to_yaml(config).encode()
        write_whole(directory / CONFIG_FILE, text)
        remember([config_part(text)])
        source = find_world(config.env.path or config.env.name or "")
        home = Scratch("rephrased")
        folder = unpack_world(pack_world(source), home.path / config.world_folder)
        with closing(RephraseJournal(_journal_file(config, directory))) as journal:
            outcomes = _asked(config, folder, journal, directory, console)
            spent = Spending.of(list(journal.answers.values()))
    except BaseException:
        if not paid_answers(directory):
            _leave_nothing(files)
        raise
    finally:
        lock.release(remove=not paid_answers(directory))
        with contextlib.suppress(OSError):  # not empty: there are answers
            files.private.rmdir()
            directory.rmdir()
    add_phrasings(folder, outcomes)
    summary = _summary(config, outcomes, spent)
    for line in _lines(summary, outcomes):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    return RephrasedWorld(source, folder, home, summary)


def _leave_nothing(files: RunFiles) -> None:
    """Remove the files of a step in which nothing was paid for."""
    (files.directory / CONFIG_FILE).unlink(missing_ok=True)
    for file in files.private.glob("rephrase-*.jsonl"):
        file.unlink()


def _asked(
    config: RunConfig, folder: Path, journal: RephraseJournal, directory: Path, console: Console
) -> list[FamilyOutcome]:
    settings, tasks, database = config.tasks.rephrase, config.tasks, config.database
    families = None if tasks.families is None else tuple(tasks.families)
    proofs = Options(families, per_case=1, engine=database.engine, place=database_target(config))
    job = RephraseJob(
        folder,
        proofs,
        settings.count,
        settings.attempts,
        config.seed,
        AskingBudget(config.budget.usd, config.budget.tokens),
        settings.concurrency,
    )
    model = build_model(rephrase_setup(config))
    waiting = Waiting(f"{model.name} writes other words for the users", console)
    with closing(RephraseSession(job, model, journal)) as session, waiting:
        for warning in session.preflight() if config.preflight else ():
            console.print(f"warning: {warning}", markup=False, soft_wrap=True)
        try:
            session.run(lambda _: None)
        except AskingStopped as error:
            raise OperatorError(
                f"tasks.rephrase: {error}. There is no plan yet; what was paid for is kept in"
                f" {directory}, and a resume goes on from it"
            ) from None
        return session.outcomes


def _summary(
    config: RunConfig, outcomes: list[FamilyOutcome], spent: Spending
) -> dict[str, object]:
    """The phrasings in figures; the costs have the names of a row's columns."""
    return {
        "model": config.tasks.rephrase.model,
        "families": sum(not outcome.skipped for outcome in outcomes),
        "skipped": {one.family: one.skipped for one in outcomes if one.skipped},
        "questions": sum(outcome.questions for outcome in outcomes),
        "kept": sum(len(outcome.kept) for outcome in outcomes),
        "left_out": dict(causes_of(outcomes).most_common()),
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost_usd": spent.cost_usd,
    }


def _lines(summary: Mapping[str, object], outcomes: list[FamilyOutcome]) -> list[str]:
    causes = causes_of(outcomes)
    out = ", ".join(f"{cause} {count}" for cause, count in causes.most_common())
    left = f"; {causes.total()} left out ({out})" if causes else ""
    lines = [f"{summary['kept']} phrasings for {summary['families']} families are kept{left}"]
    skipped = [one.family for one in outcomes if one.skipped]
    if skipped:
        lines.append(f"note: these keep their own words: {', '.join(skipped)}")
    return lines
