"""``synth run --preview``: a few rollouts of a job, of which nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from synth.config import KEYS, from_dict, to_dict
from synth.core.config.compose import Composed
from synth.core.dataset.reader import Dataset
from synth.core.foundation.tempdirs import Scratch
from synth.core.runner.run_files import changed
from synth.core.screen import Screen
from synth.core.screen.transcript import show_error, show_trajectory
from synth.errors import OperatorError
from synth.launch import launch

_FEW: dict[str, object] = {
    "tasks.samples": 1,
    "tasks.splits": None,
    "tasks.held_out": None,
    "tasks.held_out_phrasings": None,
    "tasks.held_out_renamings": None,
    "tasks.rephrase.model": None,
    "runtime.kind": "inline",
    "runtime.address": None,
    "runtime.workers": None,
    "runtime.options": {},
}
FEW = {key: value for key, value in _FEW.items() if key in KEYS}
"""The keys of a preview: a few rollouts in this process."""


def preview(jobs: Sequence[Composed], count: int) -> int:
    """Play a few rollouts in this process and print them; nothing is kept. Returns the exit code.

    Raises :class:`OperatorError` for a sweep.
    """
    if len(jobs) != 1:
        raise OperatorError("--preview shows rollouts of one job: leave out -m")
    config, console = jobs[0].config, Console(stderr=True, highlight=False)
    with Scratch("preview") as home:
        few = FEW | {
            "tasks.count": min(count, config.tasks.count),
            "output.dir": str(home.path / "run"),
        }
        report = launch(from_dict(changed(to_dict(config), few)), console)
        screen = Screen()
        with Dataset.open(report.directory) as dataset:
            for row in dataset.rows():
                show_trajectory(screen, row)
                screen.line()
            for error in dataset.errors():
                show_error(screen, error)
    totals = report.totals
    cost = f", cost {totals.cost()}" if totals.tokens else ""
    screen.line(f"{totals.rows} of {report.planned} rollouts{cost}; nothing was kept")
    return 0 if totals.rows else 1
