"""``synth check --tasks-file``: the findings on a list of tasks."""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from envs.sandboxes.base import Template
from envs.world.loader import World, load_world
from synth.core.cli.checking import options_of
from synth.core.cli.command import Arguments
from synth.core.config.quoting import quoted_value
from synth.core.foundation.shipped import examples_dir, find_world
from synth.core.foundation.standard_output import say
from synth.core.screen import Screen
from synth.core.validation.attacks.steps import ToolStep
from synth.core.validation.check import FamilyChecker, Options, Proved
from synth.core.validation.report import FamilyReport
from synth.ext.action_lists.entries import Kind, LeftOut, read_entries
from synth.ext.action_lists.tasks import ListSettings, ListTasks, list_tasks


@dataclass(frozen=True)
class _TaskFinding:
    """The finding on one task of a list. ``kind`` is None for a task that is proved; ``reasons``
    say what is wrong with any other. ``useless_reads`` describe reads of the list that gold leaves
    out.
    """

    id: str
    kind: Kind | None = None
    reasons: Sequence[str] = ()
    report: FamilyReport | None = None
    useless_reads: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        out: dict[str, object] = {"id": self.id, "proved": self.kind is None}
        if self.kind is not None:
            out |= {"kind": self.kind.name.lower(), "reasons": list(self.reasons)}
        if self.useless_reads:
            out["useless_reads"] = list(self.useless_reads)
        if self.report is not None:
            honest = f"{len(self.report.honest_winners)} of {len(self.report.honest_played)}"
            out |= {
                "mutants_killed": self.report.killed.total(),
                "mutants_equivalent": self.report.equivalent.total(),
                "honest_agents_won": honest,
            }
        return out


@dataclass
class ListReport:
    """The report on a list. ``sha256`` is the file's."""

    file: str
    sha256: str
    family: str
    findings: list[_TaskFinding] = field(default_factory=list[_TaskFinding])

    @property
    def ok(self) -> bool:
        return not self.totals

    @property
    def proved(self) -> int:
        return sum(finding.kind is None for finding in self.findings)

    @property
    def totals(self) -> Mapping[Kind, int]:
        """The number of tasks with each kind of mistake, the most frequent first."""
        kinds = Counter(item.kind for item in self.findings if item.kind is not None)
        return dict(kinds.most_common())

    @property
    def useless_reads(self) -> int:
        """The number of tasks that were judged without some of their reads."""
        return sum(bool(finding.useless_reads) for finding in self.findings)

    def to_json(self) -> dict[str, object]:
        return {
            "ok": self.ok,
            "file": self.file,
            "sha256": self.sha256,
            "family": self.family,
            "tasks": len(self.findings),
            "proved": self.proved,
            "totals": {kind.name.lower(): count for kind, count in self.totals.items()},
            "findings": [finding.to_json() for finding in self.findings],
        }


def check_list(
    folder: Path, settings: ListSettings, options: Options, done: Callable[[_TaskFinding], None]
) -> ListReport:
    """Check each task of a list against a world; ``done`` is called with each finding, in the
    order of the file.

    Raises :class:`~synth.errors.OperatorError` for a file that cannot be read.
    """
    order = [entry.id for entry in read_entries(settings.path, "--tasks-file")]
    report = ListReport(str(settings.path), settings.sha256, settings.family)
    opened: list[ListTasks] = []

    def open_tasks(
        world: World, template: Template, families: Sequence[str] | None, universe: int
    ) -> ListTasks:
        opened.append(list_tasks(settings, world, template, families, universe))
        return opened[0]

    with closing(FamilyChecker(folder, options, open_tasks)) as checker:
        names = checker.families()
        tasks = opened[0]
        count = tasks.capacity(settings.family) if names else 0
        proofs: dict[str, Proved] = {}
        for index in range(count):
            name = str(tasks.task(settings.family, index, 0).slots["task_id"])
            proofs[name] = checker.prove_task(settings.family, index)
        writes = [act for proof in proofs.values() for act in proof.writes]
        left_out: dict[str, list[LeftOut]] = {}
        for item in tasks.refused:
            left_out.setdefault(item.id, []).append(item)
        for name in order:
            finding = _finding(name, proofs, left_out, checker, writes)
            if finding.report is not None:
                finding = replace(finding, useless_reads=tasks.useless_reads.get(name, ()))
            report.findings.append(finding)
            done(finding)
    return report


def _finding(
    name: str,
    proofs: dict[str, Proved],
    left_out: Mapping[str, list[LeftOut]],
    checker: FamilyChecker,
    writes: Sequence[ToolStep],
) -> _TaskFinding:
    """The finding on the next task of this id: the first one of several may be proved."""
    proof = proofs.pop(name, None)
    if proof is None:
        item = left_out[name].pop(0)
        return _TaskFinding(name, item.kind, [item.reason])
    report = checker.attack(proof, writes)
    wrong = [*report.problems, *(f"surviving {item}" for item in report.surviving)]
    kind = None
    if not proof.cases or proof.problems:
        kind = Kind.NOT_PROVED
    elif wrong:
        kind = Kind.WRONG_AGENT_WINS
    elif report.honest_lost:
        kind = Kind.HONEST_AGENT_LOSES
    reasons = [_plain(text, proof.family) for text in [*wrong, *report.honest_lost]]
    return _TaskFinding(name, kind, reasons, report)


def _plain(text: str, family: str) -> str:
    """A reason without the place and the advice for families that somebody wrote by hand."""
    before, _, after = text.partition(f"family {family}: ")
    kind = "surviving mutant: " if before.startswith("surviving") else ""
    return f"{kind}{after or text}".partition("; mend the family")[0]


def check_tasks_file(arguments: Arguments, screen: Screen) -> int:
    """Print the findings on a list of tasks; 1 if a task is not proved."""
    world = load_world(find_world(arguments.world))
    options = options_of(arguments, world)
    settings = ListSettings.of(arguments.tasks_file, arguments.consent)

    def done(finding: _TaskFinding) -> None:
        if not arguments.json:
            _print_finding(finding, screen)

    started = time.monotonic()
    said = f"proving the tasks of {settings.path.name} in {world.name}"
    with nullcontext() if arguments.json else screen.working(said):
        report = check_list(world.path, settings, replace(options, universes=1), done)
    if arguments.json:
        document = {"world": world.name, "digest": world.digest, **report.to_json()}
        say(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _conclude_list(world, report, time.monotonic() - started, screen)
    return 0 if report.ok else 1


def _print_finding(finding: _TaskFinding, screen: Screen) -> None:
    """Print one task: proved, or the reasons."""
    if finding.kind is None:
        parts = "" if finding.report is None else _proof(finding)
        screen.parts([("ok  ", "green"), (f" {finding.id}: proved{parts}", "")])
    else:
        screen.parts([("FAIL", "bold red"), (f" {finding.id} {finding.kind}", "")])
    for reason in finding.reasons:
        screen.line(reason, indent=5)
    for reason in finding.useless_reads:
        screen.line(f"left out of gold: {reason}", indent=5)


def _proof(finding: _TaskFinding) -> str:
    facts = finding.to_json()
    return (
        f"; {facts['mutants_killed']} mutants killed, {facts['mutants_equivalent']} equivalent;"
        f" honest agents: {facts['honest_agents_won']} won"
    )


def _conclude_list(world: World, report: ListReport, seconds: float, screen: Screen) -> None:
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
