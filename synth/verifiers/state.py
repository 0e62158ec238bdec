"""The state gate: the rollout's net row changes against those that gold leaves behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envs.types import RowChange
from synth.types import Verdict
from synth.verifiers.base import CallRecord, Evidence, Verifier
from synth.verifiers.matching import compare

Json = Any


def erased(calls: Sequence[CallRecord], rules: Mapping[str, Json]) -> list[RowChange]:
    """Updates and deletes of any call in append-only tables: there an undo cannot hide a write."""
    tables = {name for name, rule in rules.items() if rule == "append_only"}
    return [each for call in calls for each in call.changes if each.table in tables and each.op != "insert"]


class StateVerifier(Verifier):
    """1.0 exactly when the net changes equal gold's; the reason tells missing and collateral rows apart."""

    name = "state"

    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        task = evidence.task
        if task.end is None:
            return Verdict(self.name, None, "the task's gold end is not known")
        expected = [RowChange.from_json(each) for each in task.end.changes]
        result = compare(expected, evidence.changes, task.compare, evidence.tables)
        result.collateral += erased(evidence.calls, task.compare)
        if result.equal:
            reason = (
                f"all {len(expected)} expected row changes, and no other" if expected else "nothing changed, as due"
            )
            return Verdict(self.name, 1.0, reason)
        parts = [
            f"{len(rows)} {label}: {'; '.join(_told(each) for each in rows[:3])}{' ...' if len(rows) > 3 else ''}"
            for label, rows in (("missing", result.missing), ("collateral", result.collateral))
            if rows
        ]
        detail = {
            "missing": [each.to_json() for each in result.missing],
            "collateral": [each.to_json() for each in result.collateral],
            "first_wrong_call": _first_wrong(evidence.calls, result.collateral),
        }
        return Verdict(self.name, 0.0, ", ".join(parts), detail=detail)


def _told(change: RowChange) -> str:
    key = ", ".join(f"{name}={value}" for name, value in change.key.items())
    if change.op == "delete":
        return f"delete {change.table}({key})"
    columns = ", ".join(f"{name}={value!r}" for name, value in (change.after or {}).items() if name not in change.key)
    return f"{change.op} {change.table}({key}): {columns}"[:300]


def _first_wrong(calls: Sequence[CallRecord], collateral: Sequence[RowChange]) -> int | None:
    """Index of the first call that touched a collateral row."""
    rows = {(each.table, str(dict(each.key))) for each in collateral}
    for at, call in enumerate(calls):
        if any((each.table, str(dict(each.key))) in rows for each in call.changes):
            return at
    return None
