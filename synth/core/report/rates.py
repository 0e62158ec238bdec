"""Pass rates with intervals, pass@k, and a paired test; pure functions of counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import NormalDist
from typing import NamedTuple

Z = NormalDist().inv_cdf(0.975)
"""Standard deviations of an interval of 95 percent."""

Estimate = Callable[[int, int, int], float]

DRAWS = 2_000
"""Resamples behind a bootstrap interval."""

TELLING = 10
"""Tasks below which an interval says less than the counts: it is not shown."""

SHOWN = 8
"""Parts of each kind that a terminal lists unless details are asked for."""

EXACT = 400
"""Tasks up to which the paired test counts every assignment; beyond, it uses the normal law."""


class Interval(NamedTuple):
    """An interval of 95 percent."""

    low: float
    high: float


def wilson(passed: float, count: float) -> Interval:
    """The Wilson score interval of a rate of ``passed`` in ``count`` > 0 trials."""
    rate, square = passed / count, Z * Z
    middle = (rate + square / (2 * count)) / (1 + square / count)
    spread = rate * (1 - rate) / count + square / (4 * count * count)
    half = Z / (1 + square / count) * math.sqrt(spread)
    low = 0.0 if passed == 0 else max(0.0, middle - half)
    high = 1.0 if passed == count else min(1.0, middle + half)
    return Interval(low, high)


def spread_of(interval: Sequence[float] | None, tasks: int, digits: int = 1) -> str:
    """An interval such as ``21% to 100%``; empty where so few tasks say nothing."""
    if interval is None or tasks < TELLING:
        return ""
    low, high = interval
    return f"{low:.{digits}%} to {high:.{digits}%}"


def points(difference: float) -> str:
    """A difference of two shares in percentage points, such as ``+12.5``."""
    return f"{100 * difference:+.1f}"


POINTS = "difference (points)"
"""Heading of a column of :func:`points`."""


def points_between(interval: Sequence[float] | None, pairs: int) -> str:
    """An interval of a difference, such as ``+2.1 to +22.9``; empty where so few pairs say
    nothing.
    """
    return "" if interval is None or pairs < TELLING else " to ".join(map(points, interval))


def effective_count(tasks: Sequence[tuple[int, int]]) -> float:
    """The number of independent trials that samples of tasks are worth.

    ``tasks`` are pairs (passed, samples). Samples of one task resemble each other, so that four of
    each say less than as many tasks: the count is between the number of tasks and the number of
    samples, by the variance between tasks.
    """
    count, passed = sum(n for _, n in tasks), sum(c for c, _ in tasks)
    rate = passed / count
    if len(tasks) == count:
        return count
    if len(tasks) < 2 or passed in {0, count}:
        return len(tasks)
    between = sum((c - rate * n) ** 2 for c, n in tasks) * len(tasks) / (len(tasks) - 1)
    if between == 0:
        return count
    return min(max(rate * (1 - rate) * count * count / between, len(tasks)), count)


def pass_at_k(passed: int, count: int, k: int) -> float:
    """The unbiased estimate that one of ``k`` samples passes (Chen et al. 2021), k <= count."""
    return 1 - math.comb(count - passed, k) / math.comb(count, k)


def all_of_k(passed: int, count: int, k: int) -> float:
    """The unbiased estimate that all of ``k`` samples pass (pass^k of tau-bench)."""
    return math.comb(passed, k) / math.comb(count, k)


class PassTally:
    """Counts passed samples of tasks."""

    def __init__(self) -> None:
        self._tasks: dict[str, list[int]] = {}

    def add(self, task: str, solved: bool) -> None:
        counts = self._tasks.setdefault(task, [0, 0])
        counts[0] += solved
        counts[1] += 1

    def to_json(self) -> dict[str, object] | None:
        """The rate with its interval, pass@k and all@k; None without a scored sample.

        k goes over the powers of two up to the commonest number of samples, and that number;
        tasks with fewer samples are left out of it.
        """
        tasks = self._pairs()
        if not tasks:
            return None
        count, passed = sum(n for _, n in tasks), sum(c for c, _ in tasks)
        effective = effective_count(tasks)
        ks = _sample_counts(tasks)
        return {
            "rate": passed / count,
            "interval": [*wilson(passed / count * effective, effective)],
            "passed": passed,
            "samples": count,
            "tasks": len(tasks),
            "pass_at": {str(k): _mean_over(tasks, k, pass_at_k) for k in ks},
            "all_of": {str(k): _mean_over(tasks, k, all_of_k) for k in ks},
        }

    def intervals(self) -> dict[str, dict[str, list[float]]]:
        """The bootstrap intervals of ``pass_at`` and ``all_of``, by the same keys; empty without a
        scored sample.
        """
        tasks = self._pairs()
        estimates: tuple[tuple[str, Estimate], ...] = (("pass_at", pass_at_k), ("all_of", all_of_k))
        return {
            name: {
                str(k): [*bootstrap([estimate(c, n, k) for c, n in tasks if n >= k])]
                for k in _sample_counts(tasks)
            }
            for name, estimate in estimates
            if tasks
        }

    def _pairs(self) -> list[tuple[int, int]]:
        return [(passed, count) for passed, count in self._tasks.values()]


def _sample_counts(tasks: Sequence[tuple[int, int]]) -> list[int]:
    """The powers of two up to the commonest number of samples of a task, and that number."""
    usual = Counter(n for _, n in tasks).most_common(1)[0][0]
    return [*(k for k in (1, 2, 4, 8, 16, 32, 64) if k < usual), usual]


def bootstrap(values: Sequence[float], seed: int = 0, draws: int = DRAWS) -> Interval:
    """The percentile interval of a mean of at least one value between 0 and 1, tasks drawn again.

    ``values`` has one value for each task. Values that are all alike have nothing to draw from:
    their interval is the Wilson interval of as many trials. The same seed gives the same interval.
    """
    if min(values) == max(values):
        return wilson(sum(values), len(values))
    random, count = Random(seed), len(values)
    means = sorted(sum(random.choices(values, k=count)) / count for _ in range(draws))
    low = means[math.floor(0.025 * draws)]
    return Interval(low, means[math.ceil(0.975 * draws) - 1])


def _mean_over(tasks: Sequence[tuple[int, int]], k: int, estimate: Estimate) -> float:
    values = [estimate(passed, count, k) for passed, count in tasks if count >= k]
    return sum(values) / len(values)


def sign_flip_p(differences: Iterable[int]) -> float:
    """The two-sided p of a paired randomization test: were the two runs alike, each task's
    difference could have had either sign.

    With one sample for each task this is McNemar's exact test.
    """
    kept = [difference for difference in differences if difference]
    sizes = [abs(difference) for difference in kept]
    observed = abs(sum(kept))
    if not sizes or observed == 0:
        return 1.0
    if len(sizes) > EXACT:
        spread = math.sqrt(sum(size * size for size in sizes))
        return min(1.0, 2 * (1 - NormalDist().cdf((observed - 0.5) / spread)))
    ways: Mapping[int, int] = {0: 1}
    for size in sizes:
        grown: Counter[int] = Counter()
        for total, number in ways.items():
            grown[total + size] += number
            grown[total - size] += number
        ways = grown
    extreme = sum(number for total, number in ways.items() if abs(total) >= observed)
    return extreme / 2 ** len(sizes)


def difference_interval(differences: Sequence[tuple[int, int]]) -> Interval | None:
    """The interval of a difference of pass rates, tasks drawn; None where all tasks differ alike,
    which says nothing about how others do.

    ``differences`` are pairs (passed more often, pairs) of each task.
    """
    count, tasks = sum(n for _, n in differences), len(differences)
    if tasks < 2:
        return None
    mean = sum(d for d, _ in differences) / count
    between = sum((d - mean * n) ** 2 for d, n in differences) * tasks / (tasks - 1)
    if between < 1e-9:
        return None
    half = Z * math.sqrt(between) / count
    return Interval(max(-1.0, mean - half), min(1.0, mean + half))


BARS = 20
"""The most bars that a histogram has."""

_BLOCKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of values. ``edges[i]`` is where bar i begins.

    Bars of whole numbers stand for one number each, and there are as many edges as bars; other bars
    are equally wide, and the last edge ends the last bar.
    """

    edges: Sequence[float]
    counts: Sequence[int]

    def to_json(self) -> dict[str, object]:
        return {"edges": list(self.edges), "counts": list(self.counts)}

    def blocks(self) -> str:
        """A character for each bar, as high as its count; a dot for an empty one."""
        most = max(self.counts)
        return "".join(
            _BLOCKS[(len(_BLOCKS) * count - 1) // most] if count else "·" for count in self.counts
        )


def histogram_of(values: Sequence[float]) -> Histogram:
    """Count at least one value: a bar for each whole number if there are few, else 20 bars."""
    low, high = min(values), max(values)
    whole = all(float(value).is_integer() for value in values)
    if low == high:
        return Histogram([low, high], [len(values)])
    bars = int(high - low) + 1 if whole and high - low < BARS else BARS
    counts = [0] * bars
    if whole and bars == int(high - low) + 1:
        for value in values:
            counts[int(value - low)] += 1
        return Histogram([low + index for index in range(bars)], counts)
    for value in values:
        counts[min(int((value - low) / (high - low) * bars), bars - 1)] += 1
    return Histogram([low + (high - low) * index / bars for index in range(bars + 1)], counts)
