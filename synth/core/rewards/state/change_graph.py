"""Net row changes as a graph, and the colours of its rows by Weisfeiler-Leman refinement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from envs.sandboxes.row_changes import ROWID
from envs.types import RowChange
from synth.core.rewards.state.columns import Columns

NEW_ROW = "a new row"
"""The value of a reference to a new row, whose generated key does not count."""


@dataclass
class _RowValues:
    """One row without its generated key: references to new rows, values, columns with a
    tolerance.
    """

    parents: dict[str, int] = field(default_factory=dict[str, int])
    values: list[Hashable] = field(default_factory=list[Hashable])
    loose: list[str] = field(default_factory=list[str])


class ChangeGraph:
    """One set of net changes as a graph; a row is an index of ``changes``.

    ``parents[row]`` maps a column to the new row that it refers to, ``children[row]`` a column to
    the rows that refer to this one by it. ``outlines[row]`` is equal for rows whose own values may
    be the same, ``loose[row]`` are the columns that have a tolerance.
    """

    def __init__(self, changes: Sequence[RowChange], columns: Columns) -> None:
        self.changes = [change for change in changes if not columns.ignorable(change)]
        keys = [columns.own_key(change) for change in self.changes]
        new_rows: Mapping[tuple[str, object], int] = {
            (change.table, key): row
            for row, (change, key) in enumerate(zip(self.changes, keys, strict=True))
            if key is not None
        }
        self.parents: list[dict[str, int]] = []
        self.children: list[dict[str, list[int]]] = [{} for _ in self.changes]
        self.outlines: list[Hashable] = []
        self.loose: list[tuple[str, ...]] = []
        for row, (change, key) in enumerate(zip(self.changes, keys, strict=True)):
            own_key = None if key is None else columns.generated_key(change.table)
            found = _row_values(change, own_key, columns, new_rows)
            for column, parent in found.parents.items():
                self.children[parent].setdefault(column, []).append(row)
            self.parents.append(found.parents)
            self.loose.append(tuple(found.loose))
            self.outlines.append(
                (change.table, change.op, _identity(change, columns), tuple(found.values))
            )

    def relatives(self, row: int) -> Iterator[tuple[Hashable, int]]:
        """The rows that a row refers to and those that refer to it, each with direction and
        column.
        """
        for column, parent in self.parents[row].items():
            yield ("to", column), parent
        for column, rows in self.children[row].items():
            for child in rows:
                yield ("from", column), child

    def parts(self, colours: Sequence[int]) -> list[list[int]]:
        """The connected parts, each walked along references from a row of its rarest colour."""
        counts = Counter(colours)
        seen: set[int] = set()
        starts = sorted(range(len(self.changes)), key=lambda row: counts[colours[row]])
        return [self._connected(start, seen) for start in starts if start not in seen]

    def _connected(self, start: int, seen: set[int]) -> list[int]:
        part: list[int] = []
        stack = [start]
        while stack:
            row = stack.pop()
            if row not in seen:
                seen.add(row)
                part.append(row)
                stack += [other for _, other in self.relatives(row) if other not in seen]
        return part


def refine_colours(ours: ChangeGraph, theirs: ChangeGraph, most_references: int) -> list[list[int]]:
    """Weisfeiler-Leman colour refinement of two graphs together.

    Returns one list of colours for each round, with the rows of ``ours`` first. In the first round
    rows of equal outline have equal colours; in each further one, rows whose relatives have equal
    colours too. It ends when a round tells no more rows apart, or ``most_references`` were
    followed.
    """
    count = len(ours.changes)
    relatives = [
        [(how, other + (count if graph is theirs else 0)) for how, other in graph.relatives(row)]
        for graph in (ours, theirs)
        for row in range(len(graph.changes))
    ]
    rounds = [_numbered([*ours.outlines, *theirs.outlines])]
    references = sum(map(len, relatives))
    for _ in range(most_references // references if references else 0):
        colours = rounds[-1]
        refined = _numbered(
            [
                (colour, tuple(sorted((how, colours[other]) for how, other in own)))
                for colour, own in zip(colours, relatives, strict=True)
            ]
        )
        if len(set(refined)) == len(set(colours)):
            break
        rounds.append(refined)
    return rounds


def _row_values(
    change: RowChange,
    own_key: str | None,
    columns: Columns,
    new_rows: Mapping[tuple[str, object], int],
) -> _RowValues:
    found = _RowValues()
    for column, value in sorted((change.after or {}).items()):
        rule = columns.rule(change.table, column)
        if rule == "ignore" or column == own_key:
            continue
        target = columns.refers_to(change.table, column)
        parent = None
        if target is not None and isinstance(value, int | str):
            parent = new_rows.get((target, value))
        if parent is not None:
            found.parents[column] = parent
            found.values.append((column, NEW_ROW))
        else:
            found.values.append((column, columns.outline(change.table, column, value)))
            found.loose += [column] if isinstance(rule, Mapping) else []
    return found


def _identity(change: RowChange, columns: Columns) -> Hashable:
    """The identity of a row that existed before; a row without a key is identified by its
    values.
    """
    if change.op == "insert":
        return None
    values = (
        change.before or {} if change.op == "delete" and set(change.key) == {ROWID} else change.key
    )
    return frozenset(
        (name, columns.form(change.table, name, value)) for name, value in values.items()
    )


def _numbered(values: Sequence[Hashable]) -> list[int]:
    """Numbers that are equal for equal values."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]
