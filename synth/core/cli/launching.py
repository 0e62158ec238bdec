"""Launching of the job of a command line, and going on with a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from synth.core.cli.end_report import conclude
from synth.core.config.compose import Composed
from synth.core.config.overrides import plain_changes
from synth.launch import launch
from synth.plugins import resolve


def start(jobs: Sequence[Composed], *, as_json: bool) -> int:
    """Launch one job, or a sweep. Returns the exit code."""
    console = Console(stderr=True, highlight=False)
    if len(jobs) == 1:
        return conclude(launch(jobs[0].config, console), as_json=as_json)
    return int(resolve("synth.core.cli.sweep:sweep")(jobs, console, as_json=as_json))


def go_on(directory: Path, overrides: Sequence[str], *, trust: bool, as_json: bool) -> int:
    """Go on with a run. Returns the exit code."""
    console = Console(stderr=True, highlight=False)
    resume = resolve("synth.core.runner.resuming:resume")
    consent = resolve("synth.core.cli.consent_question:consent_by")(trust)
    report = resume(directory, plain_changes(overrides), console, consent)
    return conclude(report, as_json=as_json)
