"""``synth check``: a world proves itself."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import time
from collections import Counter
from collections.abc import Sequence

from hydra.core.override_parser.types import Quote, QuotedString

from envs.folder import World, load_world
from envs.sandboxes.base import Place
from synth.admission.cache import ReportCache
from synth.admission.check import Options
from synth.admission.report import FamilyReport
from synth.admission.world import WorldReport, check_world
from synth.errors import OperatorError
from synth.places import DATABASES, place_of
from synth.report import Screen
from synth.shipped import examples_dir, find_world

EPILOG = """example:
  synth check ehr_db
  synth check path/to/my_world --families record_heart_rate --json
  synth check shop --database postgres --dsn-env-var MY_DATABASE_URL

What proved itself is not proved again until the world or this software changes; --no-cache proves it all the same."""


def main(argv: list[str]) -> int:
    """Check one world; 0 when every family proves itself, 1 when one does not."""
    arguments = _parser().parse_args(argv)
    world = load_world(find_world(arguments.world))
    if arguments.universes is not None and arguments.universes > 1 and not world.universes:
        raise OperatorError(f"--universes {arguments.universes}: {world.name} has no seed.py, hence one universe only")
    names = None if arguments.families is None else _names(arguments.families)
    options = Options(
        families=None if names is None else tuple(names),
        per_branch=arguments.tasks,
        universes=arguments.universes or (2 if world.universes else 1),
        engine=DATABASES[arguments.database],
        place=_place(arguments),
    )
    screen = Screen()

    def done(report: FamilyReport) -> None:
        if not arguments.json:
            _print(report, screen)

    cache = None if arguments.no_cache else ReportCache(world, options.key)
    started = time.monotonic()
    report = check_world(world.path, options, done, arguments.workers or os.cpu_count() or 1, cache)
    if arguments.json:
        _dump(world, options, report)
    else:
        _conclude(world, names, report, time.monotonic() - started, screen, _server(arguments))
    return 0 if report.ok else 1


def _place(arguments: argparse.Namespace) -> Place:
    if arguments.database == "sqlite" and arguments.dsn_env_var is not None:
        raise OperatorError("--dsn-env-var: SQLite has no server; say --database postgres or --database mysql")
    return place_of(arguments.dsn_env_var, arguments.sandbox, "--dsn-env-var")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="synth check",
        description="Prove a world's task families: gold works and is reachable, laziness and mistakes cost reward.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("world", metavar="WORLD", help="a world's folder, or the name of one that ships")
    parser.add_argument("--families", metavar="A,B", help="only these, separated by commas")
    parser.add_argument(
        "--tasks", type=_positive, default=4, metavar="N", help="tasks to prove per branch of a family (default: 4)"
    )
    parser.add_argument(
        "--universes",
        type=_positive,
        metavar="N",
        help="universes to prove, from number 0 (default: 2 where the world has a seed.py)",
    )
    parser.add_argument("--database", choices=DATABASES, default="sqlite", help="the engine (default: sqlite)")
    parser.add_argument(
        "--dsn-env-var", metavar="NAME", help="the variable that holds the URL of the database's server"
    )
    parser.add_argument(
        "--sandbox", choices=("pooled", "cloned"), default="pooled", help="of a server (default: pooled)"
    )
    parser.add_argument("--workers", type=_positive, metavar="N", help="processes (default: one per CPU)")
    parser.add_argument("--no-cache", action="store_true", help="prove again what proved itself before")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def _dump(world: World, options: Options, report: WorldReport) -> None:
    document = {
        "world": world.name,
        "digest": world.digest,
        "ok": report.ok,
        "universes": options.universes,
        "seed_problem": report.seed,
        "families": [each.to_json() for each in report.families],
    }
    print(json.dumps(document, indent=2))


def _server(arguments: argparse.Namespace) -> list[str]:
    """The overrides by which a run finds the same server."""
    said = {"database": arguments.database, "database.dsn_env_var": arguments.dsn_env_var}
    usual = {"database": "sqlite", "database.dsn_env_var": None}
    return [f"{key}={value}" for key, value in said.items() if value != usual[key]]


def _conclude(
    world: World, names: list[str] | None, report: WorldReport, seconds: float, screen: Screen, on: Sequence[str]
) -> None:
    total = sum(each.capacity for each in report.families)
    bad = [each.family for each in report.families if not each.ok]
    if report.seed is not None:
        bad.append("seed.py")
        screen.parts([("FAIL", "bold red"), (" seed.py", "")])
        screen.line(report.seed, indent=5)
    proved = (
        "1 family proves itself" if len(report.families) == 1 else f"{len(report.families)} families prove themselves"
    )
    verdict = proved if report.ok else f"not proved: {', '.join(bad)}"
    screen.line()
    if report.uncached is not None:
        screen.line(f"warning: nothing could be remembered for the next time: {report.uncached}", "yellow")
    capacity = f"capacity {total:,} {'task' if total == 1 else 'tasks'}"
    screen.line(f"{world.name} {world.digest}: {verdict}; {capacity}. ({seconds:.1f} s)")
    if report.ok:
        screen.line(f"Next: {next_step(world, names, total, on)}")


def next_step(world: World, families: list[str] | None, total: int, on: Sequence[str] = ()) -> str:
    """The run that a proved world is ready for, to be pasted into a shell: never more tasks than there are."""
    shipped = world.path == (examples_dir() / world.name).resolve()
    words = [f"env={world.name}" if shipped else f"env.path={_hydra(str(world.path))}"]
    if families is not None:
        words.append(f"tasks.families=[{','.join(families)}]")
    return shlex.join(["synth", "run", *words, *on, f"tasks.count={min(total, 100)}"])


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
    mark, style = ("ok  ", "green") if report.ok else ("FAIL", "bold red")
    parts = [
        f"{report.tasks} tasks proved of {report.capacity:,}",
        f"lazy agents caught: {', '.join(report.agents) or 'none'}",
        f"mutants: {_total(report.killed)} killed, {_total(report.equivalent)} equivalent",
    ]
    left = f"{len(report.other_ends)} other right ends, {len(report.surviving)} surviving"
    screen.parts(
        [(mark, style), (f" {report.family}: {'; '.join(parts)}, {left}{' (cached)' if report.cached else ''}", "")]
    )
    for line in [*report.problems, *(f"surviving {each}" for each in report.surviving)]:
        screen.line(line, indent=5)


def _total(counter: Counter[str]) -> int:
    return sum(counter.values())
