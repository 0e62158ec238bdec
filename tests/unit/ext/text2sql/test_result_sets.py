"""Answers of queries compare as text-to-SQL benchmarks compare them."""

from __future__ import annotations

from itertools import groupby, permutations, product
from random import Random
from typing import Any

import pytest

from synth.ext.text2sql.result_sets import Rules, TiedRows, fixed, same_rows, soft_f1

BAG, ORDERED, SET = Rules(), Rules(ordered=True), Rules(set_of_rows=True, any_columns=False)

SAME: list[tuple[Rules, list[Any], list[Any]]] = [
    (BAG, [(1, "a"), (2, "b")], [(2, "b"), (1, "a")]),
    (BAG, [(1, "a"), (2, "b")], [("a", 1), ("b", 2)]),  # another order of the columns
    (BAG, [(1, 2, 3), (4, 5, 6)], [(3, 1, 2), (6, 4, 5)]),
    (BAG, [(25,)], [(25.0,)]),
    (BAG, [(True,)], [(1,)]),
    (BAG, [(0.1 + 0.2,)], [(0.3,)]),
    (BAG, [(1 / 3, "x"), (2 / 3, "x")], [(0.6666666667, "x"), (0.3333333333, "x")]),
    (BAG, [(None,), (1,)], [(1,), (None,)]),
    (BAG, [], []),
    (BAG, [({"$bytes": "AA=="},)], [({"$bytes": "AA=="},)]),
    (ORDERED, [(1,), (2,)], [(1,), (2,)]),
    (ORDERED, [(1, "b"), (2, "a")], [("b", 1), ("a", 2)]),
    (SET, [(1,), (1,), (2,)], [(2,), (1,)]),
    (
        BAG,
        [(10**400,), (2.5,)],
        [(2.5,), (10**400,)],
    ),  # PostgreSQL's numeric holds more than a float does
    # sorted by noise, the rows would be paired wrongly
    (BAG, [(0.1, 5.0), (0.1 + 1e-12, 7.0)], [(0.1 + 1e-12, 5.0), (0.1, 7.0)]),
]

OTHER: list[tuple[Rules, list[Any], list[Any]]] = [
    (BAG, [(1,), (1,)], [(1,)]),
    (BAG, [(1,), (1,), (2,)], [(1,), (2,), (2,)]),
    (BAG, [(1,)], [("1",)]),
    (BAG, [(0,)], [(None,)]),
    (BAG, [("",)], [(None,)]),
    (BAG, [("A",)], [("a",)]),
    (BAG, [(1, "a")], [(1,)]),
    (BAG, [(1,)], [(1, 1)]),
    (BAG, [(1, 2), (3, 4)], [(1, 4), (3, 2)]),  # each column is right, the rows are not
    (BAG, [(10.0,)], [(10.001,)]),
    (BAG, [(2.5,)], [(10**400,)]),
    (BAG, [(10**400,)], [(-(10**400),)]),
    (BAG, [(1_000_000_001,)], [(1_000_000_002,)]),  # whole numbers have no rounding error
    (ORDERED, [(1,), (2,)], [(2,), (1,)]),
    (SET, [(1, 2)], [(2, 1)]),
    (SET, [(1,)], [(1,), (2,)]),
]


def same(rules: Rules, expected: list[Any], given: list[Any]) -> bool:
    width, given_width = (len(rows[0]) if rows else 1 for rows in (expected, given))
    return same_rows(fixed(expected), given, width, given_width, rules)


@pytest.mark.parametrize(("rules", "expected", "given"), SAME)
def test_the_same_answer(rules: Rules, expected: list[Any], given: list[Any]):
    assert same(rules, expected, given)


@pytest.mark.parametrize(("rules", "expected", "given"), OTHER)
def test_another_answer(rules: Rules, expected: list[Any], given: list[Any]):
    assert not same(rules, expected, given)


def test_columns_that_are_alike_do_not_explode():
    """Twenty equal columns have 10^18 orders; one of them is tried."""
    rows = [tuple([n % 2] * 20) for n in range(200)]
    assert same(BAG, rows, rows)
    assert not same(BAG, rows, [*rows[:-1], tuple([7] * 20)])


@pytest.mark.parametrize(
    ("expected", "given", "score"),
    [
        ([], [], 1.0),
        ([(1, "a")], [(1, "a")], 1.0),
        ([(1, "a")], [("a", 1)], 1.0),
        ([(1,)], [], 0.0),
        ([], [(1,)], 0.0),
        ([(1, "a")], [(1, "b")], 0.5),  # found 1/2, wrong 1/2, missing 1/2
        ([(1, "a")], [(1,)], 2 / 3),  # precision 1, recall 1/2
        ([(1,), (2,)], [(1,)], 2 / 3),  # precision 1, recall 1/2
        ([(1,)], [(1,), (2,)], 2 / 3),  # precision 1/2, recall 1
        ([(1,), (1,)], [(1,)], 1.0),  # each row once
        ([(1,), (2,)], [(2,), (1,)], 0.0),  # paired by place
    ],
)
def test_the_soft_f1_is_birds(expected: list[Any], given: list[Any], score: float):
    """Worked out by hand from the published definition."""
    assert soft_f1(expected, given) == pytest.approx(score)


TIED = [TiedRows([("a", 5)], 1), TiedRows([("b", 3), ("c", 3), ("d", 3)], 2)]
"""The two best of three that share the second place, behind the first."""


@pytest.mark.parametrize(
    ("given", "ordered", "bag", "sets"),
    [
        ([("a", 5), ("b", 3), ("d", 3)], True, True, True),
        ([("a", 5), ("d", 3), ("c", 3)], True, True, True),
        ([("d", 3), ("a", 5), ("c", 3)], False, True, True),
        ([("a", 5), ("b", 3), ("b", 3)], False, False, False),
        ([("a", 5), ("b", 3), ("e", 3)], False, False, False),
        ([("a", 5), ("b", 3)], False, False, False),
        ([("b", 3), ("c", 3), ("d", 3)], False, False, False),
        ([], False, False, False),
    ],
)
def test_a_tie_has_several_right_answers(given: list[Any], ordered: bool, bag: bool, sets: bool):
    found = [same_rows(TIED, given, 2, 2, rules) for rules in (ORDERED, BAG, SET)]
    assert found == [ordered, bag, sets]
    turned = [row[::-1] for row in given]
    assert same_rows(TIED, turned, 2, 2, ORDERED) is ordered


def test_figures_in_a_tie_may_differ_by_a_rounding_error():
    tied = [TiedRows([(0.1 + 0.2, "x"), (0.5, "x"), (0.7, "x")], 2)]
    assert same_rows(tied, [(0.7, "x"), (0.3, "x")], 2, 2, ORDERED)
    assert not same_rows(tied, [(0.7, "x"), (0.31, "x")], 2, 2, ORDERED)


@pytest.mark.parametrize("seed", range(60))
def test_exactly_the_right_answers_are_accepted(seed: int):
    """Against all answers that an engine could give, written out."""
    random = Random(seed)
    rows = [(random.choice("ab"), random.randrange(3)) for _ in range(random.randrange(1, 6))]
    first, many = random.randrange(2), random.randrange(1, 5)
    whole: set[tuple[Any, ...]] = set()
    for order in permutations(rows):
        if [key for _, key in order] == sorted(key for _, key in rows):
            whole.add(tuple((name,) for name, _ in order)[first : first + many])
    ranked = sorted(rows, key=lambda row: row[1])
    blocks: list[TiedRows] = []
    begin = 0
    for _, group in groupby(ranked, key=lambda row: row[1]):
        own = [(name,) for name, _ in group]
        take = min(begin + len(own), first + many) - max(begin, first)
        blocks += [TiedRows(own, take)] if take > 0 else []
        begin += len(own)
    for size in range(many + 2):
        for given in product([("a",), ("b",)], repeat=size):
            bags = {tuple(sorted(one)) for one in whole}
            sets = {frozenset(one) for one in whole}
            assert same_rows(blocks, given, 1, 1, ORDERED) == (given in whole)
            assert same_rows(blocks, given, 1, 1, BAG) == (tuple(sorted(given)) in bags)
            assert same_rows(blocks, given, 1, 1, SET) == (frozenset(given) in sets)
