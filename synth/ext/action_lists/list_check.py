"""The check of a whole list: each task is proved, attacked and played by honest agents."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from envs.sandboxes.base import Template
from envs.world.loader import World
from synth.core.validation.attacks.steps import ToolStep
from synth.core.validation.check import FamilyChecker, Options, Proved
from synth.core.validation.report import FamilyReport
from synth.ext.action_lists.entries import Kind, LeftOut, read_entries
from synth.ext.action_lists.tasks import ListSettings, ListTasks, list_tasks


@dataclass(frozen=True)
class TaskFinding:
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
    findings: list[TaskFinding] = field(default_factory=list[TaskFinding])

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
    folder: Path, settings: ListSettings, options: Options, done: Callable[[TaskFinding], None]
) -> ListReport:
    """Check each task of a list against a world; ``done`` is called with each finding, in the
    order of the file.

    Raises :class:`~synth.errors.OperatorError` for a file that cannot be read.
    """
    order = [entry.id for entry in read_entries(settings.path, "--tasks-file")]
    report = ListReport(
        str(settings.path), hashlib.sha256(settings.path.read_bytes()).hexdigest(), settings.family
    )
    opened: list[ListTasks] = []

    def open_tasks(
        world: World, template: Template, families: Sequence[str] | None, universe: int
    ) -> ListTasks:
        opened.append(list_tasks(settings, world, template, families, universe, report.sha256))
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
) -> TaskFinding:
    """The finding on the next task of this id: the first one of several may be proved."""
    proof = proofs.pop(name, None)
    if proof is None:
        item = left_out[name].pop(0)
        return TaskFinding(name, item.kind, [item.reason])
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
    return TaskFinding(name, kind, reasons, report)


def _plain(text: str, family: str) -> str:
    """A reason without the place and the advice for families that somebody wrote by hand."""
    before, _, after = text.partition(f"family {family}: ")
    kind = "surviving mutant: " if before.startswith("surviving") else ""
    return f"{kind}{after or text}".partition("; mend the family")[0]
