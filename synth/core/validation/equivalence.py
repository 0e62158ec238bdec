"""Equivalence of an attack and gold, decided independently of the verifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envs.types import RowChange
from synth.core.foundation.hashing import canonical
from synth.core.types.steps import AskStep
from synth.core.validation.argument_provenance import rule_of
from synth.rewards import Evidence
from synth.task import GoldEnd, Task


def end_of(evidence: Evidence) -> GoldEnd:
    """The net changes and the answer of a playing."""
    answer = None if evidence.submitted is None else dict(evidence.submitted)
    return GoldEnd([change.to_json() for change in evidence.changes], answer)


def same_end(task: Task, end: GoldEnd) -> bool:
    """Compare an end with gold's in every value that the world does not declare lenient.

    This is a plain comparison of changes and answer as JSON, which uses no verifier.
    """
    assert task.end is not None
    return canonical(strict_end(task, end)) == canonical(strict_end(task, task.end))


def strict_end(task: Task, end: GoldEnd) -> list[object]:
    """The row changes and the answer of an end, without what the world declares lenient, as
    JSON.
    """
    lenient = {field for field, rule in task.rules.compare_answer.items() if rule != "exact"}
    answer = end.answer and {
        name: value for name, value in end.answer.items() if name not in lenient
    }
    return [_strict_rows(task, end.changes), answer]


def _strict_rows(task: Task, changes: Sequence[Mapping[str, Any]]) -> list[str]:
    rules = task.rules.compare

    def strict(table: str, row: Mapping[str, object] | None) -> object:
        return row and {
            name: value for name, value in row.items() if rule_of(rules, table, name) == "exact"
        }

    rows: list[str] = []
    for change in map(RowChange.from_json, changes):
        before, after = strict(change.table, change.before), strict(change.table, change.after)
        if change.op != "update" or before or after:
            rows.append(canonical([change.table, change.op, dict(change.key), before, after]))
    return sorted(rows)


def same_process(gold: Evidence, other: Evidence) -> bool:
    """Compare two ways to an end as far as gates look at them: before the first write the topics
    that the user had told, at least gold's, and consent; if writes may not be undone, the rows that
    were touched.
    """
    told, *process = _process(gold)
    told_other, *process_other = _process(other)
    return told <= told_other and process == process_other


def _process(evidence: Evidence) -> tuple[set[str], bool, list[str]]:
    task, calls = evidence.task, evidence.calls
    first_write = next((index for index, call in enumerate(calls) if call.changes), -1)
    turns = [turn for turn in evidence.turns if turn.after <= first_write]
    asked = {topic for step in task.gold if isinstance(step, AskStep) for topic in step.topics}
    answered = asked & {topic for turn in turns for topic in turn.told}
    touched = _touched_rows(evidence) if task.rules.transient == "forbid" else []
    return answered, any(turn.consents for turn in turns), touched


def _touched_rows(evidence: Evidence) -> list[str]:
    """Every row that some call changed, with the columns that it changed."""
    changes = [change for call in evidence.calls for change in call.changes]
    return sorted(
        {
            canonical([change.table, dict(change.key), sorted(change.after or change.before or {})])
            for change in changes
        }
    )
