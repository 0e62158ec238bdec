"""Comparison of the answers of two queries: equality, and soft F1.

Execution accuracy as it is measured for text-to-SQL: Spider's test suites compare bags of rows
under any order of the columns, and sequences where the right query has an order (Zhong, Yu and
Klein, 2020); BIRD compares sets of rows (Li et al., "Can LLM Already Serve as A Database
Interface?", 2023). Here figures may differ by a rounding error besides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard, cast

Row = tuple[object, ...]

PAIRED = 400
"""Rows that agree in all but their figures and are paired one by one; more of them are compared in
sorted order.
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a comparison.

    ``ordered``: the order of the rows counts. ``set_of_rows``: repetitions of a row do not count.
    ``any_columns``: the order of the columns does not count. ``tolerance`` is the relative error of
    a figure (below 1, the absolute one).
    """

    ordered: bool = False
    set_of_rows: bool = False
    any_columns: bool = True
    tolerance: float = 1e-6


@dataclass(frozen=True, slots=True)
class TiedRows:
    """Rows with equal sort keys, of which a right answer has ``take`` in any order."""

    rows: Sequence[Row]
    take: int


def fixed(rows: Sequence[Row]) -> list[TiedRows]:
    """Rows of which each has its place."""
    return [TiedRows((row,), 1) for row in rows]


def same_rows(
    expected: Sequence[TiedRows], given: Sequence[Row], width: int, given_width: int, rules: Rules
) -> bool:
    """Compare an answer with the right ones; ``width`` and ``given_width`` are the numbers of
    columns.
    """
    if width != given_width:
        return False
    if rules.set_of_rows:
        given = _distinct(given)
    elif sum(block.take for block in expected) != len(given):
        return False
    straight = list(range(width))
    if _equal(expected, given, straight, rules):
        return True
    if not rules.any_columns:
        return False
    return any(
        _equal(expected, given, order, rules)
        for order in _orders(expected, given, width, rules)
        if order != straight
    )


def _equal(
    expected: Sequence[TiedRows], given: Sequence[Row], order: Sequence[int], rules: Rules
) -> bool:
    """Compare the rows, with the ``order[i]``-th column of ``given`` for the i-th expected one."""
    turned = [tuple(row[index] for index in order) for row in given]
    turned = _distinct(turned) if rules.set_of_rows else turned
    width = len(order)
    blocks = [TiedRows([row[:width] for row in block.rows], block.take) for block in expected]
    left = nearest(blocks, turned, rules)
    if rules.ordered:
        return len(left) == len(turned) and all(
            _close(ours, theirs, rules.tolerance) for ours, theirs in zip(left, turned, strict=True)
        )
    return _same_bag(_distinct(left) if rules.set_of_rows else left, turned, rules.tolerance)


def nearest(blocks: Sequence[TiedRows], given: Sequence[Row], rules: Rules) -> list[Row]:
    """The right answer that is nearest to a given one."""
    if all(len(block.rows) == 1 for block in blocks):
        return [block.rows[0] for block in blocks]
    if rules.ordered:
        out: list[Row] = []
        for block in blocks:
            out += _in_order(block, given[len(out) : len(out) + block.take], rules.tolerance)
        return out
    out = [row for block in blocks if block.take == len(block.rows) for row in block.rows]
    wanted = _without(given, out)
    for block in blocks:
        if block.take < len(block.rows):
            pool = _Pool(block.rows, rules.tolerance)
            taken = [row for row in map(pool.take, wanted) if row is not None][: block.take]
            wanted = _without(wanted, taken)
            more = pool.rest(given if rules.set_of_rows else ())
            out += [*taken, *more[: block.take - len(taken)]]
    return out


def _in_order(block: TiedRows, wanted: Sequence[Row], tolerance: float) -> list[Row]:
    """Rows of a block, those that are wanted in the places where they are wanted."""
    pool = _Pool(block.rows, tolerance)
    taken = [pool.take(row) for row in wanted]
    taken += [None] * (block.take - len(taken))
    rest = iter(pool.rest())
    return [next(rest) if row is None else row for row in taken]


class _Pool:
    """Rows that are taken out one by one."""

    def __init__(self, rows: Sequence[Row], tolerance: float) -> None:
        self._left: dict[Hashable, list[Row]] = {}
        self._tolerance = tolerance
        for row in rows:
            self._left.setdefault(_plain(row), []).append(row)

    def take(self, wanted: Row) -> Row | None:
        """Take a row that equals the wanted one; None if none is left."""
        key = _plain(wanted)
        if key not in self._left and len(self._left) <= PAIRED:
            near = (at for at, own in self._left.items() if _close(own[0], wanted, self._tolerance))
            key = next(near, key)
        own = self._left.get(key, [])
        row = own.pop() if own else None
        if not own:
            self._left.pop(key, None)
        return row

    def rest(self, before: Sequence[Row] = ()) -> list[Row]:
        """The rows that are left; those that equal one of ``before`` come first."""
        known = set(map(_plain, before))
        keys = sorted(self._left, key=lambda key: key not in known)
        return [row for key in keys for row in self._left[key]]


def _plain(row: Row) -> Hashable:
    return tuple(map(plain, row))


def _without(rows: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    """The rows of a bag that are left once others are taken out."""
    counts = Counter(map(_plain, others))
    out: list[Row] = []
    for row in rows:
        key = _plain(row)
        if counts[key]:
            counts[key] -= 1
        else:
            out.append(row)
    return out


def _orders(
    expected: Sequence[TiedRows], given: Sequence[Row], width: int, rules: Rules
) -> Iterator[list[int]]:
    """Orders of the given columns that may make the answers equal.

    An order grows column by column as long as the rows agree so far; of equal columns one is tried.
    """

    def grow(order: list[int]) -> Iterator[list[int]]:
        if len(order) == width:
            yield order
            return
        tried: set[Hashable] = set()
        for index in range(width):
            column = tuple(map(plain, (row[index] for row in given)))
            if index in order or column in tried:
                continue
            tried.add(column)
            if _equal(expected, given, [*order, index], rules):
                yield from grow([*order, index])

    yield from grow([])


def _same_bag(expected: Sequence[Row], given: Sequence[Row], tolerance: float) -> bool:
    """Compare as bags: rows are grouped by everything but their figures, and paired within a
    group.
    """
    ours, theirs = _groups(expected), _groups(given)
    return ours.keys() == theirs.keys() and all(
        len(rows) == len(theirs[key]) and _paired(rows, theirs[key], tolerance)
        for key, rows in ours.items()
    )


def _groups(rows: Sequence[Row]) -> dict[Hashable, list[Row]]:
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        key = tuple("figure" if _figure(cell) else ("is", plain(cell)) for cell in row)
        groups.setdefault(key, []).append(row)
    return groups


def _paired(ours: list[Row], theirs: list[Row], tolerance: float) -> bool:
    def key(row: Row) -> tuple[float, ...]:
        return tuple(_size(cell) for cell in row if _figure(cell))

    left, right = sorted(ours, key=key), sorted(theirs, key=key)
    if all(_close(one, other, tolerance) for one, other in zip(left, right, strict=True)):
        return True
    if len(left) > PAIRED:
        return False
    for row in left:  # figures that differ by a rounding error may sort otherwise
        index = next((i for i, other in enumerate(right) if _close(row, other, tolerance)), None)
        if index is None:
            return False
        right.pop(index)
    return True


def _close(left: Row, right: Row, tolerance: float) -> bool:
    return all(_same(one, other, tolerance) for one, other in zip(left, right, strict=True))


def _same(left: object, right: object, tolerance: float) -> bool:
    if _figure(left) and _figure(right):
        if isinstance(left, int) and isinstance(right, int):
            return left == right
        return math.isclose(_size(left), _size(right), rel_tol=tolerance, abs_tol=tolerance)
    return plain(left) == plain(right)


def _figure(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (bool, int, float))


def _size(value: float) -> float:
    """A figure as a float; infinite if it is too large for one, as PostgreSQL's numeric may be."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def plain(value: object) -> Hashable:
    """Convert a cell to a value that compares as in a database: true is 1, 25.0 is 25, and a text
    is never a number.
    """
    if isinstance(value, (bool, int, float)):
        return float(value) if not isinstance(value, int) or abs(value) < 2**53 else value
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value)
        return tuple((key, plain(items[key])) for key in sorted(items))
    if isinstance(value, list):
        return tuple(map(plain, cast("list[object]", value)))
    return cast("Hashable", value)


def _distinct(rows: Sequence[Row]) -> list[Row]:
    """Rows without repetition, in the order of their first appearance."""
    return list({_plain(row): row for row in reversed(rows)}.values())[::-1]


def soft_f1(expected: Sequence[Row], given: Sequence[Row]) -> float:
    """BIRD's soft F1 of an answer, in [0, 1]; a superfluous column or a missing value costs only a
    part.

    Distinct rows are paired by position. In a pair, the share of expected columns whose value is in
    the other row counts as found, a value in one row only as wrong or missing; a row without a
    partner counts as one whole wrong or missing row. As published in BIRD mini-dev,
    evaluation/evaluation_f1.py (bird-bench, 2024).
    """
    ours, theirs = (
        [tuple(map(plain, row)) for row in _distinct(rows)] for rows in (expected, given)
    )
    if not ours and not theirs:
        return 1.0
    found = wrong = missing = 0.0
    for one, other in zip(ours, theirs, strict=False):
        found += sum(value in one for value in other) / len(one)
        wrong += sum(value not in one for value in other) / len(one)
        missing += sum(value not in other for value in one) / len(one)
    missing += max(0, len(ours) - len(theirs))
    wrong += max(0, len(theirs) - len(ours))
    precision = found / (found + wrong) if found + wrong else 0.0
    recall = found / (found + missing) if found + missing else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
