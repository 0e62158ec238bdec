"""Proofs and scripted rollouts do no more work than the committed figures allow.

Nothing is timed: the same calls, encodings and statements are counted on every machine. A change that
makes a rollout do more shows here, and not in a bench on a busy machine. After a change that is worth
its work, ``python -m tests.bench.work --write`` commits the new figures.
"""

from __future__ import annotations

import json
import sys

import pytest

from tests.bench import work

SLACK = 0.05

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.version_info[:2] != (3, 11), reason="the figures are of CPython 3.11, whose calls count"
    ),
]


def test_a_task_costs_no_more_work_than_the_figures_say():
    committed = json.loads(work.FIGURES.read_text("utf-8"))
    more = [
        f"{world}, {phase}: {value} {kind}, and not {committed[world][phase][kind]}"
        for world, phases in work.in_own_process().items()
        for phase, kinds in phases.items()
        for kind, value in kinds.items()
        if value > committed[world][phase][kind] * (1 + SLACK)
    ]
    assert not more, "\n".join(more)


def test_work_that_repeats_is_counted():
    with work.counted() as once:
        json.dumps([1])
    with work.counted() as twice:
        json.dumps([1])
        json.dumps([1])
    assert twice["JSON encodings"] == 2 * once["JSON encodings"] > 0
    assert twice["calls of Python functions"] > once["calls of Python functions"]
