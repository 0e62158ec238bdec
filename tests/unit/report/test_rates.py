"""Intervals, pass@k and the paired test against values that are known or counted out."""

from __future__ import annotations

import itertools
import math
from random import Random
from typing import Any

import pytest

from synth.core.report.rates import (
    PassTally,
    all_of_k,
    bootstrap,
    difference_interval,
    effective_count,
    pass_at_k,
    sign_flip_p,
    wilson,
)


@pytest.mark.parametrize(
    ("passed", "count", "low", "high"),
    [  # as R's binom::binom.wilson prints them
        (0, 10, 0.0, 0.2775328),
        (5, 10, 0.2365931, 0.7634069),
        (10, 10, 0.7224672, 1.0),
        (81, 263, 0.2552673, 0.3662014),
    ],
)
def test_wilson_is_the_known_interval(passed: int, count: int, low: float, high: float):
    interval = wilson(passed, count)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=2e-4)


@pytest.mark.parametrize("passed", range(5))
@pytest.mark.parametrize("k", [1, 2, 4])
def test_pass_at_k_is_the_share_of_the_draws(passed: int, k: int):
    draws = list(itertools.combinations([True] * passed + [False] * (4 - passed), k))
    assert pass_at_k(passed, 4, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert all_of_k(passed, 4, k) == pytest.approx(sum(map(all, draws)) / len(draws))


@pytest.mark.parametrize("differences", [[1, 1, 1, -1], [2, -1, 1, 0, 3], [1] * 6, [-4]])
def test_the_paired_test_counts_every_assignment_of_signs(differences: list[int]):
    sizes = [abs(difference) for difference in differences if difference]
    totals = [
        abs(sum(sign * size for sign, size in zip(signs, sizes, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(sizes))
    ]
    observed = abs(sum(differences))
    expected = sum(total >= observed for total in totals) / len(totals)
    assert sign_flip_p(differences) == pytest.approx(expected)


def test_with_one_sample_for_each_task_it_is_mcnemars_exact_test():
    gained, lost = 9, 2
    tail = sum(math.comb(gained + lost, i) for i in range(lost + 1)) / 2 ** (gained + lost)
    assert sign_flip_p([1] * gained + [-1] * lost + [0] * 50) == pytest.approx(2 * tail)


def test_no_difference_is_no_evidence_and_the_normal_law_joins_on():
    assert sign_flip_p([]) == sign_flip_p([0, 0]) == sign_flip_p([1, -1]) == 1.0
    exact, normal = sign_flip_p([1] * 220 + [-1] * 180), sign_flip_p([1] * 221 + [-1] * 181)
    assert normal == pytest.approx(exact, rel=0.05)


def test_samples_that_agree_within_their_task_count_as_one():
    alike = [(4, 4), (0, 4)] * 5
    mixed = [(2, 4)] * 10
    assert effective_count(alike) == pytest.approx(10, abs=1)
    assert effective_count(mixed) == 40
    assert effective_count([(1, 1), (0, 1), (1, 1)]) == 3
    assert effective_count([(4, 4)] * 3) == 3


def test_the_interval_of_a_difference_holds_it_and_needs_two_tasks():
    interval = difference_interval([(1, 1), (1, 1), (0, 1), (0, 1)])
    assert interval is not None
    assert interval.low < 0.5 < interval.high
    assert difference_interval([(1, 4)]) is None


@pytest.mark.parametrize("differences", [[(1, 1)] * 6, [(0, 2)] * 6, [(1, 3), (2, 6)]])
def test_tasks_that_all_differ_alike_say_nothing_about_others(differences: list[tuple[int, int]]):
    assert difference_interval(differences) is None


@pytest.mark.parametrize(
    ("samples", "ks"), [(1, ["1"]), (4, ["1", "2", "4"]), (5, ["1", "2", "4", "5"])]
)
def test_k_ends_with_the_number_of_samples(samples: int, ks: list[str]):
    tally = PassTally()
    for number in range(samples * 2):
        tally.add("ab"[number % 2], number == 0)
    intervals = tally.intervals()
    assert [*intervals["pass_at"]] == [*intervals["all_of"]] == ks
    figures: Any = tally.to_json()
    assert [*figures["pass_at"]] == [*figures["all_of"]] == ks


def test_a_tally_leaves_tasks_with_fewer_samples_out_of_a_larger_k():
    tally = PassTally()
    for task, solved in (("a", 1), ("a", 0), ("b", 1), ("b", 1), ("c", 0)):
        tally.add(task, bool(solved))
    figures = tally.to_json()
    assert figures is not None
    assert (figures["passed"], figures["samples"], figures["tasks"]) == (3, 5, 3)
    assert figures["pass_at"] == {"1": pytest.approx((0.5 + 1 + 0) / 3), "2": 1.0}
    assert figures["all_of"] == {"1": pytest.approx(0.5), "2": 0.5}
    assert PassTally().to_json() is None


def quantile(share: float, count: int, rate: float) -> int:
    """The quantile of a binomial distribution, counted out."""
    total = 0.0
    for successes in range(count + 1):
        total += math.comb(count, successes) * rate**successes * (1 - rate) ** (count - successes)
        if total >= share:
            return successes
    return count


@pytest.mark.parametrize(("passed", "count"), [(12, 40), (3, 30), (50, 100)])
def test_the_bootstrap_of_single_samples_is_the_binomial(passed: int, count: int):
    interval = bootstrap([1.0] * passed + [0.0] * (count - passed))
    expected = [quantile(share, count, passed / count) for share in (0.025, 0.975)]
    assert interval.low * count == pytest.approx(expected[0], abs=1)
    assert interval.high * count == pytest.approx(expected[1], abs=1)


def test_bootstrap_intervals_cover_a_known_binomial():
    random = Random(4)
    rate, tasks, samples, runs = 0.35, 40, 4, 150
    truth = {"pass_at": 1 - (1 - rate) ** 2, "all_of": rate**2}
    covered = dict.fromkeys(truth, 0)
    for _ in range(runs):
        counts = [sum(random.random() < rate for _ in range(samples)) for _ in range(tasks)]
        for name, estimate in (("pass_at", pass_at_k), ("all_of", all_of_k)):
            found = bootstrap([estimate(count, samples, 2) for count in counts], draws=200)
            covered[name] += found.low <= truth[name] <= found.high
    # 95 percent of the intervals hold the truth, give or take three standard deviations of 150
    assert all(0.88 <= count / runs <= 1.0 for count in covered.values()), covered


def test_tasks_that_all_agree_have_the_wilson_interval():
    assert bootstrap([1.0] * 10) == wilson(10, 10)
    assert bootstrap([0.0] * 10) == wilson(0, 10)
