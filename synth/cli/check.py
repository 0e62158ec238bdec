"""``synth check``: a world proves itself."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from rich.console import Console

from envs.folder import load_world
from envs.types import Limits
from synth.admission.check import FamilyReport, check_world
from synth.shipped import find_world

EPILOG = """example:
  synth check ehr_db
  synth check path/to/my_world --families record_heart_rate --json"""


def main(argv: list[str]) -> int:
    """Check one world; 0 when every family proves itself, 1 when one does not."""
    parser = argparse.ArgumentParser(
        prog="synth check",
        description="Prove a world's task families: gold works and is reachable, laziness and mistakes cost reward.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("world", metavar="WORLD", help="a world's folder, or the name of one that ships")
    parser.add_argument("--families", help="only these, separated by commas")
    parser.add_argument("--tasks", type=int, default=4, metavar="N", help="tasks to prove per branch of a family (4)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    arguments = parser.parse_args(argv)
    if arguments.tasks < 1:
        parser.error("--tasks must be at least 1")
    world = load_world(find_world(arguments.world))
    names = [name.strip() for name in arguments.families.split(",")] if arguments.families else None
    console = Console(file=sys.stdout, highlight=False, markup=False, soft_wrap=True)

    def done(report: FamilyReport) -> None:
        if not arguments.json:
            _print(report, console)

    with world.template("sqlite") as template:
        reports = asyncio.run(check_world(world, template, names, arguments.tasks, Limits(), done))
    ok = all(report.ok for report in reports)
    if arguments.json:
        print(
            json.dumps(
                {"world": world.name, "digest": world.digest, "ok": ok, "families": [r.to_json() for r in reports]},
                indent=2,
            )
        )
    else:
        total = sum(report.capacity for report in reports)
        bad = [report.family for report in reports if not report.ok]
        verdict = f"{len(reports)} families prove themselves" if ok else f"not proved: {', '.join(bad)}"
        console.print(f"\n{world.name} {world.digest}: {verdict}; they can supply {total:,} tasks.")
        if ok:
            console.print(f"Next: synth run env.path={world.path} tasks.count=100")
    return 0 if ok else 1


def _print(report: FamilyReport, console: Console) -> None:
    killed, equal = sum(report.killed.values()), sum(report.equivalent.values())
    mark = "ok  " if report.ok else "FAIL"
    console.print(
        f"{mark} {report.family}: {report.tasks} tasks proved of {report.capacity:,}; lazy agents caught: "
        f"{', '.join(report.agents) or 'none'}; mutants: {killed} killed, {equal} equivalent, {len(report.surviving)} surviving"
    )
    for line in [*report.problems, *(f"surviving {each}" for each in report.surviving)]:
        console.print(f"     {line}")
