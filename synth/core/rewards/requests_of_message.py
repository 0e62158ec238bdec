"""Requests that come in one message: what of a rollout belongs to each of them.

A row belongs to the request whose gold changes it. A new row belongs to the only request that adds
rows to its table, any other row to the only request that changes rows of its table. A row that
belongs to nobody counts for every request, so that no gate overlooks it. A call belongs to the
requests whose rows it changed; one that changed none belongs to all, as all words do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from envs.types import RowChange
from synth.core.foundation.hashing import canonical
from synth.core.rewards.state.columns import Columns
from synth.evidence import CallRecord, Evidence
from synth.task import Task

Row = tuple[str, str]


def evidence_of_message(evidence: Evidence) -> list[Evidence]:
    """The evidence of each request of a message, in order."""
    owners = _Owners.of(evidence)
    answers = evidence.submitted or {}
    own: list[Evidence] = []
    for number, places in enumerate(places_in_message(evidence)):
        kept = [0]
        for index in range(len(evidence.calls)):
            kept.append(kept[-1] + (index in places))
        own.append(
            replace(
                evidence,
                task=replace(evidence.task.parts[number], prompt=evidence.task.prompt),
                changes=owners.own(evidence.changes, number),
                calls=[
                    replace(call, changes=owners.own(call.changes, number))
                    for call in (evidence.calls[index] for index in places)
                ],
                submitted=answers.get(str(number + 1)),
                turns=[replace(turn, after=kept[turn.after]) for turn in evidence.turns],
                utterances=[replace(said, after=kept[said.after]) for said in evidence.utterances],
            )
        )
    return [replace(one, beside=[other for other in own if other is not one]) for one in own]


def places_in_message(evidence: Evidence) -> list[list[int]]:
    """The places among all calls of each request's calls in a message."""
    owners = _Owners.of(evidence)
    return [
        [
            index
            for index, call in enumerate(evidence.calls)
            if not call.changes or owners.own(call.changes, number)
        ]
        for number in range(len(evidence.task.parts))
    ]


def conflict(task: Task, evidence: Evidence) -> str | None:
    """A row, or a table with new rows, that gold changes for two requests of a message, as text;
    None if there is none.
    """
    columns = Columns(task.rules.compare, evidence.tables)
    owners: dict[Row, int] = {}
    for number, part in enumerate(task.parts):
        for change in _gold_changes(part, columns):
            row = (change.table, "") if change.op == "insert" else _row(change)
            if owners.setdefault(row, number) != number:
                return f"{row[0]} {row[1]}".strip()
    return None


@dataclass(frozen=True)
class _Owners:
    """The numbers of the requests that rows belong to.

    ``rows`` are those that gold changes, ``new`` those that the rollout added; ``adding`` and
    ``touching`` are the requests whose gold adds rows to a table, or changes it at all.
    """

    rows: Mapping[Row, int]
    new: frozenset[Row]
    adding: Mapping[str, frozenset[int]]
    touching: Mapping[str, frozenset[int]]

    @classmethod
    def of(cls, evidence: Evidence) -> _Owners:
        columns = Columns(evidence.task.rules.compare, evidence.tables)
        rows: dict[Row, int] = {}
        adding: dict[str, frozenset[int]] = {}
        touching: dict[str, frozenset[int]] = {}
        for number, part in enumerate(evidence.task.parts):
            for change in _gold_changes(part, columns):
                table = change.table
                touching[table] = touching.get(table, frozenset()) | {number}
                if change.op == "insert":
                    adding[table] = adding.get(table, frozenset()) | {number}
                else:
                    rows[_row(change)] = number
        return cls(rows, _added(evidence.calls, evidence.changes), adding, touching)

    def own(self, changes: Sequence[RowChange], number: int) -> list[RowChange]:
        """The changes of rows that belong to a request, or to nobody."""
        return [change for change in changes if self._owner(change) in {number, None}]

    def _owner(self, change: RowChange) -> int | None:
        row = _row(change)
        if row in self.new:
            found = self.adding.get(change.table) or self.touching.get(change.table)
        elif row in self.rows:
            return self.rows[row]
        else:
            found = self.touching.get(change.table)
        return next(iter(found)) if found and len(found) == 1 else None


def _gold_changes(part: Task, columns: Columns) -> list[RowChange]:
    """The changes of gold that count."""
    changes = () if part.end is None else map(RowChange.from_json, part.end.changes)
    return [change for change in changes if not columns.ignorable(change)]


def _row(change: RowChange) -> Row:
    return change.table, canonical(dict(change.key))


def _added(calls: Sequence[CallRecord], net: Sequence[RowChange]) -> frozenset[Row]:
    """The rows that a rollout inserted and that were not there before."""
    first: dict[Row, str] = {}
    for change in (change for call in calls for change in call.changes):
        first.setdefault(_row(change), change.op)
    known = {row for row, op in first.items() if op == "insert"}
    return frozenset(known | {_row(change) for change in net if change.op == "insert"})
