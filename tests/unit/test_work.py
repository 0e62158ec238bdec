"""Proofs and scripted rollouts do no more work than the committed figures allow.

Nothing is timed: the same calls, characters, encodings and statements are counted on every machine.
A change that makes a rollout do more shows here, and not in a bench on a busy machine. After a change
that is worth its work, ``python -m tests.bench.work --write`` commits the new figures.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

import pytest

from tests.bench import work

SLACK = 0.05

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the figures are of CPython 3.11, whose calls count"
)


def excess(found: Mapping[str, Mapping[str, work.Work]]) -> list[str]:
    """What a task costs more than the figures say."""
    committed = json.loads(work.FIGURES.read_text("utf-8"))
    return [
        f"{world}, {phase}: {value} {kind}, and not {committed[world][phase][kind]}"
        for world, phases in found.items()
        for phase, kinds in phases.items()
        for kind, value in kinds.items()
        if value > committed[world][phase][kind] * (1 + SLACK)
    ]


def test_a_task_costs_no_more_work_than_the_figures_say():
    more = excess(work.in_own_process())
    assert not more, "\n".join(more)


def test_texts_that_are_read_anew_for_each_task_are_found():
    without_cache = """
from synth.core.language import wording
wording.tokens = wording.tokens.__wrapped__
"""
    more = excess(work.in_own_process(["shop"], without_cache))
    assert any("play" in line and "characters read" in line for line in more)
    assert any("proof" in line and "characters read" in line for line in more)


def test_work_that_repeats_is_counted():
    with work.counted() as once:
        json.dumps([1])
    with work.counted() as twice:
        json.dumps([1])
        json.dumps([1])
    assert twice["JSON encodings"] == 2 * once["JSON encodings"] > 0
    assert twice["calls of Python functions"] > once["calls of Python functions"]
