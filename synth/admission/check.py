"""A world proves itself: gold works and is reachable, order does not matter, laziness and mistakes cost reward."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from envs.errors import EnvsError
from envs.folder import World
from envs.sandboxes.base import Template
from envs.types import Limits, RowChange
from synth.admission.attacks import Act, Attack, lazy_agents, mutants
from synth.admission.proof import GoldRun, play_gold, prove
from synth.canonical import canonical
from synth.episode import SUBMIT, Episode, Score
from synth.errors import TaskError
from synth.tasks.family import Family
from synth.tasks.source import TaskSource
from synth.types import GoldEnd, Task
from synth.verifiers import Evidence, judge, reward

Json = Any

SEED = 0
STRAYS = 3


@dataclass
class FamilyReport:
    """What the proofs of one family came to. ``problems`` is empty when the family may be used."""

    family: str
    capacity: int = 0
    tasks: int = 0
    agents: Counter[str] = field(default_factory=Counter[str])
    killed: Counter[str] = field(default_factory=Counter[str])
    equivalent: Counter[str] = field(default_factory=Counter[str])
    surviving: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        return not self.problems and not self.surviving

    def to_json(self) -> dict[str, Json]:
        return {
            "family": self.family,
            "ok": self.ok,
            "capacity": self.capacity,
            "tasks_proved": self.tasks,
            "lazy_agents_caught": dict(self.agents),
            "mutants_killed": dict(self.killed),
            "mutants_equivalent": dict(self.equivalent),
            "mutants_surviving": self.surviving,
            "problems": self.problems,
        }


@dataclass(frozen=True)
class Case:
    """A proved task with its gold as concrete calls."""

    task: Task
    gold: GoldRun
    acts: Sequence[Act]


async def check_world(
    world: World,
    template: Template,
    families: Sequence[str] | None,
    per_branch: int,
    limits: Limits,
    done: Callable[[FamilyReport], None],
) -> list[FamilyReport]:
    """Prove each family on ``per_branch`` tasks of each of its branches; ``done`` is told after each family.

    Raises :class:`TaskError` or :class:`~envs.errors.WorldError` for what keeps the world from being read at all.
    """
    source = TaskSource(world, template, families)
    lint = compare_problems(source, template)
    cases: dict[str, list[Case]] = {}
    reports: dict[str, FamilyReport] = {}
    for family in source.families:
        report = reports[family.id] = FamilyReport(
            family.id, source.capacity(family.id), problems=lint.get(family.id, [])
        )
        cases[family.id] = await _prove_family(source, family, per_branch, limits, report)
    writes = [act for group in cases.values() for case in group[:1] for act in case.acts if act.writes]
    for family in source.families:
        report = reports[family.id]
        if cases[family.id] and not report.problems:
            await _attack_family(world, template, cases[family.id], writes, limits, report)
        done(report)
    return [reports[family.id] for family in source.families]


async def _prove_family(
    source: TaskSource, family: Family, per_branch: int, limits: Limits, report: FamilyReport
) -> list[Case]:
    world, template = source.world, source.template
    out: list[Case] = []
    for at in range(min(per_branch * len(source.branches(family.id)), report.capacity)):
        try:
            task = await prove(source.task(family.id, at, SEED), world, template, limits)
            gold = await play_gold(task, world, template, limits)
            report.problems += unreachable(task, gold)
            backwards = await play_gold(task, world, template, limits, unordered=True)
        except (TaskError, EnvsError) as error:
            report.problems.append(str(error))
            break
        if verdict := _judge(task, backwards):
            report.problems.append(f"depends on the order of rows without ORDER BY: {verdict} (task {task.id})")
        if report.problems:
            break
        report.tasks += 1
        acts = [Act(each.call.name, each.arguments or {}, writes=bool(each.changes)) for each in gold.run.outcomes]
        out.append(Case(task, gold, acts))
    return out


def _judge(task: Task, gold: GoldRun) -> str:
    """Why a playing of gold does not earn the full reward; empty when it does."""
    from_end = _score(replace(gold.evidence, task=task))
    return "" if from_end.reward == 1.0 else "; ".join(v.reason for v in from_end.verdicts if v.score != 1.0)


def _score(evidence: Evidence) -> Score:
    verdicts = judge(evidence)
    return Score(verdicts, reward(verdicts))


async def _attack_family(
    world: World, template: Template, cases: Sequence[Case], writes: Sequence[Act], limits: Limits, report: FamilyReport
) -> None:
    earned: dict[str, list[bool]] = {}
    for case in cases:
        for attack in lazy_agents(case.task, case.acts, world.tools):
            score, _ = await _play(attack, case.task, world, template, limits)
            earned.setdefault(f"{attack.kind}: {attack.label}" if case.task.branch else attack.kind, []).append(
                score.reward == 1.0
            )
        own = [act for other in cases if other is not case for act in other.acts if act.writes]
        strays = _different([*own, *writes], case.acts)[:STRAYS]
        for attack in mutants(case.acts, strays):
            score, end = await _play(attack, case.task, world, template, limits)
            if score.reward != 1.0:
                report.killed[attack.kind] += 1
            elif same_end(case.task, end):
                report.equivalent[attack.kind] += 1
            else:
                report.surviving.append(f"{attack.kind}: {attack.label} (task {case.task.id})")
    twins = len({case.task.branch for case in cases}) > 1
    for label, wins in earned.items():
        # A constant refusal is right wherever refusing is right: twins are what it must fail on.
        if all(wins) or (any(wins) and not twins):
            report.problems.append(f"a lazy agent earns the full reward ({label})")
        else:
            report.agents[label.partition(":")[0]] += 1


def _different(strays: Sequence[Act], gold: Sequence[Act]) -> list[Act]:
    """Writes that are not among gold's own, one of each kind of call first."""
    own = {(act.name, canonical(dict(act.arguments))) for act in gold}
    seen: dict[tuple[str, str], Act] = {}
    for act in strays:
        seen.setdefault((act.name, canonical(dict(act.arguments))), act)
    fresh = [act for key, act in seen.items() if key not in own]
    first = {act.name: act for act in reversed(fresh)}
    return [*first.values(), *(act for act in fresh if first[act.name] is not act)]


async def _play(attack: Attack, task: Task, world: World, template: Template, limits: Limits) -> tuple[Score, GoldEnd]:
    with Episode(task, world, template, limits) as episode:
        for act in attack.acts:
            await episode.call(act.name, act.arguments)
        changes = [each.to_json() for each in episode.diff().changes]
        answer = None if episode.submitted is None else dict(episode.submitted)
        return episode.score(), GoldEnd(changes, answer)


def same_end(task: Task, end: GoldEnd) -> bool:
    """Whether an end equals gold's in every value that the world does not declare lenient.

    Independent of the verifiers: a plain comparison of changes and answer as JSON.
    """
    assert task.end is not None
    lenient = {field for field, rule in task.compare_answer.items() if rule != "exact"}

    def strict(answer: Mapping[str, Json] | None) -> Json:
        return answer and {name: value for name, value in answer.items() if name not in lenient}

    return _strict_rows(task, end.changes) == _strict_rows(task, task.end.changes) and canonical(
        strict(end.answer)
    ) == canonical(strict(task.end.answer))


def _strict_rows(task: Task, changes: Sequence[Mapping[str, Json]]) -> list[str]:
    rules = task.compare

    def strict(table: str, row: Mapping[str, Json] | None) -> Json:
        return row and {
            name: value
            for name, value in row.items()
            if rules.get(f"{table}.{name}", rules.get(f"*.{name}", "exact")) == "exact"
        }

    rows: list[str] = []
    for change in map(RowChange.from_json, changes):
        before, after = strict(change.table, change.before), strict(change.table, change.after)
        if change.op != "update" or before or after:
            rows.append(canonical([change.table, change.op, dict(change.key), before, after]))
    return sorted(rows)


def compare_problems(source: TaskSource, template: Template) -> dict[str, list[str]]:
    """Rules of ``compare`` that name no column or put a tolerance on text, per family."""
    out: dict[str, list[str]] = {}
    for family in source.families:
        lines: list[str] = []
        for target, rule in family.compare.items():
            table, _, column = target.partition(".")
            if table != "*" and table not in template.tables:
                lines.append(f"compare {target}: there is no table {table!r}")
                continue
            known = [c for name, t in template.tables.items() if table in {"*", name} for c in t.columns]
            found = [each for each in known if each.name == column]
            if column and not found:
                lines.append(f"compare {target}: there is no column {column!r}")
            if isinstance(rule, Mapping) and any(
                re.search("CHAR|TEXT|CLOB|DATE|TIME", each.type.upper()) for each in found
            ):
                lines.append(f"compare {target}: a tolerance on a column of text")
        if lines:
            out[family.id] = lines
    return out


def unreachable(task: Task, gold: GoldRun) -> list[str]:
    """Arguments of gold that nobody told the agent: not in the request, the rules, the tools or an earlier result."""
    told = [task.system, task.prompt, json.dumps(gold.tools, ensure_ascii=False)]
    out: list[str] = []
    for outcome in gold.run.outcomes:
        if outcome.call.name != SUBMIT:
            seen = _flat("\n".join(told))
            out += [
                f"gold calls {outcome.call.name} with {name}={value!r}, which nobody told the agent (task {task.id})"
                for name, value in _leaves(outcome.arguments or {})
                if not _told(value, seen)
            ]
        told.append(outcome.content)
    return out


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())


def _leaves(value: Json, name: str = "") -> list[tuple[str, Json]]:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Json]", value).items()
        return [leaf for key, inner in items for leaf in _leaves(inner, f"{name}.{key}" if name else key)]
    if isinstance(value, list):
        return [leaf for inner in cast("list[Json]", value) for leaf in _leaves(inner, f"{name}[]")]
    return [(name, value)]


def _told(value: Json, seen: str) -> bool:
    if value is None or isinstance(value, bool):
        return True
    forms = [_flat(str(value))]
    if isinstance(value, float) and value.is_integer():
        forms.append(str(int(value)))
    return any(re.search(rf"(?<![\w.]){re.escape(form)}(?![\w]|\.\d)", seen) for form in forms)
