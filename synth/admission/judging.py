"""Whether what an attack left behind is what gold leaves behind: an opinion of its own, apart from the verifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envs.types import RowChange
from synth.admission.told import rule_of
from synth.canonical import canonical
from synth.types import GoldEnd, Task
from synth.verifiers import Evidence

Json = Any


def end_of(evidence: Evidence) -> GoldEnd:
    """What a playing left behind."""
    answer = None if evidence.submitted is None else dict(evidence.submitted)
    return GoldEnd([each.to_json() for each in evidence.changes], answer)


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
        return row and {name: value for name, value in row.items() if rule_of(rules, table, name) == "exact"}

    rows: list[str] = []
    for change in map(RowChange.from_json, changes):
        before, after = strict(change.table, change.before), strict(change.table, change.after)
        if change.op != "update" or before or after:
            rows.append(canonical([change.table, change.op, dict(change.key), before, after]))
    return sorted(rows)


def same_process(gold: Evidence, other: Evidence) -> bool:
    """Whether the way there was the same as far as a gate may ask: what was told and agreed before rows changed, and
    where writes may not be undone, which rows were touched at all.
    """
    return _process(gold) == _process(other)


def _process(evidence: Evidence) -> Json:
    task = evidence.task
    asked = {topic for step in task.gold if step["do"] == "ask" for topic in step["topics"]}
    first = next((at for at, call in enumerate(evidence.calls) if call.changes), len(evidence.calls))
    turns = [turn for turn in evidence.turns if turn.after <= first]
    told = sorted(asked & {topic for turn in turns for topic in turn.told})
    touched = {
        canonical([change.table, dict(change.key), sorted(change.after or change.before or {})])
        for call in evidence.calls
        for change in call.changes
        if task.transient == "forbid"
    }
    return [told, any(turn.consents for turn in turns), sorted(touched)]
