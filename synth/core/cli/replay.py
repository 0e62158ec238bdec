"""``synth replay``: execute a dataset's tool calls again."""

from __future__ import annotations

import json

from rich.console import Console

from synth.core.cli.command import Arguments, command
from synth.core.cli.consent_question import consent_by
from synth.core.dataset.reader import Dataset
from synth.core.foundation.standard_output import say, stdout
from synth.core.rerun.replay import NOT_COMPARED, replay
from synth.core.runner.progress import ProgressView

HELP = """synth replay

Execute a dataset's tool calls again on fresh sandboxes and show every difference.

arguments:
  PATH                a run directory
options:
  --json              print the report as JSON
  --trust             execute the Python of a run directory from another machine, unasked

example:
  synth replay outputs/my_run
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Replay a run directory; 0 when everything came out as recorded, 1 when something did not."""
    console = Console(stderr=True, highlight=False)
    with ProgressView("replaying", Dataset.open(options.path).count, 0, console) as view:
        report = replay(options.path, view.advance, consent_by(options.trust, view))
    if options.json:
        say(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
        return 1 if report.differences else 0
    for line in report.differences:
        stdout().write(f"{line}\n")
    if report.differences:
        say(f"{len(report.differences)} differences in {report.trajectories} trajectories.")
        return 1
    say(
        f"{report.trajectories} trajectories, {report.calls} tool calls: every tool result, end"
        " state and reward as "
        f"recorded. Not compared: {', '.join(NOT_COMPARED)}."
    )
    return 0
