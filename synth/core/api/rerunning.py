"""Replay and grading of recorded runs from Python."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from synth.core.api.threads import Interrupt, call, in_thread
from synth.core.dataset.reader import Dataset
from synth.core.dataset.several import CombinedDataset, open_datasets
from synth.core.foundation.consent import Consent, agree, refuse
from synth.core.foundation.shipped import find_world
from synth.core.rerun import regrade
from synth.core.rerun import replay as replaying
from synth.core.rerun.regrade import GradeReport
from synth.core.rerun.replay import ReplayReport
from synth.errors import OperatorError

Source = Dataset | str | Path
"""A dataset, or the path of one: a run directory, a ``.parquet`` file or a folder of them."""


def load(source: Source | Iterable[str | Path]) -> Dataset:
    """Open a dataset, or several as one, in any state: complete, partial, running or interrupted.

    ``source`` is a run directory, a ``.parquet`` file or a folder of such files, or a list of
    these. Nothing of it is executed, and rows are read when they are asked for::

        data = synth.load("out/shop")
        data[0]["messages"]                                 # a row: columns by name
        data.query("reward < 1 ORDER BY num_turns")         # an Arrow table, by SQL of DuckDB
        data.table(["family", "reward"])                    # an Arrow table of columns
        data.to_pandas(), data.to_datasets(), data.errors()

    Raises:
        DatasetError: If there is no dataset, or it cannot be read.
    """
    if isinstance(source, Dataset):
        return source
    return open_datasets([source] if isinstance(source, (str, Path)) else list(source))


def replay(run: Source, *, trust: bool = False) -> ReplayReport:
    """Execute the recorded tool calls of a run again, on fresh sandboxes.

    The report's ``differences`` has a line for each result, end state or reward that came out
    otherwise. The run's archived world is executed; no model is asked. ``trust=True`` executes it
    even if it was not made on this machine.

    Raises:
        DatasetError: If the directory lacks what a replay needs.
        UntrustedCode: If the directory is from elsewhere, without ``trust``.
    """
    return call(
        lambda interrupt: replaying.replay(_directory(run), interrupt.check, _consent(trust))
    )


areplay = in_thread(replay)


def grade(
    run: Source, *, world: str | Path | None = None, where: str | None = None, trust: bool = False
) -> GradeReport:
    """Judge the recorded trajectories of a run again, without a model.

    ``world`` (a folder, or the name of one that ships) judges by its present tasks and rewards
    instead of the archived ones; ``where`` is an SQL condition over the columns. The report's
    ``changes`` has the trajectories whose verdicts changed, ``same`` is true if no reward did.

    Raises:
        DatasetError: If the directory lacks what it takes.
        OperatorError: If there is no such world.
        UntrustedCode: If the directory is from elsewhere, without ``trust``.
    """
    return call(partial(_grade, run, world, where, trust))


agrade = in_thread(grade)


def _grade(
    run: Source, world: str | Path | None, where: str | None, trust: bool, interrupt: Interrupt
) -> GradeReport:
    folder = None if world is None else find_world(str(world))
    return regrade.grade(_directory(run), folder, where, interrupt.check, _consent(trust))


def _consent(trust: bool) -> Consent:
    return agree if trust else refuse


def _directory(run: Source) -> Path:
    dataset = load(run)
    if isinstance(dataset, CombinedDataset):
        raise OperatorError("several runs are replayed and graded one by one: each has its world")
    return dataset.path
