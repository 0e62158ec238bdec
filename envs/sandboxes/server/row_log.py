"""Net row changes from a log of written rows, for engines whose triggers keep one.

An entry records the change of one row by one statement: ``old -> new``, either of them None. The
entries of one row form a chain, of which the two ends are kept. Triggers may write an inner link
before an outer one, so a link may also be put before the chain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from envs.errors import SandboxError
from envs.sandboxes.row_changes import ROWID, canonical_order, row_change
from envs.types import RowChange

RowKey = tuple[Any, Hashable]
"""(the shape's id, key values as the engine wrote them, or a row number in a table without a key).
"""


class _RowShape(Protocol):
    """The facts about a table that are needed to read its images."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Sequence[str]:
        """The columns with data of their own."""
        ...

    @property
    def key_columns(self) -> Sequence[str]: ...
    def key_of(self, image: Any) -> Hashable: ...
    def values(self, image: Any) -> Sequence[Any]:
        """The values of ``columns``, as the driver gives them."""
        ...


@dataclass(slots=True)
class Ends:
    """The image of a row when it was first touched, and its present one."""

    first: Any
    last: Any


Chains = dict[RowKey, Ends]


def extend(chains: Chains, key: RowKey, old: Any, new: Any) -> None:
    ends = chains.get(key)
    if ends is None:
        chains[key] = Ends(old, new)
    elif ends.last == old:
        ends.last = new
    elif ends.first == new:
        ends.first = old
    else:
        raise SandboxError(f"the log of changes does not fit together at row {key[1]!r}")


@dataclass
class Numbers:
    """Row numbers for a table without a key, as SQLite would give them: 1..n, and one more than the
    highest.

    ``seed`` are the template's rows in their order; equal rows cannot be told apart, so the lowest
    number goes first.
    """

    seed: Sequence[Any]
    _free: dict[Any, list[int]] | None = field(default=None, init=False)
    _used: set[int] = field(default_factory=set[int], init=False)

    def copy(self) -> Numbers:
        other = Numbers(self.seed)
        if self._free is not None:
            other._free = defaultdict(
                list, {image: list(numbers) for image, numbers in self._free.items()}
            )
            other._used = set(self._used)
        return other

    def _rows(self) -> dict[Any, list[int]]:
        if self._free is None:
            self._free = defaultdict(list)
            for number, image in enumerate(self.seed, 1):
                self._free[image].append(number)
            self._used = set(range(1, len(self.seed) + 1))
        return self._free

    def take(self, image: Any) -> int:
        numbers = self._rows()[image]
        if not numbers:
            raise SandboxError("the log of changes names a row that was never there")
        number = min(numbers)
        numbers.remove(number)
        self._used.discard(number)
        return number

    def give(self, image: Any, number: int | None = None) -> int:
        """Give a number to a new row; a row that only changed keeps its ``number``."""
        rows = self._rows()
        if number is None:
            number = max(self._used, default=0) + 1
        rows[image].append(number)
        self._used.add(number)
        return number


class RowLog:
    """The changes of one call and of all committed calls of a sandbox."""

    def __init__(self, shapes: Mapping[Any, _RowShape], seeds: Mapping[Any, Sequence[Any]]) -> None:
        self._shapes = shapes
        self._seeds = seeds
        self.total: Chains = {}
        self._numbers: dict[Any, Numbers] = {}
        self._tried: dict[Any, Numbers] = {}

    def copy(self) -> RowLog:
        other = RowLog(self._shapes, self._seeds)
        other.total = {key: Ends(ends.first, ends.last) for key, ends in self.total.items()}
        other._numbers = {table: numbers.copy() for table, numbers in self._numbers.items()}
        return other

    def read(self, entries: Iterable[tuple[Any, Any, Any]]) -> Chains:
        """The chains of one call from its entries (shape id, old, new), in their order."""
        self._tried = {}
        chains: Chains = {}
        for table, old, new in entries:
            shape = self._shapes[table]
            if not shape.key_columns:
                self._unkeyed(chains, table, old, new)
                continue
            before = None if old is None else shape.key_of(old)
            after = None if new is None else shape.key_of(new)
            if old is not None and new is not None and before != after:
                extend(chains, (table, before), old, None)
                extend(chains, (table, after), None, new)
            else:
                extend(chains, (table, before if old is not None else after), old, new)
        return chains

    def _unkeyed(self, chains: Chains, table: Any, old: Any, new: Any) -> None:
        numbers = self._tried.get(table)
        if numbers is None:
            kept = self._numbers.get(table)
            numbers = self._tried[table] = (
                Numbers(self._seeds.get(table, ())) if kept is None else kept.copy()
            )
        number = None if old is None else numbers.take(old)
        if new is not None:
            number = numbers.give(new, number)
        extend(chains, (table, number), old, new)

    def keep(self, chains: Chains) -> None:
        """Add the chains of a committed call."""
        for key, ends in chains.items():
            extend(self.total, key, ends.first, ends.last)
        self._numbers |= self._tried
        self._tried = {}

    def changes(self, chains: Chains) -> tuple[RowChange, ...]:
        """Chains as canonical net changes."""
        found: list[RowChange] = []
        for (table, known), ends in chains.items():
            if ends.first == ends.last:
                continue
            shape = self._shapes[table]
            old = None if ends.first is None else shape.values(ends.first)
            new = None if ends.last is None else shape.values(ends.last)
            if shape.key_columns:
                row = dict(zip(shape.columns, new if new is not None else old or (), strict=True))
                key = {column: row[column] for column in shape.key_columns}
            else:
                key = {ROWID: known}
            change = row_change(shape.name, shape.columns, key, old, new)
            if change is not None:
                found.append(change)
        return canonical_order(found)
