"""Alternative ends: a condition that the end state meets, and the frame of what may have changed.

An alternative (an entry of ``EndRules.alternatives``) is met if each of its binds finds exactly one
value, each of its conditions is true, and every changed row is inside its frame. The frame of a
table holds a condition on rows, which a row must meet both before and after the change, so that no
row can be moved into the frame or out of it. A table that the frame does not name may not change at
all; columns that the world ignores never count.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from envs.quoting import quoted
from envs.sandboxes.row_changes import ROWID
from envs.types import RowChange, Table
from synth.core.rewards.state.columns import Columns
from synth.core.types.checks import AlternativeEnd, ChangeFrame
from synth.evidence import Evidence, Query

BATCH = 50
"""The most changes in one query: databases limit the terms of a UNION (SQLite: 500) and the bound
values of a statement.
"""


def meeting(
    changes: Sequence[RowChange],
    table: Table,
    where: str,
    query: Query,
    values: Mapping[str, Any],
    engine: str,
) -> list[bool]:
    """Test each changed row of one table for the condition, before the change (if the row existed)
    and after it (if the row still exists).

    ``values`` are those that the condition may bind. Raises what ``query`` raises.

    The condition is an author's SQL about the table's columns. It is evaluated on the images of the
    changed rows, in a relation with the name and the types of the table, so that it reads as it
    would in a query on the table.
    """
    out: list[bool] = []
    for start in range(0, len(changes), BATCH):
        images = _Images(table, engine)
        for change in changes[start : start + BATCH]:
            images.add(change)
        found = Counter(
            next(iter(row.values()))
            for row in query(images.sql(where), {**values, **images.values})
        )
        out += [found[number] == due for number, due in enumerate(images.due)]
    return out


class _Images:
    """A relation with the images of some changed rows, each with the number of its change in
    ``synth_row``. ``due`` is the number of images of each change.
    """

    def __init__(self, table: Table, engine: str) -> None:
        self._table, self._engine = table, engine
        self.values: dict[str, Any] = {}
        self.due: list[int] = []
        self._name = self._quoted(table.name)
        self._terms = [f"SELECT {self._name}.*, 0 AS synth_row FROM {self._name} WHERE 1 = 0"]

    def sql(self, where: str) -> str:
        images = "\nUNION ALL ".join(self._terms)
        return f"SELECT synth_row FROM (\n{images}\n) AS {self._name} WHERE (\n{where}\n)"

    def add(self, change: RowChange) -> None:
        """Add the images of a changed row: before the change, if the row existed, and after it, if
        the row still exists.
        """
        self.due.append(1 + (change.op == "update"))
        unknown_rowid = change.op == "insert" and ROWID in change.key and self._engine != "sqlite"
        if change.op == "delete" or unknown_rowid:
            # The row is not in the table, or cannot be found there: only SQLite has row numbers.
            self._add_recorded(change.before or change.after or {})
            return
        if change.op == "update" and change.before:
            self._add_stored(change.key, change.before)
        self._add_stored(change.key, {})

    def _add_recorded(self, row: Mapping[str, Any]) -> None:
        """Add an image that consists of recorded values only."""
        cells = [
            self._bound(row[column.name], column.type) if column.name in row else "NULL"
            for column in self._table.columns
        ]
        self._terms.append(f"SELECT {', '.join(cells)}, {self._number}")

    def _add_stored(self, key: Mapping[str, Any], recorded: Mapping[str, Any]) -> None:
        """Add the image of a row of the table, with recorded values in the place of its own."""
        cells = [
            self._bound(recorded[column.name], column.type)
            if column.name in recorded
            else self._quoted(column.name)
            for column in self._table.columns
        ]
        types = {column.name: column.type for column in self._table.columns}
        keys = [
            f"{self._quoted(name) if name in types else ROWID} ="
            f" {self._bound(value, types.get(name))}"
            for name, value in key.items()
        ]
        where = " AND ".join(keys)
        self._terms.append(
            f"SELECT {', '.join(cells)}, {self._number} FROM {self._name} WHERE {where}"
        )

    @property
    def _number(self) -> int:
        """The number of the change that was added last."""
        return len(self.due) - 1

    def _bound(self, value: Any, kind: str | None) -> str:
        """Bind a value; PostgreSQL alone needs a cast for a text that is a decimal or a date."""
        name = f"synth_value_{len(self.values)}"
        self.values[name] = _native(value)
        return f"CAST(:{name} AS {kind})" if self._engine == "postgresql" and kind else f":{name}"

    def _quoted(self, name: str) -> str:
        mark = "`" if self._engine in {"mysql", "mariadb"} else '"'
        return quoted(name, mark)


def _native(value: Any) -> Any:
    """Convert a change's JSON value to one that a driver accepts."""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, Mapping):
        return value
    items = cast("Mapping[str, Any]", value)
    if set(items) == {"$bytes"}:
        return base64.b64decode(items["$bytes"])
    return (
        float(items["$float"])
        if set(items) == {"$float"}
        else json.dumps(items, ensure_ascii=False)
    )


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
