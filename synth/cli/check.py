"""``synth check``: a world proves itself."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shlex

from hydra.core.override_parser.types import Quote, QuotedString

from envs.folder import World, load_world
from envs.types import Limits
from synth.admission.check import FamilyReport, check_world
from synth.errors import OperatorError
from synth.report import Screen
from synth.shipped import examples_dir, find_world

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
    parser.add_argument("--families", metavar="A,B", help="only these, separated by commas")
    parser.add_argument(
        "--tasks", type=int, default=4, metavar="N", help="tasks to prove per branch of a family (default: 4)"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    arguments = parser.parse_args(argv)
    if arguments.tasks < 1:
        parser.error("--tasks must be at least 1")
    world = load_world(find_world(arguments.world))
    names = None if arguments.families is None else _names(arguments.families)
    screen = Screen()

    def done(report: FamilyReport) -> None:
        if not arguments.json:
            _print(report, screen)

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
        proved = "1 family proves itself" if len(reports) == 1 else f"{len(reports)} families prove themselves"
        verdict = proved if ok else f"not proved: {', '.join(bad)}"
        screen.line()
        screen.line(f"{world.name} {world.digest}: {verdict}; capacity {total:,} {'task' if total == 1 else 'tasks'}.")
        if ok:
            screen.line(f"Next: {next_step(world, names, total)}")
    return 0 if ok else 1


def next_step(world: World, families: list[str] | None, total: int) -> str:
    """The run that a proved world is ready for, to be pasted into a shell: never more tasks than there are."""
    shipped = world.path == (examples_dir() / world.name).resolve()
    words = [f"env={world.name}" if shipped else f"env.path={_hydra(str(world.path))}"]
    if families is not None:
        words.append(f"tasks.families=[{','.join(families)}]")
    return shlex.join(["synth", "run", *words, f"tasks.count={min(total, 100)}"])


def _hydra(value: str) -> str:
    """A value of an override: quoted where Hydra's grammar would read more than text in it."""
    if re.fullmatch(r"[\w/.+ -]*", value):
        return value
    return QuotedString(value, Quote.double).with_quotes()


def _names(text: str) -> list[str]:
    names = [name for part in text.split(",") if (name := part.strip())]
    if not names:
        raise OperatorError("--families names no family; leave it out to check all of them")
    return names


def _print(report: FamilyReport, screen: Screen) -> None:
    killed, equal = sum(report.killed.values()), sum(report.equivalent.values())
    mark, style = ("ok  ", "green") if report.ok else ("FAIL", "bold red")
    words = (
        f" {report.family}: {report.tasks} tasks proved of {report.capacity:,}; lazy agents caught: "
        f"{', '.join(report.agents) or 'none'}; mutants: {killed} killed, {equal} equivalent, {len(report.surviving)} surviving"
    )
    screen.parts([(mark, style), (words, "")])
    for line in [*report.problems, *(f"surviving {each}" for each in report.surviving)]:
        screen.line(line, indent=5)
