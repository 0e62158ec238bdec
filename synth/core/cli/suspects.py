"""Printing of suspect gold: pass rates, and ends on which samples agree against gold."""

from __future__ import annotations

import json

from synth.core.foundation.standard_output import say
from synth.core.screen import Screen
from synth.core.validation.suspects import SuspectReport, side_by_side


def show_suspects(report: SuspectReport, screen: Screen, *, as_json: bool) -> None:
    """Print the report, families with the lowest pass rate first."""
    if as_json:
        say(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
        return
    rates = sorted(report.families.items(), key=lambda item: item[1][0] / item[1][1])
    for family, (solved, count) in rates:
        screen.line(f"{family}: {solved} of {count} samples solved")
    for suspect in report.suspects:
        screen.line()
        screen.line(
            f"{suspect.task.family}: {suspect.agreeing} of {suspect.samples} samples agree on an"
            f" end that is not gold's (task {suspect.task.id})",
            "bold",
        )
        screen.line(f"request: {suspect.task.prompt}", indent=2)
        for line in side_by_side(suspect):
            screen.line(line, indent=2)
    screen.line()
    if report.unscored:
        reason = f": {report.broken}" if report.broken else ""
        screen.line(f"{report.unscored} samples have no score{reason}", "yellow")
    count = len(report.suspects)
    screen.line(f"{count} {'suspect' if count == 1 else 'suspects'}")
