"""The proof of drafts: what `synth check` would refuse is left out, with its reason."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten

from envs.errors import EnvsError
from envs.world.loader import load_world
from synth.core.validation.cache import ReportCache
from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.seed_check import check_seed
from synth.core.validation.world import SEED, check_world
from synth.errors import OperatorError, TaskError
from synth.ext.authoring.folder import write_files
from synth.ext.authoring.patterns.base import Draft
from synth.ext.authoring.tasks_file import LEAST

Progress = Callable[[str], None]
Write = Callable[[Sequence[Draft]], str]


@dataclass
class Proofs:
    """Proved drafts with their reports, and the reasons of those left out, by family."""

    kept: list[Draft] = field(default_factory=list[Draft])
    capacity: dict[str, int] = field(default_factory=dict[str, int])
    left_out: dict[str, str] = field(default_factory=dict[str, str])


def prove(
    name: str,
    files: Mapping[str, str],
    drafts: Sequence[Draft],
    write: Write,
    options: Options,
    progress: Progress,
    workers: int | None = 1,
) -> Proofs:
    """Check all drafts in a temporary world of this name and these files, and keep what proves
    itself. The tasks of a world depend on its name; ``write`` gives the text of tasks.yaml.

    Raises OperatorError if the world cannot be read even without families.
    """
    out = Proofs()
    with tempfile.TemporaryDirectory(prefix="synth-new-") as temporary:
        folder = Path(temporary) / name
        folder.mkdir()
        write_files(folder, files)
        left = list(drafts)
        while left:
            try:
                reports = _check(folder, left, write, options, progress, workers)
            except TaskError as error:
                left = _without(left, error, out)
                continue
            except EnvsError as error:
                raise OperatorError(f"the world cannot be loaded: {error}") from error
            _sort(left, reports, out)
            break
    return out


def seed_problem(files: Mapping[str, str]) -> str | None:
    """The reason for which the seed.py among the files of a world makes no universes; None if it
    does.
    """
    with tempfile.TemporaryDirectory(prefix="synth-new-") as temporary:
        folder = Path(temporary) / "world"
        folder.mkdir()
        write_files(folder, files)
        found = check_seed(folder, "sqlite")
    return found and _brief(found)


def _without(drafts: list[Draft], error: TaskError, out: Proofs) -> list[Draft]:
    """The drafts without the one that an error is about."""
    name = error.family or next((d.id for d in drafts if d.id in str(error)), None)
    if name is None or all(draft.id != name for draft in drafts):
        raise OperatorError(f"the families cannot be read: {error}") from error
    out.left_out[name] = _brief(error.message)
    return [draft for draft in drafts if draft.id != name]


def _check(
    folder: Path,
    drafts: Sequence[Draft],
    write: Write,
    options: Options,
    progress: Progress,
    workers: int | None,
) -> list[FamilyReport]:
    write_files(folder, {"tasks.yaml": write(drafts)})
    reports = list[FamilyReport]()
    total = len(drafts)

    def done(report: FamilyReport) -> None:
        reports.append(report)
        state = "ok  " if report.ok else "out "
        progress(f"{state} {report.family} (family {len(reports)} of {total})")

    cache = ReportCache(load_world(folder), options.key, folder.parent)
    cache.write(SEED, value=True)  # whoever makes a world has checked its seed.py
    check_world(folder, options, done, workers, cache)
    return reports


def _sort(drafts: Sequence[Draft], reports: Sequence[FamilyReport], out: Proofs) -> None:
    by_name = {report.family: report for report in reports}
    for draft in drafts:
        report = by_name[draft.id]
        faults = [*report.problems, *report.surviving, *report.honest_lost]
        if not faults and report.capacity < LEAST:
            faults = [f"it has {report.capacity} task"]
        if faults:
            out.left_out[draft.id] = _brief(faults[0])
        else:
            out.kept.append(draft)
            out.capacity[draft.id] = report.capacity


def _brief(reason: str) -> str:
    """A reason without the place in a file that is not kept."""
    bare = re.sub(r"(?<!\S)/\S*\.(?:yaml|py|sql)(?::\d+)?: (?:family \S+: )?", "", reason)
    return shorten(bare, 300, placeholder=" ...")
