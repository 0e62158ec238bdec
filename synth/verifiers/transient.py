"""Writes that the end does not show: put back, or deleted again. ``transient: forbid`` counts them as wrong.

Judged by the rows that each call changed and by the rows' actual keys; gold has no say. A call's insert must be there
in the end, once; its delete must stand, once; each column that it updated must differ in the end (or the row be new, or
gone). A column that passes through several values on its way to another one is no such write: totals do that. What one
call does and undoes by itself is not seen: a call is one unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envs.types import RowChange
from synth.canonical import canonical
from synth.verifiers.base import CallRecord
from synth.verifiers.columns import Columns

Json = Any
Row = tuple[str, str]


@dataclass(frozen=True)
class Write:
    """A row that a call changed; ``call`` is the call's place among all calls, from 0."""

    call: int
    tool: str
    row: RowChange

    def to_json(self) -> dict[str, Json]:
        return {"call": self.call, "tool": self.tool, "row": self.row.to_json()}


def row_of(change: RowChange) -> Row:
    """Names the changed row."""
    return change.table, canonical(dict(change.key))


def writes(calls: Sequence[CallRecord], columns: Columns) -> list[Write]:
    """The row changes of all calls in order, without those of ignored columns only."""
    return [
        Write(at, call.name, each)
        for at, call in enumerate(calls)
        for each in call.changes
        if not columns.ignorable(each)
    ]


def undone(calls: Sequence[CallRecord], net: Sequence[RowChange], columns: Columns) -> list[Write]:
    """The writes of calls that the net changes do not show, in order."""
    ends = {row_of(each): each for each in net}
    made = writes(calls, columns)
    times = Counter((row_of(each.row), each.row.op) for each in made)
    out: list[Write] = []
    for write in made:
        row, op = row_of(write.row), write.row.op
        end = ends.get(row)
        if op == "update":
            lost = end is None or (end.op == "update" and not _shown(write.row, end, columns))
        else:
            lost = end is None or end.op != op or times[row, op] > 1
        out += [write] if lost else []
    return out


def _shown(change: RowChange, end: RowChange, columns: Columns) -> bool:
    after: Mapping[str, Json] = end.after or {}
    return all(each in after for each in change.after or {} if columns.rule(change.table, each) != "ignore")
