"""The gate ``state``: the rollout's net row changes against gold's, or against another end that
the task accepts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envs.types import RowChange
from synth.core.foundation.hashing import canonical
from synth.core.rewards.state.alternatives import AlternativeFinding, try_end
from synth.core.rewards.state.columns import Columns, same_value
from synth.core.rewards.state.matching import Comparison, compare
from synth.evidence import CallRecord, Evidence, Verifier, end_state_gone
from synth.verdict import Verdict

Row = tuple[str, str]


@dataclass(frozen=True)
class Write:
    """A row that a call changed; ``call`` is the index of the call among all calls."""

    call: int
    tool: str
    row: RowChange

    def to_json(self) -> dict[str, object]:
        return {"call": self.call, "tool": self.tool, "row": self.row.to_json()}


def row_of(change: RowChange) -> Row:
    """The identity of the changed row."""
    return change.table, canonical(dict(change.key))


def writes(calls: Sequence[CallRecord], columns: Columns) -> list[Write]:
    """The row changes of all calls in order, without changes of ignored columns only."""
    return [
        Write(index, call.name, change)
        for index, call in enumerate(calls)
        for change in call.changes
        if not columns.ignorable(change)
    ]


def undone(calls: Sequence[CallRecord], net: Sequence[RowChange], columns: Columns) -> list[Write]:
    """The writes of calls that the net changes do not show, in order.

    Transient writes, which the end does not show: reverted, or deleted again. ``transient: forbid``
    counts them as wrong.

    They are found by the rows that each call changed and by the rows' actual keys, without gold.
    The insert of a call must be in the end once; its delete must be there once; each column that it
    updated must differ in the end (or the row must be new, or gone). A column that takes several
    values on its way to another one is not transient: totals do that. A write that one call both
    makes and reverts is not seen, since a call is one unit.
    """
    ends = {row_of(change): change for change in net}
    all_writes = writes(calls, columns)
    times = Counter((row_of(write.row), write.row.op) for write in all_writes)
    out: list[Write] = []
    for write in all_writes:
        row, op = row_of(write.row), write.row.op
        end = ends.get(row)
        if op == "update":
            lost = end is None or (end.op == "update" and not _shown(write.row, end, columns))
        else:
            lost = end is None or end.op != op or times[row, op] > 1
        out += [write] if lost else []
    return out


def _shown(change: RowChange, end: RowChange, columns: Columns) -> bool:
    after = end.after or {}
    return all(
        column in after
        for column in change.after or {}
        if columns.rule(change.table, column) != "ignore"
    )


@dataclass(frozen=True)
class _EndFinding:
    """Comparison of the end with gold's and with the alternatives that were tried.

    ``erased`` are writes in append-only tables, ``passing`` transient writes that the task forbids.
    """

    gold: Comparison
    alternatives: Sequence[AlternativeFinding]
    erased: Sequence[Write]
    passing: Sequence[Write]

    @property
    def accepted(self) -> str | None:
        """``gold``, or ``alternative N``; None if the end is not accepted."""
        if self.gold.equal:
            return "gold"
        if self.alternatives and self.alternatives[-1].met:
            return f"alternative {len(self.alternatives)}"
        return None

    @property
    def missing(self) -> Sequence[RowChange]:
        return [] if self.accepted else self.gold.missing

    @property
    def stray(self) -> Sequence[RowChange]:
        return [] if self.accepted else self.gold.collateral

    @property
    def forbidden(self) -> list[Write]:
        return [*self.erased, *(write for write in self.passing if write not in self.erased)]

    @property
    def collateral(self) -> list[RowChange]:
        """The stray rows of the end and of forbidden writes."""
        stray = self.stray
        return [*stray, *(write.row for write in self.forbidden if write.row not in stray)]

    def first_wrong(self, all_writes: Sequence[Write]) -> Write | None:
        """The first of these writes that was transient, or touched what is wrong in the end."""
        rows = _wrong_columns(_stray_in_all(self.stray, self.alternatives), self.missing)
        rows |= {row_of(write.row): None for write in self.erased}
        wrong = [write for write in all_writes if _makes_wrong(write.row, rows)]
        return min([*wrong, *self.passing], key=lambda write: write.call, default=None)

    def reason(self, first: Write | None) -> str:
        parts = [
            _listed("missing", self.missing),
            _listed("collateral", self.stray),
            _listed("forbidden on the way", self.forbidden),
        ]
        text = ", ".join(part for part in parts if part)
        if not self.accepted:
            for number, finding in enumerate(self.alternatives, 1):
                text += f"; alternative {number}: {_reason(finding)}"
        if first is not None:
            row = _change_text(first.row)
            text += f"; first wrong write: call {first.call} ({first.tool}), {row}"
        return text


class StateVerifier(Verifier):
    """Passes if the end is gold's or another accepted one, and no forbidden write led to it.

    The reason lists missing and collateral rows separately; ``detail`` holds them, the end that was
    accepted, and the first wrong write by call, tool and row.
    """

    name = "state"

    def verify(self, evidence: Evidence, options: None) -> Verdict:
        task = evidence.task
        if task.end is None:
            return Verdict(self.name, None, "the task's gold end is not known")
        columns = Columns(task.rules.compare, evidence.tables)
        expected = [RowChange.from_json(change) for change in task.end.changes]
        result = compare(expected, evidence.changes, task.rules.compare, evidence.tables)
        if not result.equal and task.rules.alternatives and evidence.query is end_state_gone:
            reason = "the end is not gold's, and is gone: it cannot be asked for another right one"
            return Verdict(self.name, None, reason)
        forbids = task.rules.transient == "forbid"
        finding = _EndFinding(
            result,
            [] if result.equal else _tried_alternatives(evidence),
            erased(evidence.calls, task.rules.compare, columns),
            undone(evidence.calls, evidence.changes, columns) if forbids else [],
        )
        accepted = finding.accepted
        if result.undecided and accepted is None:
            reason = f"{result.steps} steps did not settle whether the end is gold's"
            return Verdict(self.name, None, reason)
        if accepted is not None and not finding.forbidden:
            reason = _praise(accepted, len(expected))
            return Verdict(self.name, 1.0, reason, detail={"accepted": accepted})
        return self._wrong(finding, writes(evidence.calls, columns))

    def _wrong(self, finding: _EndFinding, all_writes: Sequence[Write]) -> Verdict:
        first = finding.first_wrong(all_writes)
        detail: dict[str, object] = {
            "accepted": finding.accepted,
            "missing": [row.to_json() for row in finding.missing],
            "collateral": [row.to_json() for row in finding.collateral],
            "forbidden": [write.to_json() for write in finding.forbidden],
            "alternatives": [_reason(alternative) for alternative in finding.alternatives],
            "first_wrong": None if first is None else first.to_json(),
        }
        return Verdict(self.name, 0.0, finding.reason(first), detail=detail)


def _tried_alternatives(evidence: Evidence) -> list[AlternativeFinding]:
    """Findings on the alternatives, up to the first that is met."""
    findings: list[AlternativeFinding] = []
    for alternative in evidence.task.rules.alternatives:
        findings.append(try_end(evidence, alternative, evidence.query))
        if findings[-1].met:
            break
    return findings


def erased(
    calls: Sequence[CallRecord], rules: Mapping[str, object], columns: Columns
) -> list[Write]:
    """Updates and deletes of calls in append-only tables, where an undo cannot hide a write."""
    tables = {name for name, rule in rules.items() if rule == "append_only"}
    return [
        write
        for write in writes(calls, columns)
        if write.row.table in tables and write.row.op != "insert"
    ]


def _praise(accepted: str, expected: int) -> str:
    if accepted != "gold":
        return f"the end is another right one ({accepted})"
    return (
        f"all {expected} expected row changes, and no other"
        if expected
        else "nothing changed, as due"
    )


def _stray_in_all(
    collateral: Sequence[RowChange], findings: Sequence[AlternativeFinding]
) -> Sequence[RowChange]:
    """The changes that no accepted end allows; all of them if there are none."""
    common = list(collateral)
    for finding in findings:
        if finding.outside is not None:
            common = [change for change in common if change in finding.outside]
    return common or collateral


def _wrong_columns(
    stray: Sequence[RowChange], missing: Sequence[RowChange]
) -> dict[Row, set[str] | None]:
    """The wrong columns of each row that is wrong in the end; None for a whole row."""
    due = {row_of(change): change.after or {} for change in missing if change.op == "update"}
    return {
        row_of(change): {
            column
            for column, value in (change.after or {}).items()
            if column not in due.get(row_of(change), {})
            or not same_value(due[row_of(change)][column], value)
        }
        if change.op == "update"
        else None
        for change in stray
    }


def _makes_wrong(change: RowChange, rows: Mapping[Row, set[str] | None]) -> bool:
    """True if a call's change touched what is wrong in the end."""
    row = row_of(change)
    columns = rows.get(row)
    return row in rows and (
        columns is None or change.op != "update" or not columns.isdisjoint(change.after or {})
    )


def _reason(finding: AlternativeFinding) -> str:
    return ", ".join(
        part
        for part in (finding.unmet, _listed("outside its frame", finding.outside or ()))
        if part
    )


def _listed(label: str, rows: Sequence[RowChange | Write]) -> str:
    """``2 missing: insert a(id=1): ...; delete b(id=2)``; empty for no rows."""
    if not rows:
        return ""
    texts = [
        _change_text(row)
        if isinstance(row, RowChange)
        else f"{_change_text(row.row)} by call {row.call}"
        for row in rows[:3]
    ]
    return f"{len(rows)} {label}: {'; '.join(texts)}{' ...' if len(rows) > 3 else ''}"


def _change_text(change: RowChange) -> str:
    key = ", ".join(f"{name}={value}" for name, value in change.key.items())
    if change.op == "delete":
        return f"delete {change.table}({key})"
    columns = ", ".join(
        f"{name}={value!r}"
        for name, value in (change.after or {}).items()
        if name not in change.key
    )
    return f"{change.op} {change.table}({key}){': ' if columns else ''}{columns}"[:300]
