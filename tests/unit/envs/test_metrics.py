"""Counts and times of tool calls: exact where they say so, mergeable, and never below the true
percentile.
"""

from __future__ import annotations

import json
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.metrics import STEPS, Execution, ExecutionMetrics, metrics_of

CALLS = st.lists(
    st.tuples(st.floats(0.001, 9e6), st.sampled_from([None, "timeout", "not_found"])),
    min_size=1,
    max_size=60,
)


def counted(calls) -> ExecutionMetrics:
    out = ExecutionMetrics()
    for ms, category in calls:
        out.record(ms, category)
    return out


@given(CALLS, st.floats(0.1, 100))
def test_a_percentile_is_at_most_a_bucket_above_the_true_one(calls, percent):
    times = sorted(ms for ms, _ in calls)
    true = times[math.ceil(percent / 100 * len(times)) - 1]
    told = counted(calls).percentile_ms(percent)
    assert told is not None
    assert true * (1 - 1e-9) <= told <= true * 10 ** (1 / STEPS) * (1 + 1e-9)


@given(CALLS, CALLS)
def test_merging_is_counting_together(left, right):
    merged, together = counted(left), counted(left + right)
    merged.merge(other := counted(right))
    assert other == counted(right)
    assert merged.total_ms == pytest.approx(together.total_ms)
    merged.total_ms = together.total_ms
    assert merged == together


@given(CALLS)
def test_it_travels_as_json_and_as_bytes(calls):
    metrics = counted(calls)
    again = ExecutionMetrics.from_json(json.loads(json.dumps(metrics.to_json())))
    assert (again.count, again.errors, again.buckets) == (
        metrics.count,
        metrics.errors,
        metrics.buckets,
    )
    assert again.to_json() == metrics.to_json()
    assert pickle.loads(pickle.dumps(metrics)) == metrics


def test_the_numbers():
    metrics = counted([(1.0, None)] * 18 + [(250.0, "timeout"), (500.0, "timeout")])
    said = metrics.to_json()
    assert (said["count"], said["errors"], metrics.failed) == (20, {"timeout": 2}, 2)
    assert (said["total_ms"], said["mean_ms"], said["max_ms"]) == (768.0, 38.4, 500.0)
    assert said["p50_ms"] == 1.0
    assert 250.0 <= said["p95_ms"] <= 250.0 * 10 ** (1 / STEPS)


def test_nothing_counted_has_no_times():
    metrics = ExecutionMetrics()
    assert metrics.mean_ms is None
    assert metrics.percentile_ms(50) is None
    said = metrics.to_json()
    assert [said[f"{name}_ms"] for name in ("mean", "p50", "p95", "max")] == [None] * 4
    assert ExecutionMetrics.from_json(said) == metrics


@pytest.mark.parametrize("percent", [0, -1, 101])
def test_a_percentile_is_one(percent):
    with pytest.raises(ValueError, match=r"in \(0, 100\]"):
        counted([(1.0, None)]).percentile_ms(percent)


def test_what_takes_longer_than_the_last_bucket_is_told_as_the_longest():
    assert counted([(5e8, None)]).percentile_ms(50) == 5e8
    assert counted([(0.0, None)]).percentile_ms(50) == 0.0


def test_metrics_of_executions_are_per_tool():
    calls = [
        Execution("a", "read", None, 1.0),
        Execution("b", "read", "timeout", 3.0),
        Execution("c", None, "x", 0.1),
    ]
    found = metrics_of(calls)
    assert set(found) == {"read", None}
    assert (found["read"].count, found["read"].mean_ms, dict(found["read"].errors)) == (
        2,
        2.0,
        {"timeout": 1},
    )
