"""A world proves itself: gold works and is reachable, order does not matter, laziness and mistakes cost reward."""

from __future__ import annotations

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
from synth.admission.proof import GoldRun, fault, play_gold, prove
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

PER_KIND = 40
"""Mutants of one kind that are played per task, evenly spread: a long loop has hundreds that are alike."""


@dataclass
class FamilyReport:
    """What the proofs of one family came to. ``problems`` is empty when the family may be used."""

    family: str
    capacity: int = 0
    tasks: int = 0
    agents: Counter[str] = field(default_factory=Counter[str])
    killed: Counter[str] = field(default_factory=Counter[str])
    equivalent: Counter[str] = field(default_factory=Counter[str])
    left_out: int = 0
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
            "mutants_left_out": self.left_out,
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
    cases: dict[str, list[Case]] = {}
    reports: dict[str, FamilyReport] = {}
    for family in source.families:
        report = reports[family.id] = FamilyReport(family.id, source.capacity(family.id))
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
            report.problems += [
                str(fault(task, world, message, "gold", tool)) for tool, message in unreachable(task, gold)
            ]
            backwards = await play_gold(task, world, template, limits, unordered=True)
        except (TaskError, EnvsError) as error:
            report.problems.append(str(error))
            break
        if verdict := _judge(task, backwards):
            message = f"gold comes out otherwise when rows without ORDER BY stand in another order: {verdict}"
            report.problems.append(str(fault(task, world, f"{message} (task {task.id})", "gold")))
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
    schemas = {each.name: each.parameters for each in world.tools}
    for case in cases:
        for attack in lazy_agents(case.task, case.acts, world.tools):
            score, _ = await _play(attack, case.task, world, template, limits)
            earned.setdefault(f"{attack.kind}: {attack.label}" if case.task.branch else attack.kind, []).append(
                score.reward == 1.0
            )
        own = [act for other in cases if other is not case for act in other.acts if act.writes]
        strays = _different([*own, *writes], case.acts)[:STRAYS]
        every = list(mutants(case.acts, strays, schemas))
        chosen = spread(every)
        report.left_out += len(every) - len(chosen)
        for attack in chosen:
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


def spread(attacks: Sequence[Attack]) -> list[Attack]:
    """At most :data:`PER_KIND` of each kind, evenly spread over their order."""
    kinds: dict[str, list[Attack]] = {}
    for each in attacks:
        kinds.setdefault(each.kind, []).append(each)
    return [
        each
        for group in kinds.values()
        for each in (
            group if len(group) <= PER_KIND else [group[at * len(group) // PER_KIND] for at in range(PER_KIND)]
        )
    ]


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
        return row and {name: value for name, value in row.items() if _rule(rules, table, name) == "exact"}

    rows: list[str] = []
    for change in map(RowChange.from_json, changes):
        before, after = strict(change.table, change.before), strict(change.table, change.after)
        if change.op != "update" or before or after:
            rows.append(canonical([change.table, change.op, dict(change.key), before, after]))
    return sorted(rows)


def unreachable(task: Task, gold: GoldRun) -> list[tuple[str, str]]:
    """Arguments of gold that nobody told the agent: not in the request, the rules, the tools or an earlier result.

    Pairs of the tool and what is wrong. Words that end in free text only may be the agent's own.
    """
    told = [task.system, task.prompt, *(str(leaf) for _, leaf in _leaves(gold.tools))]
    out: list[tuple[str, str]] = []
    for outcome in gold.run.outcomes:
        if outcome.call.name != SUBMIT:
            seen = _flat("\n".join(told))
            out += [
                (
                    outcome.call.name,
                    f"gold calls {outcome.call.name} with {name}={value!r}, which nobody told the agent (task {task.id})",
                )
                for name, value in _leaves(outcome.arguments or {})
                if not _told(value, seen) and not _own_words(value, outcome.changes, task.compare)
            ]
        told += [outcome.content, *_texts(outcome.result.payload())]
    return out


def _texts(value: Json) -> list[str]:
    """The texts in a result as they read, without JSON's escapes."""
    return [leaf for _, leaf in _leaves(value) if isinstance(leaf, str)]


def _own_words(value: Json, changes: Sequence[RowChange], rules: Mapping[str, Json]) -> bool:
    """Whether a text was written, and into columns only that take any text."""
    held = [
        _rule(rules, change.table, column)
        for change in changes
        for column, cell in (change.after or {}).items()
        if isinstance(value, str) and cell == value
    ]
    return bool(held) and all(rule == "free_text" for rule in held)


def _rule(rules: Mapping[str, Json], table: str, column: str) -> Json:
    return rules.get(f"{table}.{column}", rules.get(f"*.{column}", "exact"))


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
    if isinstance(value, int):
        forms.append(f"{value}.0")
    return any(re.search(rf"(?<![\w.]){re.escape(form)}(?![\w]|\.\d)", seen) for form in forms)
