"""``synth run --resume`` of a run that is not complete."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from synth.core.cli.consent_question import consent_by
from synth.core.cli.end_report import conclude
from synth.core.config.overrides import plain_changes
from synth.core.runner.resuming import resume


def go_on(directory: Path, overrides: Sequence[str], *, trust: bool, as_json: bool) -> int:
    """Go on with a run. Returns the exit code."""
    console = Console(stderr=True, highlight=False)
    report = resume(directory, plain_changes(overrides), console, consent_by(trust))
    return conclude(report, as_json=as_json)
