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
    from synth.config import RunConfig
    from synth.core.api.checking import acheck, check
    from synth.core.api.episodes import aopen, open  # noqa: A004
    from synth.core.api.rerunning import agrade, areplay, grade, load, replay
    from synth.core.api.running import Run, arun, run
    from synth.core.dataset.reader import Dataset, Trajectory
    from synth.core.rerun.regrade import GradeReport
    from synth.core.rerun.replay import ReplayReport
    from synth.core.validation.world import WorldReport
    from synth.episode import Episode, Score
    from synth.ext.exporters.exporting import ExportReport, aexport, export
    from synth.task import Task

    __version__: str

_NAMES = {
    "synth.config": "RunConfig",
    "synth.core.api.checking": "acheck check",
    "synth.core.api.episodes": "aopen open",
    "synth.core.api.rerunning": "agrade areplay grade load replay",
    "synth.core.api.running": "Run arun run",
    "synth.core.dataset.reader": "Dataset Trajectory",
    "synth.core.rerun.regrade": "GradeReport",
    "synth.core.rerun.replay": "ReplayReport",
    "synth.core.validation.world": "WorldReport",
    "synth.episode": "Episode Score",
    "synth.ext.exporters.exporting": "ExportReport aexport export",
    "synth.task": "Task",
}
"""The public names of modules."""

_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

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
        return import_module("synth.core.foundation.shipped").version()
    if name not in _MODULES:
        raise AttributeError(f"module 'synth' has no attribute {name!r}")
    found = getattr(import_module(_MODULES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return __all__
