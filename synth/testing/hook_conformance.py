"""The promises of :class:`synth.hook.RunHook` as tests: subclass, name it ``Test...``."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from pathlib import Path

from rich.console import Console

from synth.core.config.compose import compose
from synth.hook import RunHook
from synth.launch import launch
from synth.prepare import prepare


class HookConformance(ABC):
    """Contract tests of a hook, with a small run of the library. ``hook`` is required."""

    @abstractmethod
    def hook(self) -> RunHook:
        """A new hook with its options."""

    def _overrides(self, directory: Path) -> list[str]:
        return ["env=library", "tasks.count=2", "runtime=inline", f"output.dir={directory}"]

    def test_a_run_that_it_lets_begin_is_planned(self, tmp_path: Path) -> None:
        (job,) = compose(self._overrides(tmp_path / "run"))
        run = prepare(job.config)
        planned = self.hook().planned(run, tmp_path / "run", Console(quiet=True))
        assert planned.plan.jobs > 0
        assert planned.identity.plan_digest

    def test_it_changes_no_file_of_a_sealed_run(self, tmp_path: Path) -> None:
        (job,) = compose(self._overrides(tmp_path / "run"))
        console = Console(quiet=True)
        report = launch(job.config, console)
        before = _contents(report.directory)
        after = self.hook().sealed(report, prepare(job.config), console)
        assert after.directory == report.directory
        assert before.items() <= _contents(report.directory).items()


def _contents(directory: Path) -> dict[str, str]:
    """The digest of each file, README.md aside: it is the card, which hooks may write."""
    return {
        str(file.relative_to(directory)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in directory.rglob("*")
        if file.is_file() and file.name != "README.md"
    }
