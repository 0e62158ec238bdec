"""``synth check --tasks-file``: the findings on a list of tasks."""

from __future__ import annotations

import json
import shlex
import time
from contextlib import nullcontext
from dataclasses import replace

from envs.world.loader import World
from synth.core.cli.command import Arguments
from synth.core.config.quoting import quoted_value
from synth.core.foundation.shipped import examples_dir
from synth.core.foundation.standard_output import say
from synth.core.report import Screen
from synth.core.validation.check import Options
from synth.errors import OperatorError
from synth.ext.action_lists.list_check import ListReport, TaskFinding, check_list
from synth.ext.action_lists.tasks import ListSettings

_FOR_FAMILIES = ("families", "universes", "show", "model", "watch")
"""Options that say nothing about a list of tasks."""


def check_tasks_file(world: World, options: Options, arguments: Arguments, screen: Screen) -> int:
    """Print the findings on a list of tasks; 1 if a task is not proved."""
    if spare := [name for name in _FOR_FAMILIES if getattr(arguments, name)]:
        raise OperatorError(
            f"--{spare[0]} is about a world's families; leave it out with --tasks-file"
        )
    settings = ListSettings.of(arguments.tasks_file, arguments.consent)

    def done(finding: TaskFinding) -> None:
        if not arguments.json:
            print_finding(finding, screen)

    started = time.monotonic()
    said = f"proving the tasks of {settings.path.name} in {world.name}"
    with nullcontext() if arguments.json else screen.working(said):
        report = check_list(world.path, settings, replace(options, universes=1), done)
    if arguments.json:
        document = {"world": world.name, "digest": world.digest, **report.to_json()}
        say(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        conclude_list(world, report, time.monotonic() - started, screen)
    return 0 if report.ok else 1


def print_finding(finding: TaskFinding, screen: Screen) -> None:
    """Print one task: proved, or the reasons."""
    if finding.kind is None:
        report = finding.report
        parts = "" if report is None else _proof(finding)
        screen.parts([("ok  ", "green"), (f" {finding.id}: proved{parts}", "")])
    else:
        screen.parts([("FAIL", "bold red"), (f" {finding.id} {finding.kind}", "")])
    for reason in finding.reasons:
        screen.line(reason, indent=5)
    for reason in finding.useless_reads:
        screen.line(f"left out of gold: {reason}", indent=5)


def _proof(finding: TaskFinding) -> str:
    facts = finding.to_json()
    return (
        f"; {facts['mutants_killed']} mutants killed, {facts['mutants_equivalent']} equivalent;"
        f" honest agents: {facts['honest_agents_won']} won"
    )


def conclude_list(world: World, report: ListReport, seconds: float, screen: Screen) -> None:
    """Print the totals by reason, and the run that the proved tasks are ready for."""
    screen.line()
    for kind, count in report.totals.items():
        screen.line(f"{count:5}  {kind}")
    if report.useless_reads:
        screen.line(f"{report.useless_reads:5}  was judged without reads that no agent could make")
    count = len(report.findings)
    screen.line(
        f"{report.file}: {report.proved} of {count} tasks prove themselves in {world.name}"
        f" {world.digest} ({seconds:.1f} s)"
    )
    if report.proved:
        shipped = world.path == (examples_dir() / world.name).resolve()
        env = f"env={world.name}" if shipped else f"env.path={quoted_value(str(world.path))}"
        path = f"tasks.path={quoted_value(report.file)}"
        words = ["synth", "run", env, "tasks=actions", path, f"tasks.count={report.proved}"]
        screen.line(f"Next: {shlex.join(words)}")
