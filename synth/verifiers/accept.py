"""Other right ends than gold's: a condition that the end state meets, and the frame of what may have changed.

An alternative (an entry of ``Task.accept``) is met when each of its binds finds exactly one value, each of its
conditions is true, and every changed row lies in its frame. The frame of a table holds a condition on rows, which the
row must meet as it was *and* as it is, so that no row can be carried into the frame or out of it. A table that the
frame does not name may not change at all; columns that the world ignores never count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from envs.types import RowChange
from synth.verifiers.base import Evidence, Query
from synth.verifiers.columns import Columns
from synth.verifiers.frame import meeting

Json = Any


@dataclass(frozen=True)
class Finding:
    """Why an alternative is not met, if it is not: a bind or condition that fails, and the changes outside its frame
    (None where a bind that fails leaves the frame open).
    """

    unmet: str = ""
    outside: Sequence[RowChange] | None = ()

    @property
    def met(self) -> bool:
        return not self.unmet and not self.outside


def try_end(evidence: Evidence, alternative: Mapping[str, Json], query: Query) -> Finding:
    """Whether the end state, which ``query`` asks, is one that an alternative accepts.

    Raises :class:`synth.errors.TaskError` where a query of the alternative fails: that is its author's to mend.
    """
    task = evidence.task
    values: dict[str, Json] = dict(task.slots)
    for name, sql in cast("Mapping[str, str]", alternative.get("bind") or {}).items():
        cells = _cells(query(sql, values))
        if len(cells) != 1:
            return Finding(f"bind {name} finds {len(cells)} values where one is due", None)
        values[name] = cells[0]
    unmet = ""
    for at, sql in enumerate(cast("Sequence[str]", alternative.get("must") or ()), 1):
        cells = _cells(query(sql, values))
        if len(cells) != 1 or not _true(cells[0]):
            unmet = f"condition {at} is not true"
            break
    columns = Columns(task.compare, evidence.tables)
    outside = [each for each in evidence.changes if not columns.ignorable(each)]
    for table, frame in cast("Mapping[str, Mapping[str, Json]]", alternative.get("may_change") or {}).items():
        rows = [each for each in outside if each.table == table and _allowed(each, frame, columns)]
        met = meeting(rows, evidence.tables[table], frame["where"], query, values, evidence.engine)
        inside = [id(each) for each, good in zip(rows, met, strict=True) if good][: frame.get("at_most")]
        outside = [each for each in outside if id(each) not in inside]
    return Finding(unmet, outside)


def _cells(rows: Sequence[Mapping[str, Json]]) -> list[Json]:
    return [value for row in rows for value in row.values()]


def _true(value: Json) -> bool:
    """True as databases say it: true, or a number that is not 0."""
    return isinstance(value, int | float) and bool(value)


def _allowed(change: RowChange, frame: Mapping[str, Json], columns: Columns) -> bool:
    """Whether the frame allows a change of this kind. A frame that names columns but no kinds speaks of updates."""
    named, ops = frame.get("columns"), frame.get("ops")
    if ops is None and named is not None:
        ops = ["update"]
    if ops is not None and change.op not in ops:
        return False
    changed = {each for each in change.after or {} if columns.rule(change.table, each) != "ignore"}
    return change.op != "update" or named is None or changed <= set(named)
