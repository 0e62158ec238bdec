"""Alternative ends: a condition that the end state meets, and the frame of what may have changed.

An alternative (an entry of ``EndRules.alternatives``) is met if each of its binds finds exactly one
value, each of its conditions is true, and every changed row is inside its frame. The frame of a
table holds a condition on rows, which a row must meet both before and after the change, so that no
row can be moved into the frame or out of it. A table that the frame does not name may not change at
all; columns that the world ignores never count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envs.types import RowChange
from synth.core.rewards.state.columns import Columns
from synth.core.rewards.state.frame import meeting
from synth.core.types.checks import AlternativeEnd, ChangeFrame
from synth.evidence import Evidence, Query

Values = Mapping[str, Any]


@dataclass(frozen=True)
class AlternativeFinding:
    """The reasons for which an alternative is not met: a bind or condition that fails, and the
    changes outside its frame (None if a failed bind leaves the frame open).
    """

    unmet: str = ""
    outside: Sequence[RowChange] | None = ()

    @property
    def met(self) -> bool:
        return not self.unmet and not self.outside


def try_end(evidence: Evidence, alternative: AlternativeEnd, query: Query) -> AlternativeFinding:
    """Compare the end state, which ``query`` asks, with an alternative.

    Raises :class:`synth.errors.TaskError` if a query of the alternative fails.
    """
    values: dict[str, Any] = dict(evidence.task.slots)
    for name, sql in alternative.bind.items():
        cells = _cells(query(sql, values))
        if len(cells) != 1:
            message = f"bind {name} finds {len(cells)} values where one is due"
            return AlternativeFinding(message, None)
        values[name] = cells[0]
    unmet = _unmet_condition(alternative.must, values, query)
    outside = _outside(evidence, alternative.may_change, values, query)
    return AlternativeFinding(unmet, outside)


def _unmet_condition(conditions: Sequence[str], values: Values, query: Query) -> str:
    """The first condition that is not true, as a clause; empty if all are."""
    for number, sql in enumerate(conditions, 1):
        cells = _cells(query(sql, values))
        if len(cells) != 1:
            return f"condition {number} gives {len(cells)} values where one is due"
        if not _true(cells[0]):
            return f"condition {number} is not true"
    return ""


def _outside(
    evidence: Evidence, frames: Mapping[str, ChangeFrame], values: Values, query: Query
) -> list[RowChange]:
    """The changes outside the frames of their tables."""
    columns = Columns(evidence.task.rules.compare, evidence.tables)
    outside = [change for change in evidence.changes if not columns.ignorable(change)]
    for table, frame in frames.items():
        rows = [
            change
            for change in outside
            if change.table == table and _allowed(change, frame, columns)
        ]
        met = meeting(rows, evidence.tables[table], frame.where, query, values, evidence.engine)
        inside = [id(row) for row, good in zip(rows, met, strict=True) if good]
        accepted = set(inside[: frame.at_most])
        outside = [change for change in outside if id(change) not in accepted]
    return outside


def _cells(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [value for row in rows for value in row.values()]


def _true(value: object) -> bool:
    """The truth of a cell, as databases define it: true, or a number that is not 0."""
    return isinstance(value, int | float) and bool(value)


def _allowed(change: RowChange, frame: ChangeFrame, columns: Columns) -> bool:
    """True if the frame allows a change of this kind. A frame with ``columns`` and without ``ops``
    allows updates only.
    """
    named, ops = frame.columns, frame.ops
    if ops is None and named is not None:
        ops = ("update",)
    if ops is not None and change.op not in ops:
        return False
    after = change.after or {}
    changed = {column for column in after if columns.rule(change.table, column) != "ignore"}
    return change.op != "update" or named is None or changed <= set(named)
