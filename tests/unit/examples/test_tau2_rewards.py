"""The airline's rules on free bags and the first day, as its world's rewards.py checks them."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from envs.types import ToolResult
from synth.ext.evaluation.calibration.transcripts import read_transcripts
from synth.rewards import CallRecord, Evidence, Utterance
from synth.task import Task

ROOT = Path(__file__).parents[3]
RULES = runpy.run_path(str(ROOT / "examples" / "tau2" / "rewards.py"))
SHARED = ROOT.parent / "shared" / "data" / "transcripts"


def passes(rule: str, evidence: Evidence) -> bool:
    got: Any = RULES[rule](evidence)
    return got[0] if isinstance(got, tuple) else got


def told(words: str) -> Evidence:
    """A silver member's reservation of two days ago, and what is said about it."""
    task = Task(id="", family="", env="", prompt="", gold=(), now="2024-05-15T15:00:00")
    shown = ({"membership": "silver"}, {"created_at": "2024-05-13T10:00:00", "cabin": "economy"})
    calls = [
        CallRecord("get", {}, True, None, read_only=True, result=ToolResult(one)) for one in shown
    ]
    return Evidence(task, (), calls, None, utterances=[Utterance(2, words)])


@pytest.mark.parametrize(
    ("rule", "words", "right"),
    [
        ("free_bags", "In economy, each passenger has **2 free checked bags**.", True),
        ("free_bags", "You have 1 free bag per passenger in basic economy.", True),
        ("free_bags", "That is a total of 4 free bags, 2 for each passenger.", True),
        ("free_bags", "In economy, each passenger has 3 free checked bags.", False),
        ("free_bags", "Every passenger gets 4 complimentary bags.", False),
        ("first_day", "Since it was booked within 24 hours, I can cancel it.", False),
        ("first_day", "Because it was made within the last 24 hours, it is refunded.", False),
        ("first_day", "Since it was not booked within the last 24 hours, I cannot.", True),
        ("first_day", "Was it booked within 24 hours?", True),
        ("first_day", "You may cancel within 24 hours of a booking.", True),
    ],
)
def test_a_rule_of_the_policy_is_checked(rule: str, words: str, right: bool):
    assert passes(rule, told(words)) == right


@pytest.mark.skipif(not SHARED.is_dir(), reason="the transcripts of real models are not here")
@pytest.mark.slow
def test_lies_of_a_real_model_about_the_first_day_are_found():
    read = read_transcripts(SHARED / "gpt-4o_airline_200.json.gz")
    wrong = {one.id for one in read if not passes("first_day", one.evidence)}
    assert {"26.1", "41.0", "41.2", "47.0", "47.3"} == wrong
    assert not any(one.success for one in read if one.id in wrong)
