"""Verified tool-use training data from real databases.

:func:`synth.run` makes a dataset, :func:`synth.load` reads one or several, :func:`synth.open` plays
one task. :func:`synth.check` proves a world; :func:`synth.replay`, :func:`synth.grade` and
:func:`synth.export` work on recorded runs. Each has an async form with an ``a`` before its name.

The synchronous forms work in a notebook too, whose thread runs an event loop already. The public
names are those in ``__all__``; the contracts of extensions are documented in ``docs/extending``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synth.api.checking import acheck, check
    from synth.api.datasets import load
    from synth.api.episodes import aopen, open  # noqa: A004
    from synth.api.exporting import aexport, export
    from synth.api.rerunning import agrade, areplay, grade, replay
    from synth.api.running import Run, arun, run
    from synth.config.schema import RunConfig
    from synth.dataset.exporters.job import ExportReport
    from synth.dataset.reader import Dataset
    from synth.dataset.trajectory import Trajectory
    from synth.episode import Episode, Score
    from synth.rerun.regrade import GradeReport
    from synth.rerun.replay import ReplayReport
    from synth.types import Task
    from synth.validation.world import WorldReport

    __version__: str

_LAZY = {
    "Dataset": "synth.dataset.reader",
    "Episode": "synth.episode",
    "ExportReport": "synth.dataset.exporters.job",
    "GradeReport": "synth.rerun.regrade",
    "ReplayReport": "synth.rerun.replay",
    "Run": "synth.api.running",
    "RunConfig": "synth.config.schema",
    "Score": "synth.episode",
    "Task": "synth.types",
    "Trajectory": "synth.dataset.trajectory",
    "WorldReport": "synth.validation.world",
    "acheck": "synth.api.checking",
    "aexport": "synth.api.exporting",
    "agrade": "synth.api.rerunning",
    "aopen": "synth.api.episodes",
    "areplay": "synth.api.rerunning",
    "arun": "synth.api.running",
    "check": "synth.api.checking",
    "export": "synth.api.exporting",
    "grade": "synth.api.rerunning",
    "load": "synth.api.datasets",
    "open": "synth.api.episodes",
    "replay": "synth.api.rerunning",
    "run": "synth.api.running",
}

__all__ = [
    "Dataset",
    "Episode",
    "ExportReport",
    "GradeReport",
    "ReplayReport",
    "Run",
    "RunConfig",
    "Score",
    "Task",
    "Trajectory",
    "WorldReport",
    "__version__",
    "acheck",
    "aexport",
    "agrade",
    "aopen",
    "areplay",
    "arun",
    "check",
    "export",
    "grade",
    "load",
    "open",
    "replay",
    "run",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import synth`` stays light."""
    if name == "__version__":
        return import_module("synth.foundation.shipped").version()
    if name not in _LAZY:
        raise AttributeError(f"module 'synth' has no attribute {name!r}")
    found = getattr(import_module(_LAZY[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return __all__
