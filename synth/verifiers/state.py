"""The state gate: the rollout's net row changes against those of gold, or of another end that the task accepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envs.types import RowChange
from synth.types import Verdict
from synth.verifiers.accept import Finding, try_end
from synth.verifiers.base import CallRecord, Evidence, Verifier
from synth.verifiers.columns import Columns, same_value
from synth.verifiers.matching import Comparison, compare
from synth.verifiers.transient import Row, Write, row_of, undone, writes

Json = Any


class StateVerifier(Verifier):
    """1.0 exactly when the end is gold's or another accepted one, and no write on the way there was forbidden.

    The reason tells missing and collateral rows apart; ``detail`` holds them, the end that was accepted, and the
    first wrong write by call, tool and row.
    """

    name = "state"

    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        task = evidence.task
        if task.end is None:
            return Verdict(self.name, None, "the task's gold end is not known")
        columns = Columns(task.compare, evidence.tables)
        erasing = erased(evidence.calls, task.compare, columns)
        passing = undone(evidence.calls, evidence.changes, columns) if task.transient == "forbid" else []
        expected = [RowChange.from_json(each) for each in task.end.changes]
        result = compare(expected, evidence.changes, task.compare, evidence.tables)
        findings: list[Finding] = []
        if not result.equal and task.accept:
            if evidence.query is None:
                return Verdict(
                    self.name, None, "the end is not gold's, and is gone: it cannot be asked for another right one"
                )
            for alternative in task.accept:
                findings.append(try_end(evidence, alternative, evidence.query))
                if findings[-1].met:
                    break
        accepted = "gold" if result.equal else f"alternative {len(findings)}" if findings and findings[-1].met else None
        if result.undecided and accepted is None:
            return Verdict(self.name, None, f"{result.steps} steps did not settle whether the end is gold's")
        if accepted is not None and not erasing and not passing:
            return Verdict(self.name, 1.0, _praise(accepted, len(expected)), detail={"accepted": accepted})
        return self._wrong(evidence, accepted, result, findings, erasing, passing, columns)

    def _wrong(
        self,
        evidence: Evidence,
        accepted: str | None,
        result: Comparison,
        findings: Sequence[Finding],
        erasing: Sequence[Write],
        passing: Sequence[Write],
        columns: Columns,
    ) -> Verdict:
        forbidden = [*erasing, *(each for each in passing if each not in erasing)]
        missing = [] if accepted else result.missing
        stray = [] if accepted else result.collateral
        collateral = [*stray, *(each.row for each in forbidden if each.row not in stray)]
        rows = _wrong_columns(_stray_in_all(stray, findings), missing) | {row_of(each.row): None for each in erasing}
        wrong = [each for each in writes(evidence.calls, columns) if _makes_wrong(each.row, rows)]
        first = min([*wrong, *passing], key=lambda each: each.call, default=None)
        parts = [_listed("missing", missing), _listed("collateral", stray), _listed("forbidden on the way", forbidden)]
        told = ", ".join(part for part in parts if part)
        told += "".join(f"; alternative {at}: {_why(each)}" for at, each in enumerate(findings, 1) if not accepted)
        if first is not None:
            told += f"; first wrong write: call {first.call} ({first.tool}), {_told(first.row)}"
        detail: dict[str, Json] = {
            "accepted": accepted,
            "missing": [each.to_json() for each in missing],
            "collateral": [each.to_json() for each in collateral],
            "forbidden": [each.to_json() for each in forbidden],
            "alternatives": [_why(each) for each in findings],
            "first_wrong": None if first is None else first.to_json(),
        }
        return Verdict(self.name, 0.0, told, detail=detail)


def erased(calls: Sequence[CallRecord], rules: Mapping[str, Json], columns: Columns) -> list[Write]:
    """Updates and deletes of any call in append-only tables: there an undo cannot hide a write."""
    tables = {name for name, rule in rules.items() if rule == "append_only"}
    return [each for each in writes(calls, columns) if each.row.table in tables and each.row.op != "insert"]


def _praise(accepted: str, expected: int) -> str:
    if accepted != "gold":
        return f"the end is another right one ({accepted})"
    return f"all {expected} expected row changes, and no other" if expected else "nothing changed, as due"


def _stray_in_all(collateral: Sequence[RowChange], findings: Sequence[Finding]) -> Sequence[RowChange]:
    """The changes that no accepted end would allow, if there are any."""
    common = list(collateral)
    for each in findings:
        if each.outside is not None:
            common = [change for change in common if change in each.outside]
    return common or collateral


def _wrong_columns(stray: Sequence[RowChange], missing: Sequence[RowChange]) -> dict[Row, set[str] | None]:
    """For each row that is wrong in the end the columns that are; None where it is the whole row."""
    due = {row_of(each): each.after or {} for each in missing if each.op == "update"}
    return {
        row_of(each): {
            column
            for column, value in (each.after or {}).items()
            if column not in due.get(row_of(each), {}) or not same_value(due[row_of(each)][column], value)
        }
        if each.op == "update"
        else None
        for each in stray
    }


def _makes_wrong(change: RowChange, rows: Mapping[Row, set[str] | None]) -> bool:
    """Whether a call's change touched what is wrong in the end."""
    row = row_of(change)
    columns = rows.get(row)
    return row in rows and (columns is None or change.op != "update" or not columns.isdisjoint(change.after or {}))


def _why(finding: Finding) -> str:
    return ", ".join(part for part in (finding.unmet, _listed("outside its frame", finding.outside or ())) if part)


def _listed(label: str, rows: Sequence[RowChange | Write]) -> str:
    """``2 missing: insert a(id=1): ...; delete b(id=2)``; nothing for no rows."""
    told = [
        _told(each) if isinstance(each, RowChange) else f"{_told(each.row)} by call {each.call}" for each in rows[:3]
    ]
    return f"{len(rows)} {label}: {'; '.join(told)}{' ...' if len(rows) > 3 else ''}" if rows else ""


def _told(change: RowChange) -> str:
    key = ", ".join(f"{name}={value}" for name, value in change.key.items())
    if change.op == "delete":
        return f"delete {change.table}({key})"
    columns = ", ".join(f"{name}={value!r}" for name, value in (change.after or {}).items() if name not in change.key)
    return f"{change.op} {change.table}({key}): {columns}"[:300]
