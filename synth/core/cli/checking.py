"""The work of ``synth check``: proofs, their report and what to do next."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import replace

from envs.errors import EnvsError
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.world.files import world_digest
from envs.world.loader import World, load_world
from synth.core.cli.command import Arguments
from synth.core.cli.suspects import show_suspects
from synth.core.config.database import DatabaseConfig
from synth.core.config.database_target import configured_target, engine_of, target_of
from synth.core.config.quoting import quoted_value
from synth.core.foundation.shipped import configs_dir, examples_dir, find_world
from synth.core.foundation.standard_output import say
from synth.core.models.openai.endpoint import Endpoint
from synth.core.screen import Screen
from synth.core.validation.cache import ReportCache
from synth.core.validation.check import FamilyChecker, Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import WorldReport, check_world
from synth.errors import OperatorError, SynthError
from synth.model import Sampling
from synth.plugins import CHECKS, HONEST_AGENTS, MODELS, resolve

_FOR_FAMILIES = ("families", "universes", "show", "model", "watch")
"""Options that say nothing about what is checked in place of families."""

WATCH_S = 0.3
"""Seconds between two looks at the world's files."""


def watch(arguments: Arguments) -> int:
    """Check the world after each change of its files, until Ctrl-C."""
    folder, screen = find_world(arguments.world), Screen()
    while True:
        checked = world_digest(folder)
        try:
            check(arguments)
        except (SynthError, EnvsError) as error:
            screen.line(f"error: {error}", "bold red")
        screen.line(f"watching {folder}; Ctrl-C ends")
        while world_digest(folder) == checked:
            time.sleep(WATCH_S)


def check(arguments: Arguments) -> int:
    """Check the world once; returns the exit code."""
    screen = Screen()
    if (other := _in_place_of_families(arguments)) is not None:
        return CHECKS.load(other)(arguments, screen)
    world = load_world(find_world(arguments.world))
    options = options_of(arguments, world)
    if arguments.show is not None:
        return _show(world, options, arguments.show, screen)
    if arguments.model is not None:
        return _sample(world, options, arguments, screen)

    def done(report: FamilyReport) -> None:
        if not arguments.json:
            _print(report, screen)

    changes = find_engine(options.engine).attaches  # its rows are part of no key
    cache = None if arguments.no_cache or changes else ReportCache(world, options.key)
    started = time.monotonic()
    said = f"proving the families of {world.name}"
    begun = None if arguments.json else _say_count
    with nullcontext() if arguments.json else screen.working(said):
        report = check_world(world.path, options, done, arguments.workers, cache, begun)
    if arguments.json:
        _dump(world, options, report)
    else:
        names = None if options.families is None else list(options.families)
        _conclude(world, names, report, time.monotonic() - started, screen, _overrides(arguments))
    return 0 if report.ok else 1


def _in_place_of_families(arguments: Arguments) -> str | None:
    """The check that an option asks for. Raises OperatorError for another option about families."""
    asked = (one.name for one in CHECKS.all() if getattr(arguments, one.name, None) is not None)
    other = next(asked, None)
    spare = [name for name in _FOR_FAMILIES if getattr(arguments, name)]
    if other is not None and spare:
        option = other.replace("_", "-")
        raise OperatorError(
            f"--{spare[0]} is about a world's families; leave it out with --{option}"
        )
    return other


def _say_count(count: int, fresh: int) -> None:
    """Say before the proofs how many families there are, and how many proved themselves before."""
    before = f"; {count - fresh:,} proved themselves before" if fresh < count else ""
    words = "1 family" if count == 1 else f"{count:,} families"
    print(f"proving {words}{before}", file=sys.stderr, flush=True)


def options_of(arguments: Arguments, world: World) -> Options:
    """The families of a world to prove, and where."""
    if arguments.universes is not None and arguments.universes > 1 and not world.universes:
        raise OperatorError(
            f"--universes {arguments.universes}: {world.name} has no seed.py: one universe only"
        )
    engine, place = _place(arguments)
    return Options(
        families=None if arguments.families is None else tuple(arguments.families),
        per_case=arguments.tasks,
        universes=arguments.universes or (2 if world.universes else 1),
        engine=engine,
        place=place,
        honest=_honest(arguments.honest),
        transforms=tuple(arguments.transform),
    )


def _honest(names: list[str] | None) -> tuple[str, ...]:
    """The names of the honest agents to play: by default all that are installed."""
    if names is None:
        return tuple(extension.name for extension in HONEST_AGENTS.all())
    return tuple(HONEST_AGENTS.find(name).name for name in names)


def _place(arguments: Arguments) -> tuple[str, DatabaseTarget]:
    if arguments.overrides:
        if arguments.database != "sqlite" or arguments.dsn_env_var:
            raise OperatorError("give --database and --dsn-env-var, or overrides of `database`")
        section = resolve("synth.core.cli.reseed:database_section")
        database: DatabaseConfig = section(arguments.overrides, "check")
        return database.engine, configured_target(database)
    engine = engine_of(arguments.database, "--database")
    return engine, target_of(engine, arguments.dsn_env_var, arguments.sandbox, "--dsn-env-var")


def _dump(world: World, options: Options, report: WorldReport) -> None:
    document = {
        "world": world.name,
        "digest": world.digest,
        "ok": report.ok,
        "universes": options.universes,
        "seed_problem": report.seed,
        "notes": report.notes,
        "personal_columns": report.personal,
        "family_guess": None if report.guess is None else report.guess.to_json(),
        "families": [family.to_json() for family in report.families],
    }
    say(json.dumps(document, indent=2))


def _overrides(arguments: Arguments) -> list[str]:
    """The overrides by which a run asks the same tasks of the same server."""
    out: list[str] = [*arguments.overrides]
    if arguments.database != "sqlite":
        shipped = (configs_dir() / "database" / f"{arguments.database}.yaml").is_file()
        out.append(f"database{'' if shipped else '.engine'}={arguments.database}")
    if arguments.dsn_env_var is not None:
        out.append(f"database.dsn_env_var={arguments.dsn_env_var}")
    if arguments.transform:
        out.append(f"tasks.transforms=[{','.join(arguments.transform)}]")
    return out


def _conclude(
    world: World,
    names: list[str] | None,
    report: WorldReport,
    seconds: float,
    screen: Screen,
    on: Sequence[str],
) -> None:
    total = sum(family.capacity for family in report.families)
    bad = [family.family for family in report.families if not family.ok]
    if report.seed is not None:
        bad.append("seed.py")
        screen.parts([("FAIL", "bold red"), (" seed.py", "")])
        screen.line(report.seed, indent=5)
    for note in report.notes:
        screen.line(f"note: {note}", "yellow")
    if report.personal:
        screen.line(f"personal columns: {', '.join(report.personal)}")
    if (guess := report.guess) is not None:
        screen.line(
            f"family guessed from the tools shown in {guess.by_tools:.0%} of {guess.tasks} tasks,"
            f" from the request in {guess.by_request:.0%} (chance {guess.chance:.0%})"
        )
    proved = (
        "1 family proves itself"
        if len(report.families) == 1
        else f"{len(report.families)} families prove themselves"
    )
    verdict = proved if report.ok else f"not proved: {', '.join(bad)}"
    screen.line()
    if report.uncached is not None:
        screen.line(
            f"warning: nothing could be remembered for the next time: {report.uncached}", "yellow"
        )
    capacity = f"capacity {total:,} {'task' if total == 1 else 'tasks'}"
    if known := sum(family.known_answers for family in report.families):
        screen.line(
            f"warning: {known} of the proved tasks have an answer that can be known by heart: no"
            " further database has another one",
            "yellow",
        )
    screen.line(f"{world.name} {world.digest}: {verdict}; {capacity}. ({seconds:.1f} s)")
    shown = [f"{family.family}:{family.example}" for family in report.families if family.example]
    if report.ok:
        screen.line(f"Next: {next_step(world, names, total, on)}")
    elif shown:
        screen.line(f"Next: {shlex.join(['synth', 'check', str(world.path), '--show', shown[0]])}")


def next_step(world: World, families: list[str] | None, total: int, on: Sequence[str] = ()) -> str:
    """The run that a proved world is ready for, to be pasted into a shell: never more tasks than
    there are.
    """
    shipped = world.path == (examples_dir() / world.name).resolve()
    words = [f"env={world.name}" if shipped else f"env.path={quoted_value(str(world.path))}"]
    if families is not None:
        words.append(f"tasks.families=[{','.join(families)}]")
    return shlex.join(["synth", "run", *words, *on, f"tasks.count={min(total, 100)}"])


def _print(report: FamilyReport, screen: Screen) -> None:
    mark, style = ("ok  ", "green") if report.ok else ("FAIL", "bold red")
    other = f"{len(report.other_ends)} other right ends, {len(report.surviving)} surviving"
    parts = [
        f"{report.tasks} tasks proved, capacity {report.capacity:,}",
        f"{len(report.agents)} lazy agents caught",
        f"mutants: {report.killed.total()} killed, {report.equivalent.total()} equivalent, {other}",
        _honest_part(report),
    ]
    if report.gold_scores:
        scores = ", ".join(f"{name} {score:.3g}" for name, score in report.gold_scores.items())
        parts.insert(1, f"lowest scores of gold: {scores}")
    if report.known_answers:
        parts.append(f"{report.known_answers} tasks with an answer that can be known by heart")
    cached = " (cached)" if report.cached else ""
    screen.parts([(mark, style), (f" {report.family}: {'; '.join(parts)}{cached}", "")])
    surviving = (f"surviving {item}" for item in report.surviving)
    for line in [*report.problems, *surviving, *report.honest_lost]:
        screen.line(line, indent=5)
    notes = list(report.notes)
    if report.ok and not any((report.killed, report.equivalent, report.other_ends)):
        notes.append(
            "no mutant applies: only what the agent says is judged; `answer` would be, too"
        )
    for note in notes:
        screen.line(f"note: {note}", "yellow", indent=5)


def _sample(world: World, options: Options, arguments: Arguments, screen: Screen) -> int:
    """Print the suspects among gold solutions; 0, as they are hints."""
    key = os.environ.get(arguments.api_key_env)
    if not key and arguments.base_url is None:
        raise OperatorError(f"${arguments.api_key_env}, which holds the model's key, is not set")
    endpoint = Endpoint(arguments.model, arguments.base_url)
    model = MODELS.load("openai")(endpoint, Sampling(), key or None)
    with closing(FamilyChecker(world.path, options)) as checker:
        report = checker.sample(model, arguments.samples)
    show_suspects(report, screen, as_json=arguments.json)
    return 0


def _show(world: World, options: Options, wanted: str, screen: Screen) -> int:
    """Print one rollout of an agent; 1 if it is a finding: an honest agent's that loses, or an
    attacker's that wins.
    """
    family, _, agent = wanted.partition(":")
    if not agent:
        raise OperatorError(f"--show {wanted}: write FAMILY:AGENT, such as {family}:terse")
    with closing(FamilyChecker(world.path, replace(options, families=(family,)))) as checker:
        rollouts = checker.show(family, agent)
    if not rollouts:
        screen.line(f"{agent} makes no difference to the tasks of {family}")
        return 0
    honest = agent in options.honest or ":" in agent
    found = [one for one in rollouts if one.solved != honest and not one.judged]
    rollout = (found or rollouts)[0]
    ends = ("lost", "won", "won, what it said is left to a judge")
    end = ends[rollout.solved + rollout.judged]
    screen.line(f"{rollout.agent} on task {rollout.task}: {end}")
    for line in rollout.transcript:
        screen.line(line, indent=2)
    for title, lines in (("missing", rollout.missing), ("besides gold", rollout.besides)):
        for line in lines:
            screen.line(f"{title}: {line}", "yellow", indent=2)
    for line in rollout.verdicts:
        screen.line(f"verdict {line}", indent=2)
    screen.line(f"{len(found)} of {len(rollouts)} such rollouts are findings")
    return 1 if found else 0


def _honest_part(report: FamilyReport) -> str:
    line = f"honest agents: {len(report.honest_winners)} of {len(report.honest_played)} won"
    excepted = len(report.honest_excepted)
    return f"{line} ({excepted} excepted)" if excepted else line
