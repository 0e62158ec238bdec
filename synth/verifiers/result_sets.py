"""When two answers of queries are the same, and how much of one is in the other.

Execution accuracy as it is measured for text-to-SQL: Spider's test suites compare bags of rows under any order of the
columns, and sequences where the right query has an order (Zhong, Yu and Klein, 2020); BIRD compares sets of rows (Li et
al., "Can LLM Already Serve as A Database Interface?", 2023). Here figures may differ by a rounding error besides.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

Json = Any
Row = tuple[Json, ...]

PAIRED = 400
"""Rows that agree in all but their figures and are paired one by one; more of them are compared in sorted order."""


@dataclass(frozen=True, slots=True)
class Rules:
    """``ordered``: rows stand in an order that counts. ``set_of_rows``: how often a row comes does not count.
    ``any_columns``: columns may stand in another order. ``tolerance`` is the relative error of a figure (below 1, the
    absolute one).
    """

    ordered: bool = False
    set_of_rows: bool = False
    any_columns: bool = True
    tolerance: float = 1e-6


def same_rows(expected: Sequence[Row], given: Sequence[Row], width: int, given_width: int, rules: Rules) -> bool:
    """Whether two answers are the same; ``width`` and ``given_width`` count their columns."""
    if width != given_width:
        return False
    if rules.set_of_rows:
        expected, given = _distinct(expected), _distinct(given)
    if len(expected) != len(given):
        return False
    straight = list(range(width))
    if _equal(expected, given, straight, rules):
        return True
    if not rules.any_columns:
        return False
    return any(
        _equal(expected, given, order, rules) for order in _orders(expected, given, width, rules) if order != straight
    )


def _equal(expected: Sequence[Row], given: Sequence[Row], order: Sequence[int], rules: Rules) -> bool:
    """Whether the rows agree when the ``order[i]``-th column of ``given`` stands for the i-th expected."""
    turned = [tuple(row[at] for at in order) for row in given]
    left = [row[: len(order)] for row in expected]
    if rules.ordered:
        return all(_close(ours, theirs, rules.tolerance) for ours, theirs in zip(left, turned, strict=True))
    return _same_bag(left, turned, rules.tolerance)


def _orders(expected: Sequence[Row], given: Sequence[Row], width: int, rules: Rules) -> Iterator[list[int]]:
    """Orders of the given columns that may make the answers equal: grown column by column as long as the rows so far
    agree, columns that are alike taken once.
    """

    def grow(order: list[int]) -> Iterator[list[int]]:
        if len(order) == width:
            yield order
            return
        tried: set[Hashable] = set()
        for at in range(width):
            column = tuple(map(plain, (row[at] for row in given)))
            if at in order or column in tried:
                continue
            tried.add(column)
            if _equal(expected, given, [*order, at], rules):
                yield from grow([*order, at])

    yield from grow([])


def _same_bag(expected: Sequence[Row], given: Sequence[Row], tolerance: float) -> bool:
    """Rows are put together by all that is no figure; among those that agree so far, figures are paired."""
    ours, theirs = _groups(expected), _groups(given)
    if {key: len(rows) for key, rows in ours.items()} != {key: len(rows) for key, rows in theirs.items()}:
        return False
    return all(_paired(rows, theirs[key], tolerance) for key, rows in ours.items())


def _groups(rows: Sequence[Row]) -> dict[Hashable, list[Row]]:
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        key = tuple("figure" if _figure(each) else ("is", plain(each)) for each in row)
        groups.setdefault(key, []).append(row)
    return groups


def _paired(ours: list[Row], theirs: list[Row], tolerance: float) -> bool:
    def key(row: Row) -> tuple[float, ...]:
        return tuple(_size(each) for each in row if _figure(each))

    left, right = sorted(ours, key=key), sorted(theirs, key=key)
    if all(_close(one, other, tolerance) for one, other in zip(left, right, strict=True)):
        return True
    if len(left) > PAIRED:
        return False
    for row in left:  # figures that differ by a rounding error may sort otherwise
        found = next((at for at, other in enumerate(right) if _close(row, other, tolerance)), None)
        if found is None:
            return False
        right.pop(found)
    return True


def _close(left: Row, right: Row, tolerance: float) -> bool:
    return all(_same(one, other, tolerance) for one, other in zip(left, right, strict=True))


def _same(left: Json, right: Json, tolerance: float) -> bool:
    if _figure(left) and _figure(right):
        if isinstance(left, int) and isinstance(right, int):
            return left == right
        return math.isclose(_size(left), _size(right), rel_tol=tolerance, abs_tol=tolerance)
    return plain(left) == plain(right)


def _figure(value: Json) -> bool:
    return isinstance(value, (bool, int, float))


def _size(value: Json) -> float:
    """A figure as a float; what is too large for one (PostgreSQL's numeric has such) is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def plain(value: Json) -> Hashable:
    """A value that compares as the engines' own do: true is 1, 25.0 is 25, a text is never a number."""
    if isinstance(value, (bool, int, float)):
        return float(value) if not isinstance(value, int) or abs(value) < 2**53 else value
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Json]", value)
        return tuple((key, plain(each)) for key, each in sorted(items.items()))
    if isinstance(value, list):
        return tuple(map(plain, cast("list[Json]", value)))
    return value


def _distinct(rows: Sequence[Row]) -> list[Row]:
    """Rows without repetition, in the order of their first appearance."""
    return list({tuple(map(plain, row)): row for row in reversed(rows)}.values())[::-1]


def soft_f1(expected: Sequence[Row], given: Sequence[Row]) -> float:
    """BIRD's soft F1 of an answer, in [0, 1]: by cells, so that a column too many or a value missing costs a part only.

    Rows are taken once each and paired by their place. Of a pair, the share of expected columns whose value is in the
    other row counts as found, what is in one row only as wrong or missing; a row without partner counts as one whole
    wrong or missing one. As published in BIRD mini-dev, evaluation/evaluation_f1.py (bird-bench, 2024).
    """
    ours, theirs = ([tuple(map(plain, row)) for row in _distinct(rows)] for rows in (expected, given))
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
