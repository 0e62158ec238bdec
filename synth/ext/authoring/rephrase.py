"""Phrasings of a run (``tasks.rephrase``): a step before the plan.

A model writes other words for the families of a copy of the world, which then is the world of the
run: its archive holds them, and a resume reads them there. Each answer is kept in the run directory
before it is looked at, so that a step that was stopped goes on and pays for nothing twice.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from envs.world.files import PHRASINGS
from synth.config import EndpointConfig, from_dict
from synth.core.config.rules import AGENT
from synth.core.dataset.store.acquire import refuse_occupied
from synth.core.dataset.store.atomic_files import disk, write_file
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
from synth.core.runner.setup import RunSpec, model_setup
from synth.core.tasks.phrasings import read_phrasings
from synth.core.validation.check import Options
from synth.errors import OperatorError
from synth.ext.authoring.asking.budget import AskingBudget, AskingStopped, Spending
from synth.ext.authoring.asking.journal import AskingJournal
from synth.ext.authoring.config import RephraseConfig
from synth.ext.authoring.rephrasing.prompt import JudgedAnswer
from synth.ext.authoring.rephrasing.session import (
    FamilyOutcome,
    RephraseJob,
    RephraseSession,
    causes_of,
)
from synth.hook import RunHook
from synth.model import Model
from synth.prepare import PreparedRun, prepare


def add_phrasings(
    folder: Path, outcomes: Sequence[FamilyOutcome], before: Collection[str] = ()
) -> int:
    """Add what a job has kept to a world's file, and return the number of new lines.

    A line that was added ``before`` is not added again: its author may have deleted it. Lines that
    stood for earlier texts of a family make way for new ones.
    """
    there = read_phrasings(folder)
    names = {(one.family, one.name) for one in there}
    kept = [one for outcome in outcomes for one in outcome.kept]
    new = [one for one in kept if one.name not in before and (one.family, one.name) not in names]
    current = {one.family: one.of for one in new}
    stay = [one for one in there if not one.of or current.get(one.family, one.of) == one.of]
    if new:
        lines = [json.dumps(one.to_json(), ensure_ascii=False) for one in [*stay, *new]]
        file = (folder / PHRASINGS).resolve()
        data = "".join(f"{line}\n" for line in lines).encode()
        write_file(file, data, file.with_name(f".{PHRASINGS}.new"))
    return len(new)


class Rephrase(RunHook):
    """Has a model write other words for the users, before the run is planned again."""

    writes = frozenset((PHRASINGS,))

    Options = RephraseConfig

    def notes(self, run: PreparedRun) -> list[str]:
        if run.spec.recording is not None:
            return []
        name = _writer(run.spec, self.options).name
        words = f"{name} will write other words first, which this plan does not have"
        return [f"tasks.rephrase: {words}"]

    def planned(self, run: PreparedRun, directory: Path, console: Console) -> PreparedRun:
        spec = run.spec
        if spec.recording is not None:
            return run
        home, folder, summary = _rephrase_world(spec, self.options, directory, console)
        with Waiting(f"planning the tasks of {spec.world_folder}", console):
            again = prepare(from_dict(spec.record), folder)
        return replace(again, home=home, rephrased=summary)

    def keeps(self, directory: Path) -> bool:
        return bool(_paid_answers(directory))


def _paid_answers(directory: Path) -> list[Path]:
    """The files of a run directory that hold answers."""
    found = RunFiles(directory).private.glob("rephrase-*.jsonl")
    return sorted(file for file in found if file.stat().st_size)


def _journal_file(own: EndpointConfig, seed: int, directory: Path) -> Path:
    """The journal of a model, its sampling and a seed: others have their own."""
    model = [own.kind, own.name, own.temperature, own.max_tokens, own.extra_body]
    return RunFiles(directory).private / f"rephrase-{digest(*model, seed)}.jsonl"


def _writer(spec: RunSpec, settings: RephraseConfig) -> EndpointConfig:
    """The model that writes other words for users: its answers may be long."""
    own = from_dict(spec.record).endpoint(settings.model or AGENT)
    long = {"max_response_bytes": 2_000_000} if own.kind == "openai" else {}
    return replace(own, max_tokens=own.max_tokens or 8192, options=long | own.options)


def _rephrase_world(
    spec: RunSpec, settings: RephraseConfig, directory: Path, console: Console
) -> tuple[Scratch, Path, Mapping[str, object]]:
    """Have phrasings written for a run in a new directory, or in one where that was stopped.
    Returns a home, the copy of the world with the phrasings in it, and what was written.

    Raises :class:`OperatorError` if the budget does not suffice, the endpoint cannot be asked, or
    the directory holds anything else; and the errors of worlds and tasks.
    """
    files, writer = RunFiles(directory), _writer(spec, settings)
    with disk(directory, "create"):
        refuse_occupied(files)
        files.private.mkdir(parents=True, exist_ok=True)
    lock = RunLock(files.lock)
    try:
        write_whole(directory / CONFIG_FILE, spec.text)
        remember([config_part(spec.text)])
        home = Scratch("rephrased")
        folder = unpack_world(pack_world(find_world(spec.env.place)), home.path / spec.world_folder)
        file = _journal_file(writer, spec.seed, directory)
        with closing(AskingJournal(file, JudgedAnswer)) as journal:
            model = build_model(model_setup(writer, settings.model or AGENT)[0])
            outcomes = _asked(spec, settings, model, folder, journal, directory, console)
            spent = Spending.of(list(journal.answers.values()))
    except BaseException:
        if not _paid_answers(directory):
            (directory / CONFIG_FILE).unlink(missing_ok=True)
            for file in files.private.glob("rephrase-*.jsonl"):
                file.unlink()
        raise
    finally:
        lock.release(remove=not _paid_answers(directory))
        with contextlib.suppress(OSError):  # not empty: there are answers
            files.private.rmdir()
            directory.rmdir()
    add_phrasings(folder, outcomes)
    summary = _summary(writer.name, outcomes, spent)
    for line in _lines(summary, outcomes):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    return home, folder, summary


def _asked(
    spec: RunSpec,
    settings: RephraseConfig,
    model: Model,
    folder: Path,
    journal: AskingJournal[JudgedAnswer],
    directory: Path,
    console: Console,
) -> list[FamilyOutcome]:
    asked = spec.tasks.families
    families = None if asked is None else tuple(asked)
    job = RephraseJob(
        folder,
        Options(families, per_case=1, engine=spec.engine, place=spec.target),
        settings.count,
        settings.attempts,
        spec.seed,
        AskingBudget(spec.budget.usd, spec.budget.tokens),
        settings.concurrency,
    )
    waiting = Waiting(f"{model.name} writes other words for the users", console)
    with closing(RephraseSession(job, model, journal)) as session, waiting:
        for warning in session.preflight() if spec.preflight else ():
            console.print(f"warning: {warning}", markup=False, soft_wrap=True)
        try:
            session.run(lambda _: None)
        except AskingStopped as error:
            raise OperatorError(
                f"tasks.rephrase: {error}. No plan was made; what was paid for is kept in"
                f" {directory}, and a resume goes on from it"
            ) from None
        return session.outcomes


def _summary(
    model: str | None, outcomes: list[FamilyOutcome], spent: Spending
) -> dict[str, object]:
    """The phrasings in figures; the costs have the names of a row's columns."""
    return {
        "model": model,
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
