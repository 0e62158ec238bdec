"""The contract of a run hook: what the driver does before a run begins and after it is sealed.

    class Notify(RunHook):
        def sealed(self, report, run, console):
            console.print(f"{run.world.name}: {report.directory} is ready")
            return report

A run hook is a callable or class ``(options) -> RunHook``, named in ``extensions.hooks``. Its
attribute ``Options`` is a dataclass or pydantic model of its options, which stand in
``extensions.options`` under its name. :class:`synth.testing.HookConformance` tests the contract.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from envs.plugins import Contract
from synth.plugins import NoOptions

if TYPE_CHECKING:
    from synth.coordinator import RunReport
    from synth.prepare import PreparedRun


class RunHook(Contract):
    """A step of a run's driver. Each method does nothing by default."""

    Options: type[Any] = NoOptions

    writes: frozenset[str] = frozenset()
    """Files that it writes into the run's copy of the world."""

    def __init__(self, options: Any) -> None:
        self.options = options

    def planned(self, run: PreparedRun, directory: Path, console: Console) -> PreparedRun:
        """Return the run to begin; nothing of it is written yet.

        Raises :class:`~synth.errors.OperatorError` for a run that must not begin.
        """
        return run

    def notes(self, run: PreparedRun) -> list[str]:
        """Notes of a dry run on what ``planned`` would change."""
        return []

    def keeps(self, directory: Path) -> bool:
        """True if ``planned`` left results in a directory, with which the run is launched again."""
        return False

    def sealed(self, report: RunReport, run: PreparedRun, console: Console) -> RunReport:
        """Return the report after the run's files are complete; the run stays whole if this fails.

        Raises :class:`~synth.errors.OperatorError` with the reason.
        """
        return report
