"""``synth replay``: execute a dataset's tool calls again."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.console import Console

from synth.core.cli.consent_question import consent_by
from synth.core.cli.trust import add_trust
from synth.core.dataset.reader import Dataset
from synth.core.foundation.standard_output import say, stdout
from synth.core.rerun.replay import NOT_COMPARED, replay
from synth.core.runner.progress import ProgressView

EPILOG = """example:
  synth replay outputs/my_run"""


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="synth replay",
        description="Execute a dataset's tool calls again on fresh sandboxes and show every"
        " difference.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="a run directory")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    add_trust(parser)
    return parser


def main(argv: list[str]) -> int:
    """Replay a run directory; 0 when everything came out as recorded, 1 when something did not."""
    arguments = make_parser().parse_args(argv)
    console = Console(stderr=True, highlight=False)
    with ProgressView("replaying", Dataset.open(arguments.path).count, 0, console) as view:
        report = replay(arguments.path, view.advance, consent_by(arguments.trust, view))
    if arguments.json:
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
