"""Transient writes, which the end does not show: reverted, or deleted again. ``transient: forbid``
counts them as wrong.

They are found by the rows that each call changed and by the rows' actual keys, without gold. The
insert of a call must be in the end once; its delete must be there once; each column that it updated
must differ in the end (or the row must be new, or gone). A column that takes several values on its
way to another one is not transient: totals do that. A write that one call both makes and reverts is
not seen, since a call is one unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from envs.types import RowChange
from synth.core.foundation.hashing import canonical
from synth.core.rewards.state.columns import Columns
from synth.evidence import CallRecord

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
    """The writes of calls that the net changes do not show, in order."""
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
